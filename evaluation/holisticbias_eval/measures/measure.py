"""The base class of measures; a measure is one class in one file, and one line in ``MEASURES``."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import Figure, Figures, Part, as_shown, make_figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.info import LIKELIHOODS, Better, Info, Needs
from holisticbias_eval.readers.card import Task
from holisticbias_eval.readers.labels import ToxicitySettings
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import ColumnOf, table_of, without_empty
from holisticbias_eval.settings import Settings, Use, read_settings
from holisticbias_eval.statistics.cells import codes_of, first_rows
from holisticbias_eval.units import title

S = TypeVar("S", bound=Settings)


def baseline_of(axes: Collection[str]) -> str | None:
    """The axis of made-up words if there are others, which what is said of all axes leaves out."""
    return MADE_UP if MADE_UP in axes and len(axes) > 1 else None


Clusters = Mapping[str, tuple[str, ...]] | Literal["found"]
"""The styles of each cluster by its name, or ``found``: clusters of styles that occur together in the responses."""


class MeasureSettings(Part, ToxicitySettings):
    """Settings of the figures: the seed and the numbers of draws, clusters of styles, the bound of offensive texts."""

    seed: int = Field(0, ge=0)
    draws: int = Field(200, ge=2, description="bootstrap draws of nouns, and of stances with them")
    permutations: int = Field(20, ge=1, description="permutations of descriptors' labels")
    flips: int = Field(400, ge=20, description="sign flips of the paired permutation test")
    clusters: dict[str, tuple[str, ...]] | Literal["found"] | None = Field(
        None, description="clusters of styles by name, or found in the responses"
    )
    values: Mapping[str, Any] = Field({}, exclude=True, repr=False)

    def read(self, kind: type[S]) -> S:
        """The settings of one kind, of a measure or its reader, from the values that a user gave."""
        return read_settings(kind, self.values)

    @property
    def resampling(self) -> dict[str, str]:
        """The settings of resampling, for the signature."""
        names = ("seed", "draws", "permutations", "flips")
        return {name: str(getattr(self, name)) for name in names}


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a measure: figures, tables of details (one Parquet file each), and notes for the user."""

    figures: tuple[Figure, ...]
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """The figures to show, and the answers, for labels and example sentences.

    The answers are the rows of ``scores.parquet``, or of a user's table of scores. ``measuring`` has the parameters of
    each measure, as the signature of a run that is compared. ``others`` are the answers of the run that it is compared
    with, for the labels of what only they have.
    """

    figures: Figures
    answers: pa.Table
    measuring: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    others: pa.Table | None = None

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each axis and domain; empty if the answers have none."""
        return self.labels_of("axis") | self.labels_of("domain")

    def labels_of(self, key: str, column: str | None = None) -> dict[str, str]:
        """The label of each value of a key, or its value in a column, if it is not empty or false."""
        parts = (_labels(table, key, column or f"{key}_label") for table in self._tables)
        return {value: label for part in parts for value, label in part.items()}

    @cached_property
    def descriptors(self) -> Mapping[str, Mapping[str, Any]]:
        """The text of each descriptor by its id and, if the answers have them, its bucket and its preference."""
        return {name: row for table in self._tables for name, row in _descriptors(table).items()}

    @property
    def _tables(self) -> tuple[pa.Table, ...]:
        """The answers, after those of the other run."""
        return (self.answers,) if self.others is None else (self.others, self.answers)

    def label(self, key: str, value: str) -> str:
        """The value of a key in words: an axis or domain by its label, a descriptor by its text, all else unchanged."""
        if key == "descriptor":
            return str(self.descriptors.get(value, {}).get("descriptor", value))
        return self.labels.get(value) or title(value) if key in ("axis", "domain") else value


def _labels(answers: pa.Table, key: str, column: str) -> dict[str, str]:
    """The value of a column for each value of a key, if it is not empty or false; empty if a column is missing."""
    names = [key, column]
    if not {*names} <= {*answers.column_names}:
        return {}
    rows = answers.select(names).group_by(names, use_threads=False).aggregate([])
    pairs = zip(*(rows[name].to_pylist() for name in names), strict=True)
    return {value: label for value, label in pairs if value and label}


def _descriptors(answers: pa.Table) -> dict[str, Mapping[str, Any]]:
    """The text, bucket and preference of each descriptor, by its id; empty without ids."""
    names = ("descriptor_id", "descriptor", "bucket", "descriptor_preference", "noun_id")
    if names[0] not in answers.column_names:
        return {}
    columns = answers.select([name for name in names if name in answers.column_names])
    _, codes = codes_of(columns["descriptor_id"])
    return {row["descriptor_id"]: row for row in columns.take(pa.array(first_rows(codes))).to_pylist()}


@dataclass(frozen=True)
class MeasureFigures:
    """The figures of one measure in a view, with the names of axes and descriptors."""

    view: View
    measure: str

    @property
    def figures(self) -> Figures:
        """The figures of the run."""
        return self.view.figures

    def axis(self, figure: Figure) -> str:
        """The label of a figure's axis, or all axes."""
        return self.view.label("axis", figure.keys["axis"]) if "axis" in figure.keys else "All axes"

    def descriptor(self, figure: Figure) -> str:
        """The text of a figure's descriptor."""
        return self.view.label("descriptor", figure.keys["descriptor"])

    @property
    def axis_column(self) -> ColumnOf[Figure]:
        """The column of axes in words."""
        return ColumnOf("axis", "Axis", self.axis)

    @property
    def names(self) -> col.FigureColumns:
        """The columns of descriptors and their axes in words."""
        return ColumnOf("descriptor", "Descriptor", self.descriptor), self.axis_column

    def beside(
        self, name: str, heading: str, unit: str, key: str = "", attribute: str = "value", **other: Any
    ) -> ColumnOf[Figure]:
        """The column of another figure with the same keys; see ``columns.beside``."""
        return col.beside(self.figures, name, heading, unit, key, attribute, **other)

    def by(self, name: str, /, *keys: str, **values: str) -> tuple[Figure, ...]:
        """The figures of this name with exactly these keys, some of which have these values."""
        return self.figures.by(self.measure, name, *keys, **values)

    def all_axes(self, name: str) -> tuple[Figure, ...]:
        """The figure over all axes, if there are several."""
        return self.by(name) if len(self.by(name, "axis")) > 1 else ()

    def axes_and_all(self, name: str) -> tuple[Figure, ...]:
        """The figure over all axes, if there are several, and that of each axis."""
        return (*self.all_axes(name), *self.by(name, "axis"))

    def get(self, name: str, keys: Mapping[str, str] | None = None) -> Figure | None:
        """The figure of this name with exactly these keys and values."""
        return self.figures.get(self.measure, name, keys)

    def value(self, name: str, keys: Mapping[str, str] | None = None) -> float | None:
        """The value of a figure; ``None`` if there is no such figure or it is not defined."""
        return self.figures.value(self.measure, name, keys)


