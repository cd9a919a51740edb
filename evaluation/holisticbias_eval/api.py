"""The functions that commands call, for notebooks and programs: ``import holisticbias_eval as hbe``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holisticbias_eval.errors import EvaluationError, RunError
from holisticbias_eval.models.loading.calls import public_call

if TYPE_CHECKING:  # importing this module takes no time: each function imports what it needs
    import pyarrow as pa

    from holisticbias.compile.filters import Where
    from holisticbias.release.release import Release
    from holisticbias_eval.api_results import Comparison, Frame, Measurement, MitigatedModels, ModelResponses, ModelRun
    from holisticbias_eval.models.loading.load import ModelSource
    from holisticbias_eval.progress import Display
    from holisticbias_eval.results.run import Run
    from holisticbias_eval.settings import Uses
    from holisticbias_eval.tasks.sources import ReleaseSource


@public_call()
def evaluate(
    model: str | Path | tuple[Any, Any] | None = None,
    release: str | Path | Release | None = None,
    measures: str | Sequence[str] | None = None,
    *,
    where: Where | None = None,
    recipe: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> ModelRun:
    """Measure a language model.

    ``model`` is a folder, a GGUF file, a Hugging Face Hub repository, a server's name for it, or a loaded transformers
    model with its tokenizer; the default is the calibration model of what is asked. ``release`` is a folder, a version,
    ``ID@VERSION`` of a Hub dataset, or what ``build_release`` or ``open_release`` gives; ``measures`` names one or
    several measures of one task; see ``holisticbias measures``. ``where`` selects sentences: ``{"axis": "ability"}``.
    ``recipe`` is the name or the file of a recipe, whose values count where nothing is given. ``settings`` are all
    others, by the names that ``holisticbias evaluate --help-all`` lists, such as ``limit=400`` or
    ``pairs="pairs.csv"``.

    Raises ``EvaluationError`` for a setting that nothing chosen uses, and if the model or a file does not fit, and
    ``HolisticBiasError``, its base, for a release that does not exist.
    """
    from holisticbias.inputs import texts_of
    from holisticbias_eval.api_results import ModelRun
    from holisticbias_eval.evaluating import all_uses, by_task, choose_measures, prepare
    from holisticbias_eval.prompts.sentences import restored
    from holisticbias_eval.settings import of_measures, split_names

    uses = all_uses()
    (model, release, named), defaults = _defaults(recipe, uses, model=model, release=release, measures=measures)
    names = None if named is None else split_names(texts_of("measures", named, EvaluationError, some=True))
    if names and measures is not None:
        defaults = of_measures(defaults, names, uses)
    values = {**defaults, **_values(settings, where)}
    chosen = choose_measures(names, values)
    groups = by_task(chosen)
    if len(groups) > 1:
        asked = "; ".join(", ".join(group) for group in groups)
        raise EvaluationError(f"these measures ask different questions, so evaluate them one by one: {asked}")
    with _alone(values):
        (prepared,) = prepare(_model_of(model), _release_of(release), chosen, values, _display(progress))
        run = prepared.run()
    return ModelRun(run.result, restored(run.answers), run.tables)


@public_call()
def open_run(folder: str | Path) -> ModelRun:
    """Read the run in a folder; raises ``RunError`` if it is damaged."""
    from holisticbias_eval.api_results import ModelRun

    run = _run_of(folder)
    return ModelRun(run.result, run.answers, run.tables)


@public_call()
def measure(name: str, table: str | Path | pa.Table | Frame, *, progress: bool = True, **settings: Any) -> Measurement:
    """Measure a user's table of scores, responses or texts: a file, an Arrow table, or a pandas or polars data frame.

    ``settings`` are those of ``holisticbias measure --help-all``. Raises ``TableError`` for a table that does not fit,
    and ``EvaluationError`` for a setting without effect.
    """
    from holisticbias_eval.api_results import Measurement
    from holisticbias_eval.measuring import measure_table
    from holisticbias_eval.tables.frames import LABEL, file_of

    if not isinstance(name, str):
        raise EvaluationError(f"name: it must be the name of a measure, not {type(name).__name__}")
    with file_of(table, "text") as file:
        found = measure_table(name, Path(file), _values(settings), _display(progress))
    of_file = {} if isinstance(table, str | Path) else {"scores": LABEL}
    return Measurement(found.measurement.model_copy(update=of_file), found.tables, found.view, found.sections)


@public_call()
def generate(
    model: str | Path | tuple[Any, Any] | None = None,
    prompts: str | Path | Sequence[str] | pa.Table | Frame | None = None,
    release: str | Path | Release | None = None,
    *,
    where: Where | None = None,
    recipe: str | Path | None = None,
    progress: bool = True,
    **settings: Any,
) -> ModelResponses:
    """Let a model answer prompts.

    ``model`` and ``recipe`` are as for ``evaluate``; the default is the embedded responder. ``prompts`` are a list of
    texts, a column of a data frame, a table with a column ``prompt`` (a file, an Arrow table, a pandas or a polars data
    frame), or the name of a collection of prompts; by default the sentences of ``release``. ``settings`` are those of
    ``holisticbias generate --help-all``, such as ``decoding="greedy"``.

    Raises ``EvaluationError`` for a setting without effect, and if the model or a file does not fit, and
    ``HolisticBiasError``, its base, for a release that does not exist.
    """
    from holisticbias_eval.api_results import ModelResponses
    from holisticbias_eval.generating import USES, prepare_answers
    from holisticbias_eval.tables.frames import LABEL, file_of

    own = {"model": model, "release": release, "prompts": prompts, "measures": None}
    (model, release, prompts, _), defaults = _defaults(recipe, USES, **own)
    values = {**defaults, **_values(settings, where)}
    with nullcontext() if prompts is None else file_of(prompts, "prompt") as name:
        values |= {} if name is None else {"prompts": name}
        with _alone(values):
            answering = prepare_answers(_model_of(model), _release_of(release), values, _display(progress))
            responses, generation = answering.run(_display(progress))
    of_file = {} if prompts is None or isinstance(prompts, str | Path) else {"prompts": LABEL}
    return ModelResponses(responses, generation.model_copy(update=of_file))


@public_call()
def classify(
    texts: str | Path | Sequence[str] | pa.Table | Frame,
    classifier: str | Path,
    *,
    progress: bool = True,
    **settings: Any,
) -> pa.Table:
    """Judge texts with a classifier: its name, or the file of a card; see ``holisticbias classifiers``.

    ``texts`` are a list, a column of a data frame, or a table with a column ``response``: a file, an Arrow table, a
    pandas or a polars data frame. Returns the table with the columns ``judged``, the text that was classified, and
    ``p:LABEL``, the probability of each label, null for a text that is empty. Mentions of the column ``descriptor``, if
    there is one, are replaced before, unless ``censor=False``.

    Raises ``TableError`` for a table that does not fit, and ``EvaluationError`` for an unknown classifier.
    """
    from holisticbias_eval.classifying import classify as classify_table
    from holisticbias_eval.tables.frames import file_of

    card = _name_of("classifier", classifier, "a name, or the file of a card")
    values = _values({"classifier": card, **settings})
    with file_of(texts, "response") as name:
        return classify_table(Path(name), values, _display(progress)).table


@public_call()
def mitigate(
    method: str | Sequence[str],
    model: str | Path | None = None,
    *,
    out: str | Path,
    release: str | Path | None = None,
    where: Where | None = None,
    recipe: str | Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **settings: Any,
) -> MitigatedModels:
    """Train a causal model so that it treats groups more alike, and measure it before and after.

    ``method`` is one or several of ``lmd``, ``add``, ``ctda``, ``cada`` (Zhao et al. 2024, section 4),
    ``style_equality`` and ``self_chat`` (Smith et al. 2022, section 4). ``model`` is a folder or a Hub repository; the
    default is the calibration model of the method. ``out`` is the folder of the trained model, or of one folder for
    each method if there are several. An interrupted training continues when the same call is made again. ``recipe`` is
    as for ``evaluate``, and ``settings`` are those of ``holisticbias mitigate --help-all``, such as
    ``examples="split"``, ``steps=100`` or ``no_measure=True``.

    Raises ``EvaluationError`` for a setting that no chosen method uses, if the model cannot be trained, and if the
    folder holds another mitigation, unless ``overwrite``.
    """
    from holisticbias.errors import OutputError
    from holisticbias.inputs import path_of, texts_of, truth_of
    from holisticbias_eval.api_results import MitigatedModels
    from holisticbias_eval.mitigation.run import mitigate as train_models
    from holisticbias_eval.mitigation.run import mitigation_uses

    (model, release), defaults = _defaults(recipe, mitigation_uses(), model=model, release=release)
    names, values = texts_of("method", method, EvaluationError, some=True), {**defaults, **_values(settings, where)}
    base = _name_of("model", model, "a name or a folder")
    of_release = _name_of("release", release, "a version or a folder")
    folder, replace = path_of("out", out, OutputError), truth_of("overwrite", overwrite, OutputError)
    with _alone(values):
        made = train_models(names, base, of_release, values, folder, display=_display(progress), overwrite=replace)
    return MitigatedModels(made.models, made.shown, made.page)


@public_call()
def compare(first: Run | str | Path, second: Run | str | Path) -> Comparison:
    """Compare the second run with the first, each a run or its folder.

    Raises ``SelectionError`` if they have no measure that can be compared, or nothing that both asked.
    """
    from holisticbias_eval.api_results import Comparison
    from holisticbias_eval.results.compare import compare_runs, read_two_runs

    if isinstance(first, str | Path) and isinstance(second, str | Path):
        one, other = read_two_runs(Path(first), Path(second))
    else:
        one, other = _run_of(first), _run_of(second)
    return Comparison(compare_runs(one, other), one, other)


def _model_of(model: object) -> ModelSource:
    """A model as engines take it; raises ``EvaluationError`` for anything else."""
    if isinstance(model, tuple) and len(model) == 2 and hasattr(model[0], "parameters") and callable(model[1]):
        return model
    return _name_of("model", model, "a name, a folder, a file, or a pair (model, tokenizer) of transformers")


def _release_of(release: object) -> ReleaseSource:
    """A release as tasks take it; raises ``EvaluationError`` for anything else."""
    from holisticbias.release.release import Release

    return release if isinstance(release, Release) else _name_of("release", release, "a version, a folder or a release")


def _name_of(argument: str, value: object, wanted: str) -> str | None:
    """A name or a path as a text; raises ``EvaluationError`` for anything else."""
    if value is None or isinstance(value, str | Path):
        return None if value is None else _plain(argument, str(value))
    raise EvaluationError(f"{argument}: it must be {wanted}, not {type(value).__name__}")


def _run_of(run: object) -> Run:
    """A run, or the one in a folder; raises ``RunError`` for anything else."""
    from holisticbias_eval.results.run import Run, read_run

    if isinstance(run, Run):
        return run
    if isinstance(run, str | Path):
        return read_run(Path(run))
    raise RunError(f"a run is what evaluate gives, or its folder, not {type(run).__name__}")


def _defaults(recipe: str | Path | None, uses: Uses, **given: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that are given, or else those of a recipe; and the settings of the recipe."""
    from holisticbias_eval.results.recipes import read_recipe

    file = _name_of("recipe", recipe, "a name or a file")
    found = {} if file is None else dict(read_recipe(file, uses))
    of_recipe = {name: found.pop(name, None) for name in given}
    return [of_recipe[name] if value is None else value for name, value in given.items()], found


