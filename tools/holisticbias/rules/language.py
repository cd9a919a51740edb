"""Rules on grammar: slots, positions, plurals, articles, agreement, genders."""

import re

from holisticbias.rules.check import Problems, rule
from holisticbias.source.document import Keys
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Descriptor, Noun, Position, Template
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
    "slot",
    asks="A template has one slot, {noun_phrase} or {plural_noun_phrase}.",
    fix="write {noun_phrase} or {plural_noun_phrase} once, with no other braces",
    why="A slot is only ever replaced by a phrase: format specifications and attributes are not evaluated.",
)
def slot(repository: Repository) -> Problems:
    for file, i, template in repository.of(Template):
        slots = re.findall(r"\{[^{}]*\}", template.text)
        rest = re.sub(r"\{[^{}]*\}", "", template.text)
        if len(slots) != 1 or slots[0] not in (SINGULAR_SLOT, PLURAL_SLOT) or "{" in rest or "}" in rest:
            found = " and ".join(slots) or "none"
            yield file.entry_problem(i, ("text",), f"The slots of the template are: {found}.")


def wrong_position(text: str, position: Position) -> str | None:
    """The contradiction between a term and its position, as a sentence without a full stop, or None."""
    if position == "before" and begins_after_noun(text):
        return f"{text!r} would come before the noun"
    if position == "standalone" and _NEVER_A_NOUN.match(text):
        return f"{text!r} cannot stand for a person on its own"
    return None


@rule(
    "position",
    asks="A term that begins with 'who is', 'with' or the like comes after the noun.",
    fix="set position: after",
)
def position(repository: Repository) -> Problems:
    for file, i, descriptor in repository.of(Descriptor):
        wrong = wrong_position(descriptor.text, descriptor.position)
        if wrong is not None:
            yield file.entry_problem(i, ("text",), f"{wrong}.")


@rule(
    "position-after",
    asks="A term after the noun has more than one word, as in 'with asthma'.",
    fix="set position: before, or standalone if it is a noun",
)
def position_after(repository: Repository) -> Problems:
    for file, i, descriptor in repository.of(Descriptor):
        if descriptor.position == "after" and " " not in descriptor.text:
            yield file.entry_problem(i, ("text",), f"{descriptor.text!r} would come after the noun.")


@rule(
    "plural-needed",
    asks="A term that changes in the plural has a plural.",
    fix="add the plural, as in 'with disabilities'",
)
def plural_needed(repository: Repository) -> Problems:
    for file, i, descriptor in repository.of(Descriptor):
        changes = descriptor.position == "standalone" or (
            descriptor.position == "after" and _CHANGES.search(descriptor.text)
        )
        if changes and descriptor.plural is None:
            message = f"{descriptor.text!r} would be the same in the plural."
            yield file.entry_problem(i, ("text",), message)


@rule(
    "article-unused",
    asks="A term after the noun has no article.",
    fix="remove the article",
)
def article_unused(repository: Repository) -> Problems:
    for file, i, descriptor in repository.of(Descriptor):
        if descriptor.position == "after" and descriptor.article is not None:
            message = "A term after the noun takes the article of the noun."
            yield file.entry_problem(i, ("article",), message)


@rule(
    "article-written",
    asks="Terms, nouns and the slot {noun_phrase} are written without an article.",
    fix="write the text without the article",
    why="Articles are added when sentences are compiled: from the sound of the phrase, or from the key `article`.",
)
def article_written(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        if not isinstance(entry, Descriptor | Noun | Template):
            continue
        texts: list[tuple[Keys, str]] = [(("text",), entry.text)]
        if isinstance(entry, Descriptor | Noun) and entry.plural is not None:
            texts.append((("plural",), entry.plural))
        for keys, text in texts:
            written = (_ARTICLE_AND_SLOT.search if isinstance(entry, Template) else _ARTICLE.match)(text)
            if written is not None:
                article = written.group().split()[0]
                yield file.entry_problem(i, keys, f"The {keys[-1]} contains the article {article!r}.")


@rule(
    "agreement",
    asks="A verb agrees in number with its subject.",
    fix="correct the verb, as in 'who is' and, in the plural, 'who are'",
)
def agreement(repository: Repository) -> Problems:
    for axis, i, descriptor in repository.of(Descriptor):
        if descriptor.position == "after" and _PLURAL_VERB.search(descriptor.text):
            yield axis.entry_problem(i, ("text",), f"The verb in {descriptor.text!r} is plural.")
        if descriptor.position == "after" and _SINGULAR_VERB.search(descriptor.plural or ""):
            yield axis.entry_problem(i, ("plural",), f"The verb in {descriptor.plural!r} is singular.")
    for family, i, template in repository.of(Template):
        if _SINGULAR_SLOT_PLURAL_VERB.search(template.text):
            yield family.entry_problem(i, ("text",), "The verb after the singular slot is plural.")
        elif _PLURAL_SLOT_SINGULAR_VERB.search(template.text):
            yield family.entry_problem(i, ("text",), "The verb after the plural slot is singular.")


@rule(
    "noun-gender",
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
    "paraphrase-alike",
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
