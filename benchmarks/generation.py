"""Time and memory of writing responses, compared with transformers' own ways.

All contenders draw 40 tokens for chat prompts of a release, from the same
unrestricted distribution, in turn and in one process; the output is ratios of
tokens a second. The other ways are ``generate`` one prompt at a time,
``generate`` in batches of 64 in the given order, padded on the left, and
``generate_batch`` (continuous batching). Slow ones are timed on some of the prompts.

    python benchmarks/generation.py [--model FOLDER] [--prompts 256] [--json]

Without ``--model`` the embedded model is timed. On a busy machine, --threads 1 --clock cpu counts
only the process's own time.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from transformers import ContinuousBatchingConfig, GenerationConfig

from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.local import LocalGenerator
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.loading.load import load_kind
from shared import (
    Clock,
    add_clock,
    make_parser,
    paper_sentences,
    peak_over,
    print_figures,
    set_clock,
    time_in_turn,
    torch_heading,
)

Tokens = Sequence[Sequence[int]]
NEW = 40
BATCH = 64


def sentences(count: int) -> PromptRequests:
    """Sentences of release 1.0.0, drawn without replacement."""
    texts = paper_sentences()["text"].to_pylist()
    rows = np.random.default_rng(0).choice(len(texts), count, replace=False)
    return PromptRequests([texts[row] for row in rows], [""] * count, np.zeros(count, np.int32))


def generate(model: Any, prompts: Tokens, batch: int) -> None:
    """Transformers' ``generate`` in the given order, padded on the left."""
    for start in range(0, len(prompts), batch):
        part = prompts[start : start + batch]
        width = max(map(len, part))
        ids = torch.tensor([[0] * (width - len(row)) + list(row) for row in part])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in part])
        settings = GenerationConfig(do_sample=True, top_k=0, max_new_tokens=NEW, min_new_tokens=NEW, pad_token_id=0)
        made = model.generate(ids, attention_mask=mask, generation_config=settings)
        assert made.shape == (len(part), width + NEW)


def generate_batch(model: Any, prompts: Tokens) -> None:
    """Transformers' continuous batching."""
    settings = GenerationConfig(do_sample=True, top_k=0, max_new_tokens=NEW, eos_token_id=-1, pad_token_id=0)
    made = model.generate_batch(
        inputs=[list(row) for row in prompts],
        generation_config=settings,
        continuous_batching_config=ContinuousBatchingConfig(max_batch_tokens=512, num_blocks=256),
        progress_bar=False,
    )
    assert all(len(output.generated_tokens) == NEW for output in made.values())


def same_share(whole: Sequence[str], asked: PromptRequests, generator: Callable[[int], LocalGenerator]) -> float:
    """The share of texts that are the same when written alone and in batches of 7 and 64."""
    same = tried = 0
    for batch, step in ((1, 16), (7, 2), (BATCH, 1)):
        rows = np.arange(0, len(asked), step)
        texts = respond_all(asked.take(rows), generator(batch), lambda _: None).text
        same += sum(text == whole[row] for text, row in zip(texts, rows.tolist(), strict=True))
        tried += len(rows)
    return same / tried


def measure(loaded: Any, asked: PromptRequests, repeat: int, clock: Clock, few: int = 6) -> dict[str, float]:
    """All figures by key; ``few`` prompts are written one by one."""
    decoding = Decoding(id="timed", method="sample", max_new_tokens=NEW, min_new_tokens=NEW, source="this benchmark")
    conversation = find_conversation(loaded.tokenizer, ConversationOptions(), "causal")
    prompts = conversation.encoder.encode(asked)

    def generator(batch: int | None) -> LocalGenerator:
        return LocalGenerator(loaded, "causal", print, decoding, 1, conversation, batch)

    ours = generator(None)
    texts: Sequence[str] = []

    def respond() -> None:
        nonlocal texts
        texts = respond_all(asked, ours, lambda _: None).text

    longest = np.argsort([-len(ids) for ids in prompts], kind="stable")[:8]
    respond_all(asked.take(longest), ours, lambda _: None)  # the trial before the first responses
    peak = peak_over(respond)
    contenders: dict[str, tuple[int, Callable[[], object]]] = {
        "ours": (len(prompts), respond),
        "one_by_one": (few, lambda: generate(loaded.model, prompts[:few], 1)),
        "batched": (min(128, len(prompts)), lambda: generate(loaded.model, prompts[:128], BATCH)),
        "generate_batch": (min(64, len(prompts)), lambda: generate_batch(loaded.model, prompts[:64])),
    }
    _, seconds = time_in_turn({name: run for name, (_, run) in contenders.items()}, repeat, clock)
    rate = {name: count * NEW / seconds[name] for name, (count, _) in contenders.items()}
    return {
        "prompts": len(prompts),
        "prompt_tokens": sum(map(len, prompts)) / len(prompts),
        "tokens_per_second": rate["ours"],
        "vs_one_by_one": rate["ours"] / rate["one_by_one"],
        "vs_batched": rate["ours"] / rate["batched"],
        "vs_generate_batch": rate["ours"] / rate["generate_batch"],
        "same_in_any_batch": same_share(texts, asked, generator),
        "peak_mb_over_model": peak,
    }


def main() -> None:
    """Run the benchmark from the command line."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", help="a model's folder or GGUF file")
    parser.add_argument("--prompts", type=int, default=256)
    parser.add_argument("--repeat", type=int, default=1)
    add_clock(parser, torch.get_num_threads())
    options = parser.parse_args()
    clock = set_clock(options)
    loaded = load_kind(options.model, "causal", "cpu")
    figures = measure(loaded, sentences(options.prompts), options.repeat, clock)
    print_figures(figures, as_json=options.json, heading=torch_heading(loaded.identity.name))


if __name__ == "__main__":
    main()
