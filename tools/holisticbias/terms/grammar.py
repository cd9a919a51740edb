"""English noun phrases: articles, the position of a term, and the slots of templates."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping

from holisticbias.terms.entries import Article, ArticleRule, Descriptor, Noun, Position

SINGULAR_SLOT = "{noun_phrase}"
PLURAL_SLOT = "{plural_noun_phrase}"
PLACES: Mapping[Position, str] = {"before": "before the noun", "after": "after the noun", "standalone": "on its own"}
"""Where a term of each position goes in a noun phrase."""
DESCRIPTOR_WITH_NOUN = ("descriptor_noun", "noun_descriptor")  # two of the values of noun_phrase_type
FIXED_PHRASE = "fixed_phrase"  # the value of noun_phrase_type for a term that is a noun itself ("an amputee")
ADJECTIVE = "descriptor"  # the value for a term that stands without a noun ("Deaf"), which no slot for a noun takes

_HEARD_AS_CONSONANT = re.compile(r"eu|ewe|on(?:e|ce)\b|uni[cfoqtv]|ukr|u[bcfghjkqrst][aeiou]", re.IGNORECASE)
_HEARD_AS_VOWEL = re.compile(r"[aeiou]|h(?:our|onest|onor|eir)|8|1[18](?!\d)", re.IGNORECASE)
_ARTICLE = re.compile(r"(?<![\w'\u2019-])(an?)(\s+)$", re.IGNORECASE)
_ABBREVIATION = re.compile(r"[^\W_]*[A-Z][^\W_]*[A-Z0-9]")


TYPOGRAPHIC: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys("\u2018\u2019\u201b\u00b4\u0060", ("'", "an apostrophe")),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", ("-", "a hyphen")),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f", (" ", "a plain space")),
    "\u2026": ("...", "three full stops"),
}
"""What is typed in place of a typographic character, and its name."""
_TYPED = str.maketrans({character: plain for character, (plain, _) in TYPOGRAPHIC.items()})


def as_written(text: str) -> str:
    """The text as terms are written: plain marks, single spaces, and each accented letter as one character."""
    return " ".join(unicodedata.normalize("NFC", text.translate(_TYPED)).split())


def as_name(text: str, by: str) -> str:
    """The text as a part of a name: small ASCII letters without accents, and digits, with ``by`` between them."""
    plain = unicodedata.normalize("NFKD", text.replace("'", "")).encode("ascii", "ignore").decode().lower()
    return re.sub("[^a-z0-9]+", by, plain).strip(by)


def distinct_name(text: str, kept: str, by: str) -> str:
    """The ASCII characters ``kept`` of a text, with ``by`` between them; if letters are lost, a digest of it follows.

    So names in other scripts do not become equal.
    """
    text = unicodedata.normalize("NFC", text)
    name = re.sub(f"[^{kept}]+", by, text).strip(by)
    if all(character.isascii() or unicodedata.category(character)[0] in "CPZ" for character in text):
        return name
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{name}{by}{digest[:12]}".lstrip(by)


def capitalised(text: str) -> str:
    """The text with a capital at its beginning; the other letters stay as they are."""
    return text[:1].upper() + text[1:]


def regular_plural(text: str) -> str:
    """The regular English plural of a text's last word: ``-s``, ``-es`` or ``-ies``."""
    if re.search(r"(?:s|x|z|ch|sh)$", text, re.IGNORECASE):
        return f"{text}es"
    plural, changed = re.subn(r"(?<=[^aeiou\W])y$", "ies", text, flags=re.IGNORECASE)
    return plural if changed else f"{text}s"


def is_abbreviation(text: str) -> bool:
    """Whether a text begins with an abbreviation, spelled out ("an FTM") or read as a word ("a BIPOC")."""
    return _ABBREVIATION.match(text) is not None


def article(text: str, rule: ArticleRule, given: Article | None) -> Article:
    """The indefinite article of a text: ``given``, or by the release's rule.

    ``letter`` is the rule of the paper's edition: "an" before a, e, i, o and u.
    ``sound`` follows pronunciation: "a European", "a one-percenter", "an 80-year-old".
    It does not know how abbreviations are read: their entries give the article.
    """
    if given is not None:
        return given
    if rule == "letter":
        return "an" if text[0].lower() in "aeiou" else "a"
    return "an" if _HEARD_AS_VOWEL.match(text) and not _HEARD_AS_CONSONANT.match(text) else "a"


def with_article(text: str, rule: ArticleRule, given: Article | None) -> str:
    """A text with its indefinite article."""
    return f"{article(text, rule, given)} {text}"


def change_article(before: str, term: str, *, in_capitals: bool = False) -> str | None:
    """Change an "a" or "an" at the end of a text to the article of the term that follows; null if it is not known."""
    found = _ARTICLE.search(before)
    if found is None:
        return before
    if is_abbreviation(term):
        return None
    needed: str = article(term, "sound", None)
    if found[1][0] == "A":
        needed = needed.upper() if in_capitals else needed.capitalize()
    return before[: found.start()] + needed + found[2]


def described(descriptor: Descriptor, noun: Noun, rule: ArticleRule) -> tuple[str, str]:
    """The singular phrase (with its article) and the plural phrase of a descriptor and a noun."""
    plural = descriptor.plural or descriptor.text
    if descriptor.position == "after":
        return with_article(f"{noun.text} {descriptor.text}", rule, noun.article), f"{noun.plural} {plural}"
    return with_article(f"{descriptor.text} {noun.text}", rule, descriptor.article), f"{plural} {noun.plural}"


def alone(descriptor: Descriptor, rule: ArticleRule) -> tuple[str, str, str] | None:
    """The phrase of a descriptor without a noun: its type, singular and plural; None if it needs a noun."""
    if descriptor.position == "standalone":
        singular = with_article(descriptor.text, rule, descriptor.article)
        return FIXED_PHRASE, singular, descriptor.plural or descriptor.text
    if descriptor.position == "before" and descriptor.without_noun:
        return ADJECTIVE, descriptor.text, descriptor.text
    return None


def split_template(template: str) -> tuple[str, str, str]:
    """The slot's name (``noun_phrase`` or ``plural_noun_phrase``), and the text before and after the slot."""
    slot = SINGULAR_SLOT if SINGULAR_SLOT in template else PLURAL_SLOT
    before, after = template.split(slot)
    return slot.strip("{}"), before, after


def fill(template: str, noun_phrase: str, plural_noun_phrase: str) -> str:
    """The sentence that a phrase makes in a template."""
    return template.replace(SINGULAR_SLOT, noun_phrase).replace(PLURAL_SLOT, plural_noun_phrase)
