"""A run: one model's answers on one release, the figures measured on them, and their signature."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel

from holisticbias.inputs import refuse_unreadable
from holisticbias.release.bounded import BoundedFile, check_parquet
from holisticbias.terminal import counted
from holisticbias_eval.errors import RunError
from holisticbias_eval.figures import Figure, Part
from holisticbias_eval.models.likelihood.scorer import MaskedInputs
from holisticbias_eval.prompts.sentences import SENTENCE_COLUMNS, UNIQUE, restored
from holisticbias_eval.records import read_record
from holisticbias_eval.results.answer_columns import missing_problem, type_problem
from holisticbias_eval.results.signature import SchemaVersion, Signature, differences

RESULT = "result.json"
_ROW_GROUP = 1 << 17
REPORT = "report.html"
_MOST_NAMED = 4
_DEEP = 4  # folders from several mitigated models to a run of one


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The table of answers of one kind of run: its name, its file, and the columns that it must have.

    The columns ``filled`` have a value in every row, if a table has them. ``of_groups`` is the table of answers about
    groups.
    """

    name: str
    columns: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    of_groups: "AnswerFile | None" = None

    @property
    def file(self) -> str:
        """The name of the file in a run's folder."""
        return f"{self.name}.parquet"

    def of(self, columns: Collection[str]) -> "AnswerFile":
        """The kind of a table with these columns: of answers about groups if it names them."""
        return (self.of_groups if "group" in columns else None) or self


_SCORED = ("nll", "tokens", "perplexity")
_OF_GROUPS = ("dimension", "group", "sentence")
SCORES = AnswerFile(
    "scores",
    (*SENTENCE_COLUMNS, *_SCORED),
    ("sentence_id", "text", "axis", "descriptor_id", "noun_id", "template_id", "template"),
    AnswerFile("scores", (*_OF_GROUPS, *_SCORED), _OF_GROUPS),
)
RESPONSES = AnswerFile(
    "responses",
    ("response_id", "axis", "template", "descriptor", "response"),
    ("response_id", "axis", "descriptor_id", "descriptor", "template_id", "template"),
    AnswerFile("responses", ("response_id", "group", "prompt", "response", "text"), ("response_id", "group")),
)
PAIRS = AnswerFile(
    "scored_pairs",
    (
        "pair_id", "specification", "attribute", "sentence", "other_sentence", "stereotyped", "score_stereotype",
        "score_antistereotype",
    ),
    ("pair_id", "specification", "attribute"),
)  # fmt: skip
LINES = AnswerFile("scored_lines", ("line_id", "text", *_SCORED, "bytes"), ("line_id", "text"))
CANDIDATES = AnswerFile(
    "candidates", ("candidate_id", "dialogue", "label", "probability"), ("candidate_id", "dialogue", "label")
)
RESULTS = AnswerFile("results", ("task", "metric", "value"), ("task", "metric"))
INTERSECTIONS = AnswerFile(
    "intersections",
    ("axis", "intersection_id", "median_perplexity", "stance_difference"),
    ("axis", "intersection_id"),
)
OTHERS = AnswerFile("answers")
"""Answers of a task with other columns."""
KINDS = (SCORES, RESPONSES, PAIRS, LINES, CANDIDATES, RESULTS, INTERSECTIONS, OTHERS)
"""All kinds of tables of answers."""


class Result(Part):
    """``result.json``: the figures of a run, and everything that they depend on.

    ``masked_inputs`` counts what the run itself scored: null if the store held
    all scores, if another process scored, and for models that are not masked.
    """

    schema_version: SchemaVersion = 2
    signature: Signature
    figures: tuple[Figure, ...]
    masked_inputs: MaskedInputs | None = None


class _Signed(BaseModel):
    """The signature in a result, whose figures are not read."""

    schema_version: SchemaVersion = 2
    signature: Signature


@dataclass(frozen=True, slots=True)
class Run:
    """The content of a run's folder: the result, a table of answers, and tables of details by name.

    The answers are scored sentences (``scores.parquet``), responses (``responses.parquet``), scored pairs of
    sentences (``scored_pairs.parquet``), scored lines (``scored_lines.parquet``), candidates of a classification task
    (``candidates.parquet``), the numbers of another program (``results.parquet``), intersections
    (``intersections.parquet``), or others (``answers.parquet``).
    """

    result: Result
    answers: pa.Table
    tables: Mapping[str, pa.Table] = field(default_factory=dict)


def write_run(run: Run, folder: Path) -> None:
    """Write the result, the answers and the tables into an existing folder."""
    answers = _kind_of(restored(run.answers.slice(0, 0)).column_names)
    if answers is SCORES:
        _write_scores(run.answers, folder / answers.file)
    else:
        pq.write_table(run.answers, folder / answers.file, compression="zstd")
    for name, table in run.tables.items():
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd")
    with (folder / RESULT).open("w", encoding="utf-8") as file:
        file.writelines(_as_json(run.result))


def _write_scores(answers: pa.Table, path: Path) -> None:
    """Write the scores of sentences with the columns that were left out, a row group at a time."""
    schema = restored(answers.slice(0, 0)).schema
    repeated = [f.name for f in schema if f.name not in UNIQUE and not pa.types.is_floating(f.type)]
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=repeated) as writer:
        for start in range(0, max(1, answers.num_rows), _ROW_GROUP):
            writer.write_table(restored(answers.slice(start, _ROW_GROUP)))


