"""Time of pseudo-log-likelihoods of SEAT's phrases: distinct masked inputs compared with all masked inputs.

The model is a BERT with RoBERTa base's depth and vocabulary, random weights and a narrower
body. The package is compared with one masked input per pass, as in the code of
Nangia et al. (2020), and with padded batches of 64 in the order of the texts; both
compute the head at every position. A third method works like the package, but
packs the distinct inputs into rows of 128 separated by a mask, instead of batches
of equal length. All methods score the same phrases in turn, in one process; the
output is ratios.

    python benchmarks/masked.py [--descriptors N] [--tokenizer FILE] [--json]

On a busy machine, --threads 1 --clock cpu counts only the process's own time.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.likelihood.masked import MaskedScorer
from holisticbias_eval.models.likelihood.spans import Spans, parts, unique_spans
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.prompts.seat import seat_sentences
from shared import Clock, add_clock, make_parser, paper_sentences, print_figures, set_clock, timed, torch_heading

BATCH = 64
ROW = 128


def load(width: int, tokenizer_file: Path) -> LoadedModel:
    """The random model, and a byte-level tokenizer with RoBERTa's special tokens around a text."""
    backend = Tokenizer.from_file(str(tokenizer_file))
    special = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **special)
    around = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=around)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=max(50_265, len(tokenizer)),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=12,
        num_attention_heads=width // 32,
        max_position_embeddings=512,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = transformers.BertForMaskedLM(config).eval()
    identity = ModelSignature.unknown("random", "BertForMaskedLM")
    return LoadedModel(model, tokenizer, identity, lambda _: model)


def phrases(sentences: pa.Table) -> Spans:
    """The distinct phrases of SEAT's sentences, as spans of their sentences."""
    table = seat_sentences(sentences)
    return unique_spans(parts(table["text"].to_pylist(), table["phrase"].to_pylist()))[0]


def few(sentences: pa.Table, descriptors: int) -> pa.Table:
    """Sentences of some descriptors, evenly spread over all descriptors."""
    names = [name for name in sentences["descriptor_id"].unique().to_pylist() if name is not None]
    chosen = {names[i] for i in np.linspace(0, len(names) - 1, descriptors).astype(int)}
    return sentences.filter(pa.array([name in chosen for name in sentences["descriptor_id"].to_pylist()]))


def masked_inputs(tokenizer: Any, spans: Spans) -> list[tuple[int, int, list[int]]]:
    """For every token of every span: the span's row, the token's position, and the token ids."""
    found = []
    for row, (text, start, stop) in enumerate(zip(spans.text, spans.start, spans.stop, strict=True)):
        encoded = tokenizer(text, return_offsets_mapping=True)
        for place, (begin, end) in enumerate(encoded["offset_mapping"]):
            if begin < stop and end > start:
                found.append((row, place, encoded["input_ids"]))
    return found


@torch.inference_mode()
def naively(loaded: LoadedModel, spans: Spans, size: int) -> Any:
    """Score with every token masked in turn, in padded batches; shape ``[rows]``."""
    inputs = masked_inputs(loaded.tokenizer, spans)
    nll = np.zeros(len(spans))
    for first in range(0, len(inputs), size):
        batch = inputs[first : first + size]
        width = max(len(ids) for _, _, ids in batch)
        tokens = torch.full((len(batch), width), loaded.tokenizer.pad_token_id)
        attention = torch.zeros_like(tokens)
        for i, (_, place, ids) in enumerate(batch):
            tokens[i, : len(ids)] = torch.tensor(ids)
            tokens[i, place] = loaded.tokenizer.mask_token_id
            attention[i, : len(ids)] = 1
        logits = loaded.model(tokens, attention_mask=attention).logits
        for i, (row, place, ids) in enumerate(batch):
            nll[row] -= float(logits[i, place].log_softmax(0)[ids[place]])
    return nll


