"""Results of the public functions: figures, runs, comparisons and responses, as notebooks show them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from holisticbias.errors import OutputError
from holisticbias.inputs import path_of, truth_of
from holisticbias.output import new_folder
from holisticbias_eval.figures import Figure, Figures, figure_columns
from holisticbias_eval.generating import Generation
from holisticbias_eval.measuring import MeasuredTable
from holisticbias_eval.mitigation.record import MitigatedModel
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Report, drawables
from holisticbias_eval.report.runs import comparison_report, measurement_report, run_report
from holisticbias_eval.report.write import render, write_report
from holisticbias_eval.results.compare import ComparedRuns
from holisticbias_eval.results.gains import Gain, find_gains, sort_gains
from holisticbias_eval.results.run import REPORT, Run, may_replace, write_run
from holisticbias_eval.tables.written import form_of

_SHOWN = 20
"""How many responses a notebook shows."""
_OWN_LINKS = '<base href="about:srcdoc">'
"""Lets the links of a page in a frame lead to its own parts, instead of those of the notebook."""
Frame = Any
"""A pandas or polars data frame."""


def _typed(columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """A table of columns, of which those without any value are numbers, or texts if they name a figure."""
    made = {name: pa.array(values) for name, values in columns.items()}
    empty = [name for name, values in made.items() if pa.types.is_null(values.type)]
    return pa.table(made | {name: made[name].cast(pa.string() if name == "of" else pa.float64()) for name in empty})


class Tabular:
    """The base of results that are a table."""

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        raise NotImplementedError

    def to_pandas(self) -> Frame:
        """The rows as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Frame:
        """The rows as a polars data frame; needs polars."""
        import polars

        return polars.from_arrow(self.to_arrow())


class FigureTable(Tabular, tuple[Figure, ...]):
    """Figures of measures, one row each: the name of the measure and the figure, its keys, value and uncertainty."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} figures of {', '.join(dict.fromkeys(figure.measure for figure in self))}>"

    def to_arrow(self) -> pa.Table:
        """The figures as an Arrow table; a key that a figure lacks is null, and so is an undefined value."""
        plain = [name for name in Figure.model_fields if name not in ("interval", "floor_interval", "keys")]
        return _typed(figure_columns(self, plain))


class GainTable(Tabular, tuple[Gain, ...]):
    """Changes of figures with their direction, one row each: both values, the change, and whether it is a gain."""

    __slots__ = ()

    def __repr__(self) -> str:
        outcomes = Counter(gain.outcome for gain in self)
        said = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
        return f"<{len(self):,} changes{said and f': {said}'}>"

    def to_arrow(self) -> pa.Table:
        """The changes as an Arrow table; a key that a figure lacks is null."""
        plain = [name for name in Gain.model_fields if name not in ("interval", "keys", "run")]
        return _typed(figure_columns(self, plain, ("interval",)))


@dataclass(frozen=True)
class Picture:
    """A chart of a report as SVG, which a notebook shows."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


