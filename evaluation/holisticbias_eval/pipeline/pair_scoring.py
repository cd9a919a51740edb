"""Runs of pairs: the likelihoods that a model gives to both sentences of each pair, and the measures of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa

from holisticbias.compile.digest import table_digest
from holisticbias.errors import HolisticBiasError
from holisticbias.source.folder import find_source
from holisticbias.terms.versions import version_key
from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.one_mask import OneMaskScorer
from holisticbias_eval.models.likelihood.opening import LEFT_OUT
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.server.chooser import ChatChooser
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.store.shards import ShardStore
from holisticbias_eval.models.stored import stored
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, file_name, refuse_kind
from holisticbias_eval.pipeline.pair_files import read_pairs, read_sentence_figures
from holisticbias_eval.pipeline.pair_modes import (
    CHOICE_KEYS,
    MASKED_KEYS,
    Answer,
    TableJob,
    ask_server,
    decide_ties,
    local_choices,
    published_masked,
    score_at_one_mask,
    score_pair_store,
    server_choices,
)
from holisticbias_eval.pipeline.scoring import ScoringJob
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.choices import AskedChoices, ask_choices
from holisticbias_eval.prompts.first_words import ALL_SCORED, Unscored
from holisticbias_eval.prompts.pairs import PAIRS, AskedPairs, ask_pairs, ask_published
from holisticbias_eval.prompts.prompts import Skipped
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.signature import ReleaseSignature, Settings, Signature, sign
from holisticbias_eval.stereotypes.specifications import (
    calibration_model,
    known_specifications,
    list_specifications,
)

Mode = Literal["likelihood", "choice", "published"]
MODES: tuple[Mode, ...] = ("likelihood", "choice", "published")
NOT_CONVERTED = "pairs without a second sentence: it could not be converted"
_HOW: Mapping[str, str] = {
    "causal": "log-likelihood of the whole sentence",
    "without first token": "log-likelihood of the sentence without its first token",
    "seq2seq": "log-likelihood of the whole sentence, given an empty input",
    "masked": "pseudo-log-likelihood of the words that both sentences share",
    "choice": "log-probability of the sentence's letter, mean over both orders",
    "published masked": "mean logit of the term's pieces at one mask; ties go to the second sentence",
    "published": "mean log-likelihood of a token in lower case, with a period added; ties go to the second sentence",
}


@dataclass(frozen=True, slots=True)
class PairOptions:
    """The file or folder of pairs, and how they are scored."""

    path: Path
    mode: Mode = "likelihood"


@dataclass(frozen=True, slots=True)
class PairJob(ScoringJob):
    """A prepared run of pairs; ``source`` is the name of their file, and ``about`` are figures of the sentences."""

    source: str = ""
    mode: Mode = "likelihood"
    about: tuple[Figure, ...] = ()

    @property
    def name(self) -> str:
        """The default name of the run's folder: the model and the pairs."""
        return pair_run_name(self.signature, self.source, self.mode)

    def run(self, display: Display) -> Run:
        """Score and measure, and add the figures of the sentences."""
        made = ScoringJob.run(self, display)
        return replace(made, result=made.result.model_copy(update={"figures": (*made.result.figures, *self.about)}))

    def scored(self, distinct: Spans, rows: Ints, display: Display) -> pa.Table:
        """The pairs with their scores; in published mode the second sentence wins ties."""
        table = ScoringJob.scored(self, distinct, rows, display)
        return decide_ties(table) if self.mode == "published" else table


def prepare_pairs(
    model: str | None,
    measures: Sequence[tuple[str, ...]],
    given: PairOptions,
    options: ModelSettings | None,
    store: Path | None,
    display: Display,
) -> list[Job]:
    """Read the pairs, start the engine, and prepare the run of each entry of ``measures``.

    The default model of pairs of the embedded writer's specifications is the writer.
    Raises ``EvaluationError`` if the file, the model or the mode do not fit.
    """
    with display.step(f"Reading {given.path}"):
        pairs = with_specifications(read_pairs(given.path))
    options = options or ModelSettings()
    if options.engine != "api":
        model = model or calibration_model(pairs["specification"].to_pylist()) or PAIRS.default_model
    with display.step(f"Loading model {model}"):
        if given.mode == "choice" and options.engine == "api":
            return _server_jobs(pairs, server_choices(model, options), measures, given, store, display)
        if given.mode == "published":
            options = _published_options(pairs, options, given)
            masked = published_masked(model, options, display.notice)
            if masked is not None:
                return _masked_jobs(pairs, masked, measures, given, store, display)
        engine, asked = _start(model, options, pairs, given.mode, display)
    for names in measures:
        refuse_kind(names, engine.kind, engine.identity.name)
    return [_job(pairs, asked, engine, names, given, store, display) for names in measures]


def _published_options(pairs: pa.Table, options: ModelSettings, given: PairOptions) -> ModelSettings:
    """The options of the published formulas, which leave out the first token."""
    if not {"term", "other_term"} <= set(pairs.column_names):
        raise EvaluationError(f"--mode published needs the columns term and other_term in {given.path}")
    if options.engine == "api":
        return options
    return options.model_copy(update={"first_token": LEFT_OUT})


def _start(
    model: str | None, options: ModelSettings, pairs: pa.Table, mode: Mode, display: Display
) -> tuple[Scorer, AskedPairs | AskedChoices]:
    if mode == "choice":
        return local_choices(model, options, pairs, display.notice)
    engine = start_scorer(model, display.notice, options)
    scored = engine.first_token_scored
    if mode == "published":
        return engine, ask_published(pairs, first_token_scored=scored)
    return engine, ask_pairs(pairs, with_changed=engine.kind == "masked", first_token_scored=scored)


