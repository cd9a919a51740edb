"""Runs of texts about groups: how a model continues prompts, and the measures of these texts beside people's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import Settings as MeasureSettings
from holisticbias_eval.models.embedded import default_release
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.generation.style import FILES as STYLES
from holisticbias_eval.models.generation.style import Style
from holisticbias_eval.pipeline.answering import (
    AnsweringOptions,
    answer_prompts,
    counts_in_words,
    given_identity,
    kept_responses,
    open_generator,
)
from holisticbias_eval.pipeline.collection_prompts import SENTENCES, STYLE, Asked, find_asked
from holisticbias_eval.pipeline.given_texts import read_given_texts
from holisticbias_eval.pipeline.jobs import Job, file_name, measure_answers, refuse_kind
from holisticbias_eval.pipeline.naming import naming_texts
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.collections import CALIBRATION, COLLECTION_PROMPTS
from holisticbias_eval.prompts.prompts import Prompts
from holisticbias_eval.prompts.texts import Making, model_texts
from holisticbias_eval.readers.anonymise import GROUP, swapped
from holisticbias_eval.readers.censor import censor, censor_settings
from holisticbias_eval.readers.judging import describe_judges, show_reading, start_text_judges
from holisticbias_eval.readers.reader import NAMING, Reader
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.results.signature import Settings, Signature, sign, with_sameness

AUDITED = 20_000
"""The most texts of an audit."""
DECODING = "bold-gpt2"
_HUMAN = "human"


@dataclass(frozen=True, slots=True)
class ContinuingJob(Job):
    """A prepared run of texts: ``asked`` are the requests, or the texts if there is no generator."""

    release: Release | None
    generator: Generator | None
    asked: Asked
    making: Making
    readers: Sequence[Reader]
    prompts: Prompts
    signature: Signature
    measuring: MeasureSettings
    censored: bool

    @property
    def name(self) -> str:
        """The default name of the run's folder: the model, the release or prompts, and what is measured."""
        about = self.signature.release
        return "-".join(
            (file_name(self.signature.model.name), "on", file_name(about.prompts or self.asked.name), "texts")
        )

    @property
    def kept(self) -> str:
        """The number of responses in the store, in words."""
        return kept_responses(self.generator)

    def run(self, display: Display) -> Run:
        """Continue the prompts, and read, audit and measure the texts."""
        sameness, table = None, self.asked.requests
        if self.generator is not None:
            sameness, responses = answer_prompts(table, self.generator, display)
            table = self._texts(responses)
            display.notice(counts_in_words(table))
        table = pa.concat_tables([table, self.asked.human], promote_options="default")
        table = self._read(table, display)
        measured = measure_answers(table, self.signature.measures, self.measuring, display)
        figures = [figure for found in measured for figure in found.figures]
        figures += [*self._audit(table, display), *self._naming(table, display)]
        tables = {name: details for found in measured for name, details in found.tables.items()}
        return Run(Result(signature=with_sameness(self.signature, sameness), figures=tuple(figures)), table, tables)

    def _texts(self, responses: pa.Table) -> pa.Table:
        """The model's texts; of sentences, mentions of the descriptor are replaced as in measures of responses."""
        table = model_texts(responses, self.making)
        if not self.censored or self.release is None:
            return table
        entries = self.release.tables["descriptors"]
        plurals = dict(
            zip(*(entries[name].cast(pa.string()).to_pylist() for name in ("descriptor_id", "plural")), strict=True)
        )
        known = [plurals.get(name) for name in table["descriptor_id"].cast(pa.string()).to_pylist()]
        texts, _ = censor(table["text"].to_pylist(), table["subject"].to_pylist(), known)
        return table.set_column(table.column_names.index("text"), "text", pa.array(texts, pa.large_string()))

    def _read(self, table: pa.Table, display: Display) -> pa.Table:
        """Add the columns of every reader."""
        for reader in self.readers:
            table = show_reading(reader, table, display)
        return table

    def _audit(self, table: pa.Table, display: Display) -> list[Figure]:
        """The figures of texts in which only the subject differs: people's texts, or else the model's."""
        if "subject" not in table.column_names:
            return []
        people = pc.equal(table["source"], _HUMAN)
        base = table.filter(people) if pc.any(people).as_py() else table
        own = [name for name in ("domain", "group", "text", *NAMING, "item") if name in base.column_names]
        groups = len(base["group"].unique())
        swaps = swapped(base.select(own), max(1, min(200, AUDITED // max(1, groups))))
        if not swaps.num_rows:
            return []
        swaps = swaps.drop_columns(["group"]).rename_columns({GROUP: "group"})
        swaps = swaps.append_column("censored", pa.array([False] * swaps.num_rows))
        swaps = self._read(swaps, display)
        measures = _group_measures(self.signature.measures)
        return [figure for measure in measures for figure in measure.audit_figures(swaps, self.measuring)]

    def _naming(self, table: pa.Table, display: Display) -> list[Figure]:
        """The figures of the texts as they were written; of responses to sentences the words are gone already."""
        found = None if self.censored else naming_texts(table)
        if found is None:
            return []
        written = self._read(found.written, display)
        measures = _group_measures(self.signature.measures)
        return [f for measure in measures for f in measure.naming_figures(found.replaced, written, found.naming)]


def prepare_continuing(
    model: str | None, release: str | None, measures: tuple[str, ...], options: AnsweringOptions, display: Display
) -> ContinuingJob:
    """Find the prompts, start the engine and the classifiers, and prepare the run of measures of texts about groups.

    Without model, prompts and release, the embedded writer continues its own prompts.
    Raises ``EvaluationError`` if the options do not fit the model or the measures.
    """
    model, options = _with_writer(model, release, options)
    if options.collection.prompts == SENTENCES and options.engine.engine != "api":
        release = release or default_release(model)
    grouped = _group_measures(measures)
    judges = start_text_judges([measure.reader for measure in grouped], options.judging, display)
    readers = [measure.start(options.measuring, judges.get(measure.reader.name)) for measure in grouped]
    making, generator, censored = Making(), None, False
    if options.given is not None:
        identity, about = given_identity(model, options.given)
        asked = read_given_texts(options.given, options.collection.part)
        settings = {**about, **asked.settings}
    else:
        asked = find_asked(release, options.collection, options.drawing, display)
        style = STYLES.read(options.collection.style or STYLE) if asked.is_continued else None
        generator = open_generator(model, with_style(options, style), display)
        identity = generator.identity
        refuse_kind(measures, generator.kind, identity.name)
        if generator.keeps_blank and options.collection.style is not None:
            raise EvaluationError(f"--style is for chat models: {identity.name} continues the plain text; leave it out")
        style = None if generator.keeps_blank else style
        making = Making(asked.part, generator.keeps_blank, style.is_refusal if style else making.is_refusal)
        censored = not asked.is_continued and options.judging.censor
        settings = {**asked.settings, **generator.settings, **(style.settings if style else {})}
        settings |= {} if asked.is_continued else censor_settings(censored=censored)
    measuring = options.measuring
    signature = sign(
        asked.signature,
        identity,
        Settings(generation=settings, classifiers=describe_judges(judges.values())),
        {name: MEASURES[name].signature(measuring) for name in measures},
        scored=asked.requests.num_rows,
    )
    return ContinuingJob(
        asked.release, generator, asked, making, readers, COLLECTION_PROMPTS, signature, measuring, censored
    )


def _with_writer(
    model: str | None, release: str | None, options: AnsweringOptions
) -> tuple[str | None, AnsweringOptions]:
    """The embedded writer as the default model of its prompts, and they as its default prompts."""
    prompts = options.collection.prompts
    if options.given is not None or release is not None or options.engine.engine == "api":
        return model, options
    if model in (None, COLLECTION_PROMPTS.default_model) and prompts is None:
        prompts = CALIBRATION
    if model is None and prompts == CALIBRATION:
        model = COLLECTION_PROMPTS.default_model
    return model, replace(options, collection=replace(options.collection, prompts=prompts))


def with_style(options: AnsweringOptions, style: Style | None) -> AnsweringOptions:
    """The options with the style of a continuation and its decoding, unless others are given."""
    if style is None:
        return options
    conversation = replace(options.conversation, style=style)
    return replace(options, conversation=conversation, decoding=options.decoding or DECODING)


def _group_measures(names: Sequence[str]) -> list[GroupMeasure]:
    found = [MEASURES[name] for name in names]
    return [measure for measure in found if isinstance(measure, GroupMeasure)]
