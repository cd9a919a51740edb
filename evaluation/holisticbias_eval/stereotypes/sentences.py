"""Make or import the test sentences of bias specifications, and write them to a folder with their log."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow.parquet as pq

from holisticbias.inputs import file_sha256
from holisticbias.output import new_folder, refuse_target, resumed_folder
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.engines import start_generator, stored
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.machine import machine, package_versions
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.store.shards import find_store
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import JudgingOptions
from holisticbias_eval.records import record_json
from holisticbias_eval.settings import Keeping, Values, read_settings
from holisticbias_eval.stereotypes.few_shot import FILES as SHOTS
from holisticbias_eval.stereotypes.few_shot import NEAREST, Shots, list_format, read_word_vectors
from holisticbias_eval.stereotypes.imported import find_specifications, judge_imported, place_sentences, read_sentences
from holisticbias_eval.stereotypes.quality import AskedSentence, fill_templates, quality_figures, syllable_counter
from holisticbias_eval.stereotypes.record import (
    RECORD,
    SENTENCES,
    Returned,
    SentencesRecord,
    SpecificationRecord,
    read_rounds,
    sentences_table,
    with_counts,
    write_log,
)
from holisticbias_eval.stereotypes.rounds import SentenceJudging, Wanted, run_rounds, start_judging
from holisticbias_eval.stereotypes.settings import AcceptanceSettings, RequestForm, RequestSettings
from holisticbias_eval.stereotypes.specifications import read_specifications, refuse_stems, specification_digest
from holisticbias_eval.stereotypes.targets import Target, all_terms, asked_targets, group_terms, targets

_DECODINGS: Mapping[RequestForm, str] = {"text": "autobiastest", "chat": "autobiastest", "list": "autobiastest-list"}
_OWN_VECTORS = "the generator's input embeddings"


MadeSentences = tuple[SentencesRecord, Sequence[Returned]]
"""The record of a folder of sentences, and the accepted rows of its log."""


@dataclass(frozen=True)
class SentenceOptions:
    """Settings of making sentences.

    ``store`` keeps responses between runs, and ``version`` is that of the specifications, null for the newest.
    """

    requests: RequestSettings
    judging: SentenceJudging
    engine: ModelSettings
    store: Path | None
    version: str | None


def read_options(values: Values, version: str | None, display: Display) -> SentenceOptions:
    """Read the settings that a user gave, and start the classifiers among the rules."""
    engine, keeping = read_settings(ModelSettings, values), read_settings(Keeping, values)
    classifying = JudgingOptions(device=engine.device, store=find_store(keeping, "labels"), api_base=engine.api_base)
    judging = start_judging(read_settings(AcceptanceSettings, values), classifying, display)
    requests = read_settings(RequestSettings, values)
    return SentenceOptions(requests, judging, engine, find_store(keeping, "responses"), version)


def make_sentences(
    names: Sequence[str],
    model: str | None,
    options: SentenceOptions,
    out: Path,
    *,
    display: Display,
    overwrite: bool,
) -> MadeSentences:
    """Let a generator write sentences for each attribute, and write the accepted sentences.

    Attributes that no group's stereotype has are not asked for, see ``asked_targets``.
    An interrupted run leaves its log beside the folder; the same call continues it. Raises ``EvaluationError``.
    """
    specifications = read_specifications(names, options.version)
    attributes = _wanted(specifications, asked_targets)
    for specification in specifications:
        if count := len(targets(specification)) - len(asked_targets(specification)):
            display.notice(
                f"{specification.id}: {count:,} attributes are of no group's stereotype and are not asked for, because "
                "no pair with them can be scored"
            )
    form = _form(options)
    settings = options.requests.model_copy(update={"ask": form})
    shots = _open_shots(settings)
    generator = _open_generator(model, form, options, display)
    shots = _with_vectors(shots, generator)
    recorded = {**settings.recorded, **shots.settings, **generator.settings}
    record = _record("generated", generator.identity.name, specifications, recorded, options.judging)
    record = record.model_copy(update={"model": generator.identity})
    plan = json.dumps({name: str(value) for name, value in record.asked.items()})
    with resumed_folder(out, plan, partial(_may_replace, record, overwrite)) as folder:
        keep = partial(write_log, folder=folder)
        judging, earlier = options.judging, read_rounds(folder)
        rows = run_rounds(attributes, generator, shots, settings, judging, earlier, keep, display)
        with display.step("Measuring the quality of the sentences"):
            return _write(record, rows, attributes, specifications, settings, folder)


def import_sentences(
    path: Path,
    names: Sequence[str],
    options: SentenceOptions,
    out: Path,
    *,
    display: Display,
    overwrite: bool,
) -> MadeSentences:
    """Judge the sentences of a file by the rules, and write the accepted ones; see ``read_sentences``.

    Without names, the names in the file find the specifications. Raises ``EvaluationError``.
    """
    with display.step(f"Reading {path}"):
        sentences = read_sentences(path)
        version = options.version
        chosen = read_specifications(names, version) if names else find_specifications(path, sentences, version)
        placed = place_sentences(path, sentences, chosen)
    if left := len(sentences) - len(placed):
        display.notice(f"{left:,} of {len(sentences):,} sentences are of other specifications and are left out")
    attributes = _wanted(chosen, targets)
    settings = {"imported": path.name, "imported_sha256": file_sha256(path)}
    record = _record("imported", path.name, chosen, settings, options.judging)
    may = partial(_may_replace, record, overwrite)
    refuse_target(out, may, [path])
    with new_folder(out, may) as folder, display.step("Judging the sentences"):
        rows = judge_imported(placed, attributes, options.judging)
        return _write(record, rows, attributes, chosen, options.requests, folder)


def _wanted(
    specifications: Sequence[Specification], targets_of: Callable[[Specification], Sequence[Target]]
) -> list[Wanted]:
    """Every wanted attribute of every specification, without sentences."""
    refuse_stems(specifications)
    attributes = []
    for specification in specifications:
        terms, every = group_terms(specification), all_terms(specification)
        attributes += [Wanted(target, terms, every) for target in targets_of(specification)]
    return attributes


def _form(options: SentenceOptions) -> RequestForm:
    engine, ask = options.engine, options.requests.ask
    is_chat = engine.engine == "api" and engine.api_endpoint == "chat"
    if ask == "auto":
        return "list" if is_chat else "text"
    if ask == "text" and is_chat:
        raise EvaluationError("--ask text continues a text: add --api-endpoint completions, or use --ask list")
    if ask == "list" and engine.engine != "api":
        raise EvaluationError("--ask list is for --engine api: use --ask text or --ask chat for a model of your own")
    return ask


def _open_generator(model: str | None, form: RequestForm, options: SentenceOptions, display: Display) -> Generator:
    named = options.requests.decoding
    decoding = DECODINGS.read(_DECODINGS[form] if named is None else named)
    engine = options.engine
    response_format = list_format(options.requests.samples) if form == "list" else None
    conversation = ConversationOptions()
    if form == "text":
        conversation = ConversationOptions(chat="auto" if engine.engine == "api" else "off", continuation="{prompt}")
    elif engine.engine != "api":
        conversation = ConversationOptions(chat="on")
    with display.step(f"Loading generator {model}"):
        generator = start_generator(
            model, display.notice, decoding, options.requests.seed, conversation, engine, response_format
        )
    return stored(generator, options.store, display.notice)


def _open_shots(settings: RequestSettings) -> Shots:
    """The examples, with the word vectors of a file; raises ``EvaluationError`` if none are to be chosen by these."""
    file = SHOTS.read(settings.shots)
    nearest = settings.nearest if settings.nearest is not None else NEAREST if len(file.shots) > NEAREST else 0
    path = settings.vectors
    if path is None:
        return Shots(file, nearest)
    if not nearest:
        raise EvaluationError("--vectors is for runs with --nearest: here it has no effect, so leave it out")
    digest = file_sha256(path) if path.is_file() else ""
    return Shots(file, nearest, read_word_vectors(path), f"{path.name}, SHA-256 {digest}")


def _with_vectors(shots: Shots, generator: Generator) -> Shots:
    """The examples with vectors if some are to be chosen, by default the generator's; raises ``EvaluationError``."""
    if not shots.nearest or shots.vectors is not None:
        return shots
    if generator.vectors([]) is None:
        raise EvaluationError(
            "the generator has no embeddings to choose examples by: give word vectors with --vectors, "
            "or put all examples into each request with --nearest 0"
        )
    return replace(shots, vectors=generator.vectors, about=_OWN_VECTORS)


