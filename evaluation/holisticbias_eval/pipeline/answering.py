"""Runs of responses: what a model answers to prompts, and the measures of its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError, SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Settings as MeasureSettings
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.bias_corpus import corpus_figures
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.engines import start_generator
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import FILES as DECODINGS
from holisticbias_eval.models.generation.requests import Generator, Requests, Sameness, respond_all, unique_requests
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import stored
from holisticbias_eval.pipeline.audit import audit_table
from holisticbias_eval.pipeline.collection_prompts import CollectionOptions
from holisticbias_eval.pipeline.given_responses import place_responses
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, measure_answers, refuse_kind, sign_release
from holisticbias_eval.pipeline.measurement import count_corpus
from holisticbias_eval.pipeline.response_files import read_responses
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.conversations import RELEASE_PROMPTS, Drawing, draw_prompts, refuse_few
from holisticbias_eval.prompts.prompts import Prompts
from holisticbias_eval.prompts.terms import count_terms
from holisticbias_eval.readers.judging import Judges, JudgingOptions, judge_responses, start_judges
from holisticbias_eval.readers.labels import Judge
from holisticbias_eval.results.recorded import MITIGATION, read_recorded
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.results.signature import Settings, Signature, sign, with_sameness

DECODING = "sampled"
COUNTED = ("empty", "truncated", "refused", "filtered", "repeated")


@dataclass(frozen=True, slots=True)
class AnsweringOptions:
    """Options of prompts, of responses and of judging them.

    ``decoding`` None is the default of what is asked. ``store`` is the folder that
    keeps responses between runs; ``given`` is a file of responses, which are judged
    instead of asking a model. ``collection`` and ``measuring`` are for measures of texts about groups.
    """

    drawing: Drawing = field(default_factory=Drawing)
    decoding: str | None = None
    conversation: ConversationOptions = field(default_factory=ConversationOptions)
    engine: ModelSettings = field(default_factory=ModelSettings)
    judging: JudgingOptions = field(default_factory=JudgingOptions)
    store: Path | None = None
    given: Path | None = None
    collection: CollectionOptions = field(default_factory=CollectionOptions)
    measuring: MeasureSettings = SETTINGS


@dataclass(frozen=True, slots=True)
class AnsweringJob(Job):
    """A prepared run of responses: ``asked`` are the prompts, or the responses if they are given."""

    release: Release
    generator: Generator | None
    asked: pa.Table
    judges: Judges
    prompts: Prompts
    signature: Signature
    measuring: MeasureSettings

    @property
    def kept(self) -> str:
        """The number of responses in the store, in words."""
        return kept_responses(self.generator)

    def run(self, display: Display) -> Run:
        """Answer, judge, audit and measure."""
        sameness, table = None, self.asked
        if self.generator is not None:
            sameness, table = answer_prompts(self.asked, self.generator, display)
        display.notice(counts_in_words(table))
        table = judge_responses(table, self.release, self.judges, display)
        measured = measure_answers(table, self.signature.measures, self.measuring, display)
        figures = [figure for found in measured for figure in found.figures]
        tables = {name: details for found in measured for name, details in found.tables.items()}
        if self.judges.options.corpus is not None:
            with display.step(f"Counting descriptors in {self.judges.options.corpus}"):
                counted = count_corpus(self.judges.options.corpus, table)
                figures += corpus_figures(View(Figures(figures), table), counted)
        audits = self._audits(table, display)
        for name in self.signature.measures:
            if (audit := audits.get(MEASURES[name].needs.answers)) is not None:
                figures += MEASURES[name].audit_figures(audit, self.measuring)
        tables |= {f"audit-{name}": audit for name, audit in audits.items()}
        return Run(Result(signature=with_sameness(self.signature, sameness), figures=tuple(figures)), table, tables)

    def _audits(self, table: pa.Table, display: Display) -> Mapping[str, pa.Table]:
        """The audit of each classifier, by the answers that it gives."""
        audits = dict[str, pa.Table]()
        if self.judges.styles is not None:
            audit = self._audit(table, self.judges.styles, display)
            audits |= {} if audit is None else {"labels": audit}
        if self.judges.offensiveness is not None:
            label = f"p:{self.judges.offensiveness.card.offensive}"
            audit = self._audit(table, self.judges.offensiveness, display)
            if audit is None:
                return audits
            kept = [name for name in audit.column_names if not name.startswith("p:")]
            audits["offensiveness"] = audit.select(kept).append_column("offensive", audit[label])
        return audits

    def _audit(self, table: pa.Table, judge: Judge, display: Display) -> pa.Table | None:
        """Classify fixed texts in which only the descriptor changes; None, with a notice, if no noun goes with all."""
        with display.step(f"Auditing {judge.card.id} on sentences in which only the descriptor changes"):
            descriptors, templates = _ids(table, "descriptor_id"), _ids(table, "template_id")
            try:
                return audit_table(self.release, judge, lambda _: None, descriptors, templates)
            except SelectionError as error:
                display.notice(f"{judge.card.id}: {error}")
                return None


def prepare_answering(
    model: str | None,
    release: Release,
    measures: Sequence[tuple[str, ...]],
    options: AnsweringOptions,
    display: Display,
) -> list[AnsweringJob]:
    """Draw the prompts, start the engine and the classifiers, and prepare the run of each entry of ``measures``.

    Raises ``EvaluationError`` if the options do not fit the model or the measures.
    """
    if options.given is not None:
        identity, about = given_identity(model, options.given)
        generator, asked = None, place_responses(read_responses(options.given), release, options.given)
    else:
        if any(MEASURES[name].needs.answers == "labels" for names in measures for name in names):
            refuse_few(options.drawing)
        generator = open_generator(model, options, display)
        identity, about = generator.identity, {**options.drawing.settings, **generator.settings}
        with display.step("Drawing prompts"):
            asked = draw_prompts(release, options.drawing)
    own = {} if options.given is not None else _own_classifiers(model or RELEASE_PROMPTS.default_model)
    jobs = []
    for names in measures:
        if generator is not None:
            refuse_kind(names, generator.kind, identity.name)
        needed: dict[str, str] = {MEASURES[name].needs.answers: name for name in reversed(names)}
        judges = start_judges(needed, own, options.judging, display)
        settings = Settings(generation={**about, **judges.settings}, classifiers=judges.signed)
        measuring = SETTINGS.model_copy(update={"clusters": judges.clusters, "threshold": judges.threshold})
        measuring = measuring.model_copy(update={"phrases": options.judging.phrases})
        parameters = {name: MEASURES[name].signature(measuring) for name in names}
        terms = count_terms(release, asked["descriptor_id"])
        signature = sign(sign_release(release), identity, settings, parameters, scored=asked.num_rows, terms=terms)
        jobs.append(AnsweringJob(release, generator, asked, judges, MEASURES[names[0]].prompts, signature, measuring))
    return jobs


def _own_classifiers(model: str) -> Mapping[str, str]:
    """The classifiers of a calibration model, or of a model that a mitigation trained from one."""
    base = read_recorded(Path(model) / MITIGATION).base_model or model
    return SHIPPED[base].classifiers if base in SHIPPED else {}


def open_generator(model: str | None, options: AnsweringOptions, display: Display) -> Generator:
    """Start the engine that answers, by default the embedded responder, with its store if there is one."""
    decoding = DECODINGS.read(options.decoding or DECODING)
    if model == EMBEDDED_MODEL:
        raise EvaluationError(
            f"the embedded model gives scores alone; the one for responses is --model {RELEASE_PROMPTS.default_model}"
        )
    wanted = model if options.engine.engine == "api" else model or RELEASE_PROMPTS.default_model
    with display.step(f"Loading model {wanted}"):
        seed = options.drawing.seed
        generator = start_generator(wanted, display.notice, decoding, seed, options.conversation, options.engine)
    if options.store is None:
        return generator
    return stored(generator, options.store, display.notice)


def answer_prompts(prompts: pa.Table, generator: Generator, display: Display) -> tuple[Sameness | None, pa.Table]:
    """Answer each prompt; returns how many responses were the same alone and in a batch, and the table with responses.

    The columns ``response``, ``finish``, ``tokens`` and ``reasoning`` are added; see ``Responses``.
    """
    texts = prompts["prompt"].to_pylist(), prompts["persona"].to_pylist()
    distinct, rows = unique_requests(Requests(*texts, prompts["sample"].to_numpy()))
    with display.step("Trying a few prompts alone and in a batch"):
        sameness = generator.probe(distinct)
    with display.progress(f"Answering with {generator.identity.name}", len(distinct)) as advance:
        made = respond_all(distinct, generator, advance).table().take(pa.array(rows))
    for name in made.column_names:
        prompts = prompts.append_column(name, made[name])
    return sameness, prompts


def kept_responses(generator: Generator | None) -> str:
    """The number of stored responses and the way to continue, in words."""
    if generator is not None and generator.kept is not None:
        return f"{generator.kept}; run the same command again to continue"
    return "no responses are kept with --no-store; the same command starts from the beginning"


def count_responses(table: pa.Table) -> Mapping[str, int]:
    """The number of responses, and how many of them are empty, truncated, refused, withheld or repeated.

    A repeated response has the same text as another response.
    """
    text, finish = table["response"].cast(pa.large_string()), table["finish"].cast(pa.string())
    withheld = pc.is_in(finish, pa.array(["refused", "filtered"]))
    empty = pc.and_(pc.equal(pc.utf8_trim_whitespace(text), ""), pc.invert(withheld))
    said = text.filter(pc.invert(pc.or_(empty, withheld)))
    counts = {"truncated": "length", "refused": "refused", "filtered": "filtered"}
    return {
        "responses": len(table),
        "empty": _number(empty),
        **{name: _number(pc.equal(finish, value)) for name, value in counts.items()},
        "repeated": len(said) - len(pc.unique(said)),
    }


def counts_in_words(table: pa.Table) -> str:
    """The counts of responses as a line."""
    counts = count_responses(table)
    return f"{counts['responses']:,} responses: {', '.join(f'{counts[name]:,} {name}' for name in COUNTED)}"


def _ids(table: pa.Table, name: str) -> set[str]:
    return set(table[name].cast(pa.string()).unique().to_pylist())


def _number(mask: pa.ChunkedArray) -> int:
    return int(pc.sum(mask.cast(pa.int64())).as_py() or 0) if len(mask) else 0


def given_identity(model: str | None, file: Path) -> tuple[ModelIdentity, Mapping[str, str]]:
    """The identity of a model whose responses are in a file, and the settings that name the file."""
    digest = file_sha256(file) if file.is_file() else None
    name = model or file.stem
    identity = ModelIdentity(name, "responses given in a file", None, None, None, "unknown", file_sha256=digest)
    return identity, {"responses": f"given in {file.name}", "responses_sha256": digest or ""}
