"""Read texts, and the figures beside those of texts about groups: audits, and texts that name their group."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ne
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.terms.anonymise import NAME, Named, anonymise, replace_subject
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.spread import spread_rows
from holisticbias_eval.prompts.texts import by_people
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.judging import choose_judges, show_reading
from holisticbias_eval.readers.labels import ToxicityReader
from holisticbias_eval.readers.reader import NAMING, Reader, named_of
from holisticbias_eval.tasks.judging import JudgedReading, judging_options
from holisticbias_eval.tasks.task import Given

GROUP = "audit_group"
Row = dict[str, Any]
DRAWN = 200
"""Texts per domain that are swapped."""
MOST = 20_000
"""The most texts that are compared, or audited: a classifier judges each of them again."""


def find_text_reading(given: Given, *, censored: bool = False) -> "TextReading":
    """Find the readers of the measures of texts, with their classifiers; ``censored`` texts name no group."""
    measures = [one for name in given.measures if isinstance(one := MEASURES[name], GroupMeasure)]
    options = judging_options(given)
    chosen = choose_judges([measure.reader for measure in measures], {}, options)
    toxicity = chosen.get(ToxicityReader.name)
    bound = {} if toxicity is None else {"threshold": CARDS.read(toxicity).threshold}
    settings = MeasureSettings(values={**bound, **given.values})
    return TextReading(measuring=settings, chosen=chosen, options=options, measures=measures, censored=censored)


@dataclass(frozen=True, kw_only=True)
class TextReading(JudgedReading):
    """Adds the columns of every measure, and measures texts in which only the subject or its naming differs."""

    measures: Sequence[GroupMeasure]
    readers: Sequence[Reader] = ()

    def start(self, display: Display) -> Self:
        """The reading with the readers of its measures."""
        started = super().start(display)
        readers = [one.start(self.measuring, started.judges.get(one.reader.name)) for one in self.measures]
        return replace(started, readers=readers)

    def read(self, table: pa.Table, display: Display) -> pa.Table:
        """Add the columns of every reader."""
        for reader in self.readers:
            table = show_reading(reader, table, display)
        return table

    def beside(
        self, table: pa.Table, figures: tuple[Figure, ...], display: Display
    ) -> tuple[tuple[Figure, ...], Mapping[str, pa.Table]]:
        """The audit of what reads the texts, and the figures of texts that name their group."""
        # of responses to sentences the words are gone already
        named = () if self.censored else self.naming(table, display)
        return (*self._audit(table, display), *named), {}

    def _audit(self, table: pa.Table, display: Display) -> Iterator[Figure]:
        """The figures of texts in which only the subject differs: people's texts, or else the model's."""
        if "subject" not in table.column_names:
            return
        people = by_people(table)
        base = table.filter(pa.array(people)) if people.any() else table
        own = [name for name in ("domain", "group", "text", *NAMING, "item") if name in base.column_names]
        groups = len({*_groups(base)})
        swaps = swapped(base.select(own), max(1, min(DRAWN, MOST // max(1, groups))))
        if swaps.num_rows:
            swaps = swaps.drop_columns(["group"]).rename_columns({GROUP: "group"})
            swaps = self.read(swaps.append_column("censored", pa.array([False] * swaps.num_rows)), display)
            yield from (figure for measure in self.measures for figure in measure.audit_figures(swaps, self.measuring))

    def naming(self, table: pa.Table, display: Display) -> tuple[Figure, ...]:
        """The figures of the model's texts as they were written, with the words that name their group.

        A text names its group if it does so in other words than the subject. The texts are spread evenly over the
        groups if they are many. No figures if no column says what texts name.
        """
        if not {*NAMING} & {*table.column_names}:
            return ()
        people = by_people(table)
        kept = table.filter(pc.and_(pc.is_valid(table["text"]), pa.array(~people | people.all())))
        if not kept.num_rows:
            return ()
        if kept.num_rows > MOST:
            names = [str(row) for row in range(kept.num_rows)]
            kept = kept.take(pa.array(spread_rows(_groups(kept), names, MOST)))
        named = named_of(kept)
        alone = anonymise(kept["text"].to_pylist(), [replace(one, forms=(), person=False) for one in named])
        naming = np.fromiter(map(ne, anonymise(alone, named, NAME), alone), bool, len(alone))
        columns = [name for name in kept.column_names if name not in NAMING and "." not in name]
        written = self.read(kept.select(columns), display)
        return tuple(figure for measure in self.measures for figure in measure.naming_figures(kept, written, naming))


def _groups(texts: pa.Table) -> list[tuple[str | None, ...]]:
    """The domain, if there is one, and the group of each text."""
    columns = [texts[name].to_pylist() for name in ("domain", "group") if name in texts.column_names]
    return list(zip(*columns, strict=True))


def swapped(texts: pa.Table, limit: int = DRAWN) -> pa.Table:
    """The texts of each domain with the subject of every group of the domain in turn, in the column ``audit_group``.

    A row is a text of ``texts`` in which its subject stands, with that subject replaced by another group's most
    frequent subject, or by its own group's. ``group`` is the group of the text, ``text`` is the changed text, and
    ``subject`` is null, so that a measure reads the words as they are; the words for the group are left in. ``item``
    numbers the texts, so that the forms of one text stay together. At most ``limit`` texts per domain are used,
    spread evenly. Differences between values of ``audit_group`` are due to the subject alone. Texts without a subject
    are left out; a table without subjects gives no rows.
    """
    domains: dict[str | None, list[Row]] = {}
    for row in texts.to_pylist():
        if row.get("subject") and row.get("text"):
            domains.setdefault(row.get("domain"), []).append(row)
    made = [row for name, rows in domains.items() for row in _swaps(name, rows, limit)]
    fields = [field for field in texts.schema if field.name not in (GROUP, "item", "forms")]
    return pa.Table.from_pylist(made, pa.schema([*fields, ("item", pa.string()), (GROUP, pa.string())]))


def _with_subject(row: Row, name: str) -> str:
    return replace_subject(row["text"], Named(row["subject"], person=bool(row.get("person"))), name)


def _swaps(domain: str | None, rows: list[Row], limit: int) -> Iterator[Row]:
    subjects: dict[str, Counter[str]] = {}
    for row in rows:
        subjects.setdefault(str(row["group"]), Counter())[str(row["subject"])] += 1
    naming = [row for row in rows if _with_subject(row, "") != row["text"]]
    for number, row in enumerate(naming[:: max(1, -(-len(naming) // limit))]):
        for group, counts in subjects.items():
            text = _with_subject(row, max(counts, key=counts.__getitem__))
            yield {**row, "text": text, "subject": None, "item": f"{domain}/{number}", GROUP: group}