def _values(settings: Mapping[str, Any], where: Where | None = None) -> dict[str, Any]:
    """Settings as commands give them: the name of a file is a text, filters are texts, and None is the default."""
    from holisticbias.compile.filters import filter_texts

    filters = {} if where is None else {"where": filter_texts(where)}
    return filters | {
        name: [_plain(name, one) for one in value] if isinstance(value, list | tuple) else _plain(name, value)
        for name, value in settings.items()
        if value is not None
    }


def _plain(name: str, value: Any) -> Any:
    """The value, a path as a text, a number of numpy as one of Python; raises ``EvaluationError`` for a broken text."""
    import numpy as np

    from holisticbias.inputs import refuse_broken

    plain = str(value) if isinstance(value, Path) else value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, str):
        refuse_broken(name, plain, EvaluationError)
    return plain


def _alone(values: Mapping[str, Any]) -> AbstractContextManager[object]:
    """Let the models of this process be asked by one thread at a time; servers may be asked by several."""
    from holisticbias_eval.models.loading.running import ALONE

    return nullcontext() if str(values.get("engine")) == "api" else ALONE


def _display(progress: bool) -> Display:
    from rich.console import Console

    from holisticbias.inputs import truth_of
    from holisticbias_eval.progress import Display

    return Display(Console(stderr=True, quiet=not truth_of("progress", progress, EvaluationError)))
