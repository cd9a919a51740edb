"""Measure a model before and after mitigation: one run for each family of measures, as ``evaluate`` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from holisticbias.output import write_file
from holisticbias_eval.corpus.multiwoz import read_multiwoz
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.record import MitigatedModel
from holisticbias_eval.models.embedded import default_release
from holisticbias_eval.models.likelihood.opening import AUTO, FIRST_TOKEN
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.pipeline.answering import AnsweringOptions
from holisticbias_eval.pipeline.evaluation import evaluate, runs_of
from holisticbias_eval.pipeline.line_scoring import read_lines
from holisticbias_eval.pipeline.preparing import Inputs
from holisticbias_eval.pipeline.retention import RetainOptions
from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions
from holisticbias_eval.progress import Display
from holisticbias_eval.results.run import is_run, read_signature

AIM = ("group_perplexity",)
STYLE_AIM = ("generation_bias", "offensiveness", "response_wording")
"""The measures of every mitigation: of methods that learn from sentences, and from responses."""


@dataclass(frozen=True)
class Measuring:
    """Measures to compute: ``always``, ``further`` ones on a release, and ``retain`` for costs.

    ``first_token`` is what precedes each text whose likelihood is measured; ``test_set`` is a file of sentences about
    groups.
    """

    always: Sequence[str] = AIM
    further: Sequence[str] = ()
    release: str | None = None
    retain: RetainOptions = field(default_factory=RetainOptions)
    answering: AnsweringOptions = field(default_factory=AnsweringOptions)
    device: str = "auto"
    first_token: str = AUTO
    test_set: Path | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All measures, the aims first."""
        return tuple(dict.fromkeys((*self.always, *self.retain.measures, *self.further)))


def check_measuring(measuring: Measuring) -> None:
    """Raise ``EvaluationError`` for a measure that does not exist, or texts of ``retain`` that cannot be read."""
    runs_of(measuring.names, None)
    if measuring.retain.text is not None:
        read_lines(measuring.retain.text)
    if measuring.retain.dialogues is not None:
        read_multiwoz(measuring.retain.dialogues)


def with_neutral_text(measuring: Measuring, lines: Sequence[str], path: Path) -> Measuring:
    """Also measure these lines, written to a file, unless the user names a text."""
    if measuring.retain.text is not None:
        return measuring
    if not path.is_file():
        write_file(path, "".join(f"{line}\n" for line in lines).encode())
    return replace(measuring, retain=replace(measuring.retain, text=path))


def refuse_other_run(
    measuring: Measuring, folder: Path, weights_sha256: str | None, first_token: str | None = None
) -> None:
    """Raise ``MitigationError`` if a folder has a run of these measures of other weights, or with another first token.

    ``first_token`` is the setting of the signature; null if the training has none.
    """
    for _, path in _placed(measuring, folder):
        if not is_run(path):
            continue
        signature = read_signature(path)
        what = "of another model" if signature.model.weights_sha256 not in (None, weights_sha256) else ""
        if first_token is not None and signature.scoring.get("first_token", first_token) != first_token:
            what = what or "with another first token"
        if what:
            raise MitigationError(f"{path} is a run {what}: name another folder with --out, or use --overwrite")


def measure_models(
    base: str,
    models: Sequence[MitigatedModel],
    measuring: Measuring,
    before: Path,
    display: Display,
    *,
    overwrite: bool,
) -> None:
    """Measure the base model, and each trained model; runs that are there already are kept, unless ``overwrite``.

    Raises ``MitigationError`` if the folder ``before`` has runs of another model.
    """
    measuring = replace(measuring, release=measuring.release or default_release(base))
    if not overwrite:
        record = models[0].record
        refuse_other_run(measuring, before, record.base_model.weights_sha256, record.given.get(FIRST_TOKEN))
    for model, folder in ((base, before), *((str(made.folder), made.after) for made in models)):
        measure_model(model, measuring, folder, display, overwrite=overwrite)


def measure_model(model: str, measuring: Measuring, folder: Path, display: Display, *, overwrite: bool) -> None:
    """Write a run for each family of measures into a folder; runs that it has are kept, unless ``overwrite``."""
    wanted = tuple((names, out) for names, out in _placed(measuring, folder) if overwrite or not is_run(out))
    if not wanted:
        return
    display.notice(f"Measuring {model}")
    given = Inputs(
        ModelSettings(device=measuring.device, first_token=measuring.first_token),
        answering=measuring.answering,
        test_set=None if measuring.test_set is None else TestSetOptions(measuring.test_set),
        retain=measuring.retain,
    )
    for _ in evaluate(model, measuring.release, wanted, given, display=display, overwrite=overwrite):
        pass


def _placed(measuring: Measuring, folder: Path) -> Sequence[tuple[tuple[str, ...], Path]]:
    """The measures of each run, and its folder."""
    runs = runs_of(measuring.names, folder)
    return [(names, folder / names[0] if out in (None, folder) else out) for names, out in runs]
