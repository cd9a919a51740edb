"""Score spans with an encoder-decoder model: the encoder reads the context, the decoder the text."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Ints, Tensor
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.batches import MAX_LOGITS, following, in_equal_lengths
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores, Work
from holisticbias_eval.models.likelihood.spans import Spans, TextWindow
from holisticbias_eval.models.likelihood.tokens import Encoded, TextEncoder
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.running import one_line_for_errors
from holisticbias_eval.models.loading.tokenizers import context_length, decoder_start, special_tokens
from holisticbias_eval.models.sequences import bounds, equal_groups, ranges
from holisticbias_eval.progress import Notice, Progress


class Seq2SeqScorer(Scorer):
    """Scores texts as labels: the decoder reads its start token and the text, and all of the text is scored.

    A language token that the tokenizer puts before a label is read but not scored;
    a closing token is left out. A context is encoded once, however many texts it has.
    """

    def __init__(self, loaded: LoadedModel, notice: Notice) -> None:
        self._model = loaded.model
        self._tokenizer = loaded.tokenizer
        self._encoder = TextEncoder(loaded.tokenizer)
        start = decoder_start(loaded.model)
        if start is None:
            raise ModelError(f"{loaded.identity.name}: its configuration has no decoder_start_token_id")
        self._lead = [start, *special_tokens(loaded.tokenizer, "text_target")[0]]
        self._notice = notice
        read = " ".join(map(str, self._lead))
        settings = {"scorer": "seq2seq", "decoder_reads_first": read, **loaded.settings, **self._encoder.settings()}
        super().__init__(loaded.identity, "seq2seq", settings)

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        encoded = self._encode(spans)
        nll = np.zeros(len(encoded.ids))
        contexts, which = np.unique(np.array(spans.context, object), return_inverse=True)
        for context, rows in zip(contexts, equal_groups(which), strict=True):
            self._score_context(context, rows, encoded, nll, progress)
        return encoded.scores(nll)

    def work(self, spans: Spans) -> Work:
        """Count the tokens that the decoder reads."""
        encoded = self._encode(spans)
        return Work(len(encoded.ids), len(encoded.ids))

    def windows(self, texts: Sequence[str]) -> Sequence[tuple[TextWindow, ...]]:
        """Windows as long as the decoder can read after its first tokens."""
        return self._encoder.windows(texts, context_length(self._model) - len(self._lead))

    def _encode(self, spans: Spans) -> Encoded:
        """Encode what the decoder reads: its start token, the tokens before a label, and the text."""
        bare = Spans(spans.text, spans.start, spans.stop, [""] * len(spans))
        encoded = self._encoder.encode(bare, self._lead)
        encoded.refuse_long(self._model, spans)
        return encoded

    def _score_context(self, context: str, rows: Ints, encoded: Encoded, nll: Floats, progress: Progress) -> None:
        """Score the texts of one context, in batches of equal length."""
        import torch

        read = self._tokenizer(context)["input_ids"]
        if not read:
            raise ModelError(
                f"the encoder would read nothing: the tokenizer makes no token of the context {context!r}; "
                "if the measure takes --context, give one; else the tokenizer must add a token to texts, such as </s>"
            )
        limit = context_length(self._model)
        if len(read) > limit:
            raise ModelError(f"the encoder reads at most {limit:,} tokens; the context {context!r} has {len(read):,}")
        ids = torch.tensor([read], device=self._model.device, dtype=torch.long)
        with torch.inference_mode(), one_line_for_errors(str(self.identity)):
            encoded_context = self._model.get_encoder()(input_ids=ids)
        places = ranges(encoded.starts[rows], encoded.lengths[rows])
        nll[places] = in_equal_lengths(
            self._model.device,
            partial(self._likelihoods, encoded_context, encoded_context.last_hidden_state),
            MAX_LOGITS // self._model.get_output_embeddings().weight.shape[0],
            encoded.ids[places],
            bounds(encoded.lengths[rows]),
            progress,
            self._notice,
        )

    def _likelihoods(self, read_by_encoder: Any, states: Tensor, tokens: Tensor) -> Tensor:
        """Negative log-likelihoods of the decoder's tokens after the first; shape ``[rows, length - 1]``."""
        import torch

        read_by_encoder.last_hidden_state = states.expand(len(tokens), -1, -1)
        shape = read_by_encoder.last_hidden_state.shape[:2]
        with one_line_for_errors(str(self.identity)):
            logits = self._model(
                encoder_outputs=read_by_encoder,
                attention_mask=torch.ones(shape, dtype=torch.long, device=tokens.device),
                decoder_input_ids=tokens,
                use_cache=False,
            ).logits
        return following(logits, tokens)
