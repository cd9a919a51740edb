"""Retrieve sentences about a specification's groups from documents that people wrote, from end to end."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.documents import TextDocument, bare_identifier, clean, digest_of
from holisticbias_eval.corpus.examples import COLUMNS, refuse_with_record, write_with_record
from holisticbias_eval.corpus.mentions import TargetTerm, attribute_finder, target_filter, target_finder
from holisticbias_eval.corpus.settings import RetrievalSettings
from holisticbias_eval.corpus.sources import RECORD_SUFFIX, DocumentReading, find_sources, size
from holisticbias_eval.errors import CorpusError, NoExamplesError, TableError
from holisticbias_eval.progress import Display, in_rows
from holisticbias_eval.stereotypes.specifications import read_specification
from holisticbias_eval.stereotypes.targets import Mention
from holisticbias_eval.tables.content import text_lines

HELD = 10_000
"""Sentences of each group that are held unless the user names a number, which bounds the memory."""
_MEGABYTE = 1_000_000
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
            if mention.start >= done:
                start, stop = self._around(text, mention)
                window = self._window(text[start:stop], mention.start - start)
                done = done if isinstance(window, str) else stop
                yield window

    def _around(self, text: str, mention: Mention[TargetTerm]) -> tuple[int, int]:
        """The characters from the first to the last word."""
        start = text.rfind(" ", 0, mention.start) + 1
        stop = text.find(" ", mention.stop)
        for _ in range(min(self._words, text.count(" "))):
            start = text.rfind(" ", 0, start - 1) + 1 if start > 1 else 0
            stop = text.find(" ", stop + 1) if stop >= 0 else stop
        return start, stop if stop >= 0 else len(text)

    def _window(self, text: str, place: int) -> MentionWindow | NoWindow:
        targets = list(self._targets.find(text))
        if len({target.of.group for target in targets}) > 1:
            return "several groups"
        target = min(targets, key=lambda target: abs(target.start - place))
        attributes = [a for a in self._attributes.find(text) if not any(a.overlaps(other) for other in targets)]
        if not attributes:
            return "no attribute"
        nearest = min(attributes, key=lambda a: max(a.start - target.stop, target.start - a.stop)).of
        return MentionWindow(target.of.group, target.of.term, nearest.term, nearest.attribute_set, text)


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
        self.mentioning += bool(windows)
        refusal = self._refusal(document) if windows else None
        if refusal is not None:
            self.documents[refusal] += 1
            return
        self.without_date += bool(windows) and document.date is None
        for window in windows:
            refused = window if isinstance(window, str) else self._offer(window, document)
            if refused is not None:
                self.sentences[refused] += 1

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

    def _offer(self, window: MentionWindow, document: TextDocument) -> str | None:
        """Hold a sentence, or say why it is left out; a sentence that is not drawn is not counted."""
        if window.group not in self._held:
            return "held-out group"
        dimension, day = self.specification.id, document.date
        row: Row = {
            "id": f"r{digest_of(dimension, window.text)[:16]}",
            "dimension": dimension,
            "document": document.source,
            "date": None if day is None else day.isoformat(),
            **asdict(window),
        }
        if row["id"] in self.withdrawn:
            return "withdrawn"
        self.found[window.group] += 1
        return "repeated" if self._held[window.group].offer(window.text, row) == "repeated" else None

    @property
    def held(self) -> dict[str, int]:
        """The number of distinct sentences held of each group."""
        return {name: len(reservoir) for name, reservoir in self._held.items()}

    def kept(self) -> dict[str, int]:
        """The sentences of each group in the table: equally many of all groups that have any, unless ``unequal``."""
        least = min(filter(None, self.held.values()), default=0)
        return {name: count if self.settings.unequal else min(count, least) for name, count in self.held.items()}

    def table(self) -> pa.Table:
        """The table of examples, group by group; the sentences of a group are in random order."""
        rows = [row for name, count in self.kept().items() for row in list(self._held[name].drawn().values())[:count]]
        return pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in COLUMNS]))


def retrieve_examples(
    names: Sequence[str], specification: str, out: Path, settings: RetrievalSettings, display: Display
) -> dict[str, Any]:
    """Retrieve sentences from files and datasets; write them, and the record beside them as ``OUT.retrieval.json``.

    The record has settings and counts.
    Raises ``CorpusError``, ``SpecificationError``, ``OutputError``, and ``NoExamplesError`` if nothing is found.
    """
    refuse_with_record(out, RECORD_SUFFIX, [*map(Path, names), *settings.without])
    groups = read_specification(specification)
    sources = find_sources(names, out)
    if settings.paragraphs and not any(source.is_text for source in sources):
        raise CorpusError("--paragraphs is for text files: here it has no effect, so leave it out")
    if settings.text_field is not None and all(source.is_text for source in sources):
        raise CorpusError("--field is for JSON and datasets: here it has no effect, so leave it out")
    retrieval = Retrieval(groups, settings, _identifiers(settings.without))
    reading = DocumentReading(target_filter(groups), settings.text_field, settings.paragraphs)

    def detail() -> str:
        return f"{reading.documents:,} documents, {retrieval.found.total():,} sentences"

    megabytes = -(-size(sources) // _MEGABYTE)
    with display.progress("Reading", megabytes, "MB", detail) as progress:
        reading.read = in_rows(progress, megabytes, size(sources))
        for source in sources:
            for document in source.documents(reading):
                retrieval.take(document)
    if not retrieval.found.total():
        raise NoExamplesError(_why_nothing(retrieval, reading))
    record = _record(retrieval, reading, [source.name for source in sources])
    write_with_record(retrieval.table(), record, out, RECORD_SUFFIX)
    return record


def _identifiers(paths: Sequence[Path]) -> frozenset[str]:
    """The identifiers of files with one per line. Raises ``CorpusError``."""
    try:
        lines = [line.strip() for path in paths for line in text_lines(path)]
    except TableError as error:
        raise CorpusError(f"{error}; give a file with one identifier per line") from error
    return frozenset(bare_identifier(line) for line in lines if line)


def _why_nothing(retrieval: Retrieval, reading: DocumentReading) -> str:
    """The likeliest reason why there is no sentence to write."""
    name = retrieval.specification.id
    bad = f"; {reading.bad:,} lines are not valid, the first {reading.first_bad}" if reading.bad else ""
    bad += "".join(f"; {damage}" for damage in reading.damaged[:1])
    if reading.without_text and not reading.with_text:
        return reading.missing_field
    if not retrieval.mentioning:
        return f"none of {reading.documents:,} documents mentions a group of {name}{bad}"
    counts = [f"{why}: {count:,}" for why, count in (*retrieval.documents.items(), *retrieval.sentences.items())]
    return (
        f"{retrieval.mentioning:,} documents mention a group of {name}, but no sentence can be kept "
        f"({', '.join(counts)}){bad}"
    )


def _record(retrieval: Retrieval, reading: DocumentReading, sources: Sequence[str]) -> dict[str, Any]:
    found, kept = retrieval.found, retrieval.kept()
    return {
        "specification": retrieval.specification.id,
        "sources": list(sources),
        "settings": retrieval.settings.recorded,
        "documents": {
            "read": reading.documents,
            "mentioning_a_group": retrieval.mentioning,
            "kept_without_a_date": retrieval.without_date,
            "left_out": dict(retrieval.documents),
        },
        "bad_lines": reading.bad,
        "first_bad_line": reading.first_bad,
        "rows_without_text": reading.without_text,
        "damaged": reading.damaged,
        "mentions_left_out": dict(retrieval.sentences),
        "groups": {n: {"found": found[n], "held": held, "kept": kept[n]} for n, held in retrieval.held.items()},
    }
