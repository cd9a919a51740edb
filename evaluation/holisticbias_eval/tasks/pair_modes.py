"""Pairs that are not scored as spans of text: published scores of masked models, and choices of a server."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.measures.stereotype.outcomes import CHOSEN
from holisticbias_eval.models.engines import server_of
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.masked import OneMaskScorer
from holisticbias_eval.models.likelihood.opening import Opening
from holisticbias_eval.models.likelihood.scores import Scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.loading.load import LoadedModel, ModelSource, find_kind, load_kind
from holisticbias_eval.models.model import Kind, ModelIdentity
from holisticbias_eval.models.server.chooser import ChatChooser
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.store.shards import ShardStore, fingerprint, values_by_block
from holisticbias_eval.progress import Display, Notice, Progress
from holisticbias_eval.prompts.contexts import Unscored
from holisticbias_eval.prompts.pairs import (
    SCORES,
    AskedPairs,
    Choices,
    ask_choices,
    published_texts,
    scored_sentences,
    with_pair_scores,
)
from holisticbias_eval.prompts.prompts import Skipped
from holisticbias_eval.tasks.task import Answered, Given, Requests, Source

_VERSION = 1  # version of the computation: with another version everything is scored again


@dataclass(frozen=True, slots=True)
class PublishedPairs:
    """Pairs scored as by the published code, where the second sentence wins ties."""

    pairs: AskedPairs

    @property
    def together(self) -> Spans:
        """All spans."""
        return self.pairs.together

    @property
    def unscored(self) -> Unscored:
        """The number of pairs with an unscored word."""
        return self.pairs.unscored

    def answer(self, scores: Scores) -> pa.Table:
        """The pairs with their scores and choices."""
        return decide_ties(self.pairs.answer(scores))


class PairScorer(ABC):
    """Gives two scores to each of some rows of text, which are stored by these texts."""

    identity: ModelIdentity
    kind: Kind
    settings: Mapping[str, str]
    how: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    block: ClassVar[int]

    @abstractmethod
    def texts(self, pairs: pa.Table) -> pa.Table:
        """The distinct columns ``keys`` of the texts to score."""

    @abstractmethod
    def score(self, texts: pa.Table, rows: Ints, advance: Progress) -> Floats:
        """Score some rows: shape ``[rows, 2]``."""

    @abstractmethod
    def answer(self, pairs: pa.Table, scores: Floats) -> pa.Table:
        """Add the scores to the pairs."""

    def requests(self, source: Source, folder: Path | None, notice: Notice) -> PairRequests:
        """The requests of a source, with the store of their scores."""
        store = pair_store(folder, self, notice)
        settings = {"pair_score": self.how, **source.about}
        return PairRequests(self, source.content, store, settings, source.skipped)


@dataclass(frozen=True)
class PairRequests(Requests):
    """Pairs that a ``PairScorer`` scores."""

    scorer: PairScorer
    pairs: pa.Table
    store: ShardStore | None
    settings: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()

    @property
    def count(self) -> int:  # type: ignore[override]
        """The pairs with both sentences."""
        return int(self.pairs.num_rows - self.pairs["other_sentence"].null_count)

    @property
    def kept(self) -> str:  # type: ignore[override]
        """The folder that keeps the scores."""
        if self.store is None:
            return "no scores are kept without a store; the same command starts from the beginning"
        return f"scores so far are kept in {self.store.folder}; the same command continues"

    def answer(self, display: Display) -> Answered:
        """Score the texts that the store does not hold."""
        texts = self.scorer.texts(self.pairs)
        with display.progress(f"Scoring with {self.scorer.identity.name}", texts.num_rows) as advance:
            scores = values_by_block(
                texts, lambda rows, done: self.scorer.score(texts, rows, done), self.store, self.scorer.block, advance
            )
        return Answered(self.scorer.answer(self.pairs, scores))


class OneMask(PairScorer):
    """The published scorer of masked models: the mean logit of a term's pieces at one mask."""

    how = "mean logit of the term's pieces at one mask; ties go to the second sentence"
    keys = ("template", "term", "other_term")
    block = 4096

    def __init__(self, scorer: OneMaskScorer) -> None:
        self.identity, self.kind, self.settings = scorer.identity, "masked", scorer.settings
        self._scorer = scorer

    def texts(self, pairs: pa.Table) -> pa.Table:
        """The masked sentence and both terms of each pair."""
        rows, sentences, _ = scored_sentences(pairs)
        terms = [pairs[name].take(pa.array(rows)).to_pylist() for name in ("term", "other_term")]
        masked = published_texts(sentences, terms[0], replaced_by=self._scorer.mask)
        return _text_table(self.keys, [list(masked), *([term or "" for term in found] for found in terms)])

    def score(self, texts: pa.Table, rows: Ints, advance: Progress) -> Floats:
        """Score both terms at the mask."""
        masked, *terms = (texts[name].take(pa.array(rows)).to_pylist() for name in self.keys)
        return self._scorer.score(masked, list(zip(*terms, strict=True)), advance)

    def answer(self, pairs: pa.Table, scores: Floats) -> pa.Table:
        """The pairs with the scores of both terms, and the choice, which goes to the second term in a tie."""
        rows = scored_sentences(pairs)[0]
        return decide_ties(with_pair_scores(pairs, rows, np.concatenate((scores[:, 0], scores[:, 1])), SCORES))


