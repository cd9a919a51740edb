"""Sentences that differ between two versions, matched by the ids of their templates and phrases."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from holisticbias.compile.phrases import named_phrases
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Template
from holisticbias.terms.grammar import ADJECTIVE, fill, split_template

Kind = Literal["added", "changed", "gone"]
Slot = tuple[str, bool] | None
"""The text of a template, or its slot alone, and whether the slot must be a noun; null for no template."""


@dataclass(frozen=True, slots=True)
class ChangedSentence:
    """A sentence in two versions; None in a version that does not have it."""

    sentence_id: str
    before: str | None
    after: str | None

    @property
    def lines(self) -> tuple[str, ...]:
        """The sentence before, with a minus sign, and after, with a plus sign."""
        sides = (("-", self.before), ("+", self.after))
        return tuple(f"{mark} {text}" for mark, text in sides if text is not None)


class _Version:
    """The templates of one version, and the axes and the texts of its phrases, by id."""

    def __init__(self, held: Catalog, rule: ArticleRule) -> None:
        self.templates = {template.id: template for template in held.templates}
        self.axes: dict[str, str | None] = {}
        self._all: dict[str, tuple[str, str]] = {}
        self._with_noun: dict[str, tuple[str, str]] = {}
        for phrase_id, axis, kind, *texts in named_phrases(held, rule):
            self.axes[phrase_id] = axis
            self._all[phrase_id] = texts[0], texts[1]
            if kind != ADJECTIVE:
                self._with_noun[phrase_id] = self._all[phrase_id]

    def fitting(self, slot: Slot) -> Mapping[str, tuple[str, str]]:
        """The singular and the plural of each phrase that fills a slot."""
        return {} if slot is None else self._with_noun if slot[1] else self._all

    def sentence(self, template_id: str, phrase_id: str) -> str:
        """The sentence of a template and a phrase."""
        return fill(self.templates[template_id].text, *self._all[phrase_id])


class SentenceChanges:
    """The sentences added, changed and removed from one version to another."""

    def __init__(self, old: tuple[Catalog, ArticleRule], new: tuple[Catalog, ArticleRule]) -> None:
        self._old, self._new = _Version(*old), _Version(*new)
        self._found = cache(self._find)  # most templates have the same phrases

    def by_axis(self, kind: Kind) -> Mapping[str | None, int]:
        """Number of sentences of each axis; null for sentences without a descriptor."""
        axes, counts = self._side(kind).axes, Counter[str | None]()
        for slots, templates in Counter(map(self._slots, self._side(kind).templates)).items():
            for axis, phrases in Counter(axes[phrase] for phrase in self._found(kind, *slots)).items():
                counts[axis] += phrases * templates
        return counts

    def by_template(self, kind: Kind) -> Mapping[str, int]:
        """Number of sentences of each template."""
        counts = {template: len(self._found(kind, *self._slots(template))) for template in self._side(kind).templates}
        return {template: count for template, count in counts.items() if count}

    def at(self, kind: Kind, positions: tuple[int, ...]) -> Iterator[ChangedSentence]:
        """Sentences of a kind by their positions among all of that kind; positions are sorted."""
        waiting, start = list(positions), 0
        for template in self._side(kind).templates:
            phrases = self._found(kind, *self._slots(template))
            while waiting and waiting[0] < start + len(phrases):
                phrase = phrases[waiting.pop(0) - start]
                before = None if kind == "added" else self._old.sentence(template, phrase)
                after = None if kind == "gone" else self._new.sentence(template, phrase)
                yield ChangedSentence(f"{template}/{phrase}", before, after)
            start += len(phrases)

    def _side(self, kind: Kind) -> _Version:
        return self._old if kind == "gone" else self._new

    def _slots(self, template_id: str) -> tuple[Slot, Slot]:
        """The slots of a template in both versions; with its texts, if these differ."""
        old, new = self._old.templates.get(template_id), self._new.templates.get(template_id)
        same = old is None or new is None or old.text == new.text
        return _slot(old, same), _slot(new, same)

    def _find(self, kind: Kind, old: Slot, new: Slot) -> tuple[str, ...]:
        """The ids of the phrases whose sentences with a template are of a kind."""
        before, after = self._old.fitting(old), self._new.fitting(new)
        if kind == "added":
            return tuple(phrase for phrase in after if phrase not in before)
        if kind == "gone":
            return tuple(phrase for phrase in before if phrase not in after)
        texts = old[0] if old else "", new[0] if new else ""
        shared = (phrase for phrase in after if phrase in before)
        return tuple(p for p in shared if fill(texts[0], *before[p]) != fill(texts[1], *after[p]))


def _slot(template: Template | None, alone: bool) -> Slot:
    if template is None:
        return None
    return f"{{{split_template(template.text)[0]}}}" if alone else template.text, template.must_be_noun
