"""The local engine: load a model in this process, and answer requests with it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.conversation import Conversation
from holisticbias_eval.models.generation.decoding import Decoding, Ending, apart
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, Responses, SamenessRecord
from holisticbias_eval.models.generation.sampling import step_seeds
from holisticbias_eval.models.generation.writing import Plain, Together, TokenPrompts, why_not_together
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.running import each_batch, one_line_for_errors
from holisticbias_eval.models.loading.tokenizers import context_length, decoder_start
from holisticbias_eval.models.model import Kind
from holisticbias_eval.models.sequences import equal_groups, spread
from holisticbias_eval.progress import Notice, Progress

TRIED = 8
BATCH = 64  # the size of the batch in which they are tried
_LOGITS_AT_ONCE = 32_000_000
_LONGEST_TOKEN = 1000  # characters
_ROOM, _ROOM_ELSEWHERE = (1_100_000_000, 256), (8_000_000_000, 1024)
"""The bytes of a cache and the most rows, on a CPU and on other devices."""
_NEAR_LENGTHS = 32  # prompts whose lengths differ by less share batches, sorted by their tokens


class LocalGenerator(Generator):
    """Answers requests with a model in this process.

    Before the first requests are answered, a few of them are tried: a model that
    writes differently in a batch of several lengths (state-space models, a sliding
    window shorter than the text) writes in batches of one length instead, as
    encoder-decoders and beam search do.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        kind: Kind,
        notice: Notice,
        decoding: Decoding,
        seed: int,
        conversation: Conversation,
        batch: int | None = None,
    ) -> None:
        self._ending = Ending(loaded.model, loaded.tokenizer, conversation, decoding)
        own = {**loaded.settings, **self._ending.settings}
        if kind == "seq2seq":
            own["decoder_reads_first"] = str(decoder_start(loaded.model))
        settings = {**conversation.settings, **own, **decoding.settings, "seed": str(seed)}
        super().__init__(loaded.identity, kind, settings, keeps_blank=conversation.keeps_blank)
        self._model = loaded.model
        self._tokenizer = loaded.tokenizer
        self._notice = notice
        self._decoding = decoding
        self._seed = seed
        self._conversation = conversation
        self._batch = batch
        self._plain = Plain(loaded.model, decoding, self._ending)
        is_plain = kind == "seq2seq" or decoding.method == "beam"
        self._writer = self._plain if is_plain else Together(loaded.model, decoding, self._ending)
        self._tried = 0  # the length of the longest prompt that was written together

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Answer requests; yield the positions and the responses of each batch as it is done, in any order."""
        prompts = self._prompts(requests)
        self._choose(prompts)
        for rows in self._groups(prompts):

            def run(start: int, stop: int, rows: Ints = rows) -> tuple[Ints, Responses]:
                part = rows[start:stop]
                with one_line_for_errors(str(self.identity)):
                    return part, self._responses(self._writer.write(prompts.take(part)))

            for part, responses in each_batch(len(rows), self._size(prompts.take(rows)), run, self._notice):
                progress(len(part))
                yield part, responses

    def probe(self, requests: PromptRequests) -> SamenessRecord | None:
        """Write a few responses alone and in a batch, and count equal ones; None without requests."""
        prompts = self._prompts(requests)
        if not prompts.ids:
            return None
        self._choose(prompts)
        few = spread(prompts.lengths, TRIED)
        others = np.setdiff1d(spread(prompts.lengths, BATCH), few)
        with one_line_for_errors(str(self.identity)):
            together = self._writer.write(prompts.take(np.concatenate((few, others))))
            alone = [self._writer.write(prompts.take(few[i : i + 1]))[0] for i in range(len(few))]
        same = sum(one == other for one, other in zip(alone, together, strict=False))
        return SamenessRecord(tried=len(few), same=same)

    def attempt(self, requests: PromptRequests) -> None:
        """Answer requests, and keep nothing."""
        for _ in self.generate(requests, lambda _: None):
            pass

    def vectors(self, texts: Sequence[str]) -> Floats:
        """The mean input embedding of each text's tokens, as they stand after a blank; NaN for a text without tokens.

        Shape ``[texts, size]``, float64.
        """
        table = self._model.get_input_embeddings().weight
        means = np.full((len(texts), table.shape[1]), np.nan)
        for row, text in enumerate(texts):
            ids = self._tokenizer(f" {text}", add_special_tokens=False)["input_ids"]
            if ids:
                with torch.inference_mode():
                    means[row] = table[torch.tensor(ids, device=table.device)].double().mean(0).cpu().numpy()
        return means

    def _choose(self, prompts: TokenPrompts) -> None:
        """Find out whether the model can write prompts of these lengths together; if not, say so once."""
        longest = int(prompts.lengths.max(initial=0))
        if isinstance(self._writer, Plain) or longest <= self._tried:
            return
        self._tried = longest
        few = prompts.take(spread(prompts.lengths, TRIED))
        reason = why_not_together(self._writer, self._model, few, str(self.identity))
        if reason:
            self._writer = self._plain
            self._notice(f"{self.identity} {reason}: its responses are written in batches of equal length, more slowly")

    def _prompts(self, requests: PromptRequests) -> TokenPrompts:
        """The requests as token ids and seeds; raises ``ModelError`` for a prompt without room to answer."""
        limit = context_length(self._model)
        for prompt in requests.prompt:
            if len(prompt) > limit * _LONGEST_TOKEN:  # refused before a minute is spent on its tokens
                raise ModelError(
                    f"the model reads at most {limit:,} tokens; the prompt {prompt[:100]!r} has {len(prompt):,} "
                    "characters: leave it out"
                )
        ids = self._conversation.encoder.encode(requests)
        steps = self._decoding.max_new_tokens
        for prompt, tokens in zip(requests.prompt, ids, strict=True):
            needed = max(len(tokens), steps) if self.kind == "seq2seq" else len(tokens) + steps
            if needed > limit:
                raise ModelError(
                    f"the model reads at most {limit:,} tokens; the prompt {prompt[:100]!r} has {len(tokens):,} "
                    f"and its response up to {steps:,}: leave the prompt out or take a smaller max_new_tokens"
                )
            if not tokens:
                raise ModelError(f"the model would read nothing: the tokenizer makes no token of {prompt[:100]!r}")
        return TokenPrompts(ids, step_seeds(self._seed, requests, steps))

    def _groups(self, prompts: TokenPrompts) -> list[Ints]:
        """The rows that may share batches, in the order in which they share most."""
        lengths = prompts.lengths
        if isinstance(self._writer, Plain):
            return equal_groups(lengths)
        ranked = sorted(range(len(lengths)), key=lambda row: (lengths[row] // _NEAR_LENGTHS, prompts.ids[row]))
        return [np.array(ranked, np.int64)] if ranked else []

    def _size(self, prompts: TokenPrompts) -> int:
        """The number of responses to write at once, so that all batches of a group are of nearly the same size."""
        most = self._batch or self._most_rows(int(prompts.lengths.max()) + self._decoding.max_new_tokens)
        return -(-len(prompts.ids) // -(-len(prompts.ids) // most))

    def _most_rows(self, length: int) -> int:
        """How many rows of this length fit."""
        cache, rows = _ROOM if self._model.device.type == "cpu" else _ROOM_ELSEWHERE
        logits = _LOGITS_AT_ONCE // int(self._model.get_input_embeddings().num_embeddings)
        fitting = min(cache // (_bytes_per_token(self._model) * length), logits, rows)
        return max(1, fitting // (self._decoding.beams or 1))

    def _responses(self, tokens: list[list[int]]) -> Responses:
        texts, finish, counts = zip(*map(self._ending.written, tokens), strict=True)
        said = [apart(text, self._conversation.thinking) for text in texts]
        return Responses([text for text, _ in said], finish, np.array(counts, np.int32), [why for _, why in said])


def _bytes_per_token(model: Any) -> int:
    """The size of one token's keys and values in all layers, as far as the configuration says."""
    config = model.config.get_text_config(decoder=True)
    heads = getattr(config, "num_attention_heads", None) or 1
    width = getattr(config, "head_dim", None) or config.hidden_size // heads
    shared = getattr(config, "num_key_value_heads", None) or heads
    return max(1, 2 * int(config.num_hidden_layers) * int(shared) * int(width) * int(model.dtype.itemsize))