def _record(
    source: Literal["generated", "imported"],
    generator: str,
    specifications: Sequence[Specification],
    settings: Mapping[str, str],
    judging: SentenceJudging,
) -> SentencesRecord:
    signed = [SpecificationRecord(id=s.id, title=s.text, sha256=specification_digest(s)) for s in specifications]
    return SentencesRecord(
        source=source,
        generator=generator,
        model=None,
        specifications=tuple(signed),
        settings={**judging.settings, **settings, "syllables": syllable_counter()},
        classifiers={rules.judge.card.id: dict(rules.settings) for rules in judging.classifiers},
        versions=package_versions(),
        machine=machine(),
    )


def _write(
    record: SentencesRecord,
    rows: Sequence[Returned],
    attributes: Sequence[Wanted],
    specifications: Sequence[Specification],
    settings: RequestSettings,
    folder: Path,
) -> MadeSentences:
    """Write the files; the record has the counts, and the quality of sentences and of templates."""
    counted = with_counts(record, rows, {wanted.target: wanted.has_enough(settings) for wanted in attributes})
    read = [(row, AskedSentence(row.sentence, row.term, row.attribute)) for row in rows if row.sentence is not None]
    kept = [asked for row, asked in read if row.accepted and row.sentence]
    figures = [*counted.figures, *quality_figures(record.source, [asked for _, asked in read], kept)]
    templates = [filled for specification in specifications for filled in fill_templates(specification)]
    if templates:
        figures += quality_figures("template", templates, templates)
    finished = counted.model_copy(update={"figures": tuple(figures)})
    pq.write_table(sentences_table(rows, record.generator, record.source), folder / SENTENCES, compression="zstd")
    write_log(rows, folder)
    (folder / RECORD).write_text(record_json(finished), "utf-8")
    return finished, [row for row in rows if row.accepted]


def _may_replace(record: SentencesRecord, overwrite: bool, folder: Path) -> bool:
    return record.may_replace(folder / RECORD, "other sentences", overwrite=overwrite)
