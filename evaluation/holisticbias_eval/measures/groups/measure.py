"""The base class of measures of texts about groups of people (Dhamala et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.arrays import Bools
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups.changes import change_sections, group_changes
from holisticbias_eval.measures.groups.measured import audited, measured
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.groups.naming import naming_figures
from holisticbias_eval.measures.groups.sections import group_sections
from holisticbias_eval.measures.groups.shown import Shown
from holisticbias_eval.measures.info import Needs
from holisticbias_eval.measures.measure import Measure, Measured, Settings, View
from holisticbias_eval.measures.options import CLASSIFIED
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.labels import Judge, LabelReader
from holisticbias_eval.readers.reader import Reader, measured_texts, unread
from holisticbias_eval.sections import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.groups.items import DRAWS
from holisticbias_eval.statistics.groups.pairs import PERMUTATIONS

__all__ = ["GroupMeasure", "Method"]


class GroupMeasure(Measure):
    """Classes and values of texts, counted and averaged by group, and groups compared within their domain.

    The reader with its name adds three columns to a table of texts for each method: ``MEASURE.METHOD`` (the value),
    ``MEASURE.METHOD.class`` and ``MEASURE.METHOD.why`` (the reason why there is no value). All figures come from these
    columns. The first method is the one that a report starts with. ``scope`` says for which groups the measure was
    made, if not for all.
    """

    needs: ClassVar[Needs] = Needs("texts")
    resamples: ClassVar[bool] = False
    task = "texts"
    methods: ClassVar[tuple[Method, ...]]
    scope: ClassVar[str] = ""

    @property
    def uses(self) -> tuple[Use, ...]:  # type: ignore[override] # those of its reader
        """The settings of the reader."""
        return (Use(self.reader.settings_type),) if self.reader.settings_type.model_fields else ()

    @property
    def reading(self) -> tuple[Use, ...]:  # type: ignore[override]
        """The settings of the classifier, if the reader takes one."""
        return CLASSIFIED if self.reader.card else ()

    @property
    def reader(self) -> type[Reader]:
        """The reader with the name of the measure."""
        return READERS[self.info.name]

    def start(self, settings: Settings, judge: Judge | None = None) -> Reader:
        """The reader with its settings, and with a classifier if it takes one."""
        return self.reader.of(settings, **({"judge": judge} if issubclass(self.reader, LabelReader) else {}))

    def carriers(self, texts: pa.Table, settings: Settings, method: Method) -> Iterator[Mapping[str, float]]:
        """For each row in order, the words that its value comes from and how much each contributes.

        Contributions are in the unit of the value and add up to it, or to what the value is computed from. A measure
        that takes a classifier has no words, and no rows.
        """
        if not issubclass(self.reader, LabelReader):
            reader = self.start(settings)
            for text in measured_texts(texts, reader.person):
                yield reader.carriers(text, method.name) if text and unread(text) is None else {}

    def figures(self, answers: pa.Table, settings: Settings | None) -> Measured:
        """Compute the figures from the columns that ``read`` adds.

        Raises ``SelectionError`` if the table has no groups or no values.
        """
        chosen = settings or Settings()
        words = partial(self.carriers, answers, chosen)
        return measured(self.info, self.methods, answers, chosen.seed, words)

    def audit_figures(self, audit: pa.Table, settings: Settings) -> tuple[Figure, ...]:
        """The largest minus the smallest value over groups of fixed texts that differ in the subject alone.

        The texts are the same for all groups, so the difference is that of the classifier or lexicon. The figures are
        ``audit_disparity`` with subjects replaced, and ``audit_disparity_uncensored`` as the texts are.
        """
        return audited(self.info.name, self.methods, audit, settings.seed)

    def naming_figures(self, replaced: pa.Table, written: pa.Table, naming: Bools) -> tuple[Figure, ...]:
        """Compare texts with the words that name a group replaced with the same texts as written; both are read.

        The figures are ``texts_naming``, ``replaced`` and ``as_written``; see ``naming``.
        """
        return naming_figures(self.info.name, self.methods, replaced, written, naming)

    def signature(self, settings: Settings) -> Mapping[str, str]:
        """The resampling, the intervals and the tests, and what the columns of the reader depend on."""
        return {
            "seed": str(settings.seed),
            "draws": f"{DRAWS:,} of items within groups",
            "permutations": f"{PERMUTATIONS:,} of items among the groups of a domain, fewer above 20,000 items",
            "intervals": "means: percentiles over items; shares: Wilson at the effective number of texts",
            "tests": "shares: pooled z; means: Welch; corrected over the pairs of a domain",
            **self.start(settings).signed,
        }

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the figures, a domain at a time."""
        return group_sections(Shown(self.info, self.methods, view), self.scope)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of every group; items that both runs have are paired."""
        return group_changes(self.info.name, self.methods, first.answers, second.answers, Settings().seed)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the changes of the groups."""
        return change_sections(changes, Shown(self.info, self.methods, view))

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find shares outside 0 to 1."""
        for figure in figures:
            own = figure.measure == self.info.name and figure.unit == "share" and figure.value is not None
            if own and not 0 <= (figure.value or 0.0) <= 1:
                yield f"{figure.keys}: a share must lie between 0 and 1"
