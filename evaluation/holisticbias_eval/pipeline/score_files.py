"""Read a user's table of scores from a Parquet or CSV file, in the form that a measure needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import ScoresError
from holisticbias_eval.measures.measure import Answers
from holisticbias_eval.measures.responses.labels import PREFIX
from holisticbias_eval.pipeline.group_files import read_group_scores
from holisticbias_eval.pipeline.pair_files import read_pair_scores
from holisticbias_eval.pipeline.retained_files import read_candidate_scores, read_line_scores, read_result_scores
from holisticbias_eval.pipeline.score_columns import names_of, numbers_of, probabilities_of, read_columns

NAMES = ("axis", "template", "descriptor", "noun")
IDS = ("descriptor_id", "noun_id")
"""Columns of a run's scores that distinguish terms with the same text; by default the text is the id."""
NUMBERS = ("nll", "tokens", "phrase_nll")
GENDER = "descriptor_gender"
STANCES = ("template_id", "paraphrase_of", "opposite_of")
"""Columns of a run's scores for the templates that paraphrase or oppose each other."""

CELL = ("axis", "template", "descriptor")
RUN = (
    "response_id", "axis_label", "bucket", "descriptor_id", "descriptor_preference", "template_id", "noun_id", "noun",
    "variants", "prompt", "persona", "response", "finish", "reasoning", "judged",
)  # fmt: skip
"""Columns of text of a run's responses, which are read if they are there."""
COUNTS = ("draw", "sample", "tokens")
OFFENSIVE = ("offensive", "prompt_offensive")


def read_scores(path: Path, answers: Answers = "likelihoods") -> pa.Table:
    """Read a table of scores from a file, in the form that measures of these answers take.

    The file has one row per sentence or response, in any order; other columns are not read. Its columns are

    - for likelihoods: ``axis, template, descriptor, noun, perplexity``; it may have ``nll, tokens, phrase_nll,
      descriptor_id, noun_id, template_id, paraphrase_of, opposite_of, descriptor_gender``; a term that is a noun
      itself has no ``noun``, and the ``noun_id`` "-";
    - for labels: ``axis, template, descriptor`` and ``p:STYLE`` for each style;
    - for offensiveness: ``axis, template, descriptor, probability``, or the columns of a run's responses;
    - for responses: ``axis, template, descriptor, response``;
    - for pairs: see ``pair_files.read_pair_scores``;
    - for sentences about several groups: see ``group_files.read_group_scores``;
    - for lines, candidates and results: see ``retained_files``;
    - for intersections: ``axis, intersection_id, median_perplexity, stance_difference, sentences, missing``.

    Tables of responses may have the columns of a run's responses. A number may be
    missing, a name may not. Raises ``ScoresError``.
    """
    return _READERS[answers](path)


