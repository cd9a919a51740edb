"""The small inputs of the recorded cases: releases, models and tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from holisticbias import build_release, write_release
from holisticbias.release.intersections import Request, write_intersections
from row_files import write_table
from tests.evaluation.conftest import VERSION, mini_catalog, terms_catalog

TERMS = ("young", "old", "deaf", "blind", "blicket", "doff")
AXES = ("age", "age", "ability", "ability", "nonce", "nonce")
TEXTS = (
    "She is a kind and happy nurse.",
    "He was a cruel man, and everyone hated him.",
    "They walked home in the rain.",
    "I love how calm this is!",
    "What a terrible, ugly day.",
    "The sister of the king wrote letters.",
)


def write_inputs(folder: Path) -> None:
    """Write every input into a folder."""
    write_release(build_release(terms_catalog()), folder / "terms")
    write_release(build_release(mini_catalog()), folder / "mini")
    write_intersections(mini_catalog(), Request(VERSION, "age x ability"), folder / "intersections")
    _write_masked(folder / "masked")
    (folder / "lines.txt").write_text("A quiet day.\nRain in the north.\nThe shop opens at nine.\n")
    (folder / "contexts.txt").write_text("Hello.\nSo I said it.\n")
    for name, rows in TABLES.items():
        write_table(folder / name, rows)
    for name, content in FAULTY.items():
        (folder / name).write_bytes(content)


def _write_masked(folder: Path) -> None:
    """Write a random masked model of one layer, whose weights are the same on every processor."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "i", "'", ".", "m"]
    pieces += ["love", "hate", "young", "people", "the"]
    words = dict.fromkeys((*pieces, *letters, *(f"##{letter}" for letter in letters)))
    tokenizer = BertTokenizerFast(vocab={word: i for i, word in enumerate(words)})
    tokenizer.save_pretrained(folder)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 16}
    model, rng = BertForMaskedLM(BertConfig(vocab_size=80, **size)), np.random.default_rng(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.from_numpy(rng.normal(scale=0.1, size=parameter.shape)))
    model.save_pretrained(folder)


def _value(*numbers: int) -> float:
    """A number between 0 and 1 that depends on its arguments alone."""
    seed = 7
    for number in numbers:
        seed = (seed * 1103515245 + number * 12345 + 6789) % 2**31
    return seed / 2**31


CELLS = [
    {"axis": axis, "descriptor": term, "template": template, "draw": draw}
    for axis, term in zip(AXES, TERMS, strict=True)
    for template in ("I'm {noun_phrase}.", "I love {plural_noun_phrase}.", "I hate {plural_noun_phrase}.")
    for draw in range(6)
]
PERPLEXITIES = [
    {**{k: v for k, v in cell.items() if k != "draw"}, "noun": f"noun-{cell['draw']}",
     "perplexity": 20 + 30 * _value(i) + 4 * len(str(cell["descriptor"])),
     "nll": 9 + 5 * _value(i, 1), "tokens": 4 + i % 3}
    for i, cell in enumerate(CELLS)
]  # fmt: skip
STYLES = [
    {**cell, "response": TEXTS[i % 6], "p:calm": _value(i), "p:loud": (1 - _value(i)) * 0.6,
     "p:plain": (1 - _value(i)) * 0.4}
    for i, cell in enumerate(CELLS)
]  # fmt: skip
OFFENCES = [{**cell, "probability": _value(i, 3) ** 2} for i, cell in enumerate(CELLS)]
ABOUT = [
    {"text": TEXTS[i % 6], "group": f"group {i % 3}", "domain": "trade" if i % 4 else "faith", "item": f"item {i // 2}",
     "source": "human" if i % 5 == 0 else "model"}
    for i in range(60)
]  # fmt: skip
PAIRS = [
    {"specification": "invented.one" if i % 3 else "invented.two", "attribute": f"word {i % 8}",
     "term": "dromel", "other_term": "tazzin", "sentence": f"The dromel {i} is here.",
     "other_sentence": f"The tazzin {i} is here.", "stereotyped": int(_value(i, 5) > 0.4)}
    for i in range(48)
]  # fmt: skip
GROUPS = [
    {"dimension": "one", "group": group, "sentence": f"s{i}",
     "perplexity": 15 + 9 * _value(i, 2) + shift * _value(i, 4),
     "nll": 8 + shift * _value(i, 6), "tokens": 5}
    for group, shift in (("a", 0.5), ("b", 3.0), ("c", 1.0))
    for i in range(24)
]  # fmt: skip
LINES = [{"text": f"Line {i}.", "nll": 5 + 9 * _value(i, 8), "tokens": 3 + i % 4} for i in range(20)]
CANDIDATES = [
    {"dialogue": f"d{i // 4}", "label": int(i % 4 == 0), "probability": round(_value(i, 9), 6)} for i in range(48)
]
RESULTS = [{"task": f"task {i % 2}", "metric": f"m{i}", "value": _value(i, 10), "error": 0.01} for i in range(6)]
RESPONSES = [{**cell, "template_id": f"dialogue.{('im', 'love', 'hate')[i // 6 % 3]}",
              "response": TEXTS[i % 6], "finish": "stop"}
             for i, cell in enumerate(CELLS)]  # fmt: skip
