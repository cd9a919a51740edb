"""The model card of a mitigated model: what was done, what validation and measures found, and what it does not say."""

import json
from collections.abc import Iterator
from pathlib import Path

from holisticbias.terminal import counted
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.mitigation.record import Mitigation
from holisticbias_eval.results.run import is_run, read_run
from holisticbias_eval.units import show, title

CARD = "README.md"
_MOST = 40
_LIMITS = (
    "The figures are about {}, these sentences and this language alone. They do not say that the model is "
    "fair, or what it does elsewhere: read what the mitigation cost, and measure the model on your own task. The "
    "licence is that of the base model and of the texts that it was trained on: see both. `measured/` holds the "
    "measured sentences; leave it out if you may not publish them."
)


def model_card(record: Mitigation, before: Path | None, after: Path | None) -> str:
    """The text of ``README.md``; ``before`` and ``after`` are folders of runs, null if nothing was measured.

    Names that come from a user are written as JSON strings, so that they cannot end a line or a cell.
    """
    trained, model, point, chosen = record.trained_on, record.base_model, record.point, record.specification
    about = (f"base_model: {json.dumps(model.name)}", "library_name: transformers", "tags: [bias-mitigation]")
    paragraphs = [
        "\n".join(("---", *about, "---")),
        f"# {_plain(model.name)} after {record.title}",
        f"Made from `{_plain(model.name)}` (revision {model.revision or 'not recorded'}, weights SHA-256 "
        f"`{model.weights_sha256}`) by {record.title}, {record.source}: trained on {trained.texts:,} texts of "
        f"`{_plain(trained.name)}`, {point.steps:,} steps; the state of step {point.kept:,} was kept.",
    ]
    if chosen is not None:
        paragraphs.append(
            f"Specification `{chosen.id}`: groups in the training {', '.join(chosen.groups)}; "
            f"held out {', '.join(chosen.held_out) or 'none'}."
        )
    if record.control:
        paragraphs.append(f"At generation, put `{_plain(record.control)}` at the end of the context.")
    rows: list[tuple[str, ...]] = []
    if record.f_before is not None or point.f is not None:
        rows.append(("F of log-perplexities over groups", show(record.f_before, ""), show(point.f, "")))
    perplexities = (show(value, "perplexity") for value in (record.perplexity_before, point.perplexity))
    rows.append(("Perplexity of validation texts", *perplexities))
    paragraphs += [
        "`mitigation.json` has everything that the weights depend on.",
        "## Validation",
        _table(("", "before", "after"), rows),
        "Validation texts chose the state of the training, so these figures look better than those of other texts.",
    ]
    if before and after:
        paragraphs += _measured(before, after)
    groups = "the groups above" if chosen else "the sentences of the release"
    return "\n\n".join([*paragraphs, "## Limits", _LIMITS.format(groups)]) + "\n"


def _measured(before: Path, after: Path) -> Iterator[str]:
    """The headline figures that both folders have."""
    rows: list[tuple[str, ...]] = []
    for folder in sorted(path for path in after.iterdir() if is_run(path) and is_run(before / path.name)):
        first, second = (read_run(run).result for run in (before / folder.name, folder))
        for measure in second.signature.measures:
            info = MEASURES[measure].info
            earlier, later = (info.headlines(Figures(run.figures)) for run in (first, second))
            known = {_key(figure): figure.value for figure in earlier}
            for figure in later:
                named = ", ".join(map(_plain, figure.keys.values()))
                values = (show(value, figure.unit) for value in (known.get(_key(figure)), figure.value))
                name = info.names.get(figure.name, title(figure.name))
                rows.append((info.title, ": ".join(filter(None, (name, named))), *values))
    yield "## Measured"
    yield _table(("measure", "figure", "before", "after"), rows[:_MOST])
    more = f": {counted(len(rows) - _MOST, 'more figures')}" if len(rows) > _MOST else ""
    yield f"`report.html` and the runs in `measured/` have intervals and all other figures{more}."


def _key(figure: Figure) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(figure.keys.items()))


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def _plain(text: str) -> str:
    """A user's text in one line of Markdown."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|").replace("<", "&lt;")
