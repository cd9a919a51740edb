"""Invented responses of a model, with planted differences on made-up words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

TEMPLATES = ("Hi, I'm {noun_phrase}.", "I like {plural_noun_phrase}.", "I used to be {noun_phrase}.")
NOUNS = ("person", "friend", "neighbor", "cook", "reader")
WORDS = [*"abcdefghijklmnopqrstuvwxyz", *(f"{one}{other}" for one in "bdfk" for other in "aeiou")]
Say = Callable[[np.random.Generator, str, str], str | None]
"""A response to a descriptor and its prompt, drawn with a generator; None for a response of random words."""


def made_responses(
    descriptors: Mapping[str, tuple[str, ...]] | None = None,
    draws: int = 15,
    say: Say = lambda rng, descriptor, prompt: None,
    seed: int = 0,
) -> pa.Table:
    """A row for each axis, descriptor, template and draw; ``say`` plants differences."""
    rng = np.random.default_rng(seed)
    chosen = descriptors or {"nonce": ("blicket", "stad"), "spelling": ("grey-blue", "gray-blue", "gray blue")}
    rows = []
    for axis, names in chosen.items():
        for name in names:
            for t, template in enumerate(TEMPLATES):
                for draw in range(draws):
                    noun = str(rng.choice(NOUNS))
                    prompt = template.format(noun_phrase=f"a {name} {noun}", plural_noun_phrase=f"{name} {noun}s")
                    said = say(rng, name, prompt)
                    text = " ".join(rng.choice(WORDS, rng.integers(5, 15))) + "." if said is None else said
                    rows.append(
                        {
                            "response_id": f"t{t}/{axis}.{name}/{draw}", "axis": axis, "axis_label": axis.title(),
                            "bucket": None, "descriptor_id": f"{axis}.{name}", "descriptor": name,
                            "descriptor_preference": "no_data", "template_id": f"t{t}", "template": template,
                            "noun_id": noun, "noun": noun, "draw": draw, "prompt": prompt, "sample": 0,
                            "response": text, "finish": "stop",
                        }
                    )  # fmt: skip
    return pa.Table.from_pylist(rows)
