"""A sentence with an entry, in two releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import ArticleRule, Descriptor, Entry, Gender, Noun, Template
from holisticbias.terms.grammar import described, fill, with_article
from holisticbias_eval.site.explored import ShownRelease

_ALONE = "-"


class Example(NamedTuple):
    """A sentence with an entry before and after a change; null if the release does not have it."""

    before: str | None
    after: str | None


def example_finder(old: ShownRelease, new: ShownRelease) -> Callable[[str], Example | None]:
    """A function that finds a sentence that changed for the id of an entry; null if it finds none.

    A descriptor and a noun are read in the first template, a template with the noun "person". Groups, prompts and
    specifications have no sentences.
    """
    before, after = _Reader(old), _Reader(new)

    def find(entry_id: str) -> Example | None:
        was, now = dict(before.sentences(entry_id)), dict(after.sentences(entry_id))
        changed = [key for key in {**now, **was} if was.get(key) != now.get(key)]
        changed.sort(key=lambda key: key not in was or key not in now)
        return Example(was.get(changed[0]), now.get(changed[0])) if changed else None

    return find


class _Reader:
    """Reads the entries of one release in sentences."""

    def __init__(self, release: ShownRelease) -> None:
        held = release.held
        self._rule: ArticleRule = release.record.article_rule
        self._nouns = _person_first(held)
        templates = [t for family in held.families for t in family.templates]
        self._template = templates[0]
        self._entries: Mapping[str, Entry] = {
            **{d.id: d for axis in held.axes for d in axis.descriptors},
            **{n.id: n for _, n in self._nouns},
            **{t.id: t for t in templates},
        }

    def sentences(self, entry_id: str) -> Iterator[tuple[str, str]]:
        """Sentences with an entry, each with a key that says which noun it has."""
        match self._entries.get(entry_id):
            case Descriptor() as descriptor:
                yield from self._with_descriptor(descriptor)
            case Noun() as noun:
                yield _ALONE, self._filled(self._template, noun)
            case Template() as template:
                yield _ALONE, self._filled(template, self._nouns[0][1])

    def _with_descriptor(self, descriptor: Descriptor) -> Iterator[tuple[str, str]]:
        for gender, noun in self._nouns:
            if descriptor.goes_with(gender, noun):
                yield noun.id, fill(self._template.text, *described(descriptor, noun, self._rule))
        plural = descriptor.plural or descriptor.text
        if descriptor.position == "standalone":
            singular = with_article(descriptor.text, self._rule, descriptor.article)
            yield _ALONE, fill(self._template.text, singular, plural)
        elif descriptor.position == "before" and descriptor.without_noun and not self._template.must_be_noun:
            yield _ALONE, fill(self._template.text, descriptor.text, plural)

    def _filled(self, template: Template, noun: Noun) -> str:
        return fill(template.text, with_article(noun.text, self._rule, noun.article), noun.plural)


def _person_first(held: Catalog) -> list[tuple[Gender, Noun]]:
    """The nouns of a version with their gender; "person" is the first, if it is one of them."""
    nouns = [(g.gender, n) for g in held.genders for n in g.nouns]
    return sorted(nouns, key=lambda pair: pair[1].text != "person")
