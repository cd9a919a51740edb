"""Tokenizers that split the invented terms in several ways, and the obvious way to score a term."""

from collections.abc import Sequence
from string import printable
from typing import Any

import torch
from tests.evaluation.corpus.invented import invented

from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.mitigation.losses.term_reader import alternatives
from holisticbias_eval.mitigation.method import GroupTask, TokenBatch

SPECIFICATION = invented()
TASK = GroupTask(SPECIFICATION, ("blicket", "stad", "elm"))
TEXTS = (
    "We met a blicket near the old market.",
    "The grobby Stads sing, and elmfolk hum!",
    "I saw an elmer; a stad's hat was arble and mizzic",
    "Nobody came.",
    "so blicketish",
)
SPECIAL = ["<s>", "</s>", "<pad>", "<unk>"]


def make_tokenizer(kind: str) -> Any:
    """A tokenizer of 380 tokens: ``bytes`` as GPT-2 has, ``pieces`` as sentencepiece has, ``joined`` across words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))  # noqa: S106 - a token, not a password
    if kind == "bytes":
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    elif kind == "pieces":
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if kind == "bytes" else sorted(printable)
    trainer = trainers.BpeTrainer(
        vocab_size=380, special_tokens=SPECIAL, initial_alphabet=alphabet, max_token_length=9, show_progress=False
    )
    tokenizer.train_from_iterator(["I met a blicket or an elmer, and stads.", *TEXTS[:2]] * 3, trainer)
    names = zip(("bos_token", "eos_token", "pad_token", "unk_token"), SPECIAL, strict=True)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **dict(names))


def make_batch(tokenizer: Any, texts: Sequence[str], *, side: str = "right", opened: bool = True) -> TokenBatch:
    """A batch as training makes it, or padded on the other side."""
    encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True)
    lead = [tokenizer.bos_token_id] if opened else []
    rows = [lead + ids for ids in encoded["input_ids"]]
    places = [[(0, 0)] * len(lead) + offsets for offsets in encoded["offset_mapping"]]
    longest = max(map(len, rows))

    def padded(row: list[Any], filler: Any) -> list[Any]:
        padding = [filler] * (longest - len(row))
        return padding + row if side == "left" else row + padding

    return TokenBatch(
        list(texts),
        torch.tensor([padded(row, tokenizer.pad_token_id) for row in rows]),
        torch.tensor([padded([1] * len(row), 0) for row in rows]),
        torch.tensor([padded(place, (0, 0)) for place in places]),
        128,
    )


def read_batch(model: Any, batch: TokenBatch) -> torch.Tensor:
    """The logits of a batch, with the positions that generation gives to texts padded at the beginning."""
    positions = (batch.attention_mask.cumsum(-1) - 1).clamp(min=0)
    logits: torch.Tensor = model(
        input_ids=batch.input_ids, attention_mask=batch.attention_mask, position_ids=positions
    ).logits
    return logits


def plain_scores(model: Any, tokenizer: Any, text: str) -> list[list[float]]:
    """The log-probability of each term in the place of each mention: a pass for every token of every text.

    The tokens that the texts with each group's term share at the beginning are given, and shared tokens at the end are
    left out; if a tokenizer joins nothing to the terms, the rest are the tokens of the terms.
    """
    found = []
    for mention in target_finder(SPECIFICATION).find(text):
        offered = alternatives(text, mention, SPECIFICATION, TASK.groups)
        if mention.of.group not in TASK.groups or len(offered) < 2:
            continue
        rows = [tokenizer(offer.text, add_special_tokens=False)["input_ids"] for offer in offered]
        head = _shared(rows)
        tail = _shared([row[::-1] for row in rows])
        lead = [tokenizer.bos_token_id]
        found.append(
            [sum(_next(model, [*lead, *row[:i]], row[i]) for i in range(head, len(row) - tail)) for row in rows]
        )
    return found


def _shared(rows: Sequence[Sequence[int]]) -> int:
    shortest = min(map(len, rows))
    return next((i for i in range(shortest) if len({row[i] for row in rows}) > 1), shortest)


def _next(model: Any, before: Sequence[int], token: int) -> float:
    with torch.no_grad():
        return float(model(torch.tensor([list(before)])).logits[0, -1].double().log_softmax(-1)[token])
