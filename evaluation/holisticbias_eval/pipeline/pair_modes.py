"""Runs of pairs that are not scored as spans of text: published scores of masked models, and choices of a server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.stereotype.outcomes import CHOSEN
from holisticbias_eval.models.engines import server_of
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.one_mask import OneMaskScorer
from holisticbias_eval.models.likelihood.opening import Opening
from holisticbias_eval.models.loading.load import LoadedModel, find_kind, load_kind
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.server.chooser import ChatChooser
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.store.blocks import values_by_block
from holisticbias_eval.models.store.shards import ShardStore, fingerprint
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, measure_answers
from holisticbias_eval.progress import Display, Notice, Progress
from holisticbias_eval.prompts.choices import AskedChoices, Choices, ask_choices, spans_of_choices
from holisticbias_eval.prompts.pairs import (
    PAIRS,
    SCORES,
    PairPrompts,
    published_texts,
    scored_sentences,
    with_pair_scores,
)
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.results.signature import Signature

Answer = Callable[[Progress], pa.Table]
CHOICE_KEYS = ["question"]
MASKED_KEYS = ["template", "term", "other_term"]
_CHOICE_BLOCK, _MASKED_BLOCK = 64, 4096
_VERSION = 1  # version of the computation: with another version everything is scored again


@dataclass(frozen=True, slots=True)
class TableJob(Job):
    """A prepared run whose scores are computed by ``answer``; ``about`` are figures of the sentences."""

    signature: Signature
    total: int
    answer: Answer
    named: str
    store: ShardStore | None = None
    about: tuple[Figure, ...] = ()
    release: Release | None = None
    prompts: PairPrompts = PAIRS

    @property
    def name(self) -> str:
        """The default name of the run's folder."""
        return self.named

    @property
    def kept(self) -> str:
        """The folder that keeps the scores, for an interruption."""
        if self.store is None:
            return "no scores are kept without a store; the same command starts from the beginning"
        return f"scores so far are kept in {self.store.folder}; the same command continues"

    def run(self, display: Display) -> Run:
        """Score and measure."""
        with display.progress(f"Scoring with {self.signature.model.name}", self.total) as advance:
            table = self.answer(advance)
        measured = measure_answers(table, self.signature.measures, SETTINGS, display)
        figures = tuple(figure for found in measured for figure in found.figures)
        return Run(Result(signature=self.signature, figures=(*figures, *self.about)), table)


def published_masked(model: str | None, options: ModelSettings, notice: Notice) -> OneMaskScorer | None:
    """The published scorer of a masked model on this machine; ``None`` for another kind of model."""
    if options.engine != "local" or (find_kind(model) if options.kind == "auto" else options.kind) != "masked":
        return None
    return OneMaskScorer(load_kind(model, "masked", options.device), notice)


def score_at_one_mask(pairs: pa.Table, scorer: OneMaskScorer, store: ShardStore | None, progress: Progress) -> pa.Table:
    """Add the published scores of both terms to the pairs, and the choice, which goes to the second term in a tie.

    With a store, which has ``MASKED_KEYS``, only templates and terms that it does not hold are scored.
    """
    rows, sentences, _ = scored_sentences(pairs)
    terms = [pairs[name].take(pa.array(rows)).to_pylist() for name in ("term", "other_term")]
    masked = published_texts(sentences, terms[0], replaced_by=scorer.mask)
    both = [(one or "", other or "") for one, other in zip(*terms, strict=True)]

    def score(rows: Ints, advance: Progress) -> Floats:
        return scorer.score([masked[i] for i in rows], [both[i] for i in rows], advance)

    keys = [list(masked), [one for one, _ in both], [other for _, other in both]]
    asked = pa.Table.from_arrays([pa.array(texts, pa.large_string()) for texts in keys], names=MASKED_KEYS)
    found = values_by_block(asked, score, store, _MASKED_BLOCK, progress)
    return decide_ties(with_pair_scores(pairs, rows, np.concatenate((found[:, 0], found[:, 1])), SCORES))


