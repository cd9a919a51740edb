"""Dumps written by hand, and what is collected from them."""

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow.parquet as pq

from holisticbias_eval.collect.collecting import collect
from holisticbias_eval.collect.settings import CollectSettings
from quiet import QUIET

DATA = Path(__file__).parents[2] / "data" / "wiki"
HEAD = (
    '<mediawiki version="0.11"><siteinfo><sitename>Osk</sitename><namespaces>'
    '<namespace key="14">Category</namespace></namespaces></siteinfo>\n'
)
SENTENCE = "A glorbist is a person who folds maps of cloth."
GROUPS = "groups:\n  - {id: osk.trades, text: Trades, domain: profession, pages: {titles: [Glorbist]}}\n"
LISTED = GROUPS.replace("titles: [Glorbist]", "lists: [List of trades]")


def page(title: str, text: str, number: int = 1) -> str:
    """A page of the main namespace, as a dump has it."""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n    <revision>\n"
        f"      <id>{number}</id>\n      <timestamp>2026-01-01T00:00:00Z</timestamp>\n      <model>wikitext</model>\n"
        f'      <text xml:space="preserve">{escape(text)}</text>\n    </revision>\n  </page>\n'
    )


def dump(*pages: str) -> str:
    """A dump of pages."""
    return HEAD + "".join(pages) + "</mediawiki>\n"


def run(
    folder: Path, content: str | bytes, groups: str = GROUPS, name: str = "dump.xml", **options: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Collect from a dump in a folder; returns what was made, and the rows."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "groups.yaml").write_text(groups)
    made = collect(folder / name, str(folder / "groups.yaml"), folder / "out", CollectSettings(**options), QUIET)
    return made, rows(folder / "out")


def rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a folder."""
    found: list[dict[str, Any]] = pq.read_table(folder / "prompts.parquet").to_pylist()
    return found