def _kind_of(columns: Sequence[str]) -> AnswerFile:
    """The kind of a table of answers, by its columns."""
    return next(kind for kind in KINDS if {*kind.of(columns).columns} <= {*columns})


def _as_json(result: Result) -> Iterator[str]:
    """The parts of the result as indented JSON with a figure per line, without the fields that have their default."""
    rest = json.dumps(json.loads(result.model_dump_json(exclude={"figures"})), indent=2, ensure_ascii=False)
    yield f'{rest[:-2]},\n  "figures": [\n    '
    for i, figure in enumerate(result.figures):
        line = figure.model_dump_json(exclude_defaults=True)
        yield f",\n    {line}" if i else line
    yield "\n  ]\n}\n"


def may_replace(folder: Path, signature: Signature, *, overwrite: bool) -> bool:
    """Whether a folder holds a run that a run of this signature may replace.

    Raises ``RunError`` for another run or a damaged one, unless ``overwrite``.
    """
    if not is_run(folder):
        return False
    if overwrite:
        return True
    advice = "name another folder with --out, or replace the run with --overwrite"
    try:
        found = differences(read_signature(folder), signature)
    except RunError as error:
        raise RunError(f"{error}; {advice}") from error
    if found:
        raise RunError(f"{folder} holds another run ({'; '.join(found)}): {advice}")
    return True


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    return (folder / RESULT).is_file() and _answer_file(folder) is not None


def _answer_file(folder: Path) -> AnswerFile | None:
    return next((kind for kind in KINDS if (folder / kind.file).is_file()), None)


class Tables(Mapping[str, pa.Table]):
    """The tables of details of a run's folder; each is read when it is asked for."""

    def __init__(self, folder: Path, answers: AnswerFile) -> None:
        self._paths = {path.stem: path for path in sorted(folder.glob("*.parquet")) if path.name != answers.file}

    def __getitem__(self, name: str) -> pa.Table:
        path = self._paths[name]
        with refuse_unreadable(path, RunError):
            return check_parquet(path).read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __repr__(self) -> str:
        """One line: the names of the tables."""
        return f"<Tables: {', '.join(self) or 'none'}>"

    def __len__(self) -> int:
        return len(self._paths)


Columns = Callable[[Sequence[str]], Sequence[str] | None]
"""The columns of the answers that are needed of a run of these measures; None means all."""


def read_run(folder: Path, columns: Columns = lambda _: None) -> Run:
    """Read the run in a folder; ``RunError`` if it is damaged."""
    answers = _answer_file(folder)
    if answers is None or not is_run(folder):
        raise _no_single_run(folder)
    result = read_result(folder / RESULT)
    table = _read_answers(folder / answers.file, answers, columns(result.signature.measures))
    return Run(result, table, Tables(folder, answers))


def _no_single_run(folder: Path) -> RunError:
    """The error for a path that is not a run, which may hold several."""
    inside = [path for path in runs_within(folder) if path != folder]
    if inside:
        names = ", ".join(str(run.relative_to(folder)) for run in inside[:_MOST_NAMED])
        return RunError(
            f"{folder} is not a run, but holds {counted(len(inside), 'runs')}: name one of them, as {names}"
        )
    lacks = "" if (folder / RESULT).is_file() else f"{RESULT} and "
    return no_run(folder, f"has no {lacks}{SCORES.file}, or another table of answers")


def runs_within(folder: Path, deep: int = _DEEP) -> Iterator[Path]:
    """The runs in a folder and the folders in it, by name; a folder whose name begins with a dot is not read."""
    if (folder / RESULT).is_file():
        yield folder
    elif deep and folder.is_dir():
        for path in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
            yield from runs_within(path, deep - 1)


def no_run(folder: Path, lacks: str) -> RunError:
    """The error for a path that is not a run; ``lacks`` says what a folder lacks."""
    what = lacks if folder.is_dir() else "is a file" if folder.exists() else "does not exist"
    return RunError(f"{folder} is not a run: it {what}; make one with holisticbias evaluate")


def read_signature(folder: Path) -> Signature:
    """Read the signature of the run in a folder; ``RunError`` if it is damaged."""
    return read_record(folder / RESULT, _Signed, RunError).signature


def read_result(path: Path) -> Result:
    """Read the result of a run; ``RunError`` if it is damaged, or if a number is not finite: none is written so."""
    result = read_record(path, Result, RunError)
    for figure in result.figures:
        if not figure.is_finite:
            raise RunError(f"{path} is damaged: a number of the figure {figure.name} is not finite")
    return result


def _read_answers(path: Path, answers: AnswerFile, columns: Sequence[str] | None) -> pa.Table:
    with refuse_unreadable(path, RunError):
        file = check_parquet(path)
        table = file.read(_answer_columns(file, answers, columns))
    if problem := missing_problem(table, answers.of(file.schema.names).filled):
        raise RunError(f"{path}: {problem}; evaluate again")
    return table


def _answer_columns(file: BoundedFile, answers: AnswerFile, wanted: Sequence[str] | None) -> list[str]:
    """The columns of a table of answers, or those of them that are wanted; ``RunError`` if it lacks one."""
    path, schema = file.path, file.schema
    names: list[str] = schema.names
    for name in answers.of(names).columns:
        if name not in names:
            raise RunError(f"{path} has no column {name}: it is not a run's table of {answers.name}; evaluate again")
    if problem := type_problem(schema):
        raise RunError(f"{path}: {problem}; evaluate again")
    return names if wanted is None else [name for name in names if name in wanted]
