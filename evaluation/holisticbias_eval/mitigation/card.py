"""The model card of a mitigated model: what was done, what validation and measures found, and what it does not say."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from holisticbias.terminal import counted
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.mitigation.record import Mitigation
from holisticbias_eval.results.run import is_run, read_run
from holisticbias_eval.units import show, title

CARD = "README.md"
_MOST = 40


def model_card(record: Mitigation, before: Path | None, after: Path | None) -> str:
    """The text of ``README.md``; ``before`` and ``after`` are folders of runs, null if nothing was measured.

    Names that come from a user are written as JSON strings, so that they cannot end a line or a cell.
    """
    rows = list(_measured(before, after)) if before and after else []
    more = counted(len(rows) - _MOST, "more figures") if len(rows) > _MOST else ""
    card = _environment().get_template("card.md.jinja")
    return card.render(record=record, measured=bool(before and after), rows=rows[:_MOST], more=more) + "\n"


def _measured(before: Path, after: Path) -> Iterator[tuple[str, ...]]:
    """The headline figures that both folders have."""
    for folder in sorted(path for path in after.iterdir() if is_run(path) and is_run(before / path.name)):
        first, second = (read_run(run).result for run in (before / folder.name, folder))
        earlier = Figures(first.figures)
        for info in (MEASURES[measure].info for measure in second.signature.measures):
            for figure in info.headlines(Figures(second.figures)):
                named = ", ".join(map(_plain, figure.keys.values()))
                values = (earlier.value(info.name, figure.name, figure.keys), figure.value)
                name = info.names.get(figure.name, title(figure.name))
                of = ": ".join(filter(None, (name, named)))
                yield (info.title, of, *(show(value, figure.unit) for value in values))


def _plain(text: str) -> str:
    """A user's text in one line of Markdown."""
    return " ".join(text.split()).replace("`", "'").replace("|", "\\|").replace("<", "&lt;")


@cache
def _environment() -> Environment:
    environment = Environment(  # noqa: S701 - Markdown, in which a user's texts are plain
        loader=PackageLoader("holisticbias_eval.mitigation"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(plain=_plain, shown=show, json=json.dumps, thousands=lambda number: f"{number:,}")
    return environment
