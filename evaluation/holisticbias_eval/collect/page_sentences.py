"""The prompts of one page: its text, sentences, and terms. It runs in a child process; see ``worker``."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from holisticbias.errors import in_one_line
from holisticbias_eval.collect.rule import (
    Fault,
    PromptRule,
    TermMention,
    Tokens,
    find_mentions,
    index_terms,
    prompt_length,
    sentence_fault,
)
from holisticbias_eval.collect.settings import LANGUAGE
from holisticbias_eval.errors import CollectError

_PEOPLE = frozenset({"PERSON", "PER"})
IsPerson = Callable[[str, int, int], bool]
"""Whether a term is the name of a person: takes the sentence, and the characters of the mention in it."""


@dataclass(frozen=True, slots=True)
class WantedGroup:
    """A group that wants a page: its number in the collection, its terms, and whether they must be names."""

    group: int
    terms: tuple[str, ...]
    needs_person: bool


PageJob = tuple[str, tuple[WantedGroup, ...]]
"""A page to read: its wikitext, and the groups that want it."""


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
    left_out: Counter[tuple[int, Fault]] = field(default_factory=Counter)


@dataclass(slots=True)
class PageReader:
    """Reads pages by one rule.

    ``by_terms`` are groups without pages, whose terms are sought on every wanted page; ``names`` is the spaCy model
    that recognises people, null for none.
    """

    rule: PromptRule
    namespaces: Mapping[str, int]
    by_terms: tuple[WantedGroup, ...]
    names: str | None
    _is_person: IsPerson | None = field(init=False, default=None)
    _others: dict[Tokens, str] = field(init=False)
    _owners: dict[str, list[WantedGroup]] = field(init=False)

    def __post_init__(self) -> None:
        self._others, self._owners = {}, {}
        for wanted in self.by_terms:
            for tokens, term in index_terms(wanted.terms).items():
                self._owners.setdefault(self._others.setdefault(tokens, term), []).append(wanted)

    def start(self) -> None:
        """Load what reading needs, so that no page takes longer for it.

        Raises ``CollectError`` if the model of names cannot be used.
        """
        self._is_person = None if self.names is None else person_finder(self.names)
        for _ in self._sentences("A page of {{convert|1|kg|lb}}."):
            pass

    def read(self, job: PageJob) -> PageSentences:
        """The sentences of a page for each group that wants it, in the order of the text."""
        result = PageSentences()
        wikitext, groups = job
        terms = [(wanted, index_terms(wanted.terms)) for wanted in groups]
        for sentence in self._sentences(wikitext):
            words = sentence.split(" ")
            fault = _fault(sentence, words, self.rule)
            for wanted, known in terms:
                if fault is None:
                    mention = next(find_mentions(words, known, self.rule.term_within), None)
                    self._take(sentence, words, wanted, mention, result)
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
            for sentence in sentencex.segment(LANGUAGE, paragraph):
                if cleaned := " ".join(sentence.split()):
                    yield cleaned

    def _take(
        self, sentence: str, words: list[str], wanted: WantedGroup, mention: TermMention | None, result: PageSentences
    ) -> None:
        """Keep a sentence for a group, or count why not."""
        if mention is None:
            result.left_out[wanted.group, Fault.NO_TERM] += 1
            return
        length = prompt_length(mention, self.rule)
        start, stop = len(" ".join((*words[: mention.start], ""))), len(" ".join(words[: mention.stop]))
        if wanted.needs_person and self._is_person is not None and not self._is_person(sentence, start, stop):
            result.left_out[wanted.group, Fault.NO_PERSON] += 1
        elif length >= len(words):
            result.left_out[wanted.group, Fault.NO_REST] += 1
        else:
            result.found.append(FoundSentence(wanted.group, sentence, mention.term, length))


def _fault(sentence: str, words: list[str], rule: PromptRule) -> Fault | None:
    from holisticbias_eval.collect.wikitext import MARKUP, UNKNOWN

    if UNKNOWN in sentence:
        return Fault.UNKNOWN_PART
    return sentence_fault(words, rule) or (Fault.MARKED if MARKUP.search(sentence) else None)


def person_finder(model: str) -> IsPerson:
    """A function that says whether a mention overlaps the name of a person in its sentence.

    ``model`` is a spaCy model by name or folder. Raises ``CollectError`` if it is missing or names no people.
    """
    try:
        import spacy
    except ImportError as error:
        raise CollectError("--names needs spaCy: pip install 'holisticbias[names]'") from error
    try:
        pipeline = spacy.load(model)
    except (OSError, ValueError, ImportError) as error:
        raise CollectError(f"--names {model}: spaCy cannot load it: {in_one_line(error)}") from error
    labels = {label for names in pipeline.pipe_labels.values() for label in names}
    if not labels & _PEOPLE:
        raise CollectError(f"--names {model}: it has no label PERSON or PER: name a model that recognises people")

    def is_person(sentence: str, start: int, stop: int) -> bool:
        people = [entity for entity in pipeline(sentence).ents if entity.label_ in _PEOPLE]
        return any(entity.start_char < stop and start < entity.end_char for entity in people)

    return is_person
