"""The base class of measures of texts about groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups.changes import change_sections, group_changes
from holisticbias_eval.measures.groups.comparisons import DISPARITY, MOST_GROUPS, Comparisons, domains_in_pairs
from holisticbias_eval.measures.groups.figures import Groups, Summaries, arrange, said_method
from holisticbias_eval.measures.groups.naming import naming_figures
from holisticbias_eval.measures.groups.of_all import of_all_figures, word_figures
from holisticbias_eval.measures.groups.readings import Method, Reading, Texts, read_method, read_texts
from holisticbias_eval.measures.groups.sections import group_sections
from holisticbias_eval.measures.groups.shown import GroupFigures
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.options import CLASSIFIED
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.labels import LabelReader
from holisticbias_eval.readers.reader import Reader, measured_texts, unread
from holisticbias_eval.sections import Section
from holisticbias_eval.settings import Use
from holisticbias_eval.statistics.groups.items import DRAWS
from holisticbias_eval.statistics.groups.pairs import PERMUTATIONS

Carriers = Callable[[Method], Iterator[Mapping[str, float]]]
MOST = 20_000
"""Groups of one table."""
AUDIT = "audit_"


def measured(info: Info, methods: Sequence[Method], answers: pa.Table, seed: int, carriers: Carriers) -> Measured:
    """The figures of every method whose columns the table has."""
    texts, readings = _read(info.name, methods, answers)
    rng = np.random.default_rng(seed)
    groups = arrange(texts, readings, rng)
    figures = [*Summaries(info.name, groups).figures(), *Comparisons(info.name, groups).figures(rng)]
    figures += of_all_figures(Summaries(info.name, groups), texts, readings, np.random.default_rng([seed, 1]))
    if "text" in answers.column_names:
        maker = Summaries(info.name, groups)
        for reading in readings:
            figures += word_figures(maker, texts, carriers(reading.method), reading.method)
    return Measured(tuple(figures), notes=tuple(_notes(info, groups)))


def audited(measure: str, methods: Sequence[Method], audit: pa.Table, seed: int) -> tuple[Figure, ...]:
    """The disparities of a table of fixed texts, with replaced subjects and as they are, without floors."""
    censored = np.asarray(audit["censored"].to_numpy(zero_copy_only=False), bool)
    found: list[Figure] = []
    for suffix, rows in (("", censored), ("_uncensored", ~censored)):
        if not rows.any():
            continue
        texts, readings = _read(measure, methods, audit.filter(pa.array(rows)))
        rng = np.random.default_rng(seed)
        for figure in Comparisons(measure, arrange(texts, readings, rng)).figures(rng):
            if figure.name == DISPARITY:
                name = f"{AUDIT}{DISPARITY}{suffix}"
                bare = {"name": name, "of": DISPARITY, "p_value": None, "floor": None, "floor_interval": None}
                found.append(figure.model_copy(update=bare))
    return tuple(found)


def _read(measure: str, methods: Sequence[Method], answers: pa.Table) -> tuple[Texts, tuple[Reading, ...]]:
    texts = read_texts(answers)
    if len(texts.groups) > MOST:
        raise SelectionError(
            f"the texts have {len(texts.groups):,} groups, more than {MOST:,}: check that the column group names the "
            "group that a text is about"
        )
    present = [method for method in methods if f"{measure}.{method.name}" in answers.column_names] or methods[:1]
    return texts, tuple(read_method(answers, measure, method, texts) for method in present)


def _notes(info: Info, groups: Groups) -> Iterator[str]:
    texts = groups.texts
    if texts.unnamed:
        yield f"{info.title}: {texts.unnamed:,} texts without a group are left out"
    undefined = int(np.isnan(groups.readings[0].values).sum())
    if undefined:
        first = groups.readings[0].method
        by = f" by {said_method(first)}" if first.key else ""
        yield (
            f"{info.title}: texts without a value{by}: {undefined:,} of {len(texts.group):,}; the figures undefined "
            "count them by reason"
        )
    sizes = [part.stop - part.start for part in texts.slices()]
    large = len(sizes) - len(domains_in_pairs(sizes, len(groups.model.quantities)))
    if large:
        which = f"{large} of {len(sizes)} domains" if len(sizes) > 1 else f"more than {MOST_GROUPS} groups"
        yield f"{info.title}: with {which} too large for all pairs, each group is compared with all others together"


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

    def start(self, settings: MeasureSettings, judge: Classifier | None = None) -> Reader:
        """The reader with its settings, and with a classifier if it takes one."""
        return self.reader.of(settings, **({"judge": judge} if issubclass(self.reader, LabelReader) else {}))

    def carriers(self, texts: pa.Table, settings: MeasureSettings, method: Method) -> Iterator[Mapping[str, float]]:
        """For each row in order, the words that its value comes from and how much each contributes.

        Contributions are in the unit of the value and add up to it, or to what the value is computed from. A measure
        that takes a classifier has no words, and no rows.
        """
        if not issubclass(self.reader, LabelReader):
            reader = self.start(settings)
            for text in measured_texts(texts, reader.person):
                yield reader.carriers(text, method.name) if text and unread(text) is None else {}

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures from the columns that ``read`` adds.

        Raises ``SelectionError`` if the table has no groups or no values.
        """
        chosen = settings or MeasureSettings()
        words = partial(self.carriers, answers, chosen)
        return measured(self.info, self.methods, answers, chosen.seed, words)

    def audit_figures(self, audit: pa.Table, settings: MeasureSettings) -> tuple[Figure, ...]:
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

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the figures, a domain at a time."""
        return group_sections(GroupFigures(self.info, self.methods, view), self.scope)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of every group; items that both runs have are paired."""
        return group_changes(self.info.name, self.methods, first.answers, second.answers, MeasureSettings().seed)

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the changes of the groups."""
        return change_sections(changes, GroupFigures(self.info, self.methods, view))

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find shares outside 0 to 1."""
        for figure in figures:
            own = figure.measure == self.info.name and figure.unit == "share" and figure.value is not None
            if own and not 0 <= (figure.value or 0.0) <= 1:
                yield f"{figure.keys}: a share must lie between 0 and 1"
