"""The model card of a mitigated model: what was done, what validation and measures found, and what it does not say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.mitigation.record import Mitigation
from holisticbias_eval.report.units import show
from holisticbias_eval.results.run import is_run, read_run

CARD = "README.md"
_MOST = 40


def model_card(record: Mitigation, before: Path | None, after: Path | None) -> str:
    """The text of ``README.md``; ``before`` and ``after`` are folders of runs, null if nothing was measured.

    Names that come from a user are written as JSON strings, so that they cannot end a line or a cell.
    """
    return "\n".join(
        [
            "---",
            f"base_model: {json.dumps(record.base_model.name)}",
            "library_name: transformers",
            "tags: [bias-mitigation]",
            "---",
            "",
            f"# {_plain(record.base_model.name)} after {record.title}",
            "",
            *_what_was_done(record),
            "",
            *_validation(record),
            *(_measured(before, after) if before and after else ()),
            *_limits(record),
            "",
        ]
    )


def _what_was_done(record: Mitigation) -> Iterator[str]:
    trained, model, point = record.trained_on, record.base_model, record.point
    yield (
        f"Made from `{_plain(model.name)}` (revision {model.revision or 'not recorded'}, weights SHA-256 "
        f"`{model.weights_sha256}`) by {record.title}, {record.source}: trained on {trained.texts:,} texts of "
        f"`{_plain(trained.name)}`, {point.steps:,} steps; the state of step {point.kept:,} was kept."
    )
    if record.specification is not None:
        chosen = record.specification
        yield ""
        yield (
            f"Specification `{chosen.id}`: groups in the training {_list(chosen.groups)}; "
            f"held out {_list(chosen.held_out) or 'none'}."
        )
    if record.control:
        yield ""
        yield f"At generation, put `{_plain(record.control)}` at the end of the context."
    yield ""
    yield "`mitigation.json` has everything that the weights depend on."


def _validation(record: Mitigation) -> Iterator[str]:
    point = record.point
    yield "## Validation"
    yield ""
    yield "| | before | after |"
    yield "| --- | --- | --- |"
    if record.f_before is not None or point.f is not None:
        yield f"| F of log-perplexities over groups | {show(record.f_before, '')} | {show(point.f, '')} |"
    before, after = (show(value, "perplexity") for value in (record.perplexity_before, point.perplexity))
    yield f"| Perplexity of validation texts | {before} | {after} |"
    yield ""
    yield "Validation texts chose the state of the training, so these figures look better than those of other texts."
    yield ""


def _measured(before: Path, after: Path) -> Iterator[str]:
    rows = list(_pairs(before, after))
    yield "## Measured"
    yield ""
    yield "| measure | figure | before | after |"
    yield "| --- | --- | --- | --- |"
    for measure, figure, first, second in rows[:_MOST]:
        named = ", ".join(_plain(value) for value in figure.keys.values())
        yield f"| {measure} | {figure.name} {named} | {show(first, figure.unit)} | {show(second, figure.unit)} |"
    yield ""
    more = f" {len(rows) - _MOST:,} more figures are there." if len(rows) > _MOST else ""
    yield f"`report.html` and the runs in `measured/` have intervals and all other figures.{more}"
    yield ""


def _pairs(before: Path, after: Path) -> Iterator[tuple[str, Figure, float | None, float | None]]:
    """The headline figures that both folders have."""
    for folder in sorted(path for path in after.iterdir() if is_run(path) and is_run(before / path.name)):
        first, second = (read_run(run).result for run in (before / folder.name, folder))
        for name in second.signature.measures:
            earlier = _by_keys(MEASURES[name].info.headlines(Figures(first.figures)))
            for figure in MEASURES[name].info.headlines(Figures(second.figures)):
                yield name, figure, earlier.get(_key(figure)), figure.value


def _by_keys(figures: Sequence[Figure]) -> Mapping[tuple[str, ...], float | None]:
    return {_key(figure): figure.value for figure in figures}


def _key(figure: Figure) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in sorted(figure.keys.items()))


def _limits(record: Mitigation) -> Iterator[str]:
    yield "## Limits"
    yield ""
    groups = "the groups above" if record.specification else "the sentences of the release"
    yield (
        f"The figures are about {groups}, these sentences and this language alone. They do not say that the model is "
        "fair, or what it does elsewhere: read what the mitigation cost, and measure the model on your own task. The "
        "licence is that of the base model and of the texts that it was trained on: see both. `measured/` holds the "
        "measured sentences; leave it out if you may not publish them."
    )


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _plain(text: str) -> str:
    """A user's text in one line of Markdown."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|").replace("<", "&lt;")
