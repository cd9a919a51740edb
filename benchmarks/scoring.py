"""Time and memory of scoring a release's sentences, compared with the methods of other packages.

All contenders score the same sentences in turn, in one process, several times;
the output is ratios of medians. The other methods follow their packages' code:
the perplexity of Hugging Face evaluate (padded to the longest text of all,
batches of 16) and the two requests of lm-evaluation-harness' HFLM (log-softmax
of whole padded batches of 64, a greedy check for every request).

    python benchmarks/scoring.py [--model FOLDER | --shape gpt2|small|llama] [--json]

``--model`` takes a folder or a GGUF file, with its tokenizer. Without it a shape
with random weights is timed, on the tokens of ``--tokenizer FILE`` or of the
embedded model. On a busy machine, --threads 1 --clock cpu counts only the
process's own time.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer

from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.likelihood.batches import PackSize, node_likelihoods, token_likelihoods
from holisticbias_eval.models.likelihood.opening import find_opening
from holisticbias_eval.models.loading.load import load_model
from holisticbias_eval.models.loading.running import in_float64
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.models.sequences import build_tree
from shared import (
    Clock,
    add_clock,
    make_parser,
    paper_sentences,
    peak_over,
    print_figures,
    set_clock,
    timed,
    torch_heading,
)

Values = np.ndarray[Any, np.dtype[np.float64]]
Tokens = list[list[int]]
Contender = Callable[[Any, Tokens], Values]
BOS = 50256
VOCABULARY = 50257
NEAR = 0.02  # relative difference allowed between a sample's tokens per forward token and the whole release's
DRAWS = 100
CHECKED = 512


def shape(name: str) -> Any:
    """A model with random weights."""
    torch.manual_seed(0)
    llama = {
        "vocab_size": VOCABULARY, "hidden_size": 768, "intermediate_size": 2048, "num_hidden_layers": 12,
        "num_attention_heads": 12, "num_key_value_heads": 4, "max_position_embeddings": 1024,
    }  # fmt: skip
    configs = {
        "gpt2": transformers.GPT2Config,
        "small": lambda: transformers.GPT2Config(n_embd=256, n_layer=6, n_head=4),
        "llama": lambda: transformers.LlamaConfig(**llama),
    }
    return transformers.AutoModelForCausalLM.from_config(configs[name]()).eval()


def by_descriptor(tokenizer: Tokenizer, lead: Sequence[int]) -> dict[str, Tokens]:
    """The tokens of every distinct sentence of 1.0.0 that has a descriptor, by descriptor."""
    table = paper_sentences()
    owner: dict[str, str] = {}
    for text, name in zip(table["text"].to_pylist(), table["descriptor_id"].to_pylist(), strict=True):
        if name is not None:
            owner.setdefault(text, name)
    held: dict[str, Tokens] = {}
    encodings = tokenizer.encode_batch(list(owner), add_special_tokens=False)
    for name, encoding in zip(owner.values(), encodings, strict=True):
        held.setdefault(name, []).append([*lead, *encoding.ids])
    return held


def sample(held: dict[str, Tokens], descriptors: int) -> tuple[Tokens, float]:
    """The sentences of some descriptors, and the tokens per forward token of the whole release.

    The saving of a tree depends on its descriptors. Takes the first draw whose
    tokens per forward token are within 2% of the whole release's, or else the
    nearest draw; both figures are printed.
    """
    whole = tokens_per_node([row for rows in held.values() for row in rows])
    nearest, found = np.inf, list[list[int]]()
    for seed in range(DRAWS):
        chosen = np.random.default_rng(seed).choice(sorted(held), min(descriptors, len(held)), replace=False)
        tokens = [row for name in chosen for row in held[name]]
        off = abs(tokens_per_node(tokens) / whole - 1)
        if off < nearest:
            nearest, found = off, tokens
        if nearest < NEAR:
            break
    return found, whole


def tokens_per_node(tokens: Tokens) -> float:
    """Tokens per token that needs a forward pass."""
    ids, starts = flat(tokens)
    return len(ids) / build_tree(ids, starts).inner


def flat(tokens: Tokens) -> tuple[np.ndarray[Any, np.dtype[np.int32]], np.ndarray[Any, np.dtype[np.int64]]]:
    """All tokens in one array, and the start of each sentence."""
    return np.array([t for row in tokens for t in row], np.int32), np.cumsum([0, *map(len, tokens)])


def prefix_tree(model: Any, tokens: Tokens, size: PackSize | None = None) -> Values:
    """Score with a prefix tree, as this package does."""
    ids, starts = flat(tokens)
    tree = build_tree(ids, starts)
    nll = node_likelihoods(model, tree, size or PackSize(), "tiled head", lambda _: None, print)
    return np.add.reduceat(nll[tree.node], starts[:-1])


def bucketed(model: Any, tokens: Tokens) -> Values:
    """Score without duplicates, sorted by length, in batches of 128 without padding."""
    ids, starts = flat(tokens)
    nll = token_likelihoods(model, ids, starts, lambda _: None, print)
    return np.add.reduceat(nll, starts[:-1])


@torch.no_grad()
def evaluate(model: Any, tokens: Tokens) -> Values:
    """Score like the perplexity of Hugging Face evaluate: padded once to the longest text, in batches of 16."""
    width = max(map(len, tokens))
    ids = torch.zeros((len(tokens), width), dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(tokens):
        ids[i, : len(row)] = torch.tensor(row)
        mask[i, : len(row)] = 1
    sums = []
    for start in range(0, len(tokens), 16):
        batch, attention = ids[start : start + 16], mask[start : start + 16]
        logits = model(batch, attention_mask=attention).logits[..., :-1, :].contiguous()
        labels, kept = batch[..., 1:].contiguous(), attention[..., 1:].contiguous()
        loss = torch.nn.CrossEntropyLoss(reduction="none")(logits.transpose(1, 2), labels) * kept
        sums.append(loss.sum(1))
    return torch.cat(sums).double().numpy()


@torch.no_grad()
def _harness(model: Any, batches: Sequence[Tokens]) -> list[float]:
    sums = []
    for batch in batches:
        inputs = [torch.tensor(row[:-1]) for row in batch]
        width = max(map(len, inputs))
        padded = torch.stack([torch.nn.functional.pad(row, (0, width - len(row))) for row in inputs])
        for row, logits in zip(batch, torch.log_softmax(model(padded).logits, dim=-1), strict=True):
            values = logits[: len(row) - 1].unsqueeze(0)
            target = torch.tensor(row[1:]).unsqueeze(0)
            bool((values.argmax(dim=-1) == target).all())
            sums.append(-float(torch.gather(values, 2, target.unsqueeze(-1)).squeeze(-1).sum()))
    return sums


def lm_eval_rolling(model: Any, tokens: Tokens) -> Values:
    """``loglikelihood_rolling``: batches of 64 in the order of the requests."""
    return np.array(_harness(model, [tokens[i : i + 64] for i in range(0, len(tokens), 64)]))


def lm_eval(model: Any, tokens: Tokens) -> Values:
    """``loglikelihood``: sorted by length, batches of 64."""
    order = sorted(range(len(tokens)), key=lambda i: -len(tokens[i]))
    batches = [[tokens[j] for j in order[i : i + 64]] for i in range(0, len(order), 64)]
    sums = np.empty(len(tokens))
    sums[order] = _harness(model, batches)
    return sums


CONTENDERS: dict[str, Contender] = {
    "prefix tree": prefix_tree,
    "evaluate": evaluate,
    "lm-eval rolling": lm_eval_rolling,
    "lm-eval": lm_eval,
    "bucketed": bucketed,
}


def seconds_per_token(model: Any, clock: Clock) -> float:
    """Seconds per token of one dense pass over 4 sequences of 256 tokens or the context length, with logits."""
    ids = torch.randint(0, model.get_input_embeddings().num_embeddings, (4, min(256, context_length(model))))
    with torch.inference_mode():
        return timed(lambda: model(ids, use_cache=False), clock)[1] / ids.numel()


def errors(model: Any, tokens: Tokens) -> dict[str, float]:
    """Largest errors relative to float64 on some sentences, in nats: of the tree, and of whole sentences."""
    some = tokens[:: max(1, len(tokens) // CHECKED)]
    with in_float64(model):
        exact = bucketed(model, some)
    tree, plain = (float(np.abs(way(model, some) - exact).max()) for way in (prefix_tree, bucketed))
    return {"error": tree, "plain_error": plain, "error_ratio": tree / plain}


def measure(model: Any, tokens: Tokens, repeat: int, names: Sequence[str], clock: Clock) -> dict[str, float]:
    """Compute all figures by key."""
    for warm in (prefix_tree, evaluate):
        warm(model, tokens[:40])
    peak = peak_over(lambda: prefix_tree(model, tokens))
    times: dict[str, list[float]] = {name: [] for name in names}
    dense, values = [], {}
    for _ in range(repeat):
        for name in names:
            values[name], seconds = timed(partial(CONTENDERS[name], model, tokens), clock)
            times[name].append(seconds)
            dense.append(seconds_per_token(model, clock))
    taken = {name: statistics.median(t) for name, t in times.items()}
    ids, starts = flat(tokens)
    tree = build_tree(ids, starts)
    ours = taken["prefix tree"]
    best = [taken[name] for name in ("lm-eval", "lm-eval rolling") if name in taken]
    return {
        "sentences": len(tokens),
        "tokens": len(ids),
        "forward_tokens": tree.inner,
        "seconds": ours,
        "vs_evaluate": taken.get("evaluate", np.nan) / ours,
        "vs_lm_eval": min(best, default=np.nan) / ours,
        "vs_bucketed": taken.get("bucketed", np.nan) / ours,
        "vs_tree_bound": ours / (tree.inner * statistics.median(dense)),
        "peak_mb_over_model": peak,
        "max_abs_diff": max(float(np.abs(v - values["prefix tree"]).max()) for v in values.values()),
        **errors(model, tokens),
    }


def main() -> None:
    """Run the benchmark from the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", help="a model's folder or GGUF file")
    parser.add_argument("--shape", choices=("gpt2", "small", "llama"), default="gpt2")
    parser.add_argument("--tokenizer", type=Path, default=SHIPPED[EMBEDDED_MODEL].folder / "tokenizer.json")
    parser.add_argument("--descriptors", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=sorted(CONTENDERS), default=list(CONTENDERS))
    add_clock(parser, torch.get_num_threads())
    options = parser.parse_args()
    clock = set_clock(options)
    if options.model:
        loaded = load_model(options.model, "AutoModelForCausalLM")
        model, lead = loaded.model, find_opening(loaded.tokenizer).tokens
        tokenizer = Tokenizer.from_str(loaded.tokenizer.backend_tokenizer.to_str())
    else:
        model, lead, tokenizer = shape(options.shape), (BOS,), Tokenizer.from_file(str(options.tokenizer))
    tokens, whole = sample(by_descriptor(tokenizer, lead), options.descriptors)
    names = ["prefix tree", *(name for name in options.only if name != "prefix tree")]
    figures = measure(model, tokens, options.repeat, names, clock)
    figures |= {"tokens_per_forward_token": figures["tokens"] / figures["forward_tokens"], "of_the_whole": whole}
    what = options.model or f"{options.shape} shape, random weights"
    print_figures(figures, as_json=options.json, heading=torch_heading(what))


if __name__ == "__main__":
    main()