def _server_jobs(
    pairs: pa.Table,
    chooser: ChatChooser,
    measures: Sequence[tuple[str, ...]],
    given: PairOptions,
    folder: Path | None,
    display: Display,
) -> list[Job]:
    choices = ask_choices(pairs)
    settings = {**chooser.settings, "pair_score": _HOW["choice"]}
    store = score_pair_store(folder, CHOICE_KEYS, chooser.identity, chooser.settings, display.notice)
    answer = partial(ask_server, choices, chooser, store)
    total = len(choices.questions)
    return [_table_job(pairs, answer, total, chooser.identity, settings, n, given, store) for n in measures]


def _masked_jobs(
    pairs: pa.Table,
    scorer: OneMaskScorer,
    measures: Sequence[tuple[str, ...]],
    given: PairOptions,
    folder: Path | None,
    display: Display,
) -> list[Job]:
    settings = {**scorer.settings, "pair_score": _HOW["published masked"]}
    store = score_pair_store(folder, MASKED_KEYS, scorer.identity, scorer.settings, display.notice)
    answer = partial(score_at_one_mask, pairs, scorer, store)
    total = pairs.num_rows - pairs["other_sentence"].null_count
    return [_table_job(pairs, answer, total, scorer.identity, settings, names, given, store) for names in measures]


def _table_job(
    pairs: pa.Table,
    answer: Answer,
    total: int,
    model: ModelIdentity,
    settings: Mapping[str, str],
    measures: tuple[str, ...],
    given: PairOptions,
    store: ShardStore | None,
) -> TableJob:
    signature = sign_pairs(pairs, model, settings, measures, given)
    name = pair_run_name(signature, given.path.name, given.mode)
    return TableJob(signature, total, answer, name, store, read_sentence_figures(given.path))


def _job(
    pairs: pa.Table,
    asked: AskedPairs | AskedChoices,
    engine: Scorer,
    measures: tuple[str, ...],
    given: PairOptions,
    store: Path | None,
    display: Display,
) -> PairJob:
    unscored = asked.unscored if isinstance(asked, AskedPairs) else ALL_SCORED
    how = _HOW[engine.kind if given.mode == "likelihood" else given.mode]
    if unscored.texts and given.mode == "likelihood":
        how = _HOW["without first token"]
    settings = {**engine.settings, "pair_score": how, **unscored.settings}
    signature = sign_pairs(pairs, engine.identity, settings, measures, given, unscored)
    about = read_sentence_figures(given.path)
    scorer = engine if store is None else stored(engine, store, display.notice, signature.release.digest)
    return PairJob(None, engine, scorer, asked, PAIRS, signature, given.path.name, given.mode, about)


def sign_pairs(
    pairs: pa.Table,
    model: ModelIdentity,
    scoring: Mapping[str, str],
    measures: tuple[str, ...],
    given: PairOptions,
    unscored: Unscored = ALL_SCORED,
) -> Signature:
    """The signature of a run of pairs: the digest of the pairs, and their specifications with their version."""
    names = dict.fromkeys(pairs["specification"].to_pylist())
    file = given.path.resolve().name
    rejected = pairs["other_sentence"].null_count
    about = {"pairs": file, "pair_mode": given.mode, "specifications": ", ".join(names)}
    about["specifications_version"] = specifications_version(names)
    digest = table_digest(pairs.select([c for c in _DIGESTED if c in pairs.column_names]))
    return sign(
        ReleaseSignature(version="none", subset=None, digest=digest, prompts=file, what="pairs"),
        model,
        Settings(scoring={**scoring, **about}),
        {name: MEASURES[name].signature(SETTINGS) for name in measures},
        scored=pairs.num_rows - rejected - unscored.left_out,
        skipped=(*((Skipped(reason=NOT_CONVERTED, sentences=rejected),) if rejected else ()), *unscored.skipped),
    )


_DIGESTED = ("pair_id", "specification", "attribute", "sentence", "other_sentence", "stereotyped", "source")


def pair_run_name(signature: Signature, source: str, mode: Mode) -> str:
    """The default name of a run's folder."""
    parts = [file_name(signature.model.name), "on", file_name(Path(source).stem)]
    return "-".join(parts if mode == "likelihood" else [*parts, mode])


def specifications_version(names: Mapping[str, None]) -> str:
    """The newest version of the dataset, from which the specifications are, or that they are not of the dataset."""
    try:
        versions = [path.stem for path in (find_source() / "releases").glob("*.yaml")]
        known = {specification.id for specification in list_specifications()}
    except HolisticBiasError:
        return "not known: the dataset is not installed"
    unknown = [name for name in names if name not in known]
    if len(unknown) == len(names):
        return "not of the dataset"
    newest = max(versions, key=version_key)
    return f"{newest}, but for {', '.join(unknown)}" if unknown else newest


def with_specifications(pairs: pa.Table) -> pa.Table:
    """Add the title of each specification (``label``) and whether it is a control, unless given."""
    try:
        known = {specification.id: specification for specification in known_specifications()}
    except HolisticBiasError:
        known = {}
    names = pairs["specification"].to_pylist()
    if "label" not in pairs.column_names:
        labels = [known[name].text if name in known else None for name in names]
        pairs = pairs.append_column("label", pa.array(labels, pa.string()))
    if "control" not in pairs.column_names:
        controls = [known[name].control if name in known else False for name in names]
        pairs = pairs.append_column("control", pa.array(controls))
    return pairs
