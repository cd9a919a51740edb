"""The English dictionary: the words in ``words/english.txt`` and in published entries."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_WORD = re.compile(r"[^\W\d_]{2,}(?:'[a-z]+)?")
_LIST = Path(__file__).with_name("words") / "english.txt"


@cache
def _listed() -> str:
    return f"\n{_LIST.read_text('utf-8')}"


def _in_list(word: str) -> bool:
    return f"\n{word}\n" in _listed()


def words(text: str) -> list[str]:
    """The words of a text, without a possessive ending; parts of a compound are words."""
    return [word.removesuffix("'s") for word in _WORD.findall(text)]


def known_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts that are known to be right."""
    return frozenset(word for text in texts for word in words(text))


def misspelled(text: str, known: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield a message, without a full stop, for each word that is neither known nor in the dictionary as written.

    Words with letters beyond A to Z come from other languages, and unknown words in capitals are abbreviations: both
    are left out.
    """
    for word in words(text):
        if word in known or not word.isascii() or _in_list(word):
            continue
        usual = _usual(word, known)
        if usual is not None:
            yield f"The dictionary has {usual!r}, not {word!r}"
        elif not word.isupper():
            yield f"The dictionary does not have {word!r}"


_OF_OTHER_LANGUAGES = re.compile(
    "el|los|las|una|del|con|sin|para|por|que|y|le|les|une|du|avec|sans|pour|qui|est|et|der|das|ein|eine|mit|ohne|und|ist|"
    "ich|bin|gli|senza|che|di|com|sem|da|dos|een|het|zonder|van"
)


def other_language(text: str, known: frozenset[str] = frozenset()) -> bool:
    """Whether a text of at least two words seems to be in another language.

    Most of its words are not in the dictionary, or one is not and another is a small word of another language.
    """
    found = [word for word in re.findall(r"[^\W\d_]+", text) if not word.isupper()]
    unknown = [word for word in found if not (word in known or _in_list(word) or _usual(word, known))]
    small = any(_OF_OTHER_LANGUAGES.fullmatch(word.lower()) for word in found)
    return len(found) > 1 and (len(unknown) > len(found) / 2 or (small and bool(unknown)))


def _usual(word: str, known: frozenset[str]) -> str | None:
    """The word with other capitals, as the dictionary or a published entry has it, or None."""
    forms = (word.lower(), word.capitalize(), word.upper())
    return next((form for form in forms if form != word and (form in known or _in_list(form))), None)
