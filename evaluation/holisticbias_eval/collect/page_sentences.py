"""The prompts of one page: its text, sentences, and terms. It runs in a child process; see ``worker``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from holisticbias_eval.collect.rule import (
    MARKED,
    NO_PERSON,
    NO_REST,
    NO_TERM,
    UNKNOWN_PART,
    PromptRule,
    TermMention,
    Tokens,
    find_mention,
    find_mentions,
    index_terms,
    prompt_length,
    sentence_fault,
)

IsPerson = Callable[[str, str], bool]
"""Whether a term in a sentence is the name of a person: takes the sentence, and the mention's words."""


@dataclass(frozen=True, slots=True)
class WantedGroup:
    """A group that wants a page: its number in the collection, its terms, and whether they must be names."""

    group: int
    terms: tuple[str, ...]
    needs_person: bool


@dataclass(frozen=True, slots=True)
class PageJob:
    """A page to read: its wikitext, and the groups that want it."""

    wikitext: str
    wanted: tuple[WantedGroup, ...]


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """A sentence with the group's number, the matched term, and the number of words of its prompt."""

    group: int
    sentence: str
    term: str
    length: int


@dataclass(slots=True)
class PageSentences:
    """The sentences of a page, and for each group how many were left out, by reason."""

    found: list[FoundSentence] = field(default_factory=list)
    left_out: Counter[tuple[int, str]] = field(default_factory=Counter)


@dataclass(slots=True)
class PageReader:
    """Reads pages by one rule. ``by_terms`` are groups without pages, whose terms are sought on every wanted page."""

    rule: PromptRule
    namespaces: Mapping[str, int]
    language: str
    by_terms: tuple[WantedGroup, ...]
    is_person: IsPerson | None
    _others: dict[Tokens, str] = field(init=False)
    _owners: dict[str, list[WantedGroup]] = field(init=False)

    def __post_init__(self) -> None:
        self._others, self._owners = {}, {}
        for wanted in self.by_terms:
            for tokens, term in index_terms(wanted.terms).items():
                self._owners.setdefault(self._others.setdefault(tokens, term), []).append(wanted)

    def read(self, job: PageJob) -> PageSentences:
        """The sentences of a page for each group that wants it, in the order of the text."""
        result = PageSentences()
        terms = [(wanted, index_terms(wanted.terms)) for wanted in job.wanted]
        for sentence in self._sentences(job.wikitext):
            words = sentence.split(" ")
            fault = _fault(sentence, words, self.rule)
            for wanted, known in terms:
                if fault is None:
                    self._take(sentence, words, wanted, find_mention(words, known, self.rule.term_within), result)
                else:
                    result.left_out[wanted.group, fault] += 1
            if fault is None and self._others:
                self._take_others(sentence, words, result)
        return result

    def _take_others(self, sentence: str, words: list[str], result: PageSentences) -> None:
        """Keep a sentence for the groups without pages that it names, by each group's first mention."""
        seen = set()
        for mention in find_mentions(words, self._others, self.rule.term_within):
            for wanted in self._owners[mention.term]:
                if wanted.group not in seen:
                    seen.add(wanted.group)
                    self._take(sentence, words, wanted, mention, result)

    def _sentences(self, wikitext: str) -> Iterator[str]:
        import sentencex

        from holisticbias_eval.collect.wikitext import paragraphs

        for paragraph in paragraphs(wikitext, self.namespaces):
            for sentence in sentencex.segment(self.language, paragraph):
                if cleaned := " ".join(sentence.split()):
                    yield cleaned

    def _take(
        self, sentence: str, words: list[str], wanted: WantedGroup, mention: TermMention | None, result: PageSentences
    ) -> None:
        """Keep a sentence for a group, or count why not."""
        if mention is None:
            result.left_out[wanted.group, NO_TERM] += 1
            return
        length = prompt_length(mention, self.rule)
        said = " ".join(words[mention.start : mention.stop])
        if wanted.needs_person and self.is_person is not None and not self.is_person(sentence, said):
            result.left_out[wanted.group, NO_PERSON] += 1
        elif length >= len(words):
            result.left_out[wanted.group, NO_REST] += 1
        else:
            result.found.append(FoundSentence(wanted.group, sentence, mention.term, length))


def _fault(sentence: str, words: list[str], rule: PromptRule) -> str | None:
    from holisticbias_eval.collect.wikitext import MARKUP, UNKNOWN

    if UNKNOWN in sentence:
        return UNKNOWN_PART
    return sentence_fault(words, rule) or (MARKED if MARKUP.search(sentence) else None)
