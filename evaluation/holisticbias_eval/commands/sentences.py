"""``holisticbias stereotypes sentences``: make or import test sentences for bias specifications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias.terminal import write
from holisticbias_eval.options import SettingsCommand, given_settings, option_group

if TYPE_CHECKING:
    from holisticbias_eval.progress import Display
    from holisticbias_eval.settings import Uses
    from holisticbias_eval.stereotypes.rounds import Judging
    from holisticbias_eval.stereotypes.sentences import MadeSentences, SentenceOptions

_SHOWN = 8

requests = option_group(
    "Requests",
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of terms and sentences."),
    click.option(
        "--ask",
        type=click.Choice(["auto", "text", "chat", "list"]),
        default="auto",
        show_default=True,
        help="How a sentence is asked for: as the continuation of a text, as a reply in the model's chat template, or "
        "as a JSON list of sentences from a chat server. auto: list for --engine api, else text.",
    ),
    click.option("--samples", type=click.IntRange(1, 100), default=5, show_default=True, help="Sentences per request."),
    click.option(
        "--per-attribute",
        type=click.IntRange(1),
        default=2,
        show_default=True,
        help="Sentences wanted for each attribute; all that a request gives are kept.",
    ),
    click.option(
        "--per-group", type=click.IntRange(0), default=0, show_default=True, help="Of these, at least so many a group."
    ),
    click.option(
        "--requests", type=click.IntRange(1), default=40, show_default=True, help="Most requests for an attribute."
    ),
    click.option(
        "--shots", metavar="NAME|FILE", default="fixed", show_default=True, help="Example sentences in each request."
    ),
    click.option(
        "--nearest",
        type=click.IntRange(0),
        metavar="K",
        help="Put the K examples into a request whose keywords are most similar to its terms; 0 puts all. Default: 5 "
        "if the file has more than 5.",
    ),
    click.option(
        "--vectors",
        type=click.Path(path_type=Path),
        help="Word vectors for the similarity, in GloVe's text form. Default: the generator's input embeddings.",
    ),
    click.option(
        "--decoding",
        metavar="NAME|FILE",
        help="How the next token is chosen. Default: autobiastest, and autobiastest-list for lists.",
    ),
)
acceptance = option_group(
    "Acceptance",
    click.option(
        "--rules",
        default="all",
        show_default=True,
        metavar="all|none|ID,ID...",
        help="Rules that a sentence must pass; see docs/stereotypes.md.",
    ),
    click.option(
        "--least-words", type=click.IntRange(1), default=3, show_default=True, help="Words of the shortest sentence."
    ),
    click.option(
        "--most-words", type=click.IntRange(1), default=40, show_default=True, help="Words of the longest sentence."
    ),
    click.option(
        "--classifier",
        "classifiers",
        multiple=True,
        metavar="NAME|FILE[=LABEL,...]",
        help="Refuse sentences that have one of these labels. Default label: the one that the card calls offensive.",
    ),
)


def _uses() -> Uses:
    from holisticbias_eval.models.settings import of_model, responding_uses

    return {"sentences": (*responding_uses(), of_model("api_base"))}  # a classifier may ask the server too


@click.command(
    cls=SettingsCommand,
    shown=("Keeping",),
    uses=_uses,
    short_help="Make or import test sentences for bias specifications.",
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
    type=click.Path(path_type=Path),
    help="Read sentences instead: a table with the columns sentence, attribute and group term, or a gen_csv, "
    "gen_pairs_csv or gen_json file of the published code.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--overwrite", is_flag=True, help="Replace other sentences in the folder.")
@click.option("--release", "version", metavar="VERSION", help="Version of the specifications. Default: the newest.")
@requests
@acceptance
def command(
    specifications: tuple[str, ...],
    generator: str | None,
    imported: Path | None,
    out: Path,
    overwrite: bool,
    **given: Any,
) -> int:
    """Let a model write sentences with a group's term and an attribute, and keep the sentences that pass the rules.

    Each attribute is asked for until it has enough sentences, with another term each time. The folder holds
    sentences.parquet, requests.parquet with every returned text and the rule that refused it, and sentences.json with
    yield and quality. An interrupted run continues with the same command. Exit code 1: no sentence was accepted.
    """
    from rich.console import Console

    from holisticbias_eval.models.embedded import WRITER
    from holisticbias_eval.progress import Display
    from holisticbias_eval.settings import refuse_unused
    from holisticbias_eval.stereotypes.sentences import import_sentences, make_sentences
    from holisticbias_eval.stereotypes.specifications import calibration_model

    if generator is None and imported is None and calibration_model(specifications) == WRITER:
        generator = WRITER
    if (generator is None) == (imported is None):
        raise click.UsageError("give either --generator, a model, or --import, a file of sentences")
    if generator is not None and not specifications:
        raise click.UsageError(
            "--generator needs --specification: `holisticbias stereotypes specifications` lists them"
        )
    refuse_unused(given_settings(), _uses(), ["sentences"])
    display = Display(Console(stderr=True))
    options = _read_options(given, display)
    if imported is not None:
        made = import_sentences(imported, specifications, options, out, display=display, overwrite=overwrite)
    else:
        made = make_sentences(specifications, generator, options, out, display=display, overwrite=overwrite)
    return _print(made, given["requests"])


def _read_options(given: dict[str, Any], display: Display) -> SentenceOptions:
    from holisticbias_eval.models.settings import ModelSettings
    from holisticbias_eval.models.store.shards import default_folder
    from holisticbias_eval.settings import read_settings
    from holisticbias_eval.stereotypes.rounds import Asking
    from holisticbias_eval.stereotypes.sentences import SentenceOptions

    return SentenceOptions(
        asking=Asking(
            seed=given["seed"],
            samples=given["samples"],
            wanted=given["per_attribute"],
            per_group=given["per_group"],
            most=given["requests"],
        ),
        judging=_read_judging(given, display),
        form=given["ask"],
        shots=given["shots"],
        nearest=given["nearest"],
        vectors=given["vectors"],
        decoding=given["decoding"],
        engine=read_settings(ModelSettings, given_settings()),
        store=None if given["no_store"] else given["store"] or default_folder("responses"),
        version=given["version"],
    )


def _read_judging(given: dict[str, Any], display: Display) -> Judging:
    from holisticbias_eval.models.store.shards import default_folder
    from holisticbias_eval.readers.judging import JudgingOptions
    from holisticbias_eval.stereotypes.acceptance import Limits, select_rules, start_label_rules
    from holisticbias_eval.stereotypes.rounds import Judging

    if given["least_words"] > given["most_words"]:
        raise click.UsageError("--least-words must not exceed --most-words")
    labels = None if given["no_store"] else default_folder("labels")
    options = JudgingOptions(device=given["device"] or "auto", store=labels, api_base=given["api_base"])
    classifiers = tuple(start_label_rules(name, options, display) for name in given["classifiers"])
    return Judging(select_rules(given["rules"]), classifiers, Limits(given["least_words"], given["most_words"]))


def _print(made: MadeSentences, most: int) -> int:
    """Print some sentences, the yield, the quality and the attributes that lack sentences; return the exit code."""
    from holisticbias_eval.report.units import printable
    from holisticbias_eval.stereotypes.quality import (
        counts_in_words,
        quality_table,
        refusal_table,
        unreached_lines,
    )

    for row in made.accepted[:_SHOWN]:
        write(f"{row.term}, {row.attribute}: {printable(row.sentence or '')[:200]}")
    for lines in (refusal_table(made.record), quality_table(made.record), unreached_lines(made.record, most)):
        write("\n".join(lines), nl=bool(lines))
    write(counts_in_words(made.record))
    write(f"Sentences: {made.folder / 'sentences.parquet'}")
    return 0 if made.record.accepted else 1