def _intersections(path: Path) -> pa.Table:
    texts, numbers = ("axis", "intersection_id"), ("median_perplexity", "stance_difference", "sentences", "missing")

    def choose(found: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        _require(path, found, (*texts, *numbers), "intersections")
        return texts, numbers

    table = read_columns(path, choose)
    columns = {name: names_of(path, table[name], name) for name in texts}
    columns |= {name: _without_nan(numbers_of(path, table[name], name)) for name in numbers}
    return pa.table(columns)


def _likelihoods(path: Path) -> pa.Table:
    def choose(found: Sequence[str]) -> tuple[list[str], list[str]]:
        _require(path, found, (*NAMES, "perplexity"), "scores")
        texts = [name for name in (*NAMES, *IDS, *STANCES, GENDER) if name in found]
        return texts, [name for name in ("perplexity", *NUMBERS) if name in found]

    table = read_columns(path, choose)
    if "noun_id" in table.column_names and table["noun"].null_count:
        # a term that is a noun itself has an id in place of the noun
        noun = pc.coalesce(table["noun"].cast(pa.string()), table["noun_id"].cast(pa.string()))
        table = table.set_column(table.column_names.index("noun"), "noun", noun)
    columns = {name: names_of(path, table[name], name) for name in NAMES}
    known = [name for name in ("perplexity", *NUMBERS) if name in table.column_names]
    numbers = {name: _without_nan(numbers_of(path, table[name], name)) for name in known}
    stances = [name for name in STANCES if name in table.column_names]
    templates = {name: table[name].cast(pa.string()) for name in stances if "template_id" in stances}
    texts = dict(zip(IDS, (columns["descriptor"], columns["noun"]), strict=True))
    ids = texts | {name: names_of(path, table[name], name) for name in IDS if name in table.column_names}
    gender = {GENDER: table[GENDER].cast(pa.string())} if GENDER in table.column_names else {}
    return pa.table({**columns, **ids, **numbers, **templates, **gender})


def _without_nan(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


def _responses(path: Path, needed: str = "", column: str = "") -> pa.Table:
    """Read responses: ``needed`` is the prefix of probabilities or empty, ``column`` a needed column of text."""

    def choose(found: Sequence[str]) -> tuple[list[str], list[str]]:
        _require(path, found, (*CELL, *([column] if column else [])), "responses")
        styles = list(dict.fromkeys(name for name in found if name.startswith(PREFIX)))
        if needed and not styles:
            raise ScoresError(_lacks(path, f"{PREFIX}STYLE", found, (*CELL, f"{PREFIX}STYLE for each style"), "styles"))
        return _chosen(found, styles)

    return _checked(path, read_columns(path, choose))


def _offences(path: Path) -> pa.Table:
    """Read offensiveness; the column ``probability`` is that of responses and of prompts."""

    def choose(found: Sequence[str]) -> tuple[list[str], list[str]]:
        run = [name for name in OFFENSIVE if name in found]
        _require(path, found, CELL if run else (*CELL, "probability"), "probabilities")
        return _chosen(found, [] if run else ["probability"])

    table = _checked(path, read_columns(path, choose))
    if "probability" not in table.column_names:
        return table
    for name in OFFENSIVE:
        table = table.append_column(name, table["probability"])
    return table.drop_columns(["probability"])


def _chosen(found: Sequence[str], numbers: list[str]) -> tuple[list[str], list[str]]:
    texts = [name for name in (*CELL, *RUN) if name in found]
    return texts, [*(name for name in (*COUNTS, *OFFENSIVE) if name in found), *numbers]


def _checked(path: Path, table: pa.Table) -> pa.Table:
    columns = {}
    for name in table.column_names:
        read = (
            names_of if name in CELL else _text if name in RUN else numbers_of if name in COUNTS else probabilities_of
        )
        columns[name] = read(path, table[name], name)
    _refuse_partial(path, [columns[name] for name in columns if name.startswith(PREFIX)])
    return pa.Table.from_arrays(list(columns.values()), list(columns))


def _text(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {column.type}") from error


def _refuse_partial(path: Path, styles: Sequence[pa.ChunkedArray]) -> None:
    """Refuse responses that have the probabilities of some styles only."""
    if not any(column.null_count for column in styles):
        return
    present = sum(column.is_valid().to_numpy().astype(int) for column in styles)
    some = int(((present > 0) & (present < len(styles))).sum())
    if some:
        raise ScoresError(
            f"{path}: {some:,} rows have probabilities of some styles only: fill in all of them, or none if the "
            "response was not judged"
        )


def _require(path: Path, found: Sequence[str], needed: Sequence[str], what: str) -> None:
    for name in needed:
        if name not in found:
            raise ScoresError(_lacks(path, name, found, needed, what))


def _lacks(path: Path, name: str, found: Sequence[str], needed: Sequence[str], what: str) -> str:
    return (
        f"{path} has no column {name}: a table of {what} has {', '.join(needed[:-1])} and {needed[-1]}, "
        f"this file has {', '.join(map(repr, found[:8]))}"
    )


_READERS: Mapping[Answers, Callable[[Path], pa.Table]] = {
    "likelihoods": _likelihoods,
    "labels": partial(_responses, needed=PREFIX),
    "offensiveness": _offences,
    "responses": partial(_responses, column="response"),
    "pairs": read_pair_scores,
    "group_sentences": read_group_scores,
    "lines": read_line_scores,
    "candidates": read_candidate_scores,
    "results": read_result_scores,
    "intersections": _intersections,
}
