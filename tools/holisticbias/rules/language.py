"""Rules on grammar: slots, positions, plurals, articles, agreement, genders."""

import re

from holisticbias.rules.check import Faults, Problems, rule
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Descriptor, Noun, Template
from holisticbias.terms.grammar import PLURAL_SLOT, SINGULAR_SLOT

_RELATIVE = r"[Ww]ho(?:'s|se)?|that|which|[Ww]ith(?:out)?|[Ii]n|[Oo]f|[Ff]rom|having"
_AFTER_NOUN = re.compile(
    rf"(?:{_RELATIVE}|[Oo]n|[Aa]t|[Ll]iving|[Ee]xperiencing|[Rr]eceiving|using|"
    r"born (?:in|to|with|into)|raised (?:in|by)|diagnosed with|affected by|recovering from)\s"
)
_NEVER_A_NOUN = re.compile(rf"(?:{_RELATIVE})\s")
_CHANGES = re.compile(r"who(?:'s| (?:is|has|was|does|[a-z]+[^s]s)) | an? |who [a-z]+[^s]s$")
_ARTICLE = re.compile(r"(?:an?|the)\s", re.IGNORECASE)
_ARTICLE_AND_SLOT = re.compile(r"\b(?:an?|the)\s\{noun_phrase\}", re.IGNORECASE)
_SINGULAR_VERB = re.compile(r"\bwho(?:'s| (?!always |sometimes )(?:is|has|was|does|[a-z]+[^s]s))(?!\S)")
_PLURAL_VERB = re.compile(r"\bwho (?:are|have|were|do)(?!\S)")
# only where the slot begins a clause: "Being {noun_phrase} is hard" is English with either slot
_CLAUSE = r"(?:^|[.!?,]\s|\b(?:think|that)\s)"
_SINGULAR_SLOT_PLURAL_VERB = re.compile(_CLAUSE + r"\{noun_phrase\} (?:are|were|have)\b")
_PLURAL_SLOT_SINGULAR_VERB = re.compile(_CLAUSE + r"\{plural_noun_phrase\} (?:is|was|has)\b")


def begins_after_noun(text: str) -> bool:
    """Whether a term begins with a word that can only follow a noun, such as "with" or "who"."""
    return _AFTER_NOUN.match(text) is not None


@rule(
    asks="A template has one slot, {noun_phrase} or {plural_noun_phrase}.",
    fix="write {noun_phrase} or {plural_noun_phrase} once, with no other braces",
    why="A slot is only ever replaced by a phrase: format specifications and attributes are not evaluated.",
)
def slot(template: Template) -> Faults:
    slots = re.findall(r"\{[^{}]*\}", template.text)
    rest = re.sub(r"\{[^{}]*\}", "", template.text)
    if len(slots) != 1 or slots[0] not in (SINGULAR_SLOT, PLURAL_SLOT) or "{" in rest or "}" in rest:
        yield ("text",), f"The slots of the template are: {' and '.join(slots) or 'none'}."


@rule(
    asks="A term that begins with 'who is', 'with' or the like comes after the noun.",
    fix="set position: after",
)
def position(descriptor: Descriptor) -> Faults:
    if descriptor.position == "before" and begins_after_noun(descriptor.text):
        yield ("text",), f"{descriptor.text!r} would come before the noun."
    if descriptor.position == "standalone" and _NEVER_A_NOUN.match(descriptor.text):
        yield ("text",), f"{descriptor.text!r} cannot stand for a person on its own."


@rule(
    asks="A term after the noun has more than one word, as in 'with asthma'.",
    fix="set position: before, or standalone if it is a noun",
)
def position_after(descriptor: Descriptor) -> Faults:
    if descriptor.position == "after" and " " not in descriptor.text:
        yield ("text",), f"{descriptor.text!r} would come after the noun."


@rule(
    asks="A term that changes in the plural has a plural.",
    fix="add the plural, as in 'with disabilities'",
)
def plural_needed(descriptor: Descriptor) -> Faults:
    position, text = descriptor.position, descriptor.text
    changes = position == "standalone" or (position == "after" and _CHANGES.search(text))
    if changes and descriptor.plural is None:
        yield ("text",), f"{text!r} would be the same in the plural."


@rule(
    asks="A term after the noun has no article.",
    fix="remove the article",
)
def article_unused(descriptor: Descriptor) -> Faults:
    if descriptor.position == "after" and descriptor.article is not None:
        yield ("article",), "A term after the noun takes the article of the noun."


@rule(
    asks="Terms, nouns and the slot {noun_phrase} are written without an article.",
    fix="write the text without the article",
    why="Articles are added when sentences are compiled: from the sound of the phrase, or from the key `article`.",
)
def article_written(entry: Descriptor | Noun | Template) -> Faults:
    find = _ARTICLE_AND_SLOT.search if isinstance(entry, Template) else _ARTICLE.match
    for key in ("text", "plural"):
        written = find(getattr(entry, key, None) or "")
        if written is not None:
            yield (key,), f"The {key} contains the article {written.group().split()[0]!r}."


@rule(
    asks="A verb agrees in number with its subject.",
    fix="correct the verb, as in 'who is' and, in the plural, 'who are'",
)
def agreement(entry: Descriptor | Template) -> Faults:
    if isinstance(entry, Template):
        if _SINGULAR_SLOT_PLURAL_VERB.search(entry.text):
            yield ("text",), "The verb after the singular slot is plural."
        elif _PLURAL_SLOT_SINGULAR_VERB.search(entry.text):
            yield ("text",), "The verb after the plural slot is singular."
    elif entry.position == "after":
        if _PLURAL_VERB.search(entry.text):
            yield ("text",), f"The verb in {entry.text!r} is plural."
        if _SINGULAR_VERB.search(entry.plural or ""):
            yield ("plural",), f"The verb in {entry.plural!r} is singular."


@rule(
    asks="The gender in 'noun_gender' has nouns.",
    fix="use a gender in nouns/, or add nouns of this gender",
    why="No sentence can be made from a term that goes with no noun.",
    needs=frozenset({"nouns"}),
)
def noun_gender(repository: Repository) -> Problems:
    genders = {f.record.gender for f in repository.genders if f.record.nouns}
    for file, i, descriptor in repository.of(Descriptor):
        if descriptor.noun_gender != "any" and descriptor.noun_gender not in genders:
            message = f"No noun has the gender {descriptor.noun_gender!r}, so the entry would have no sentences."
            yield file.entry_problem(i, ("noun_gender",), message)


@rule(
    asks="A paraphrase has the slot, the marks and the opposite of the template that it paraphrases.",
    fix="give it the slot, must_be_noun, first_turn_only and opposite_of of that template",
    why="Only templates that take the same phrases can be compared sentence by sentence.",
)
def paraphrase_alike(repository: Repository) -> Problems:
    templates = {t.id: t for f in repository.families for t in f.record.templates}
    for file, i, template in repository.of(Template):
        original = templates.get(template.paraphrase_of or "")
        if original is not None and _marks(original) != _marks(template):
            message = f"Its slot, marks or opposite differ from those of {original.id}, which it paraphrases."
            yield file.entry_problem(i, ("paraphrase_of",), message)


def _marks(template: Template) -> tuple[bool, bool, bool, str | None]:
    return template.must_be_noun, template.first_turn_only, SINGULAR_SLOT in template.text, template.opposite_of
