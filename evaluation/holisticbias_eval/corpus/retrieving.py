"""Retrieve sentences about a specification's groups from documents that people wrote."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import partial

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.cleaning import clean
from holisticbias_eval.corpus.documents import Document, bare_identifier
from holisticbias_eval.corpus.examples import COLUMNS
from holisticbias_eval.corpus.sampling import Reservoir
from holisticbias_eval.corpus.windows import Window, WindowFinder

HELD = 10_000
"""Sentences of each group that are held unless the user names a number, which bounds the memory."""
Row = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """Settings of a retrieval.

    ``words`` words to either side of a mention; documents from ``since`` on and before ``until``, null for no bound,
    and ``dated`` ones only or also those without a date; at most ``per_group`` sentences of each group, null for
    ``HELD``, and equally many of each unless ``unequal``. Held-out groups are included only with ``held_out``.
    """

    words: int = 7
    since: date | None = None
    until: date | None = None
    dated: bool = False
    per_group: int | None = None
    unequal: bool = False
    held_out: bool = False
    seed: int = 0


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
        groups = [one.name for one in self.specification.groups if self.settings.held_out or not one.held_out]
        self._held = {name: Reservoir(size, self.settings.seed) for name in groups}

    def take(self, document: Document) -> None:
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

    def _refusal(self, document: Document) -> str | None:
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

    def _offer(self, window: Window | str, document: Document) -> None:
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

    def _row(self, window: Window, document: Document) -> Row:
        dimension = self.specification.id
        digest = hashlib.sha256(json.dumps([dimension, window.text]).encode()).hexdigest()
        return {
            "id": f"r{digest[:16]}",
            "dimension": dimension,
            "group": window.group,
            "target": window.target,
            "attribute": window.attribute,
            "attribute_set": window.attribute_set,
            "text": window.text,
            "source": document.source,
            "date": None if document.date is None else document.date.isoformat(),
        }

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
        rows: Iterator[Row] = (
            row for name, count in self.kept().items() for row in list(self._held[name].drawn().values())[:count]
        )
        return pa.Table.from_pylist(list(rows), pa.schema([(name, pa.string()) for name in COLUMNS]))


def years_before(day: date, years: int) -> date:
    """The same day this many years earlier; 28 February for 29 February if the year has none. Raises ``ValueError``."""
    moved = partial(day.replace, year=day.year - years)
    try:
        return moved()
    except ValueError:
        return moved(day=28)
