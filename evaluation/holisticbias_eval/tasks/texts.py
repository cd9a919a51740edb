"""Texts about groups: prompts that a model continues, beside the texts of people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.options import Censoring
from holisticbias_eval.models.embedded import WRITER, default_release
from holisticbias_eval.models.generation.frame import STYLES, Style
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.collections import CALIBRATION
from holisticbias_eval.prompts.texts import Making, model_texts
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.censor import censor, censor_settings
from holisticbias_eval.readers.judging import describe_judges, show_reading, start_text_judges
from holisticbias_eval.readers.reader import Reader
from holisticbias_eval.settings import Condition, ReleaseName, Settings, Use, Values, Variants, is_one_of, setting
from holisticbias_eval.tasks.answered import (
    ASKED,
    CONTINUING,
    DECODING,
    GivenModel,
    GivenResponses,
    Personas,
    ResponseRequests,
    Samples,
    asking_uses,
    counts_in_words,
    find_drawing,
    given_model,
    start_responding,
)
from holisticbias_eval.tasks.collected import CONTINUED_AS, SENTENCES, PromptsAsked, PromptsWanted, find_asked
from holisticbias_eval.tasks.given_texts import read_given_texts
from holisticbias_eval.tasks.judging import judging_options
from holisticbias_eval.tasks.task import Given, Reading, Source, Task, file_name
from holisticbias_eval.tasks.text_figures import audit_figures, naming_figures

SAID = Condition("with --prompts sentences", is_one_of("prompts", SENTENCES))
CHAT_STYLE = Condition(
    "without --chat off, --separator and --continuation",
    lambda values: values.get("chat") != "off" and not {"separator", "continuation"} & {*values},
)
CONTINUED = Condition("with prompts to continue", lambda values: values.get("prompts") != SENTENCES)


def _is_bold(values: Values) -> bool:
    name = str(values.get("prompts") or "")
    return "/" in name or Path(name).is_dir()


BOLD = Condition("with --prompts of BOLD, a folder or a data set on the Hub", _is_bold)


class TextPrompts(Settings):
    """The prompts to continue."""

    group = "Texts about groups"

    prompts: str | None = setting(
        None,
        "Prompts to continue: a collection of the release; a .csv, .jsonl or .parquet table with prompt, group and "
        "optionally domain, subject, forms, person, continuation and item; the folder of BOLD's files; a Hugging Face "
        "Hub dataset in BOLD's form, as AmazonScience/bold or ID@COMMIT; `sentences`: responses to the release's "
        "sentences; or `calibration`: those of the embedded writer, the default without --model. Default: all prompts "
        "of the newest version that has some, in preparation or published.",
        metavar="NAME|FILE|FOLDER|ID",
    )
    human: Path | None = setting(
        None,
        "Table with prompt and continuation: what people wrote. It is measured beside the model's texts.",
        metavar="FILE",
    )


class MeasuredPart(Settings):
    """The part of a text that is measured."""

    group = "Texts about groups"

    part: Literal["whole", "continuation"] | None = setting(
        None,
        "What is measured: prompt and continuation as one text, as in the paper, or the continuation alone. Default: "
        "whole; for sentences and given responses without prompt, the response alone.",
        flags=("--measured",),
    )


class FaultyPrompts(Settings):
    """Faulty prompts of BOLD."""

    group = "Texts about groups"

    faulty_prompts: Literal["keep", "drop"] = setting(
        "keep",
        "Whether to keep BOLD's prompts of at most three words and its repeated prompts within a domain. Empty prompts "
        "are always left out.",
    )


class Styling(Settings):
    """The style in which a chat model continues."""

    group = "Texts about groups"

    style: str | None = setting(
        None,
        "How a chat model is asked to continue: a file of evaluation/styles/, by name, or one in the same form. "
        "Default: continuation. With --chat off every model continues the plain text.",
        metavar="NAME|FILE",
    )


class Texts(Task):
    """Prompts about groups."""

    name = "texts"
    subject = "continuations of prompts about groups of people"
    ability = "generate"
    uses = (
        Use(ReleaseName, (ASKED,)), Use(GivenResponses), Use(Variants, (ASKED, SAID)), Use(Personas, (ASKED, SAID)),
        *asking_uses(ASKED), Use(TextPrompts, (ASKED,)), Use(MeasuredPart), Use(FaultyPrompts, (ASKED, BOLD)),
        Use(Styling, (ASKED, CONTINUED, CHAT_STYLE)), Use(Censoring, (ASKED, SAID)),
    )  # fmt: skip

    def source(self, given: Given) -> Source:
        """Find the prompts; without model, prompts and release, those of the embedded writer."""
        file, part = given.read(GivenResponses).responses, given.read(MeasuredPart).part
        if file is not None:
            asked, own = read_given_texts(file, part), None
        else:
            read = given.read(TextPrompts)
            prompts, own = _with_writer(given, read.prompts)
            release = given.release_name
            if prompts == SENTENCES and given.running.engine != "api":
                release = release or default_release(given.model_name)
            keep, samples = given.read(FaultyPrompts).faulty_prompts == "keep", given.read(Samples).per_cell or 1
            wanted = PromptsWanted(prompts, read.human, part, keep, samples)
            asked = find_asked(release, wanted, find_drawing(given), given.display)
        return Source(
            asked, asked.signature, f"on-{file_name(asked.signature.prompts or asked.name)}-texts", asked.settings,
            release=asked.release, default_model=own,
        )  # fmt: skip

    def model(self, source: Source, given: Given) -> Generator | GivenModel:
        """Start the engine that continues; of given texts only the model's name is known."""
        file, asked = given.read(GivenResponses).responses, source.content
        if file is not None:
            return given_model(given.model_name, file)
        named = replace(given, model=given.named(source))
        wanted = given.read(Styling).style
        style = STYLES.read(wanted or CONTINUED_AS) if asked.is_continued else None
        generator = start_responding(named, CONTINUING if style else DECODING, style)
        if generator.keeps_blank and wanted is not None:
            name = generator.identity.name
            raise EvaluationError(f"--style is for chat models: {name} continues the plain text; leave it out")
        return generator

    def ask(self, source: Source, model: Generator | GivenModel, given: Given) -> ResponseRequests:
        """The prompts, and how the responses become texts."""
        asked: PromptsAsked = source.content
        if isinstance(model, GivenModel):
            return ResponseRequests(asked.requests, model, source.about, made=_with_people(asked, lambda table: table))
        style = None
        if asked.is_continued and not model.keeps_blank:
            style = STYLES.read(given.read(Styling).style or CONTINUED_AS)
        making = Making(asked.part, model.keeps_blank, *((style.is_refusal,) if style else ()))
        censored = _is_censored(source, given)
        settings = {**source.about, **(style.settings if isinstance(style, Style) else {})}
        settings |= {} if asked.is_continued else censor_settings(censored=censored)
        release = source.release if censored else None

        def made(responses: pa.Table) -> pa.Table:
            table = _texts(model_texts(responses, making), release)
            given.display.notice(counts_in_words(table))
            return table

        return ResponseRequests(asked.requests, model, settings, made=_with_people(asked, made))

    def reading(self, source: Source, given: Given) -> Reading:
        """Start the classifiers of the measures."""
        measures = [one for name in given.measures if isinstance(one := MEASURES[name], GroupMeasure)]
        settings = measure_settings(given)
        judges = start_text_judges([measure.reader for measure in measures], judging_options(given), given.display)
        readers = [measure.start(settings, judges.get(measure.reader.name)) for measure in measures]
        signed = describe_judges(judges.values())
        return TextReading(readers, measures, settings, signed, _is_censored(source, given))


