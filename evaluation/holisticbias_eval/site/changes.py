"""Changes of entries in words, with a sentence before and after."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from holisticbias.compile.sentence_changes import ChangedSentence
from holisticbias.contribute.readings import forms
from holisticbias.terms.entries import ArticleRule, Descriptor, Entry, Noun, Template
from holisticbias.terms.grammar import described, fill, with_article
from holisticbias_eval.site.explored import ShownRelease

NAMES: Mapping[str, str] = {
    "group": "axis or gender",
    "noun_gender": "gender of its nouns",
    "without_noun": "stands without a noun",
    "not_with": "nouns left out",
    "assessments": "judgements",
    "must_be_noun": "needs a noun",
}
"""The keys of an entry, as pages name them; others are named by their words."""

_TRUTH = {"true": "yes", "false": "no"}


class FieldChange(NamedTuple):
    """A value of an entry before and after a change, with its name."""

    name: str
    before: str
    after: str


def field_changes(fields: Iterable[tuple[str, str, str]], nouns: Mapping[str, str]) -> tuple[FieldChange, ...]:
    """The changed fields of an ``EntryChange`` for people: names in words, nouns by their text."""
    return tuple(
        FieldChange(NAMES.get(key, key.replace("_", " ")), _value(before, nouns), _value(after, nouns))
        for key, before, after in fields
    )


def _value(shown: str, nouns: Mapping[str, str]) -> str:
    return _TRUTH.get(shown) or ", ".join(nouns.get(part, part) for part in shown.split(", "))


def example_finder(old: ShownRelease, new: ShownRelease) -> Callable[[str], ChangedSentence | None]:
    """A function that finds a sentence that changed for the id of an entry; null if it finds none.

    A descriptor and a noun are read in the first template, a template with the noun "person". Groups, prompts and
    specifications have no sentences.
    """
    entries = [_entries(release) for release in (old, new)]

    def find(entry_id: str) -> ChangedSentence | None:
        before, after = (
            dict(_sentences(release, found[entry_id])) if entry_id in found else {}
            for release, found in zip((old, new), entries, strict=True)
        )
        changed = [key for key in {**after, **before} if before.get(key) != after.get(key)]
        changed.sort(key=lambda key: key not in before or key not in after)
        return ChangedSentence(changed[0], before.get(changed[0]), after.get(changed[0])) if changed else None

    return find


def _entries(release: ShownRelease) -> Mapping[str, Entry]:
    """The entries of a release that occur in sentences, by id."""
    entries = (entry for _, entry in release.held.entries())
    return {entry.id: entry for entry in entries if isinstance(entry, Descriptor | Noun | Template)}


def _sentences(release: ShownRelease, entry: Entry) -> Iterator[tuple[str, str]]:
    """The ids and texts of sentences with an entry; sentences with the noun "person" come first."""
    held, rule = release.held, release.record.article_rule
    template = held.templates[0]
    nouns = [(gender.gender, noun) for gender in held.genders for noun in gender.nouns]
    nouns.sort(key=lambda pair: pair[1].text != "person")
    match entry:
        case Descriptor():
            for gender, noun in nouns:
                if entry.goes_with(gender, noun):
                    text = fill(template.text, *described(entry, noun, rule))
                    yield f"{template.id}/{entry.id}/{noun.id}", text
            for form in forms(held, entry, rule):
                if form.name in ("on its own", "without a noun"):
                    yield f"{form.templates[0].id}/{entry.id}/-", form.sentences[0]
        case Noun():
            yield f"{template.id}/-/{entry.id}", _with_noun(template, entry, rule)
        case Template():
            yield f"{entry.id}/-/{nouns[0][1].id}", _with_noun(entry, nouns[0][1], rule)


def _with_noun(template: Template, noun: Noun, rule: ArticleRule) -> str:
    return fill(template.text, with_article(noun.text, rule, noun.article), noun.plural)
