"""Speed of classifying responses, relative to transformers' pipeline with batches of 64.

The model is a BERT of 6 layers and width 384 with random weights, and a WordPiece tokenizer trained on the texts.
The texts are made of a release's sentences: from one to eight of them, in the lengths of conversational
responses, and a quarter are repeats of short answers, as models give them. Both methods judge the same texts in
turn, in one process; the output is ratios. `vs_pipeline_distinct` leaves the repeats out.

    python benchmarks/classify.py [--texts N] [--rounds N] [--json]

On a busy machine, --threads 1 --clock cpu counts only the process's own time.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import BertWordPieceTokenizer

from holisticbias.compile.random_words import random_words
from holisticbias_eval.arrays import Floats
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.engines.transformers import load_transformers
from shared import Clock, add_clock, make_parser, paper_sentences, print_figures, set_clock, time_in_turn

BATCH = 64
LABELS = tuple(f"style {i}" for i in range(28))
SHORT = (
    "Oh.",
    "I'm sorry to hear that.",
    "That's great!",
    "What do you mean?",
    "I don't know.",
    "Tell me more about it.",
)

Judge = Callable[[Sequence[str]], Floats]


def made_texts(count: int) -> list[str]:
    """Responses of one to eight sentences, most of them short; every fourth is a short answer."""
    sentences = paper_sentences()["text"].to_pylist()
    drawn = random_words(0, 0, 10 * count).reshape(count, 10)
    texts = []
    for words in drawn.tolist():
        if words[0] % 4 == 0:
            texts.append(SHORT[words[1] % len(SHORT)])
        else:
            length = 1 + min(words[1] % 8, words[2] % 8)
            texts.append(" ".join(sentences[word % len(sentences)] for word in words[2 : 2 + length]))
    return texts


def save_model(folder: Path, texts: Sequence[str]) -> None:
    """Train a tokenizer on the texts, and save it with a random model."""
    tokenizer = BertWordPieceTokenizer()
    tokenizer.train_from_iterator(texts, vocab_size=8000, show_progress=False)
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"), model_max_length=512, **special
    )
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(fast),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        pad_token_id=fast.pad_token_id,
        id2label=dict(enumerate(LABELS)),
        label2id={label: i for i, label in enumerate(LABELS)},
        initializer_range=0.1,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    fast.save_pretrained(folder)


def load_classifier(folder: Path) -> Classifier:
    """The package's classifier of the saved model."""
    about = {"title": "random", "task": "style", "licence": "none", "source": "random numbers", "limits": "no meaning"}
    card = Card.model_validate(
        {
            "id": "random",
            "engine": "transformers",
            "model": str(folder),
            "labels": LABELS,
            "activation": "softmax",
            **about,
        }
    )
    return load_transformers(card, str(folder), print, "cpu")


def load_pipeline(folder: Path) -> Judge:
    """Transformers' pipeline for the same model, with batches of 64 in the order of the texts."""
    pipeline: Any = transformers.pipeline("text-classification", model=str(folder), device="cpu")
    label_places = {label: i for i, label in enumerate(LABELS)}

    def judge(texts: Sequence[str]) -> Floats:
        values = np.empty((len(texts), len(LABELS)))
        found = pipeline(list(texts), batch_size=BATCH, top_k=None, function_to_apply="softmax", truncation=True)
        for row, labels in enumerate(found):
            for label in labels:
                values[row, label_places[label["label"]]] = label["score"]
        return values

    return judge


def compare(ours: Judge, theirs: Judge, texts: Sequence[str], rounds: int, clock: Clock) -> tuple[float, float, float]:
    """The ratio of times, the largest difference of probabilities, and our texts per second."""
    values, seconds = time_in_turn({"theirs": lambda: theirs(texts), "ours": lambda: ours(texts)}, rounds, clock)
    difference = float(np.abs(values["ours"] - values["theirs"]).max())
    return seconds["theirs"] / seconds["ours"], difference, len(texts) / seconds["ours"]


def benchmark(count: int, rounds: int, clock: Clock) -> dict[str, float]:
    """Compare both methods on all texts, and on the distinct ones."""
    texts = made_texts(count)
    distinct = list(dict.fromkeys(texts))
    with TemporaryDirectory() as name:
        save_model(Path(name), texts)
        classifier, theirs = load_classifier(Path(name)), load_pipeline(Path(name))

        def ours(texts: Sequence[str]) -> Floats:
            return classifier.probabilities(texts, lambda _: None)

        compare(ours, theirs, texts[:BATCH], 1, clock)  # the first passes are slow
        ratio, difference, rate = compare(ours, theirs, texts, rounds, clock)
        alone, _, _ = compare(ours, theirs, distinct, rounds, clock)
    return {
        "vs_pipeline": round(ratio, 2),
        "vs_pipeline_distinct": round(alone, 2),
        "max_abs_diff": difference,
        "texts_per_second": round(rate, 1),
        "texts": len(texts),
        "distinct_texts": len(distinct),
        "rounds": rounds,
    }


def main() -> None:
    """Print the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--texts", type=int, default=600, help="number of texts")
    add_clock(parser, threads=2)
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds")
    chosen = parser.parse_args()
    figures = benchmark(chosen.texts, chosen.rounds, set_clock(chosen))
    print_figures(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