class ServerChoice(PairScorer):
    """A chat server that chooses between both sentences, in both orders."""

    how = "log-probability of the sentence's letter, mean over both orders"
    keys = ("question",)
    block = 64

    def __init__(self, chooser: ChatChooser) -> None:
        self.identity, self.kind, self.settings = chooser.identity, "causal", chooser.settings
        self._chooser = chooser

    def texts(self, pairs: pa.Table) -> pa.Table:
        """The questions about all pairs."""
        return _text_table(self.keys, [list(ask_choices(pairs).questions)])

    def score(self, texts: pa.Table, rows: Ints, advance: Progress) -> Floats:
        """Ask some questions."""
        return self._chooser.choose(texts["question"].take(pa.array(rows)).to_pylist(), advance)

    def answer(self, pairs: pa.Table, scores: Floats) -> pa.Table:
        """The pairs with the scores of the choices."""
        choices: Choices = ask_choices(pairs)
        return choices.answer(scores)


def _text_table(names: Sequence[str], columns: Sequence[list[str]]) -> pa.Table:
    return pa.Table.from_arrays([pa.array(texts, pa.large_string()) for texts in columns], names=list(names))


def one_mask_scorer(model: ModelSource, options: ModelSettings, notice: Notice) -> OneMask | None:
    """The published scorer of a masked model on this machine; ``None`` for another kind of model."""
    if options.engine != "local" or (find_kind(model) if options.kind == "auto" else options.kind) != "masked":
        return None
    return OneMask(OneMaskScorer(load_kind(model, "masked", options.device), notice))


def choice_server(model: ModelSource, options: ModelSettings) -> ServerChoice:
    """The chat server of the options; raises ``EvaluationError`` without an address and a model."""
    return ServerChoice(ChatChooser(*server_of(model, options), options))


class ChoiceScorer(CausalScorer):
    """A chat model that scores the letters of a choice; ``control_tokens`` are texts that it reads as control."""

    control_tokens: Sequence[str] = ()


def choice_scorer(model: ModelSource, options: ModelSettings, given: Given) -> ChoiceScorer:
    """A chat model on this machine.

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
    opening = Opening(settings=settings)
    scorer = ChoiceScorer(loaded, given.display.notice, dtype=options.dtype, opening=opening)
    scorer.control_tokens = control_tokens(loaded)
    return scorer


def control_tokens(loaded: LoadedModel) -> Sequence[str]:
    """The texts that the tokenizer reads as control tokens."""
    added = [str(token.content) for token in loaded.tokenizer.added_tokens_decoder.values() if token.special]
    return tuple(dict.fromkeys([*added, *map(str, loaded.tokenizer.all_special_tokens)]))


def decide_ties(pairs: pa.Table) -> pa.Table:
    """Add the column ``chose_stereotype`` of the published code: 1 or 0, where the second sentence wins a tie."""
    stereotype, other = (pairs[name].to_numpy(zero_copy_only=False) for name in SCORES)
    second = np.array([side == "other_sentence" for side in pairs["stereotyped"].to_pylist()], bool)
    chosen = np.where(stereotype == other, second, stereotype > other).astype(float)
    known = ~np.isnan(stereotype) & ~np.isnan(other)
    return pairs.append_column(CHOSEN, pa.array(np.where(known, chosen, np.nan), from_pandas=True))


def pair_store(folder: Path | None, scorer: PairScorer, notice: Notice) -> ShardStore | None:
    """The store of two scores for each row of texts, in a subfolder named after the model and its settings."""
    if folder is None:
        return None
    model, keys = scorer.identity, list(scorer.keys)
    known = {"revision": model.revision, "weights": model.weights_sha256, "dtype": model.dtype}
    named = {} if model.weights_sha256 else {"name": model.name}
    about = {"version": _VERSION, "keys": keys, "model": {**known, **named}, "settings": dict(scorer.settings)}
    fields = [*((name, pa.large_string()) for name in keys), ("first", pa.float64()), ("second", pa.float64())]
    return ShardStore(folder / fingerprint(about), pa.schema(fields), tuple(keys), {"about": json.dumps(about)}, notice)
