"""Sentences that differ between two versions, matched by id, template by template.

The id of a sentence is the id of its template and the id of its phrase, so phrases are matched once for all templates,
and the rows of one template are in memory at a time.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.columns import Bools, Int64s, surround
from holisticbias.compile.phrases import Sentences, is_noun
from holisticbias.terms.entries import Template
from holisticbias.terms.grammar import fill, split_template

Kind = Literal["added", "changed", "gone"]


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
    """The phrases of one version in memory, one row each, and its templates."""

    def __init__(self, sentences: Sentences) -> None:
        phrases = sentences.phrases.read()
        names = ("phrase_id", "noun_phrase", "plural_noun_phrase", "noun_phrase_type", "axis")
        texts = {name: phrases[name].cast(pa.string()).combine_chunks() for name in names}
        self.templates = sentences.templates
        self.by_id = {template.id: template for template in sentences.templates}
        self.texts = texts
        self.size = phrases.num_rows
        self._nouns: Bools = _mask(is_noun(texts["noun_phrase_type"]))
        encoded = texts["axis"].dictionary_encode()
        self.axes = [*encoded.dictionary.to_pylist(), None]
        self.axis = pc.fill_null(encoded.indices, len(self.axes) - 1).to_numpy()

    def fitting(self, template: Template | None) -> Bools:
        """Mask of the phrases that fill the slot of a template; no phrase fills that of no template."""
        if template is None:
            return np.zeros(self.size, bool)
        return self._nouns.copy() if template.must_be_noun else np.ones(self.size, bool)

    def sentence(self, template: Template, row: int) -> tuple[str, str]:
        """The id and the text of the sentence of a template and a phrase."""
        found = {name: str(texts[row].as_py()) for name, texts in self.texts.items()}
        text = fill(template.text, found["noun_phrase"], found["plural_noun_phrase"])
        return f"{template.id}/{found['phrase_id']}", text


class SentenceChanges:
    """The sentences added, changed and removed from one version to another."""

    def __init__(self, old: Sentences, new: Sentences) -> None:
        self._old, self._new = _Version(old), _Version(new)
        place = pc.index_in(self._new.texts["phrase_id"], value_set=self._old.texts["phrase_id"])
        self._place: Int64s = pc.fill_null(place, -1).to_numpy().astype(np.int64)
        self._same_template: dict[str, Bools] = {}

    def rows(self, kind: Kind) -> Iterator[tuple[Template, Int64s]]:
        """Each template with the rows of its phrases: new phrases, or old phrases if the sentences are gone."""
        templates = self._old.templates if kind == "gone" else self._new.templates
        return ((template, self._rows_of(kind, template)) for template in templates)

    def by_axis(self, kind: Kind) -> Mapping[str | None, int]:
        """Number of sentences of each axis; null for sentences without a descriptor."""
        version = self._old if kind == "gone" else self._new
        counts = np.zeros(len(version.axes), np.int64)
        for _, rows in self.rows(kind):
            counts += np.bincount(version.axis[rows], minlength=len(counts))
        return {axis: int(count) for axis, count in zip(version.axes, counts, strict=True) if count}

    def by_template(self, kind: Kind) -> Mapping[str, int]:
        """Number of sentences of each template."""
        counts: Counter[str] = Counter()
        for template, rows in self.rows(kind):
            counts[template.id] += len(rows)
        return +counts

    def at(self, kind: Kind, positions: tuple[int, ...]) -> Iterator[ChangedSentence]:
        """Sentences of a kind by their positions among all of that kind; positions are sorted."""
        waiting, start = list(positions), 0
        for template, rows in self.rows(kind):
            while waiting and waiting[0] < start + len(rows):
                yield self._sentence(kind, template, int(rows[waiting.pop(0) - start]))
            if not waiting:
                return
            start += len(rows)

    def _rows_of(self, kind: Kind, template: Template) -> Int64s:
        old, new = self._old.by_id.get(template.id), self._new.by_id.get(template.id)
        before, after = self._old.fitting(old), self._new.fitting(new)
        shared = after & np.append(before, False)[self._place]  # a new phrase has the place -1
        if kind == "added":
            return np.flatnonzero(after & ~shared)
        if kind == "gone":
            before[self._place[shared]] = False
            return np.flatnonzero(before)
        return np.flatnonzero(shared & self._differs(template)) if shared.any() else np.flatnonzero(shared)

    def _differs(self, template: Template) -> Bools:
        """Mask of the new phrases whose sentences with a new template have another text in the old version."""
        old = self._old.by_id[template.id]
        if old.text != template.text:
            return self._compared(old, template)
        slot = split_template(template.text)[0]
        if slot not in self._same_template:
            self._same_template[slot] = self._compared(old, template)
        return self._same_template[slot]

    def _compared(self, old: Template, new: Template) -> Bools:
        rows = np.flatnonzero(self._place >= 0)
        before = _filled(old, self._old, self._place[rows])
        differs = np.zeros(self._new.size, bool)
        differs[rows] = _mask(pc.not_equal(before, _filled(new, self._new, rows)))
        return differs

    def _sentence(self, kind: Kind, template: Template, row: int) -> ChangedSentence:
        if kind == "gone":
            sentence_id, text = self._old.sentence(template, row)
            return ChangedSentence(sentence_id, text, None)
        sentence_id, text = self._new.sentence(template, row)
        if kind == "added":
            return ChangedSentence(sentence_id, None, text)
        _, before = self._old.sentence(self._old.by_id[template.id], int(self._place[row]))
        return ChangedSentence(sentence_id, before, text)


def _filled(template: Template, version: _Version, rows: Int64s) -> pa.Array:
    slot, before, after = split_template(template.text)
    return surround(before, version.texts[slot].take(pa.array(rows)), after)


def _mask(values: pa.Array) -> Bools:
    found: Bools = values.to_numpy(zero_copy_only=False)
    return found
