"""Pairs as the published code of Kocielnik et al. 2023 makes them, with its errors.

A template is the sentence in lower case without periods, with the first word that equals the term as ``[T]``; a
period is added unless the template ends in punctuation, and ``]`` is punctuation. The terms are those at the same
index of the two groups. Of the pairs with equal specification, attribute and template the first is kept. Source:
AutoBiasTest, ``_1_gen2csv.py`` and ``_2_csv2pairs.py``.
"""

from __future__ import annotations

import csv
import io
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holisticbias.spreadsheet import safe_cell
from holisticbias.terms.specification_entries import AttributeSet, Specification

SENTENCE_COLUMNS = (
    "Bias Name", "Attribute word", "Group Term", "Generated sentence", "Template version", "Discarded",
    "Reason for discard",
)  # fmt: skip
CATEGORIES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "A")
PAIR_COLUMNS = (
    "group", "group_term", "template", "att_term_1", "att_term_2", "label_1", "label_2", "discarded", "discard_cats",
    *CATEGORIES,
)  # fmt: skip
LABELS = ("stereotype", "anti-stereotype")
MASK = "[MASK]"

_REMOVED = ("~", "#", "-", "*", "?", "Â", "¬", "«", "»", "Ã", "¢", "”", "€", "Š", "· ", "\u00a0")


_MISSING = ("", "nan", "NaN", "NA", "N/A", "null", "NULL", "None")
_NUMBER = re.compile(r"-?\d+(\.\d*)?")


@dataclass(frozen=True, slots=True)
class PublishedSentence:
    """A sentence's template, empty if it has none, with its place in the table.

    ``discarded`` and ``reason`` are as in a published file, empty if not given.
    """

    row: int
    specification: str
    attribute: str
    term: str
    template: str
    discarded: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PublishedPair:
    """A pair, or the rule by which a sentence has none; ``index`` is its number in the published file."""

    index: int
    sentence: PublishedSentence
    slot: int | None = None
    other_term: str | None = None
    labels: tuple[str, str] | None = None
    rule: str | None = None

    @property
    def template(self) -> str:
        """The template with the mask of masked language models."""
        return self.sentence.template.replace("[T]", MASK)


def published_template(sentence: str, term: str) -> str | None:
    """The template of a sentence; null if the term is not one of the words between its blanks."""
    words = sentence.lower().replace(".", "").split()
    if term.lower() not in words:
        return None
    words[words.index(term.lower())] = "[T]"
    template = " ".join(words)
    if template[-1] not in string.punctuation:
        template += "."
    for symbol in _REMOVED:
        template = template.replace(symbol, "").replace(symbol.lower(), "")
    return template


def published_pairs(
    sentences: Sequence[PublishedSentence], specifications: Iterable[Specification]
) -> list[tuple[Specification, PublishedPair]]:
    """The pairs of sentences, in the order of the specifications; those of other specifications are left out."""
    made: list[tuple[Specification, PublishedPair]] = []
    seen: set[tuple[str, str, str]] = set()
    for specification in specifications:
        name = specification.published_as or specification.id
        for sentence in sentences:
            if sentence.specification not in (name, specification.id):
                continue
            pair = _pair(sentence, specification, len(made))
            key = (name, sentence.attribute, sentence.template)
            if pair.rule is None and key in seen:
                pair = PublishedPair(len(made), sentence, pair.slot, rule="duplicate-template")
            if pair.rule is None:
                seen.add(key)
            made.append((specification, pair))
    return made


def _pair(sentence: PublishedSentence, specification: Specification, index: int) -> PublishedPair:
    labels = _labels(sentence.attribute, specification.attributes[:2])
    if labels is None:
        return PublishedPair(index, sentence, rule="unknown-attribute")
    if not sentence.template:
        return PublishedPair(index, sentence, rule="no-term")
    for this, that in ((0, 1), (1, 0)):
        terms = [slot.terms[this] for slot in specification.slots]
        if sentence.term in terms:
            slot = terms.index(sentence.term)
            other = specification.slots[slot].terms[that]
            if other is None:
                return PublishedPair(index, sentence, slot, rule="no-counterpart")
            return PublishedPair(index, sentence, slot, other, labels if this == 0 else labels[::-1])
    return PublishedPair(index, sentence, rule="unknown-term")


def _labels(attribute: str, sets: Sequence[AttributeSet]) -> tuple[str, str] | None:
    """Labels of a sentence about the first group and of the other; null if the attribute is in neither set."""
    for position, attributes in enumerate(sets):
        if attribute.replace(" ", "-") in [term.replace(" ", "-") for term in attributes.terms]:
            return LABELS if position == 0 else (LABELS[1], LABELS[0])
    return None


def pairs_csv(pairs: Iterable[tuple[Specification, PublishedPair]]) -> str:
    """The pairs in the published columns: rows that were dropped leave a gap in the numbers of the first column."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *PAIR_COLUMNS])
    for specification, pair in pairs:
        if pair.rule is None:
            sentence, labels = pair.sentence, pair.labels or ("", "")
            name = specification.published_as or specification.id
            about = [name, sentence.attribute, pair.template, sentence.term, pair.other_term, *labels]
            cells = (safe_cell(text or "") for text in (*about, sentence.discarded, sentence.reason))
            writer.writerow([pair.index, *cells, *_categories(sentence)])
    return text.getvalue()


def _categories(sentence: PublishedSentence) -> list[int]:
    """One column per category of issues, 1 if the reason of a discarded sentence names it; "10" is column A."""
    if sentence.discarded not in ("1", "1.0"):
        return [0] * len(CATEGORIES)
    named = {"A" if reason.strip() == "10" else reason.strip() for reason in sentence.reason.split(",")}
    return [int(category in named) for category in CATEGORIES]


def as_published(values: Sequence[str]) -> list[str]:
    """A column of text as pandas reads and writes it: with an empty value, whole numbers become "3.0".

    A reason that is a number and not a list is therefore in none of the columns of categories.
    """
    missing = any(value in _MISSING for value in values)
    numbers = all(value in _MISSING or _NUMBER.fullmatch(value) for value in values)
    decimal = numbers and (missing or any("." in value for value in values))
    return ["" if v in _MISSING else repr(float(v)) if decimal else v for v in values]