class Measure(ABC):
    """A measure: its description, its task, its figures, and their sections in a report.

    A new measure is a subclass in one file, and one line in ``MEASURES``: all
    commands, results, reports and the registry then include it. ``resamples`` says
    whether figures are left out without settings; otherwise settings are always given.
    ``judges`` are the tasks of the classifiers whose probabilities the figures depend on.
    ``shown`` names the columns of the answers that ``sections`` uses, so that a report reads no others; None means all.
    Comparing runs reads them too: see ``compared_columns``.
    """

    info: ClassVar[Info]
    needs: ClassVar[Needs] = LIKELIHOODS
    judges: ClassVar[tuple[Task, ...]] = ()
    shown: ClassVar[tuple[str, ...] | None] = None
    resamples: ClassVar[bool] = True
    task: ClassVar[str]
    """The name of the task whose answers it measures: measures of one task share a run."""
    uses: ClassVar[tuple[Use, ...]] = ()
    """Settings of its arithmetic, which ``figures`` and ``signature`` read by ``settings.read``."""
    reading: ClassVar[tuple[Use, ...]] = ()
    """Settings of what reads the answers before it, such as a classifier."""

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The parameters that the figures depend on, for the signature."""
        return {}

    @abstractmethod
    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures from a table of answers; without settings, only figures that need no resampling.

        The table has a row. Raises ``SelectionError`` if nothing of it can be measured.
        """

    def audit_figures(self, audit: pa.Table, settings: MeasureSettings) -> tuple[Figure, ...]:
        """Compute what the classifier alone does: the figures of fixed texts in which only the descriptor differs.

        ``audit`` has the columns of a table of judged responses, and ``censored``,
        which says whether mentions of the descriptor were replaced before judging.
        """
        return ()

    @abstractmethod
    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the figures: the sections of a report, the most important first. Nothing is computed again."""

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of the headline figures from one run to another.

        The figures are named as in ``CHANGE_NAMES``. A measure that can pair the
        answers of both runs also gives intervals.
        """
        one, other = ({tuple(f.keys.values()): f for f in self.info.headlines(v.figures)} for v in (first, second))
        return tuple(change for keys in one | other for change in _changes(one.get(keys), other.get(keys)))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the result of ``compare``; ``view`` is of the second run."""
        return (change_section(self.info, changes, view),)

    def side_by_side(self, changes: Mapping[str, Figures], first: str) -> tuple[Section, ...]:
        """Show the changes from one model, headed ``first``, to several others by name; by default nothing is added."""
        return ()

    def better(self, change: Figure) -> Better:
        """The direction in which a change that ``compare`` gives is a gain; ``of`` names the figure that changes."""
        return "lower" if self.info.is_level(change) else self.info.better.get(change.of or "", "none")

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find figures that are impossible together in a registry entry that was edited by hand: by default none."""
        return iter(())