class WithReport:
    """The base of results with a report, which a notebook shows with its charts."""

    def _report(self) -> Report:
        raise NotImplementedError

    def report(self, path: str | Path | None = None) -> Report:
        """The report, which is also written to a ``path`` that ends in .html or .md.

        Raises ``OutputError`` for another ending.
        """
        made = self._report()
        if path is not None:
            file = path_of("path", path, OutputError)
            write_report(made, form_of(file, "html", "md"), None, file)
        return made

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of what a chart can show, the most important first: charts, tables and sections of the report."""
        return tuple(name for name, _ in drawables(self._report()))

    def chart(self, name: str | None = None, path: str | Path | None = None) -> Picture:
        """A chart by its name, by default the first; also written to a ``path`` that ends in .svg or .png.

        The name of a measure means its first chart. Raises ``ReportError`` for a name that is not in ``charts``, and
        ``OutputError`` for another ending.
        """
        report = self._report()
        if path is not None:
            file = path_of("path", path, OutputError)
            write_report(report, form_of(file, "svg", "png"), name, file)
        return Picture(render(report, "svg", name).decode())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._report().title}>"

    def _repr_html_(self) -> str:
        """The page in a frame, so that its styles stay inside and its links lead to its own parts."""
        from markupsafe import Markup

        report = self._report()
        page = render_page(report).replace("<head>", f"<head>{_OWN_LINKS}", 1)
        frame = Markup('<iframe title="{}" srcdoc="{}" style="width:100%;height:32rem;border:0"></iframe>')
        return frame.format(report.title, page)


@dataclass(frozen=True, repr=False)
class ModelRun(WithReport, Run):
    """One model's answers to one kind of question, and the figures that were measured on them.

    ``result`` has the signature with everything that the figures depend on, ``answers`` is an Arrow table with a row
    for each answer, and ``tables`` are details of measures by name. A notebook shows the report.
    """

    @cached_property
    def figures(self) -> FigureTable:
        """The figures; their units stand in the column ``unit``."""
        return FigureTable(self.result.figures)

    def _report(self) -> Report:
        return run_report(self)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Path:
        """Write the run and its report to a folder, as ``holisticbias evaluate`` does.

        Raises ``RunError`` if the folder holds another run, unless ``overwrite``.
        """
        replace = truth_of("overwrite", overwrite, OutputError)
        may = partial(may_replace, signature=self.result.signature, overwrite=replace)
        target = path_of("folder", folder, OutputError)
        with new_folder(target, may) as unfinished:
            write_run(self, unfinished)
            write_report(run_report(self), "html", None, unfinished / REPORT)
        return target


@dataclass(frozen=True, repr=False)
class Comparison(WithReport):
    """The changes from one run to another, paired on what both asked."""

    compared: ComparedRuns
    first: Run
    second: Run

    @cached_property
    def figures(self) -> FigureTable:
        """The changes as figures: ``first``, ``second`` and ``change`` of each headline."""
        return FigureTable(self.compared.figures)

    def gains(self) -> GainTable:
        """The changes of headline figures with their direction: gains, costs, and changes that chance explains."""
        found = find_gains(Figures(self.compared.figures), (), after=Figures(self.second.result.figures))
        return GainTable(sort_gains(tuple(found)))

    def _report(self) -> Report:
        return comparison_report(self.compared, self.first, self.second)


@dataclass(frozen=True, repr=False)
class MitigatedModels(WithReport):
    """Trained models, with a page of what was gained and what it cost.

    ``models`` has for each method the ``folder`` of the model and the ``record`` of all that its weights depend on;
    ``page`` is the file of the report. A notebook shows the report.
    """

    models: Sequence[MitigatedModel]
    shown: Report
    page: Path

    def _report(self) -> Report:
        return self.shown


@dataclass(frozen=True, repr=False)
class Measurement(WithReport, MeasuredTable):
    """The figures of a table of scores, responses or texts."""

    @cached_property
    def figures(self) -> FigureTable:
        """The figures."""
        return FigureTable(self.measurement.figures)

    def _report(self) -> Report:
        return measurement_report(self.measurement.measure, self.measurement.scores, self.view, self.sections)


@dataclass(frozen=True)
class ModelResponses(Tabular):
    """A model's responses: ``table`` has a row for each prompt, ``generation`` all that they depend on."""

    table: pa.Table
    generation: Generation

    def __repr__(self) -> str:
        return f"<ModelResponses: {self.table.num_rows:,} of {self.generation.model.name}>"

    def to_arrow(self) -> pa.Table:
        """The responses as an Arrow table."""
        return self.table

    def _repr_html_(self) -> str:
        from markupsafe import Markup

        shown = self.table.slice(0, _SHOWN).select(["prompt", "response"]).to_pylist()
        row = Markup("<tr><td>{prompt}</td><td>{response}</td></tr>")
        return f"<table><tr><th>prompt<th>response{''.join(row.format(**one) for one in shown)}</table>"
