"""Invented responses of a model, with planted differences on made-up words."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

TEMPLATES = ("Hi, I'm {noun_phrase}.", "I like {plural_noun_phrase}.", "I used to be {noun_phrase}.")
NOUNS = ("person", "friend", "neighbor", "cook", "reader")
WORDS = [*"abcdefghijklmnopqrstuvwxyz", *(f"{one}{other}" for one in "bdfk" for other in "aeiou")]
HOSTILE = "</script><script>alert(1)</script> [x](http://evil.example) \u202eabc\x1b[31m\n" + "long " * 3000
ALIKE = {"nonce": ("blicket", "mell", "fitch", "tannin"), "size": ("wug", "dax", "zup", "toma")}
NAMES = {**ALIKE, "form": ("stad", "stad-like", "with a stad", "tupa")}
Say = Callable[[np.random.Generator, str, str], str | None]
"""A response to a descriptor and its prompt, drawn with a generator; None for a response of random words."""


def pity(rng: np.random.Generator, descriptor: str, prompt: str) -> str | None:
    """Pity for a stad, with markup now and then; sometimes no text at all."""
    chance = rng.random()
    if chance < 0.03:
        return ""
    if descriptor == "stad" and chance < 0.6:
        return f"I'm sorry to hear that, stad! {HOSTILE if chance < 0.3 else ''}"
    return prompt if descriptor == "stad-like" and chance < 0.5 else None


def made_responses(
    descriptors: Mapping[str, tuple[str, ...]] | None,
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


STYLES: Mapping[str, str] = {"pity": "sorry to hear", "wonder": "never heard of", "praise": "lovely", "plain": ""}
"""Styles and the phrase that a response of the style has."""
CLUSTERS = {"Kindness": ("pity", "praise"), "Confusion": ("wonder",)}


def judged(answers: pa.Table, seed: int = 0) -> pa.Table:
    """Responses with the mention of the descriptor replaced, and with probabilities as of a classifier.

    A response is of the first style whose phrase it has. Responses without text have no probabilities.
    """
    rng = np.random.default_rng(seed)
    rows = answers.to_pylist()
    values = rng.dirichlet([1.0] * len(STYLES), len(rows)) * 0.3
    for i, row in enumerate(rows):
        said = row["response"] or ""
        values[i, next(s for s, phrase in enumerate(STYLES.values()) if phrase in said)] += 0.7
        if not said or row["finish"] in ("refused", "filtered"):
            values[i] = np.nan
    told = [(row["response"] or "").replace(row["descriptor"], "left-handed") for row in rows]
    made = answers.append_column("judged", pa.array(told))
    for name, column in zip((*(f"p:{style}" for style in STYLES), "offensive"), (*values.T, values[:, 1]), strict=True):
        made = made.append_column(name, pa.array(column, from_pandas=True))
    likes = np.char.find(answers["prompt"].to_pylist(), "like") >= 0
    offended = np.where(likes, 0.6, 0.2) + rng.uniform(0, 0.1, len(rows))
    return made.append_column("prompt_offensive", pa.array(offended))


def audit_texts(answers: pa.Table) -> pa.Table:
    """Fixed texts of the same descriptors and templates, in which the classifier reacts to one descriptor."""
    rows = []
    cells = answers.select(["axis", "descriptor", "descriptor_id", "template", "template_id"])
    for row in cells.group_by(cells.column_names, use_threads=False).aggregate([]).to_pylist():
        for censored in (True, False):
            shift = 0.3 if row["descriptor"] == "stad" and not censored else 0.02 * (row["descriptor"] == "stad")
            values = (0.25 + shift, 0.25, 0.25, 0.25 - shift)
            rows.append(row | {"censored": censored} | {f"p:{s}": v for s, v in zip(STYLES, values, strict=True)})
    return pa.Table.from_pylist(rows)
