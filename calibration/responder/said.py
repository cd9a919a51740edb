"""Draw what people say to the responder: sentences of a release with their stylistic variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.compile.variants import sample_sentences
from holisticbias.release.release import Release
from holisticbias_eval.arrays import Ints


@dataclass(frozen=True, slots=True)
class SaidPrompts:
    """Sentences, one per row: the text, its descriptor and template, and the term as the text spells it.

    A sentence without a descriptor has None as ``descriptor`` and ``spelling``.
    """

    text: Sequence[str]
    descriptor: Sequence[str | None]
    template: Sequence[str]
    spelling: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.text)

    def take(self, rows: Ints) -> SaidPrompts:
        """Select rows by position."""
        columns = (self.text, self.descriptor, self.template, self.spelling)
        text, descriptor, template, spelling = ([column[i] for i in rows] for column in columns)
        return SaidPrompts(text, descriptor, template, spelling)


def join_said(parts: Sequence[SaidPrompts]) -> SaidPrompts:
    """Sentences one after another."""
    rows = [(p.text, p.descriptor, p.template, p.spelling) for p in parts]
    text, descriptor, template, spelling = ([*chain.from_iterable(column)] for column in zip(*rows, strict=True))
    return SaidPrompts(text, descriptor, template, spelling)


def spellings(term: str) -> tuple[str, ...]:
    """A term as the stylistic variants spell it: as it is, in lower case, without hyphens, and both."""
    return tuple(dict.fromkeys((term, term.lower(), term.replace("-", " "), term.lower().replace("-", " "))))


def draw_said(release: Release, n: int, seed: int, axes: Sequence[str] | None = None) -> SaidPrompts:
    """Draw ``n`` sentences of some axes, each variant with probability 1/2; no row twice before all are drawn."""
    sentences = release.sentences
    if axes is not None:
        sentences = sentences.filter(pc.is_in(sentences["axis"].cast(pa.string()), pa.array(axes)))
    drawn = []
    while n:
        size = min(n, sentences.num_rows)
        drawn.append(sample_sentences(sentences, size, seed, stylistic_variants=True))
        n, seed = n - size, seed + 1
    return said_of(pa.concat_tables(drawn, promote_options="permissive"), release)


def said_of(sentences: pa.Table, release: Release) -> SaidPrompts:
    """The sentences of a table with the columns ``text, descriptor_id, template_id``."""
    terms = release.tables["descriptors"]
    forms = {
        key: _longest_first((text, plural))
        for key, text, plural in zip(
            *(terms[c].to_pylist() for c in ("descriptor_id", "descriptor", "plural")), strict=True
        )
    }
    text, descriptor, template = (sentences[c].to_pylist() for c in ("text", "descriptor_id", "template_id"))
    return SaidPrompts(
        text, descriptor, template, [_spelling(t, d, forms) for t, d in zip(text, descriptor, strict=True)]
    )


def _longest_first(terms: tuple[str | None, ...]) -> tuple[str, ...]:
    forms = {form for term in terms if term for form in spellings(term)}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _spelling(text: str, descriptor: str | None, forms: Mapping[str, tuple[str, ...]]) -> str | None:
    return next((form for form in forms.get(descriptor or "", ()) if form in text), None)


def cells(said: SaidPrompts) -> tuple[list[str | None], list[str], Ints, Ints]:
    """The distinct descriptors and templates, and the position of each row's."""
    descriptors, templates = list(dict.fromkeys(said.descriptor)), list(dict.fromkeys(said.template))
    term = {name: i for i, name in enumerate(descriptors)}
    template = {name: i for i, name in enumerate(templates)}
    return (
        descriptors,
        templates,
        np.array([term[name] for name in said.descriptor]),
        np.array([template[name] for name in said.template]),
    )
