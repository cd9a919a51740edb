"""The base class of measures of texts about groups."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups import comparisons as compared
from holisticbias_eval.measures.groups.changes import group_changes
from holisticbias_eval.measures.groups.charts import change_sections
from holisticbias_eval.measures.groups.comparisons import DISPARITY, comparison_figures, domains_in_pairs
from holisticbias_eval.measures.groups.figures import Groups, arrange, said_method, summary_figures
from holisticbias_eval.measures.groups.readings import TextMethod, read_method, read_texts
from holisticbias_eval.measures.groups.sections import group_sections
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.measures.info import WRITERS, Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View, audited
from holisticbias_eval.measures.options import CLASSIFIED
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.labels import LabelReader
from holisticbias_eval.readers.reader import Reader, measured_texts, unread
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.groups.items import DRAWS
from holisticbias_eval.statistics.groups.pairs import PERMUTATIONS
from holisticbias_eval.statistics.groups.variance import MOST_GROUPS

__all__ = ["GroupMeasure", "TextMethod"]

MOST = 20_000
"""Groups of one table."""


def group_info(short: str, share: str = "", level: str = "", **described: Any) -> Info:
    """The description of a measure of texts about groups, of which the largest difference of groups is the headline.

    ``short`` names it in a table of several measures; ``share`` is the name there of the share of the class ``level``,
    which is unwanted.
    """
    return Info(
        headline=DISPARITY,
        items="Groups",
        better={DISPARITY: "lower"},
        names={DISPARITY: f"{short}, largest difference of groups", **({"share": share} if share else {})},
        levels={"share": {"class": level}} if level else {},
        **described,
    )


class GroupMeasure(Measure):
    """Classes and values of texts, counted and averaged by group, and groups compared within their domain.

    The reader with its name adds three columns to a table of texts for each method: ``MEASURE.METHOD`` (the value),
    ``MEASURE.METHOD.class`` and ``MEASURE.METHOD.why`` (the reason why there is no value). All figures come from these
    columns. The first method is the one that a report starts with. ``scope`` says for which groups the measure was
    made, if not for all.
    """

    needs = Needs("texts", WRITERS, "texts about groups of", "judging")
    resamples = False
    task = "texts"
    methods: ClassVar[tuple[TextMethod, ...]]
    scope = ""

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

    def start(self, settings: MeasureSettings, judge: Classifier | None = None) -> Reader:
        """The reader with its settings, and with a classifier if it takes one."""
        own = settings.read(self.reader.settings_type)
        return self.reader(own, judge) if issubclass(self.reader, LabelReader) else self.reader(own)

    def carriers(self, texts: pa.Table, settings: MeasureSettings, method: TextMethod) -> Iterator[Mapping[str, float]]:
        """For each row in order, the words that its value comes from and how much each contributes.

        Contributions are in the unit of the value and add up to it, or to what the value is computed from. A measure
        that takes a classifier has no words, and no rows.
        """
        if not issubclass(self.reader, LabelReader):
            reader = self.start(settings)
            for text in measured_texts(texts, reader.person):
                yield reader.carriers(text, method.name) if text and unread(text) is None else {}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures of every method whose columns the table has; the reader adds them.

        Raises ``SelectionError`` if the table has no groups or no values.
        """
        chosen = settings or MeasureSettings()
        rng = np.random.default_rng(chosen.seed)
        groups = self._arrange(answers, rng)
        figures = [*summary_figures(groups), *comparison_figures(groups, rng)]
        figures += compared.of_all_figures(groups, np.random.default_rng([chosen.seed, 1]))
        for reading in groups.readings if "text" in answers.column_names else ():
            figures += compared.word_figures(groups, self.carriers(answers, chosen, reading.method), reading.method)
        return Measured(tuple(figures), notes=tuple(f"{self.info.title}: {note}" for note in _notes(groups)))

    def _arrange(self, answers: pa.Table, rng: np.random.Generator) -> Groups:
        texts, measure = read_texts(answers), self.info.name
        if len(texts.groups) > MOST:
            raise SelectionError(
                f"the texts have {len(texts.groups):,} groups, more than {MOST:,}: check that the column group names "
                "the group that a text is about"
            )
        present = [m for m in self.methods if f"{measure}.{m.name}" in answers.column_names] or self.methods[:1]
        return arrange(measure, texts, tuple(read_method(answers, measure, method, texts) for method in present), rng)

    def audit_figures(self, audit: pa.Table, settings: MeasureSettings) -> tuple[Figure, ...]:
        """The largest minus the smallest value over groups of fixed texts that differ in the subject alone.

        The texts are the same for all groups, so the difference is that of the classifier or lexicon. The figures are
        ``audit_disparity`` with subjects replaced, and ``audit_disparity_uncensored`` as the texts are; without floors.
        """

        def apart(texts: pa.Table) -> Iterator[Figure]:
            rng = np.random.default_rng(settings.seed)
            found = comparison_figures(self._arrange(texts, rng), rng)
            return (figure for figure in found if figure.name == DISPARITY)

        return tuple(audited(audit, apart))

    def naming_figures(self, replaced: pa.Table, written: pa.Table, naming: Bools) -> tuple[Figure, ...]:
        """Compare texts with the words that name a group replaced with the same texts as written; both are read.

        The figures are ``texts_naming``, ``replaced`` and ``as_written``; see ``comparisons``.
        """
        return tuple(compared.naming_figures(self.info.name, self.methods, replaced, written, naming))

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The resampling, the intervals and the tests, and what the columns of the reader depend on."""
        return {
            "seed": str(settings.seed),
            "draws": f"{DRAWS:,} of items within groups",
            "permutations": f"{PERMUTATIONS:,} of items among the groups of a domain, fewer above 20,000 items",
            "intervals": "means: percentiles over items; shares: Wilson at the effective number of texts",
            "tests": "shares: pooled z; means: Welch; corrected over the pairs of a domain",
            **self.start(settings).signed,
        }

    def _shown(self, view: View) -> GroupFigures:
        return GroupFigures(view, self.info.name, self.info, self.methods)

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the figures, a domain at a time."""
        return group_sections(self._shown(view), self.scope)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of every group; items that both runs have are paired."""
        return group_changes(self.info.name, self.methods, first.answers, second.answers, MeasureSettings().seed)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the changes of the groups."""
        return change_sections(changes, self._shown(view))


def _notes(groups: Groups) -> Iterator[str]:
    texts = groups.texts
    if texts.unnamed:
        yield f"{texts.unnamed:,} texts without a group are left out"
    first = groups.readings[0]
    if undefined := int(np.isnan(first.values).sum()):
        by = f" by {said_method(first.method)}" if first.method.key else ""
        yield (
            f"texts without a value{by}: {undefined:,} of {len(texts.group):,}; the figures undefined count them by "
            "reason"
        )
    sizes = [part.stop - part.start for part in texts.slices()]
    if large := len(sizes) - len(domains_in_pairs(sizes, len(groups.quantities))):
        which = f"{large} of {len(sizes)} domains" if len(sizes) > 1 else f"more than {MOST_GROUPS} groups"
        yield f"with {which} too large for all pairs, each group is compared with all others together"
