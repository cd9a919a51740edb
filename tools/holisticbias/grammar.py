"""English noun phrases: articles, and where a term stands."""

from __future__ import annotations

from holisticbias.catalog import Article, ArticleRule, Descriptor, Noun

SINGULAR_SLOT = "{noun_phrase}"
PLURAL_SLOT = "{plural_noun_phrase}"


def article(text: str, rule: ArticleRule, given: Article | None) -> Article:
    """The indefinite article before a text: the one given, else by the release's rule.

    ``letter`` is the rule of the paper's edition: "an" before a, e, i, o and u.
    """
    if given is not None:
        return given
    if rule == "letter":
        return "an" if text[0].lower() in "aeiou" else "a"
    raise NotImplementedError(f"no version uses the article rule {rule!r} yet")


def with_article(text: str, rule: ArticleRule, given: Article | None) -> str:
    """The text behind its indefinite article."""
    return f"{article(text, rule, given)} {text}"


def described(descriptor: Descriptor, noun: Noun, rule: ArticleRule) -> tuple[str, str]:
    """Singular (with its article) and plural phrase of a descriptor and a noun."""
    plural = descriptor.plural or descriptor.text
    if descriptor.position == "after":
        return with_article(f"{noun.text} {descriptor.text}", rule, noun.article), f"{noun.plural} {plural}"
    return with_article(f"{descriptor.text} {noun.text}", rule, descriptor.article), f"{plural} {noun.plural}"


def fill(template: str, noun_phrase: str, plural_noun_phrase: str) -> str:
    """The template's sentence with its slot filled."""
    return template.replace(SINGULAR_SLOT, noun_phrase).replace(PLURAL_SLOT, plural_noun_phrase)
