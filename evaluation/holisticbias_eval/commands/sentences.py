"""``holisticbias stereotypes sentences``: make or import test sentences for bias specifications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH, out_folder
from holisticbias_eval.options import given_settings, settings_command

if TYPE_CHECKING:
    from holisticbias_eval.settings import Uses
    from holisticbias_eval.stereotypes.record import Returned, SentencesRecord

_SHOWN = 8


def uses() -> Uses:
    """The settings that making sentences and importing them use."""
    from holisticbias_eval.models.settings import ModelSettings, keeping_uses, responding_uses
    from holisticbias_eval.settings import Use
    from holisticbias_eval.stereotypes.settings import CHAT_JUDGE, JUDGED, WEIGHTS, AcceptanceSettings, RequestSettings

    judging = (
        *AcceptanceSettings.uses(),
        Use(ModelSettings, (CHAT_JUDGE,), ("api_base",)),
        Use(ModelSettings, (WEIGHTS,), ("device",)),
    )
    wanted = Use(RequestSettings, fields=("per_attribute", "per_group"))
    return {
        "--generator": (*responding_uses(), *RequestSettings.uses(), *judging),
        "--import": (wanted, *judging, *keeping_uses(JUDGED)),
    }


@settings_command(
    "Make or import test sentences for bias specifications.",
    "stereotypes.settings:RequestSettings stereotypes.settings:AcceptanceSettings Keeping",
    uses="commands.sentences:uses",
)
@click.option(
    "--specification",
    "specifications",
    multiple=True,
    metavar="NAME|FILE",
    help="Specification by id, by the end of its id or by its published name, or a file; may be repeated.",
)
@click.option(
    "--generator",
    metavar="ID|FOLDER|FILE",
    help="Language model that writes the sentences: a folder, a GGUF file or a Hugging Face Hub repository. "
    "Default for the specifications calibration and calibration-control: embedded-writer.",
)
@click.option(
    "--import",
    "imported",
    type=PATH,
    help="Read sentences instead: a table with the columns sentence, attribute and group term, or a gen_csv, "
    "gen_pairs_csv or gen_json file of the published code.",
)
@out_folder
@click.option("--overwrite", is_flag=True, help="Replace other sentences in the folder.")
@click.option("--release", "version", metavar="VERSION", help="Version of the specifications. Default: the newest.")
def command(
    specifications: tuple[str, ...], generator: str | None, imported: Path | None, out: Path, overwrite: bool,
    version: str | None, **_: Any,
) -> int:  # fmt: skip
    """Let a model write sentences with a group's term and an attribute, and keep the sentences that pass the rules.

    Each attribute is asked for until it has enough sentences, with another term each time. The folder holds
    sentences.parquet, requests.parquet with every returned text and the rule that refused it, and sentences.json with
    yield and quality. An interrupted run continues with the same command. Exit code 1: no sentence was accepted.
    """
    from holisticbias_eval.models.embedded import WRITER
    from holisticbias_eval.progress import Display
    from holisticbias_eval.settings import refuse_unused
    from holisticbias_eval.stereotypes.sentences import import_sentences, make_sentences, read_options
    from holisticbias_eval.stereotypes.specifications import calibration_model, read_specifications

    display, values = Display(), given_settings()
    is_local = values.get("engine") != "api"
    if generator is None and imported is None and is_local and specifications:
        named = [specification.id for specification in read_specifications(specifications, version)]
        generator = WRITER if calibration_model(named) == WRITER else None
    if (generator is None) == (imported is None):
        raise click.UsageError("give either --generator, a model, or --import, a file of sentences")
    if generator is not None and not specifications:
        raise click.UsageError(
            "--generator needs --specification: `holisticbias stereotypes specifications` lists them"
        )
    refuse_unused(values, uses(), ["--generator" if imported is None else "--import"])
    options = read_options(values, version, display)
    if imported is not None:
        made = import_sentences(imported, specifications, options, out, display=display, overwrite=overwrite)
    else:
        made = make_sentences(specifications, generator, options, out, display=display, overwrite=overwrite)
    _print(*made, options.requests.requests)
    write(f"Sentences: {out / 'sentences.parquet'}")
    return 0 if made[0].accepted else 1


def _print(record: SentencesRecord, accepted: Sequence[Returned], most: int) -> None:
    """Print some sentences, the yield, the quality and the attributes that lack sentences."""
    from holisticbias_eval.stereotypes.quality import counts_in_words, quality_table, refusal_table, unreached_lines
    from holisticbias_eval.units import printable

    for row in accepted[:_SHOWN]:
        write(f"{row.term}, {row.attribute}: {printable(row.sentence or '')[:200]}")
    for lines in (refusal_table(record), quality_table(record), unreached_lines(record, most)):
        write("\n".join(lines), nl=bool(lines))
    write(counts_in_words(record))
