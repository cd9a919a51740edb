"""Rules on the wording of new terms and nouns: marks, clauses, capitals, articles and spelling."""

import re
import unicodedata
from collections.abc import Iterator

from holisticbias.rules.characters import foreign_letter, odd_character
from holisticbias.rules.check import Faults, Problems, rule
from holisticbias.rules.dictionary import known_words, misspelled, other_language
from holisticbias.source.records import EntryFile, Repository
from holisticbias.terms.entries import Article, Descriptor, Noun, Template
from holisticbias.terms.grammar import article, is_abbreviation
from holisticbias.terms.prompt_entries import Prompt

CONTRIBUTORS = "contributors"  # the source of an entry that no publication has

_MARK = re.compile(r'[!?;()"]|:(?!\d)|[.,]$|(?<=[a-z]{3})\.\s')
_ABBREVIATED_END = re.compile(r"(?:\w+\.){2,}$")
_PRONOUNS = "I|i|you|he|she|it|we|they|this|these|those|there|my|your|his|her|our|their"
_VERBS = (
    "am|is|are|was|were|be|isn't|aren't|wasn't|weren't|has|have|had|hasn't|haven't|do|does|did|don't|doesn't|can|could|"
    "can't|cannot|will|would|won't|should|must|suffers|uses|lives|identifies|speaks|wears|needs|likes|loves|hates|"
    "struggles|experiences|stutters|comes|came|grew|became|goes|feels|gets|looks"
)
_PRONOUN_FIRST = re.compile(rf"(?:{_PRONOUNS})(?:'(?:m|re|s|ve|d|ll))?(?=\s|$)")
_VERB_FIRST = re.compile(rf"(?:{_VERBS})(?=\s|$)")
_VERB_SECOND = re.compile(r"(?!(?:who|whose|that|which)\b)[\w'-]+ (?=(?:is|are|was|were|am|has|have|had)(?:\s|$))")
_SUBJECT_AND_VERB = re.compile(
    rf"(?:(?:{_PRONOUNS})(?:'(?:m|re|s)| (?:am|are|is))|am|is|are) (?:an? )?(?P<is>.+)"
    rf"|(?:(?:{_PRONOUNS}) )?(?:have|has) (?P<has>.+)"
)
_SMALL_WORDS = "with|without|who|whose|who's|that|which|in|on|of|from|at|and|or|living|experiencing|receiving"
_CAPITAL = re.compile(rf"(?:^|(?<=\s))(?:{'|'.join(word.capitalize() for word in _SMALL_WORDS.split('|'))})(?=\s)")
# Beginnings that are always heard in the same way; others depend on the word (uni, eu, on) or can be letters (ftm).
_CLUSTERS = (
    "b[lr]|c[hlrz]|d[hrw]|f[lr]|g[hlnr]|k[hlnr]|ll|mn|p[fhlnrst]|qu|rh|s[chklmnpqrtvw]|t[hrswz]|v[lr]|w[hr]|z[hw]"
)
_SURELY_HEARD = re.compile(
    rf"(?:{_CLUSTERS})[a-z.]|[bcdfgjklmnpqrstvwz][aeiouy]|y[aeiou]"
    r"|[ai][a-z]|e(?![uw])[a-z]|euro|o(?![nau])[a-z]|onl|one\b|out"
    r"|un(?![ai])[a-z]|u(?:p|l(?![uy])|gl|nd)[a-z]|uni(?:t|on|vers|form|que)"
    r"|h(?:our(?!i)|onest|onor|eir)|h(?!our|onest|onou?r|eir|erb|istor|omage|ors\b)[aeiouy]|(?!1[18]\d)\d",
    re.IGNORECASE,
)


def mark_in(text: str) -> str | None:
    """The first mark in a text that only sentences and lists have, or None."""
    found = _MARK.search(text)
    if found is None or (found.group() == "." and _ABBREVIATED_END.search(text)):
        return None
    return found.group().strip()


def begins_clause(text: str) -> str | None:
    """The pronoun or finite verb that begins a clause at the start of a text, or None."""
    start = text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] in (" ", "'") else text
    first = _PRONOUN_FIRST.match(start) or _VERB_FIRST.match(start)
    if first is not None:
        return text[: first.end()]
    second = _VERB_SECOND.match(start)
    return None if second is None else text[second.end() :].split(maxsplit=1)[0]


def capital_in(text: str) -> str | None:
    """The first word in a text that has a capital but should not, such as "With", or None."""
    found = _CAPITAL.search(text)
    return None if found is None else found.group()


def article_by_sound(text: str) -> Article | None:
    """The article of a text if its letters leave no doubt how it is heard, else None."""
    plain = text[:1] + "".join(c for c in unicodedata.normalize("NFKD", text[1:]) if not unicodedata.combining(c))
    sure = not is_abbreviation(text) and _SURELY_HEARD.match(plain)
    return article(text, "sound", None) if sure else None


def corrected(text: str) -> str:
    """The text without the marks, subject, verb and capitals that these rules find, as far as that is possible."""
    text = re.sub(r"[!?;:,.\s]+$", "", text) if mark_in(text) else text
    clause = _SUBJECT_AND_VERB.fullmatch(text[:1].lower() + text[1:]) if begins_clause(text) else None
    if clause is not None:
        text = clause["is"] or f"with {clause['has']}"
    return _CAPITAL.sub(lambda found: found.group().lower(), text)


def _texts(entry: Descriptor | Noun) -> Iterator[tuple[str, str]]:
    """The text and the plural of a term or noun, each with its key, except texts that the rule clean-text finds."""
    for key, text in (("text", entry.text), ("plural", entry.plural)):
        if text is not None and odd_character(text) is None:
            yield key, text


