"""Classify texts with a sequence classifier of transformers."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.models.loading.load import LoadedModel, load_model, on_device
from holisticbias_eval.models.loading.running import in_batches, one_line_for_errors
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.models.sequences import padded
from holisticbias_eval.progress import Notice, Progress
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import BLOCK, Classifier

_ENCODED = 8192  # texts encoded in one call
_PLACEHOLDER = re.compile(r"LABEL_\d+")
_ACTIVATIONS = {"multi_label_classification": "sigmoid", "single_label_classification": "softmax"}
_NO_LIMIT = 1_000_000  # tokenizers without a limit state a huge number
TOKENS = 4096  # tokens in a batch, padding included
_SHORTEST = 0.8  # share of the longest length in a batch that padding may fill up from


class TransformersClassifier(Classifier):
    """Runs a sequence classifier in float32, on batches of texts with similar numbers of tokens.

    The probabilities of a text depend on the batch by rounding only. A text
    longer than the model can read is cut at its end; a notice says how many are.
    Text that looks like a special token is read as text.
    """

    def __init__(self, card: Card, loaded: LoadedModel, notice: Notice) -> None:
        model, tokenizer, identity = loaded.model, loaded.tokenizer, loaded.identity
        check_labels(card, model.config)
        problem = model.config.problem_type
        if problem in _ACTIVATIONS and card.activation != _ACTIVATIONS[problem]:
            notice(f"the card of {card.id} has the activation {card.activation}, its model says {problem}: check it")
        if any(tokenizer("a").get("token_type_ids", ())):
            raise ClassifierError(f"{card.id} numbers the segments of its input, as XLNet does: this is not supported")
        self._model, self._tokenizer, self._notice = model, tokenizer, notice
        self._padding = _padding(tokenizer, model.config.get_text_config())
        self._window = min(context_length(model), tokenizer.model_max_length)
        found = {
            "classifier_revision": identity.revision,
            "classifier_weights_sha256": identity.weights_sha256,
            **{f"classifier_{name}": digest for name, digest in loaded.settings.items()},
            "classifier_window": str(self._window) if self._window < _NO_LIMIT else None,
        }
        super().__init__(card, {**card.settings, **{key: value for key, value in found.items() if value is not None}})

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify texts, longest first; a text without tokens gets NaN. May raise ``ClassifierError``."""
        ids = self._encode(texts)
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        for rows in blocks(lengths):
            values = np.full((len(rows), len(self.card.labels)), np.nan)
            for batch in batches(lengths[rows], padded=self._padding is not None):
                values[batch] = self._judge([ids[i] for i in rows[batch]])
            progress(len(rows))
            yield rows, values

    def _judge(self, rows: list[list[int]]) -> Floats:
        """Probabilities of token sequences, shape ``[rows, labels]``."""
        ids, mask = padded(rows, self._padding or 0)
        values = np.empty((len(ids), len(self.card.labels)))

        def run(start: int, stop: int) -> None:
            with one_line_for_errors(self.card.model or self.card.id):
                values[start:stop] = self._batch(ids[start:stop], mask[start:stop])

        in_batches(len(ids), len(ids), run, self._notice)
        if not np.isfinite(values).all():
            raise ClassifierError(f"{self.card.id} gives some texts no probabilities: its numbers are not finite")
        return values

    def _batch(self, ids: Ints, mask: Ints) -> Floats:
        import torch

        device = self._model.device
        inputs = {"input_ids": torch.from_numpy(ids).to(device)}
        if not mask.all():  # attention is faster without a mask
            inputs["attention_mask"] = torch.from_numpy(mask).to(device)
        with torch.inference_mode():
            logits = self._model(**inputs).logits.cpu().double()
            chosen = logits.softmax(-1) if self.card.activation == "softmax" else logits.sigmoid()
        values: Floats = chosen.numpy()
        return values

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, special tokens included, cut at the model's window."""
        ids = [
            row
            for start in range(0, len(texts), _ENCODED)
            for row in self._ids(texts[start : start + _ENCODED], cut=self._window < _NO_LIMIT)
        ]
        full = [text for text, row in zip(texts, ids, strict=True) if len(row) == self._window]
        long = sum(len(row) > self._window for row in self._ids(full, cut=False))
        if long:
            self._notice(f"{self.card.id} reads {self._window:,} tokens: {long:,} longer texts are cut at their end")
        return ids

    def _ids(self, texts: Sequence[str], *, cut: bool) -> list[list[int]]:
        if not texts:
            return []
        limit = {"truncation": True, "max_length": self._window} if cut else {}
        found: list[list[int]] = self._tokenizer(list(texts), split_special_tokens=True, **limit)["input_ids"]
        return found


def load_transformers(card: Card, place: str, notice: Notice, device: str) -> TransformersClassifier:
    """Load the classifier of a card from a folder or the Hub: safetensors only, never a repository's own code.

    Raises ``EvaluationError`` if it cannot be loaded or its labels differ from the card's.
    """
    loaded = load_model(place, "AutoModelForSequenceClassification", revision=card.revision)
    return TransformersClassifier(card, on_device(loaded, device), notice)


def check_labels(card: Card, config: Any) -> None:
    """Raise ``ClassifierError`` if the labels of a card differ from the names that the model states, if it does."""
    stated = [str(config.id2label[i]) for i in sorted(config.id2label)]
    if len(stated) != len(card.labels):
        raise ClassifierError(
            f"the card of {card.id} has {len(card.labels)} labels, "
            f"the model has {len(stated)}: {', '.join(stated)[:200]}"
        )
    if all(map(_PLACEHOLDER.fullmatch, stated)):
        return
    for place, (given, found) in enumerate(zip(card.labels, stated, strict=True)):
        if given.casefold() != found.casefold():
            raise ClassifierError(
                f"the card of {card.id} has {given!r} as label {place}, the model has {found!r}: "
                f"write the model's labels in its order: {', '.join(stated)[:200]}"
            )


def _padding(tokenizer: Any, config: Any) -> int | None:
    """The token that fills batches up at the end of texts; None if the model can only read texts of equal length.

    A decoder judges the last token that is not padding. Without a padding token it refuses batches, unless it is
    given a number that is not a token.
    """
    if config.pad_token_id is None:
        config.pad_token_id = -1
        return None
    return None if tokenizer.padding_side == "left" else int(config.pad_token_id)


def blocks(lengths: Ints) -> Iterator[Ints]:
    """Yield the positions of all sequences in blocks, longest first; equal lengths keep their order."""
    order = np.argsort(-lengths, kind="stable")
    for start in range(0, len(order), BLOCK):
        yield order[start : start + BLOCK]


def batches(lengths: Ints, *, padded: bool) -> Iterator[slice]:
    """Cut lengths, sorted downwards, into batches of equal or, if ``padded``, similar lengths; leave out length 0.

    A batch has at most ``TOKENS`` tokens after padding, and at least one sequence.
    """
    start, total = 0, int(np.count_nonzero(lengths))
    while start < total:
        longest = int(lengths[start])
        shortest = longest * _SHORTEST if padded else longest
        stop = start + int(np.count_nonzero(lengths[start : start + max(1, TOKENS // longest)] >= shortest))
        yield slice(start, stop)
        start = stop
