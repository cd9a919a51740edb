"""Pairs as the published code of Kocielnik et al. 2023 makes them, with its errors.

A template is the sentence in lower case without periods, with the first word that equals the term as ``[T]``; a
period is added unless the template ends in punctuation, and ``]`` is punctuation. The terms are those at the same
index of the two groups. Of the pairs with equal specification, attribute and template the first is kept. Source:
AutoBiasTest, ``_1_gen2csv.py`` and ``_2_csv2pairs.py``.
"""

import string
from collections.abc import Iterable, Sequence
from dataclasses import replace

from holisticbias.spreadsheet import csv_text
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.stereotypes.imported import SourceSentence, find_attribute_set, find_term
from holisticbias_eval.stereotypes.pair_rows import Pair, unpaired
from holisticbias_eval.stereotypes.targets import every_term

CATEGORIES = ("1", "2", "3", "4", "5", "6", "7", "8", "9", "A")
PAIR_COLUMNS = (
    "group", "group_term", "template", "att_term_1", "att_term_2", "label_1", "label_2", "discarded", "discard_cats",
    *CATEGORIES,
)  # fmt: skip
LABELS = ("stereotype", "anti-stereotype")
MASK = "[MASK]"
_REMOVED = ("~", "#", "-", "*", "?", "Â", "¬", "«", "»", "Ã", "¢", "”", "€", "Š", "· ", "\u00a0")


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
    sentences: Sequence[SourceSentence], specifications: Iterable[Specification]
) -> list[tuple[SourceSentence, Pair]]:
    """The sentences with their pairs, in the order of the specifications; those of other specifications are left out.

    A sentence that a table gives no template gets its own. Its specification is then by the published name.
    """
    made: list[tuple[SourceSentence, Pair]] = []
    seen: set[tuple[str, str, str]] = set()
    for specification in specifications:
        name = specification.published_as or specification.id
        for sentence in (s for s in sentences if s.specification in (name, specification.id)):
            own = published_template(sentence.sentence, sentence.term) if sentence.template is None else None
            template = own or sentence.template or ""
            key = (name, sentence.attribute, template)
            pair = _pair(replace(sentence, template=template), specification, is_repeated=key in seen)
            if pair.rule is None:
                seen.add(key)
            made.append((replace(sentence, specification=name, template=template), pair))
    return made


def _pair(sentence: SourceSentence, specification: Specification, *, is_repeated: bool) -> Pair:
    masked, found = _masked(sentence), find_term(sentence, every_term(specification))
    group = found.group if found else None
    pair = replace(
        unpaired(replace(sentence, sentence=masked.replace(MASK, sentence.term)), specification),
        group=group,
        attribute_set=find_attribute_set(sentence, specification),
    )
    attribute = sentence.attribute.replace(" ", "-")
    sets = [[term.replace(" ", "-") for term in chosen.terms] for chosen in specification.attributes[:2]]
    of_stereotype = next((place for place, terms in enumerate(sets) if attribute in terms), None)
    if of_stereotype is None:
        return replace(pair, rule="unknown-attribute")
    if not sentence.template:
        return replace(pair, rule="no-term")
    for this, that in ((0, 1), (1, 0)):
        terms = [slot.terms[this] for slot in specification.slots]
        if sentence.term in terms:
            pair = replace(pair, slot=terms.index(sentence.term))
            other = specification.slots[terms.index(sentence.term)].terms[that]
            if other is None or is_repeated:
                return replace(pair, rule="no-counterpart" if other is None else "duplicate-template")
            other_group = next(g.name for g in specification.groups if g.name != group)
            return replace(
                pair,
                pair_id=f"{sentence.sentence_id}>{other_group}",
                other_group=other_group,
                other_term=other,
                other_sentence=masked.replace(MASK, other),
                stereotyped="sentence" if this == of_stereotype else "other_sentence",
            )
    return replace(pair, rule="unknown-term")


def _masked(sentence: SourceSentence) -> str:
    """The template with the mask of masked language models."""
    return (sentence.template or "").replace("[T]", MASK)


def pairs_csv(pairs: Iterable[tuple[SourceSentence, Pair]]) -> str:
    """The pairs in the published columns: rows that were dropped leave a gap in the numbers of the first column."""
    rows: list[Sequence[object]] = [["", *PAIR_COLUMNS]]
    for index, (sentence, pair) in enumerate(pairs):
        if pair.rule is None:
            labels = LABELS if pair.stereotyped == "sentence" else LABELS[::-1]
            about = [sentence.specification, pair.attribute, _masked(sentence), pair.term, pair.other_term, *labels]
            rows.append([index, *about, sentence.discarded, sentence.reason, *_categories(sentence)])
    return csv_text(rows)


def _categories(sentence: SourceSentence) -> list[int]:
    """One column per category of issues, 1 if the reason of a discarded sentence names it; "10" is column A."""
    if sentence.discarded not in ("1", "1.0"):
        return [0] * len(CATEGORIES)
    named = {"A" if reason.strip() == "10" else reason.strip() for reason in sentence.reason.split(",")}
    return [int(category in named) for category in CATEGORIES]
