"""The criteria for a new term, and what is on record against the words of a proposal."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import yaml

from holisticbias.rules.dictionary import words
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor

# As in CONTRIBUTING.md
CRITERIA = (
    "People use it for themselves, or others use it often enough that it matters how models treat it.",
    "It has a source: a style guide, a publication, or the contributor's own experience.",
    "It is not a slur used only to hurt. Terms that some people reject and others claim are accepted, with judgements.",
    "Two reviewers agree, one of them with lived experience of what it names.",
)


def objections(catalog: Catalog, text: str) -> tuple[str, ...]:
    """The objections on record to the words of a text, as sentences without a full stop; empty for most texts.

    On record are terms of the data that people judged as dispreferred, and the words in ``slurs.yaml``.
    """
    wanted = _words(text)
    dispreferred = (d for axis in catalog.axes for d in axis.descriptors if _dispreferred(d))
    judged = [f"{d.text!r} is on record as dispreferred: {_judges(d)} ({d.id})" for d in dispreferred if _in(d, wanted)]
    named = [
        f"{word!r} is a word to avoid according to {source}"
        for source, word in _slurs()
        if _inside(_words(word), wanted)
    ]
    return (*named, *judged)


def _in(descriptor: Descriptor, wanted: list[str]) -> bool:
    return _inside(_words(descriptor.text), wanted)


def _inside(part: list[str], whole: list[str]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1)) and bool(part)


def _words(text: str) -> list[str]:
    """The words in small letters, without the endings of plurals."""
    lower = (word.lower() for word in words(text))
    return [word[:-1] if word.endswith("s") and not word.endswith("ss") else word for word in lower]


def _dispreferred(descriptor: Descriptor) -> bool:
    return any(a.judgement == "dispreferred" for a in descriptor.assessments)


def _judges(descriptor: Descriptor) -> str:
    judged = [a for a in descriptor.assessments if a.judgement == "dispreferred"]
    return ", ".join(f"{a.source or a.reviewer}, {a.date}" for a in judged)


def _slurs() -> Iterator[tuple[str, str]]:
    lists = yaml.safe_load(files(__package__).joinpath("slurs.yaml").read_text("utf-8"))
    return ((group["source"], word) for group in lists for word in group["words"])