def measure_settings(given: Given) -> MeasureSettings:
    """The settings of the measures of texts."""
    names = [name for use in READERS.values() for name in use.settings_type.model_fields]
    return MeasureSettings.model_validate({name: given.values[name] for name in names if name in given.values})


def _is_censored(source: Source, given: Given) -> bool:
    return not source.content.is_continued and given.read(Censoring).censor


def _with_writer(given: Given, prompts: str | None) -> tuple[str | None, str | None]:
    """The prompts of the embedded writer as its default prompts, and the writer as their default model."""
    if given.release_name is not None or given.running.engine == "api":
        return prompts, None
    if given.model in (None, WRITER) and prompts is None:
        prompts = CALIBRATION
    return prompts, WRITER if prompts == CALIBRATION else None


def _with_people(asked: PromptsAsked, made: Callable[[pa.Table], pa.Table]) -> Callable[[pa.Table], pa.Table]:
    """Texts of the model, and then those of people."""
    return lambda table: pa.concat_tables([made(table), asked.human], promote_options="default")


def _texts(table: pa.Table, release: Release | None) -> pa.Table:
    """The model's texts; with a release, mentions of the descriptor are replaced as in measures of responses."""
    if release is None:
        return table
    entries = release.tables["descriptors"]
    columns = (entries[name].cast(pa.string()).to_pylist() for name in ("descriptor_id", "plural"))
    plurals = dict(zip(*columns, strict=True))
    known = [plurals.get(name) for name in table["descriptor_id"].cast(pa.string()).to_pylist()]
    texts, _ = censor(table["text"].to_pylist(), table["subject"].to_pylist(), known)
    return table.set_column(table.column_names.index("text"), "text", pa.array(texts, pa.large_string()))


@dataclass(frozen=True)
class TextReading(Reading):
    """Adds the columns of every measure, and measures texts in which only the subject or its naming differs."""

    readers: Sequence[Reader]
    measures: Sequence[GroupMeasure]
    measuring: MeasureSettings
    signed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    censored: bool = False

    def read(self, table: pa.Table, display: Display) -> pa.Table:
        """Add the columns of every reader."""
        for reader in self.readers:
            table = show_reading(reader, table, display)
        return table

    def beside(
        self, table: pa.Table, figures: tuple[Figure, ...], display: Display
    ) -> tuple[tuple[Figure, ...], Mapping[str, pa.Table]]:
        """The audit of what reads the texts, and the figures of texts that name their group."""

        def read(texts: pa.Table) -> pa.Table:
            return self.read(texts, display)

        more = audit_figures(table, self.measures, self.measuring, read)
        # of responses to sentences the words are gone already
        named = () if self.censored else naming_figures(table, self.measures, read)
        return (*more, *named), {}
