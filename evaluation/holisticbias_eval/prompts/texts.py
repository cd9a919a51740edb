"""Make a table of texts about groups from prompts and their continuations, by a model and by people."""

import re
from functools import lru_cache
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias.terms.prompt_entries import joined
from holisticbias_eval.arrays import Bools, with_columns
from holisticbias_eval.models.generation.frame import Style
from holisticbias_eval.models.generation.requests import WITHHELD
from holisticbias_eval.prompts.collections import WRITTEN
from holisticbias_eval.readers.censor import censor, plurals_of

Part = Literal["whole", "continuation"]
"""What is measured: the prompt and its continuation as one text, or the continuation alone."""
MODEL, HUMAN = "model", "human"
_TEXT = pa.large_string()
_FORMS = ("\u2010\u2011\u2012\u2013\u2014\u2015-", "'\u2018\u2019", '"\u201c\u201d')
_SIGNS = re.compile(rf"\\?([{re.escape(''.join(_FORMS))}])")


def by_people(texts: pa.Table) -> Bools:
    """Whether a person wrote each text; of a table that does not say who wrote its texts, nobody did."""
    if "source" not in texts.column_names:
        return np.zeros(texts.num_rows, bool)
    people: Bools = pc.fill_null(pc.equal(texts["source"].cast(pa.string()), HUMAN), False).to_numpy()
    return people


def mark_refusals(responses: pa.Table, style: Style | None) -> pa.Table:
    """Note refusals that a model wrote as texts in ``finish``, by their beginnings in the style of its prompts."""
    if style is None:
        return responses
    columns = (responses[name].cast(_TEXT).to_pylist() for name in ("response", "finish"))
    ends = ["refused" if style.is_refusal(text or "") else end for text, end in zip(*columns, strict=True)]
    return with_columns(responses, {"finish": pa.array(ends, pa.string())})


def model_texts(responses: pa.Table, part: Part, *, keeps_blank: bool = False) -> pa.Table:
    """Add ``text``, of which ``part`` is measured, and ``source`` to responses.

    With ``keeps_blank`` a response goes on right behind its prompt. The text of a refused or filtered response is null,
    that of an empty one empty, whatever its prompt: neither says anything about a group.
    """
    columns = (responses[name].cast(_TEXT).to_pylist() for name in ("prompt", "response", "finish"))
    texts = [
        None if end in WITHHELD or text is None else _text(prompt, text, part, keeps_blank=keeps_blank)
        for prompt, text, end in zip(*columns, strict=True)
    ]
    made = {"text": pa.array(texts, _TEXT), "source": pa.array([MODEL] * len(texts), pa.string())}
    return with_columns(responses, made)


def human_texts(prompts: pa.Table, part: Part, written: str = WRITTEN) -> pa.Table:
    """A row for each text of a person that begins with a prompt; prompts with the columns ``collections.FIELDS``.

    A continuation alone is null if the text does not begin with its prompt. The column ``written`` says what the texts
    are.
    """
    asked, human, names = (prompts[name].to_pylist() for name in ("prompt", "human", "prompt_id"))
    found = [(row, number, text) for row, texts in enumerate(human) for number, text in enumerate(texts, 1)]
    more = pa.array([_rest(asked[row], text) for row, _, text in found], _TEXT)
    whole = pa.array([text for _, _, text in found], _TEXT)
    table = prompts.drop_columns(["human"]).take(pa.array([row for row, _, _ in found], pa.int64()))
    ids = pa.array([f"{names[row]}/{HUMAN}-{number}" for row, number, _ in found], _TEXT)
    said = {"response": more, "persona": pa.array([""] * len(found), _TEXT)}
    said |= {"text": more if part == "continuation" else whole}
    about = {name: pa.array([one] * len(found), pa.string()) for name, one in (("written", written), ("source", HUMAN))}
    return with_columns(table.add_column(0, "response_id", ids), said | about)


def _text(prompt: str, response: str, part: Part, *, keeps_blank: bool) -> str:
    if keeps_blank:
        return (prompt + response if part == "whole" else response.strip()) if response.strip() else ""
    rest = without_prompt(prompt, response)
    if not rest:
        return ""
    return joined(prompt, rest) if part == "whole" else rest


def without_prompt(prompt: str, response: str) -> str:
    """A response without the prompt, if it repeats it first: in any case and white space, with quotes or dots."""
    found = _repeated(prompt).match(response)
    return (response[found.end() :] if found else response).strip()


@lru_cache(4096)
def _repeated(prompt: str) -> re.Pattern[str]:
    words = r"\s+".join(_SIGNS.sub(_sign, re.escape(word)) for word in prompt.split())
    return re.compile(rf"[\s\"\u201c'*]*{words}(?![^\W_])[\s.\u2026]*", re.IGNORECASE) if words else re.compile(r"(?!)")


def _sign(found: re.Match[str]) -> str:
    """The pattern of a dash or a quotation mark in any of its forms."""
    return next(f"[{re.escape(forms)}]" for forms in _FORMS if found[1] in forms)


def _rest(prompt: str, text: str) -> str | None:
    found = re.match(r"\s+".join(re.escape(word) for word in prompt.split()), text)
    return text[found.end() :].strip() if found else None


def censored_texts(table: pa.Table, release: Release | None) -> pa.Table:
    """The model's texts; with a release, mentions of the descriptor are replaced as in measures of responses."""
    if release is None:
        return table
    plurals = plurals_of(release, table["descriptor_id"])
    texts, _ = censor(table["text"].to_pylist(), table["subject"].to_pylist(), plurals)
    return with_columns(table, {"text": pa.array(texts, _TEXT)})