def _terms_and_nouns(repository: Repository) -> Iterator[tuple[EntryFile, int, Descriptor | Noun]]:
    return ((file, i, entry) for file, i, entry in repository.entries() if isinstance(entry, Descriptor | Noun))


@rule(
    asks="A term or noun has no marks of sentences, such as a full stop at its end.",
    fix="remove the mark",
    why="Templates add the marks: a term with its own would end a sentence in the middle.",
)
def sentence_mark(entry: Descriptor | Noun) -> Faults:
    for key, text in _texts(entry):
        mark = mark_in(text)
        if mark is not None:
            yield (key,), f"The {key} contains {mark!r}."


@rule(
    asks="A term or noun is a phrase, without a subject or a verb of its sentence.",
    fix="write the phrase only, as in 'with asthma' or 'who has asthma'",
    why="Templates have a subject and a verb already: 'I have asthma' cannot follow 'I met a person'.",
)
def clause(entry: Descriptor | Noun) -> Faults:
    for key, text in _texts(entry):
        word = begins_clause(text)
        if word is not None:
            yield (key,), f"{text!r} is part of a sentence: {word!r} begins a clause."


@rule(
    asks="Words such as 'with', 'who' and 'of' have no capital.",
    fix="write this word in small letters",
    why="A term stands inside a sentence. Capitals of names stay, and capitals that communities choose.",
)
def capital(entry: Descriptor | Noun) -> Faults:
    for key, text in _texts(entry):
        word = capital_in(text)
        if word is not None:
            yield (key,), f"The {key} has {word!r} with a capital."


@rule(
    asks="A new term or noun states its article if its letters do not show how it is heard.",
    fix="read it aloud, and add article: a or article: an",
    why='"Unilateral" and "unimportant" begin with the same letters, and take "a" and "an". An abbreviation can be '
    'read letter by letter, as in "an FTM", or as a word, as in "a BIPOC".',
    needs=frozenset({"locks"}),
)
def article_stated(repository: Repository) -> Problems:
    new = repository.new
    for file, i, entry in _terms_and_nouns(repository):
        takes_one = entry.article is None and getattr(entry, "position", "") != "after" and _is_phrase(entry.text)
        short = is_abbreviation(entry.text)
        if takes_one and article_by_sound(entry.text) is None and (short or entry.id in new):
            doubt = "can be read as letters or as a word" if short else "does not show by its letters how it is heard"
            yield file.entry_problem(i, ("text",), f"{entry.text!r} {doubt}.")


def _is_phrase(text: str) -> bool:
    """Whether a text is a phrase in which no other rule finds a fault at its beginning."""
    plain = text[0].isalpha() and odd_character(text) is None and foreign_letter(text) is None
    return plain and begins_clause(text) is None and not text.lower().startswith(("a ", "an ", "the "))


@rule(
    asks="A stated article follows the sound of the text.",
    fix="leave the article out: it is found by sound",
    why="The key `article` is for texts whose sound their letters do not show, such as abbreviations and 'Uyghur'.",
)
def article_sound(entry: Descriptor | Noun) -> Faults:
    sound = article_by_sound(entry.text) if entry.article is not None else None
    if sound not in (None, entry.article):
        yield ("article",), f"By its sound, it is '{sound} {entry.text}'."


@rule(
    asks="The words of a new term are in an English dictionary, spelled as there.",
    fix="correct the spelling; write a word of another language in English, unless English has borrowed it; if it is "
    "right, leave it, since reviewers decide",
    why="A spelling mistake stays in the versions that have it. The dictionary lacks many names and recent words. "
    "Words of published texts are not checked, nor those of new entries that are judged or from a publication.",
    level="warning",
    needs=frozenset({"locks"}),
)
def unknown_word(repository: Repository) -> Problems:
    new, published = repository.new, repository.published
    entries = list(_terms_and_nouns(repository))
    unjudged = [
        (file, i, entry)
        for file, i, entry in entries
        if entry.id in new and (entry.id in published or _is_of_contributors(file, entry))
    ]
    known = known_words(e.text for _, _, e in entries if e.id not in new) if unjudged else frozenset()
    for file, i, entry in unjudged:
        for message in () if other_language(entry.text, known) else misspelled(entry.text, known):
            yield file.entry_problem(i, ("text",), f"{message}.")


def _is_of_contributors(file: EntryFile, entry: Descriptor | Noun) -> bool:
    """Whether nobody has judged an entry and no publication has it."""
    own = {CONTRIBUTORS, *(source.id for source in file.record.sources)}
    return not getattr(entry, "assessments", ()) and own.issuperset(entry.sources)


@rule(
    asks="A new text is English.",
    fix="write it in English; if English has borrowed the words, leave them, since reviewers decide",
    why="The dataset is English: in a sentence of two languages, a model reacts to the change of language. Terms of "
    "other languages that people use in English, such as 'hijra', are welcome.",
    level="warning",
    needs=frozenset({"locks"}),
)
def not_english(repository: Repository) -> Problems:
    new = repository.new
    known = known_words(entry.text for _, _, entry in repository.entries() if entry.id not in new)
    for file, i, entry in repository.entries():
        if isinstance(entry, Descriptor | Noun | Template | Prompt) and entry.id in new:
            texts = {"text": entry.text, "continuation": getattr(entry, "continuation", None)}
            for key, text in texts.items():
                if text is not None and other_language(re.sub(r"\{[^{}]*\}", "", text), known):
                    yield file.entry_problem(i, (key,), f"{text!r} seems to be in another language.")
