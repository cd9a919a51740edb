"""``holisticbias corpus retrieve``: find sentences about groups in texts that people wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import counted, write
from holisticbias_eval.commands.shared import PATH, refuse_missing_packages, specification_option
from holisticbias_eval.options import read_own, settings_command

if TYPE_CHECKING:
    from holisticbias_eval.corpus.settings import RetrievalSettings


@settings_command("Find sentences about groups in texts that people wrote.", "corpus.settings:RetrievalSettings")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|FOLDER|hub:OWNER/NAME...")
@specification_option
@click.option("--out", type=PATH, required=True, help="Table to write (.parquet, .csv, .jsonl).")
def command(sources: tuple[str, ...], specification: str, out: Path, **_: Any) -> None:
    """Write a table of sentences that mention a group and an attribute of a specification.

    Sources are text files (a document on each line), JSON lines or arrays, also compressed (.zst, .gz, .bz2, .xz),
    folders of such files, and datasets of the Hugging Face Hub as hub:OWNER/NAME[:CONFIG][:SPLIT]. Each is read once,
    in bounded memory. A sentence is a group's term with the words around it, cleaned and in lower case (Zhao et al.
    2024); it must mention an attribute, and no other group. `annotate` and `split` read the table.

    The right to use and share the texts, and the wishes of their authors, are yours to respect: see docs/corpora.md.
    """
    needed = ["datasets"] if any(source.startswith("hub:") for source in sources) else []
    refuse_missing_packages("corpus", "emoji", "zstandard", *needed)
    from holisticbias_eval.corpus.retrieving import retrieve_examples
    from holisticbias_eval.corpus.settings import RetrievalSettings
    from holisticbias_eval.progress import Display

    settings = read_own(RetrievalSettings)
    record = retrieve_examples(sources, specification, out, settings, Display())
    _print(record, settings)
    total = sum(counts["kept"] for counts in record["groups"].values())
    write(f"{counted(total, 'sentences')}: {out}")


def _print(record: Mapping[str, Any], settings: RetrievalSettings) -> None:
    """Print the sentences of each group, what was left out, and what to know before using the table."""
    from holisticbias_eval.units import printable

    documents = record["documents"]
    write(f"  {'sentences':<28} {'found':>10} {'kept':>10}")
    for group, counts in record["groups"].items():
        write(f"  {printable(group)[:28]:<28} {counts['found']:>10,} {counts['kept']:>10,}")
    write(f"{documents['read']:,} documents read; {documents['mentioning_a_group']:,} mention a group")
    for why, count in documents["left_out"].items():
        write(f"Left out: {counted(count, 'documents')}: {why}")
    for why, count in record["mentions_left_out"].items():
        write(f"Left out: {counted(count, 'mentions')}: {why}")
    if settings.until and documents["kept_without_a_date"]:
        write(f"Kept: {documents['kept_without_a_date']:,} documents without a date; --dated leaves them out")
    if record["bad_lines"]:
        write(f"Skipped: {record['bad_lines']:,} lines, the first {printable(record['first_bad_line'])}", err=True)
    if record["rows_without_text"]:
        write(f"Skipped: {record['rows_without_text']:,} rows without a text", err=True)
    for damage in record["damaged"]:
        write(f"Not read to the end: {printable(damage)}", err=True)
    missing = [printable(group) for group, counts in record["groups"].items() if not counts["found"]]
    if missing:
        write(f"No sentence was found about: {', '.join(missing)}", err=True)
    write(
        "The texts belong to their authors: check the licence of your sources before you share the table, and leave "
        "out what an author deletes with --without.",
        err=True,
    )