def audited(audit: pa.Table, figures: Callable[[pa.Table], Iterable[Figure]]) -> Iterator[Figure]:
    """The figures of fixed texts, with mentions replaced and as they are, named after those of responses; no tests."""
    censored = np.asarray(audit["censored"].to_numpy(zero_copy_only=False), bool)
    for ending, rows in (("", censored), ("_uncensored", ~censored)):
        for f in figures(audit.filter(pa.array(rows))) if rows.any() else ():
            bare = {"p_value": None, "floor": None, "floor_interval": None}
            yield f.model_copy(update={"name": f"audit_{f.name}{ending}", "of": f.name, **bare})


def _changes(*runs: Figure | None) -> Iterator[Figure]:
    """The headline figure of each run under the name of the run, and their difference.

    A standard deviation that reports show as none is 0 in the difference.
    """
    yield from col.of_runs(*runs)
    one, *_ = known = [run for run in runs if run is not None]
    values = [value for run in known if (value := as_shown(run.value, run.unit)) is not None]
    change, n = (values[1] - values[0], min(run.n for run in known)) if len(values) > 1 else (None, 0)
    yield make_figure(one.measure, "change", one.keys, change, col.difference(one.unit), n, of=one.name)


def change_section(info: Info, changes: Figures, view: View, p: str = "p") -> Section:
    """The headline figures of two runs side by side: a chart and a table, whose column of p-values is headed ``p``."""

    def label(figure: Figure) -> str:
        return ", ".join(view.label(key, value) for key, value in reversed(figure.keys.items()))

    unit = col.unit_of(changes, info.name)
    found = info.headlines(changes, "change")
    columns = (ColumnOf(info.by[-1], title(info.by[-1]), label), *col.changes(changes, unit), col.p(p))
    name, caption = "changes", f"{info.title} of A and B"
    whole = table_of(name, caption, columns, found)
    short = without_empty(whole)
    # figures of which none has a value are shown as not defined
    table = short if len(short.columns) > 1 else whole
    blocks = (col.change_bars(changes, found, label, name, caption, unit), table)
    return Section(f"{info.name}-changes", info.title, blocks)