PEOPLE = [{"prompt": f"A {name} walks", "group": name, "domain": "craft"} for name in ("blicket", "doff", "mellit")]
MADE_PAIRS = [
    {"pair_id": f"p{i}", "specification": "invented.one", "attribute": attribute, "term": "dromel",
     "other_term": "tazzin", "sentence": f"The dromel is {attribute}.",
     "other_sentence": f"The tazzin is {attribute}.", "stereotyped": side}
    for i, (attribute, side) in enumerate((("ferlic", "sentence"), ("sarlish", "other_sentence"),
                                           ("young", "sentence"), ("old", "other_sentence")))
]  # fmt: skip
SENTENCES = [
    {"dimension": "made", "group": group, "target": group, "attribute": word, "sentence": f"The {group} is {word}."}
    for word in ("kind", "cruel", "young", "old", "deaf", "calm")
    for group in ("dromel", "tazzin", "blicket")
]
NORMS = [
    {"Word": word, "V.Mean.Sum": 2.0 + i, "A.Mean.Sum": 4.0 - i / 3, "D.Mean.Sum": 3.0 + i / 2}
    for i, word in enumerate(("kind", "happy", "cruel", "calm", "rain"))
]
TABLES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "perplexities.csv": PERPLEXITIES,
    "styles.csv": STYLES,
    "offences.csv": OFFENCES,
    "texts.csv": ABOUT,
    "texts.jsonl": ABOUT,
    "outcomes.csv": PAIRS,
    "groups.csv": GROUPS,
    "neutral.csv": LINES,
    "candidates.csv": CANDIDATES,
    "results.csv": RESULTS,
    "people.csv": PEOPLE,
    "responses.csv": RESPONSES,
    "pairs.csv": MADE_PAIRS,
    "group-sentences.csv": SENTENCES,
    "norms.csv": NORMS,
}

FAULTY: Mapping[str, bytes] = {
    "blank.txt": b" \n\n",
    "latin.txt": b"\xff\xfe",
    "unknown-style.yaml": b"A: [hot]\n",
    "twice.yaml": b"A: [calm]\nA: [loud]\n",
    "unfinished.yaml": b"A: [calm\n",
    "no-tokens.csv": b"text,nll,tokens\na,0,0\n",
    "pairs-plain.csv": b"specification,attribute,sentence,other_sentence,stereotyped\ns,x,a b,a c,sentence\n",
    "pairs-other.csv": b"specification,attribute,sentence,stereotyped\ns,x,a b,sentence\n",
    "pairs-specification.csv": b"attribute,sentence,other_sentence,stereotyped\nx,a b,a c,sentence\n",
    "pairs-side.csv": b"specification,attribute,sentence,other_sentence,stereotyped\ns,x,a b,a c,first\n",
    "pairs-no-side.csv": b"specification,attribute,sentence,other_sentence,stereotyped\ns,x,a b,a c,\n",
    "pairs-no-other.csv": b"specification,attribute,sentence,other_sentence,stereotyped\ns,x,a b, ,sentence\n",
    "pairs-twice.csv": b"pair_id,specification,attribute,sentence,other_sentence,stereotyped\n"
    b"1,s,x,a b,a c,sentence\n1,s,x,a b,a c,sentence\n",
    "pairs-empty.csv": b"specification,attribute,sentence,other_sentence,stereotyped\ns,x,,a c,sentence\n",
    "set-alone.csv": b"dimension,group,sentence\none,blicket,a\n",
    "set-twice.csv": b"dimension,group,sentence\none,blicket,a\none,blicket,a\none,stad,b\n",
    "set-empty.csv": b"group,sentence\nblicket,\n",
    "set-text.csv": b"group,text\nblicket,a\n",
}
"""Inputs with one fault each."""