def rows_of(lengths: list[int]) -> list[list[int]]:
    """Pack inputs into rows of at most 128 tokens, the longest first, each into the first row with room."""
    rows: list[list[int]] = []
    room: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        row = next((r for r, left in enumerate(room) if left >= lengths[i]), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(ROW)
        rows[row].append(i)
        room[row] -= lengths[i]
    return rows


@torch.inference_mode()
def packed(loaded: LoadedModel, spans: Spans, clock: Clock) -> tuple[Any, float]:
    """Score the distinct masked inputs packed into rows; shape ``[rows]``, and the seconds of the passes only."""
    inputs = masked_inputs(loaded.tokenizer, spans)
    hidden = [(*ids[:place], loaded.tokenizer.mask_token_id, *ids[place + 1 :]) for _, place, ids in inputs]
    distinct = list(dict.fromkeys(zip(hidden, (place for _, place, _ in inputs), strict=True)))
    found: dict[Any, Any] = {}
    seconds = 0.0
    rows = rows_of([len(ids) for ids, _ in distinct])
    for first in range(0, len(rows), 4096 // ROW):
        batch = rows[first : first + 4096 // ROW]
        slots, positions, owner = (torch.zeros(len(batch), ROW, dtype=torch.long) for _ in range(3))
        places = []
        for r, row in enumerate(batch):
            at = 0
            for i in row:
                tokens, place = distinct[i]
                slots[r, at : at + len(tokens)] = torch.tensor(tokens)
                positions[r, at : at + len(tokens)] = torch.arange(len(tokens))
                owner[r, at : at + len(tokens)] = i + 1
                places.append(r * ROW + at + place)
                at += len(tokens)
        start = clock()
        mask = torch.zeros(len(batch), 1, ROW, ROW)
        mask.masked_fill_((owner[:, :, None] != owner[:, None, :])[:, None], torch.finfo(torch.float32).min)
        states = loaded.model.base_model(slots, attention_mask=mask, position_ids=positions)[0]
        logits = loaded.model.cls(states.flatten(0, 1)[places])
        normaliser = logits.logsumexp(1)
        seconds += clock() - start
        chosen = [i for row in batch for i in row]
        found.update({distinct[i]: (logits[j], normaliser[j]) for j, i in enumerate(chosen)})
    nll = np.zeros(len(spans))
    for key, (phrase, place, ids) in zip(hidden, inputs, strict=True):
        logits, normaliser = found[key, place]
        nll[phrase] += float(normaliser - logits[ids[place]])
    return nll, seconds


def measure(loaded: LoadedModel, everything: Spans, spans: Spans, clock: Clock) -> dict[str, float]:
    """Compute all figures by key, including the ratio of tokens over the whole release."""
    scorer = MaskedScorer(loaded, print)
    work = scorer.work(everything)
    scorer.score(spans.take(np.arange(8)), lambda _: None)
    naively(loaded, spans.take(np.arange(8)), BATCH)
    before = scorer.input_counts()
    ours, seconds = timed(lambda: scorer.score(spans, lambda _: None).nll, clock)
    after = scorer.input_counts()
    asked, run = after.asked - before.asked, after.run - before.run
    figures: dict[str, float] = {
        "phrases": len(spans),
        "masked_inputs": asked,
        "distinct_inputs": run,
        "inputs_ratio": asked / run,
        "tokens_ratio_whole_release": work.tokens / work.forward,
        "seconds": seconds,
    }
    together, passes = packed(loaded, spans, clock)
    figures["vs_packed"] = passes / seconds
    worst = float(np.abs(together - ours).max())
    for name, size in (("vs_batched", BATCH), ("vs_one_by_one", 1)):
        theirs, taken = timed(partial(naively, loaded, spans, size), clock)
        figures[name] = taken / seconds
        worst = max(worst, float(np.abs(theirs - ours).max()))
    return {**figures, "max_abs_diff": worst}


def main() -> None:
    """Run the benchmark from the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--tokenizer", type=Path, default=SHIPPED[EMBEDDED_MODEL].folder / "tokenizer.json")
    parser.add_argument("--descriptors", type=int, default=3)
    add_clock(parser, torch.get_num_threads())
    options = parser.parse_args()
    clock = set_clock(options)
    sentences = paper_sentences()
    everything, spans = phrases(sentences), phrases(few(sentences, options.descriptors))
    figures = measure(load(options.width, options.tokenizer), everything, spans, clock)
    heading = torch_heading(f"width {options.width}, random weights")
    print_figures(figures, as_json=options.json, heading=heading)


if __name__ == "__main__":
    main()
