"""The functions that commands call, for notebooks and programs: ``import holisticbias_eval as hbe``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console

from holisticbias.output import new_folder
from holisticbias_eval.classifying import classify as classify_table
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.evaluating import by_task, choose_measures, prepare
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.generating import Generation, prepare_answers
from holisticbias_eval.measuring import MeasuredTable, measure_table
from holisticbias_eval.mitigation.run import Mitigated
from holisticbias_eval.mitigation.run import mitigate as train_models
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.prompts import restored
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Report, drawables
from holisticbias_eval.report.runs import comparison_report, measurement_report, run_report
from holisticbias_eval.report.write import render, write_report
from holisticbias_eval.results.compare import ComparedRuns, compare_runs
from holisticbias_eval.results.gains import Gain, find_gains, sort_gains
from holisticbias_eval.results.replacement import may_replace
from holisticbias_eval.results.run import REPORT, Run, read_run, write_run

_ENDS = ("interval", "floor_interval")
_SHOWN = 20
"""ModelResponses that a notebook shows."""
Frame = Any
"""A pandas or polars data frame."""


class FigureTable:
    """Figures of measures, one row each: the name of the measure and the figure, its keys, value and uncertainty."""

    def __init__(self, figures: Sequence[Figure]) -> None:
        self._figures = tuple(figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __iter__(self) -> Any:
        return iter(self._figures)

    def __repr__(self) -> str:
        return f"<{len(self):,} figures of {', '.join(dict.fromkeys(figure.measure for figure in self))}>"

    def to_arrow(self) -> pa.Table:
        """The figures as an Arrow table; a key that a figure lacks is null, and so is an undefined value."""
        keys = list(dict.fromkeys(key for figure in self._figures for key in figure.keys))
        plain = [name for name in Figure.model_fields if name not in (*_ENDS, "keys")]
        columns: dict[str, list[Any]] = {name: [getattr(figure, name) for figure in self._figures] for name in plain}
        columns |= {key: [figure.keys.get(key) for figure in self._figures] for key in keys}
        for name in _ENDS:
            found = [getattr(figure, name) for figure in self._figures]
            columns |= {f"{name}_{end}": [one and getattr(one, end) for one in found] for end in ("low", "high")}
        return pa.table(columns)

    def to_pandas(self) -> Frame:
        """The figures as a pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Frame:
        """The figures as a polars data frame; needs polars."""
        import polars

        return polars.from_arrow(self.to_arrow())


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
        """The report, which is also written to a ``path`` that ends in .html or .md."""
        made = self._report()
        if path is not None:
            write_report(made, "md" if Path(path).suffix == ".md" else "html", None, Path(path))
        return made

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of what a chart can show, the most important first: charts, tables and sections of the report."""
        return tuple(name for name, _ in drawables(self._report()))

    def chart(self, name: str | None = None, path: str | Path | None = None) -> Picture:
        """A chart by its name, by default the first; also written to a ``path`` that ends in .svg or .png.

        Raises ``ReportError`` if there is none of this name.
        """
        report = self._report()
        if path is not None:
            write_report(report, "png" if Path(path).suffix == ".png" else "svg", name, Path(path))
        return Picture(render(report, "svg", name).decode())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._report().title}>"

    def _repr_html_(self) -> str:
        """The page in a frame, so that its styles stay inside."""
        from markupsafe import escape

        page = escape(render_page(self._report()))
        return f'<iframe srcdoc="{page}" style="width:100%;height:32rem;border:0"></iframe>'


@dataclass(frozen=True, repr=False)
class ModelRun(Run, WithReport):
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

        def may(old: Path) -> bool:
            return may_replace(old, self.result.signature, overwrite=overwrite)

        with new_folder(Path(folder), may) as unfinished:
            write_run(self, unfinished)
            write_report(run_report(self), "html", None, unfinished / REPORT)
        return Path(folder)


@dataclass(frozen=True, repr=False)
class Comparison(WithReport):
    """The changes from one run to another, paired on what both asked."""

    compared: ComparedRuns
    second: Run

    @cached_property
    def figures(self) -> FigureTable:
        """The changes as figures: ``first``, ``second`` and ``change`` of each headline."""
        return FigureTable(self.compared.figures)

    def gains(self) -> tuple[Gain, ...]:
        """The changes of headline figures with their direction: gains, costs, and changes that chance explains."""
        found = find_gains(Figures(self.compared.figures), (), after=Figures(self.second.result.figures))
        return sort_gains(tuple(found))

    def _report(self) -> Report:
        return comparison_report(self.compared, self.second)


@dataclass(frozen=True, repr=False)
class MitigatedModels(Mitigated, WithReport):
    """Trained models, with a page of what was gained and what it cost.

    ``models`` has for each method the ``folder`` of the model and the ``record`` of all that its weights depend on;
    ``page`` is the file of the report. A notebook shows the report.
    """

    def _report(self) -> Report:
        return self.shown


@dataclass(frozen=True, repr=False)
class Measurement(MeasuredTable, WithReport):
    """The figures of a table of scores, responses or texts."""

    @cached_property
    def figures(self) -> FigureTable:
        """The figures."""
        return FigureTable(self.measurement.figures)

    def _report(self) -> Report:
        return measurement_report(self.measurement.measure, self.measurement.scores, self.view, self.sections)


@dataclass(frozen=True)
class ModelResponses:
    """A model's responses: ``table`` has a row for each prompt, ``generation`` all that they depend on."""

    table: pa.Table
    generation: Generation

    def to_pandas(self) -> Frame:
        """The responses as a pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Frame:
        """The responses as a polars data frame; needs polars."""
        import polars

        return polars.from_arrow(self.table)

    def _repr_html_(self) -> str:
        shown = self.table.slice(0, _SHOWN).select(["prompt", "response"]).to_pandas()
        return str(shown.to_html(escape=True, index=False))


def evaluate(
    model: str | tuple[Any, Any] | None = None,
    release: str | None = None,
    measures: str | Sequence[str] | None = None,
    *,
    where: Mapping[str, str | Sequence[str]] | Sequence[str] = (),
    progress: bool = True,
    **settings: Any,
) -> ModelRun:
    """Measure a language model.

    ``model`` is a folder, a GGUF file, a Hugging Face Hub repository, a server's name for it, or a loaded transformers
    model with its tokenizer; the default is the calibration model of what is asked. ``release`` is a folder, a version
    or ``ID@VERSION`` of a Hub dataset, ``measures`` one or several measures of one task; see ``holisticbias measures``.
    ``where`` selects sentences, as ``{"axis": "ability"}``. ``settings`` are all others, by the names that
    ``holisticbias evaluate --help-all`` lists, such as ``limit=400`` or ``pairs="pairs.csv"``.

    Raises ``EvaluationError`` for a setting that nothing chosen uses, and if the model or a file does not fit.
    """
    names = [measures] if isinstance(measures, str) else measures
    values = {**settings, **({"where": _conditions(where)} if where else {})}
    chosen = choose_measures(names, values)
    groups = by_task(chosen)
    if len(groups) > 1:
        asked = "; ".join(", ".join(group) for group in groups)
        raise EvaluationError(f"these measures ask different questions, so evaluate them one by one: {asked}")
    (prepared,) = prepare(model, release, chosen, values, _display(progress))
    run = prepared.run()
    return ModelRun(run.result, restored(run.answers), run.tables)


def open_run(folder: str | Path) -> ModelRun:
    """Read the run in a folder; raises ``RunError`` if it is damaged."""
    run = read_run(Path(folder))
    return ModelRun(run.result, run.answers, run.tables)


def measure(name: str, table: str | Path | pa.Table | Frame, *, progress: bool = True, **settings: Any) -> Measurement:
    """Measure a user's table of scores, responses or texts: a file, an Arrow table, or a pandas or polars data frame.

    ``settings`` are those of ``holisticbias measure --help-all``. Raises ``ScoresError`` for a table that does not fit.
    """
    with _file_of(table, "text") as path:
        found = measure_table(name, path, settings, _display(progress))
    return Measurement(found.measurement, found.tables, found.view, found.sections)


def generate(
    model: str | tuple[Any, Any] | None = None,
    prompts: str | Path | Sequence[str] | pa.Table | Frame | None = None,
    release: str | None = None,
    *,
    where: Mapping[str, str | Sequence[str]] | Sequence[str] = (),
    progress: bool = True,
    **settings: Any,
) -> ModelResponses:
    """Let a model answer prompts.

    ``model`` is as for ``evaluate``; the default is the embedded responder. ``prompts`` are a list of texts, a table
    with a column ``prompt`` (a file, an Arrow table, a pandas or a polars data frame), or the name of a collection of
    prompts; by default the sentences of ``release``. ``settings`` are those of ``holisticbias generate --help-all``,
    such as ``decoding="greedy"``.

    Raises ``EvaluationError`` for a setting without effect, and if the model or a file does not fit.
    """
    values = {**settings, **({"where": _conditions(where)} if where else {})}
    with _file_of("" if prompts is None else prompts, "prompt") as path:
        values |= {} if prompts is None else {"prompts": str(path)}
        answering = prepare_answers(model, release, values, _display(progress))
    return ModelResponses(*answering.run(_display(progress)))


def classify(
    texts: str | Path | Sequence[str] | pa.Table | Frame, classifier: str, *, progress: bool = True, **settings: Any
) -> pa.Table:
    """Judge texts with a classifier: its name, or the file of a card; see ``holisticbias classifiers``.

    ``texts`` are a list, or a table with a column ``response``: a file, an Arrow table, a pandas or a polars data
    frame. Returns the table with the columns ``judged``, the text that was classified, and ``p:LABEL``, the probability
    of each label, null for a text that is empty. Mentions of the column ``descriptor``, if there is one, are replaced
    before, unless ``censor=False``.

    Raises ``ScoresError`` for a table that does not fit, and ``EvaluationError`` for an unknown classifier.
    """
    with _file_of(texts, "response") as path:
        return classify_table(path, {"classifier": (classifier,), **settings}, _display(progress)).table


def mitigate(
    method: str | Sequence[str],
    model: str | None = None,
    *,
    out: str | Path,
    release: str | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> MitigatedModels:
    """Train a causal model so that it treats groups more alike, and measure it before and after.

    ``method`` is one or several of ``lmd``, ``add``, ``ctda``, ``cada`` (Zhao et al. 2024, section 4),
    ``style_equality`` and ``self_chat`` (Smith et al. 2022, section 4). ``model`` is a folder or a Hub repository; the
    default is the calibration model of the method. ``out`` is the folder of the trained model, or of one folder for
    each method if there are several. An interrupted training continues when the same call is made again. ``settings``
    are those of ``holisticbias mitigate --help-all``, such as ``corpus="split"``, ``steps=100`` or ``no_measure=True``.

    Raises ``EvaluationError`` for a setting that no chosen method uses, if the model cannot be trained, and if the
    folder holds another mitigation, unless ``overwrite``.
    """
    names = [method] if isinstance(method, str) else method
    made = train_models(names, model, release, settings, Path(out), display=_display(progress), overwrite=overwrite)
    return MitigatedModels(made.models, made.shown, made.page)


def compare(first: Run | str | Path, second: Run | str | Path) -> Comparison:
    """Compare the second run with the first, each a run or its folder.

    Raises ``SelectionError`` if they have no measure that can be compared, or nothing that both asked.
    """
    one, other = (run if isinstance(run, Run) else read_run(Path(run)) for run in (first, second))
    return Comparison(compare_runs(one, other), other)


def _conditions(where: Mapping[str, str | Sequence[str]] | Sequence[str]) -> tuple[str, ...]:
    """Filters as the command line writes them: ``axis=age,ability``."""
    if not isinstance(where, Mapping):
        return (where,) if isinstance(where, str) else tuple(where)
    return tuple(f"{key}={value if isinstance(value, str) else ','.join(value)}" for key, value in where.items())


@contextmanager
def _file_of(table: str | Path | Sequence[str] | pa.Table | Frame, column: str) -> Iterator[Path]:
    """The file of a table: its own, or one for as long as the block runs; a list of texts is its column.

    A message about that file is about the table.
    """
    if isinstance(table, str | Path):
        yield Path(table)
        return
    if isinstance(table, list | tuple):
        table = pa.table({column: pa.array(table, pa.string())})
    if not isinstance(table, pa.Table):
        table = table.to_arrow() if hasattr(table, "to_arrow") else pa.Table.from_pandas(table, preserve_index=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        pq.write_table(table.replace_schema_metadata(None), path)
        try:
            yield path
        except EvaluationError as error:
            raise type(error)(str(error).replace(str(path), "the table")) from error


def _display(progress: bool) -> Display:
    return Display(Console(stderr=True, quiet=not progress))
