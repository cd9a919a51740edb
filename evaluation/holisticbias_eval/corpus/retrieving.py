"""Retrieve sentences about a specification's groups from documents that people wrote."""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Generic, Literal, TypeVar

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.documents import TextDocument, bare_identifier, clean, digest_of
from holisticbias_eval.corpus.examples import COLUMNS
from holisticbias_eval.corpus.mentions import AttributeTerm, Mention, TargetTerm, attribute_finder, target_finder
from holisticbias_eval.corpus.settings import RetrievalSettings

HELD = 10_000
"""Sentences of each group that are held unless the user names a number, which bounds the memory."""
Row = dict[str, str | None]
NoWindow = Literal["no attribute", "several groups"]
Offered = Literal["held", "repeated", "not drawn"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MentionWindow:
    """Words around a mention of a group, and the attribute nearest to it."""

    group: str
    target: str
    attribute: str
    attribute_set: str
    text: str


class WindowFinder:
    """Finds windows of ``words`` words to either side of the mentions of a specification's groups.

    A window has the words of a mention and up to ``words`` words to either side; a word is what stands between blanks.
    It needs an attribute that is not part of a group's term, and no mention of another group. A mention in an earlier
    window has none. Source: Zhao et al. 2024, section 2.
    """

    def __init__(self, specification: Specification, words: int) -> None:
        self._words = words
        self._targets = target_finder(specification)
        self._attributes = attribute_finder(specification)

    def find(self, text: str) -> Iterator[MentionWindow | NoWindow]:
        """Yield for each mention in a cleaned text its window, or why it has none."""
        done = 0
        for mention in self._targets.find(text):
            if mention.start < done:
                continue
            start, stop = self._around(text, mention)
            window = self._window(text[start:stop], mention.start - start)
            if isinstance(window, MentionWindow):
                done = stop
            yield window

    def _around(self, text: str, mention: Mention[TargetTerm]) -> tuple[int, int]:
        """The characters from the first to the last word."""
        start = text.rfind(" ", 0, mention.start) + 1
        stop = text.find(" ", mention.stop)
        for _ in range(self._words):
            start = text.rfind(" ", 0, start - 1) + 1 if start > 1 else 0
            stop = text.find(" ", stop + 1) if stop >= 0 else stop
        return start, stop if stop >= 0 else len(text)

    def _window(self, text: str, place: int) -> MentionWindow | NoWindow:
        targets = list(self._targets.find(text))
        if len({target.of.group for target in targets}) > 1:
            return "several groups"
        target = min(targets, key=lambda target: abs(target.start - place))
        attributes = [
            attribute
            for attribute in self._attributes.find(text)
            if not any(attribute.start < other.stop and other.start < attribute.stop for other in targets)
        ]
        if not attributes:
            return "no attribute"
        nearest = min(attributes, key=lambda attribute: _distance(attribute, target)).of
        return MentionWindow(target.of.group, target.of.term, nearest.term, nearest.attribute_set, text)


def _distance(attribute: Mention[AttributeTerm], target: Mention[TargetTerm]) -> int:
    """Characters between two mentions."""
    return max(attribute.start - target.stop, target.start - attribute.stop)


class Reservoir(Generic[T]):
    """Holds at most ``size`` of the distinct texts that it is offered, each with its first value.

    Each text has a random number, which depends on the text and the seed alone, and the texts with the smallest numbers
    stay. They are a random draw of all distinct texts, without replacement, whatever their order and repeats; the draw
    of a smaller size is its beginning. Source: bottom-k sketches, Cohen and Kaplan 2007.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._key = size, str(seed).encode()[:64]  # the longest key of blake2b
        self._values: dict[str, T] = {}
        self._largest: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._values)

    def offer(self, text: str, value: T) -> Offered:
        """Take a text; the answer is ``repeated`` if it is held already."""
        if text in self._values:
            return "repeated"
        digest = hashlib.blake2b(text.encode(), digest_size=8, key=self._key).digest()
        number = -int.from_bytes(digest, "big")
        if len(self._values) < self._size:
            heapq.heappush(self._largest, (number, text))
        elif self._largest and number > self._largest[0][0]:
            del self._values[heapq.heapreplace(self._largest, (number, text))[1]]
        else:
            return "not drawn"
        self._values[text] = value
        return "held"

    def drawn(self) -> Mapping[str, T]:
        """The texts that are held with their values, in random order."""
        return {text: self._values[text] for _, text in sorted(self._largest, reverse=True)}


@dataclass(slots=True)
class Retrieval:
    """Takes documents, and holds a random draw of their sentences about each group.

    ``found`` counts sentences by group with repeats, ``documents`` documents that are left out, by reason,
    ``sentences`` mentions of groups that gave no sentence, by reason. ``withdrawn`` has what is left
    out: bare identifiers and places of documents, and ids of examples.
    """

    specification: Specification
    settings: RetrievalSettings
    withdrawn: frozenset[str] = frozenset()
    mentioning: int = 0
    without_date: int = 0
    documents: Counter[str] = field(default_factory=Counter)
    sentences: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    _held: dict[str, Reservoir[Row]] = field(init=False)
    _windows: WindowFinder = field(init=False)

    def __post_init__(self) -> None:
        self._windows = WindowFinder(self.specification, self.settings.words)
        size = HELD if self.settings.per_group is None else self.settings.per_group
        groups = [group.name for group in self.specification.groups if self.settings.held_out or not group.held_out]
        self._held = {name: Reservoir(size, self.settings.seed) for name in groups}

    def take(self, document: TextDocument) -> None:
        """Hold the sentences of a document, and count what is left out."""
        if document.is_deleted:
            self.documents["deleted"] += 1
            return
        windows = list(self._windows.find(clean(document.text)))
        if not windows:
            return
        self.mentioning += 1
        refusal = self._refusal(document)
        if refusal is not None:
            self.documents[refusal] += 1
            return
        self.without_date += document.date is None
        for window in windows:
            self._offer(window, document)

    def _refusal(self, document: TextDocument) -> str | None:
        """The reason for leaving out a document, null to keep it."""
        if bare_identifier(document.source) in self.withdrawn or document.place in self.withdrawn:
            return "withdrawn"
        if document.is_by_bot:
            return "written by a bot"
        if document.date is None:
            return "without a date" if self.settings.dated else None
        since, until = self.settings.since, self.settings.until
        is_outside = (since and document.date < since) or (until and document.date >= until)
        return "outside the dates" if is_outside else None

    def _offer(self, window: MentionWindow | NoWindow, document: TextDocument) -> None:
        if isinstance(window, str):
            self.sentences[window] += 1
        elif window.group not in self._held:
            self.sentences["held-out group"] += 1
        else:
            row = self._row(window, document)
            if row["id"] in self.withdrawn:
                self.sentences["withdrawn"] += 1
                return
            self.found[window.group] += 1
            self.sentences["repeated"] += self._held[window.group].offer(window.text, row) == "repeated"

    def _row(self, window: MentionWindow, document: TextDocument) -> Row:
        dimension = self.specification.id
        day = None if document.date is None else document.date.isoformat()
        about = {
            "id": f"r{digest_of(dimension, window.text)[:16]}",
            "dimension": dimension,
            "source": document.source,
            "date": day,
        }
        return {**about, **asdict(window)}

    @property
    def held(self) -> dict[str, int]:
        """The number of distinct sentences held of each group."""
        return {name: len(reservoir) for name, reservoir in self._held.items()}

    def kept(self) -> dict[str, int]:
        """The sentences of each group in the table: equally many of all groups that have any, unless ``unequal``."""
        held = self.held
        least = min((count for count in held.values() if count), default=0)
        return held if self.settings.unequal else {name: min(count, least) for name, count in held.items()}

    def table(self) -> pa.Table:
        """The table of examples, group by group; the sentences of a group are in random order."""
        rows = [row for name, count in self.kept().items() for row in list(self._held[name].drawn().values())[:count]]
        return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in COLUMNS]))