def decide_ties(pairs: pa.Table) -> pa.Table:
    """Add the column ``chose_stereotype`` of the published code: 1 or 0, where the second sentence wins a tie."""
    stereotype, other = (pairs[name].to_numpy(zero_copy_only=False) for name in SCORES)
    second = np.array([side == "other_sentence" for side in pairs["stereotyped"].to_pylist()], bool)
    chosen = np.where(stereotype == other, second, stereotype > other).astype(float)
    known = ~np.isnan(stereotype) & ~np.isnan(other)
    return pairs.append_column(CHOSEN, pa.array(np.where(known, chosen, np.nan), from_pandas=True))


def server_choices(model: str | None, options: ModelSettings) -> ChatChooser:
    """The chat server of the options; raises ``EvaluationError`` without an address and a model."""
    return ChatChooser(*server_of(model, options), options)


def local_choices(
    model: str | None, options: ModelSettings, pairs: pa.Table, notice: Notice
) -> tuple[CausalScorer, AskedChoices]:
    """A chat model on this machine, and the letters to score in its chat template.

    Raises ``EvaluationError`` if the model has no chat template, and for engines that cannot choose.
    """
    if options.engine != "local":
        raise EvaluationError(f"--mode choice needs the local or the api engine, not {options.engine}")
    if options.kind not in ("auto", "causal"):
        raise EvaluationError("--mode choice needs a causal model with a chat template")
    loaded = load_kind(model, "causal", options.device)
    if not getattr(loaded.tokenizer, "chat_template", None):
        raise ModelError(f"{loaded.identity.name}: its tokenizer has no chat template: leave --mode choice out")
    template = find_conversation(loaded.tokenizer, ConversationOptions(chat="on"), "causal").settings
    text = template["conversation_text_without_persona"]
    settings = {"first_token": "counted, given the chat template", "chat": text}
    scorer = CausalScorer(loaded, notice, dtype=options.dtype, opening=Opening(settings=settings))
    return scorer, spans_of_choices(ask_choices(pairs, control_tokens(loaded)), text)


def control_tokens(loaded: LoadedModel) -> Sequence[str]:
    """The texts that the tokenizer reads as control tokens."""
    added = [str(token.content) for token in loaded.tokenizer.added_tokens_decoder.values() if token.special]
    return tuple(dict.fromkeys([*added, *map(str, loaded.tokenizer.all_special_tokens)]))


def ask_server(choices: Choices, chooser: ChatChooser, store: ShardStore | None, progress: Progress) -> pa.Table:
    """The pairs with the scores of a server's choices; only questions that the store does not hold are asked."""

    def choose(rows: Ints, advance: Progress) -> Floats:
        return chooser.choose([choices.questions[i] for i in rows], advance)

    asked = pa.Table.from_arrays([pa.array(choices.questions, pa.large_string())], names=CHOICE_KEYS)
    return choices.answer(values_by_block(asked, choose, store, _CHOICE_BLOCK, progress))


def score_pair_store(
    folder: Path | None, keys: Sequence[str], model: ModelIdentity, settings: Mapping[str, str], notice: Notice
) -> ShardStore | None:
    """The store of two scores for each row of ``keys``, in a subfolder named after the model and its settings."""
    if folder is None:
        return None
    known = {"revision": model.revision, "weights": model.weights_sha256, "dtype": model.dtype}
    named = {} if model.weights_sha256 else {"name": model.name}
    about = {"version": _VERSION, "keys": list(keys), "model": {**known, **named}, "settings": dict(settings)}
    fields = [*((name, pa.large_string()) for name in keys), ("first", pa.float64()), ("second", pa.float64())]
    return ShardStore(folder / fingerprint(about), pa.schema(fields), tuple(keys), {"about": json.dumps(about)}, notice)
