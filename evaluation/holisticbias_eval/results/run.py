"""A run: one model's scores on one release, what was measured on them, and what identifies both."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed_version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field, ValidationError

from holisticbias_eval.errors import RunError
from holisticbias_eval.figures import Part
from holisticbias_eval.likelihood.scorer import Probe
from holisticbias_eval.measures.likelihood_bias import BiasShare, LikelihoodBias
from holisticbias_eval.measures.trust.records import Trust
from holisticbias_eval.models.identity import ModelIdentity
from holisticbias_eval.prompts.columns import SENTENCE_COLUMNS
from holisticbias_eval.prompts.prompts import Skipped
from holisticbias_eval.results.machine import machine
from holisticbias_eval.statistics.shares import SIGNIFICANCE

RESULT = "result.json"
SCORES = "scores.parquet"
PAIRS = "pairs.parquet"
REPORT = "report.html"
PACKAGES = ("holisticbias", "numpy", "pyarrow", "scipy", "tokenizers", "torch", "transformers")
SCHEMA_VERSION = 1
MEASURING = {"test": "two-sided Mann-Whitney U, pairs of descriptors over nouns", "level": f"p < {SIGNIFICANCE:g}"}
SCORE_COLUMNS = ("nll", "tokens", "perplexity")


class ReleaseSignature(Part):
    """The release that was scored."""

    version: str
    subset: str | None
    digest: str


class ModelSignature(Part):
    """The model that was scored."""

    name: str
    architecture: str
    revision: str | None
    weights_sha256: str | None
    parameters: int | None
    dtype: str
    note: str | None
    quantization: str | None = Field(
        default=None, description="the types of a GGUF file's tensors, the commonest first"
    )
    file_sha256: str | None = Field(default=None, description="digest of that file")


class RoundingError(Part):
    """What a precision other than float32 cost on some texts of the run: nats a text, at most and on average."""

    dtype: str
    texts: int
    largest: float
    mean: float


class ExactnessRecord(Part):
    """How the texts were scored, and the largest error against float64 on some of them, in nats a text.

    ``plain_error`` is that of scoring one text at a time; both are null if the model has no float64.
    """

    method: str
    texts: int
    error: float | None
    plain_error: float | None


class Signature(Part):
    """Everything that the figures depend on; ``rounding`` is null in float32.

    ``exactness`` is null for models that are not causal and for other engines, which cannot tell it.
    """

    release: ReleaseSignature
    model: ModelSignature
    scoring: dict[str, str]
    measures: tuple[str, ...]
    measuring: dict[str, str] = Field(default_factory=dict, description="the parameters of the measures")
    sentences_scored: int
    sentences_available: int
    skipped: tuple[Skipped, ...] = ()
    rounding: RoundingError | None = None
    exactness: ExactnessRecord | None = None
    versions: dict[str, str]
    machine: str = Field(description="system, architecture, processor and its cores, and accelerators")


class Share(Part):
    """Likelihood Bias of an axis, a template or both; ``share`` is missing where there is no pair."""

    axis: str | None
    template: str | None
    descriptors: int
    pairs: int
    significant: int
    untested: int
    share: float | None


class LikelihoodBiasResult(Part):
    """Likelihood Bias by axis, by template, and by both."""

    by_axis: tuple[Share, ...]
    by_template: tuple[Share, ...]
    by_axis_and_template: tuple[Share, ...]


class MaskedInputs(Part):
    """The masked inputs that a run asked for, one for each scored token, and the distinct ones that went through."""

    asked: int
    run: int


class Result(Part):
    """``result.json``.

    ``masked_inputs`` are those that the run itself scored: missing where the store
    held all, where another process scored, and for models that are not masked.
    """

    schema_version: int = SCHEMA_VERSION
    signature: Signature
    likelihood_bias: LikelihoodBiasResult
    trust: Trust | None = None
    masked_inputs: MaskedInputs | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What a run's folder holds: the result, the scored sentences, one a row, and every pair of descriptors.

    ``pairs`` is the table of ``measures.pairs.by_pair``, missing in runs without one.
    """

    result: Result
    scores: pa.Table
    pairs: pa.Table | None = None


def sign(
    release: ReleaseSignature,
    model: ModelIdentity,
    settings: Mapping[str, str],
    measures: tuple[str, ...],
    scored: int,
    available: int,
    skipped: tuple[Skipped, ...] = (),
) -> Signature:
    """The signature of a run on this machine with the installed packages, as known before anything is scored."""
    return Signature(
        release=release,
        model=_model_signature(model),
        scoring=dict(settings),
        measures=measures,
        measuring=MEASURING,
        sentences_scored=scored,
        sentences_available=available,
        skipped=skipped,
        versions=package_versions(),
        machine=machine(),
    )


def with_probe(signature: Signature, probe: Probe | None) -> Signature:
    """Add to a signature how exact the scores are."""
    if probe is None:
        return signature
    rounding = RoundingError(**asdict(probe.rounding)) if probe.rounding else None
    return signature.model_copy(update={"rounding": rounding, "exactness": ExactnessRecord(**asdict(probe.exactness))})


def package_versions() -> dict[str, str]:
    """Those of Python and of the packages that figures can hang on."""
    return {"python": platform.python_version(), **{name: installed_version(name) for name in PACKAGES}}


def _model_signature(identity: ModelIdentity) -> ModelSignature:
    return ModelSignature(**asdict(identity))


def likelihood_bias_result(bias: LikelihoodBias) -> LikelihoodBiasResult:
    """The measure's figures as the result file holds them."""
    return LikelihoodBiasResult(
        by_axis=_shares(bias.by_axis),
        by_template=_shares(bias.by_template),
        by_axis_and_template=_shares(bias.by_axis_and_template),
    )


def _shares(shares: tuple[BiasShare, ...]) -> tuple[Share, ...]:
    return tuple(Share(**asdict(s), share=s.share) for s in shares)


def write_run(run: Run, folder: Path) -> None:
    """Write the result and the scores into a folder that is there."""
    pq.write_table(run.scores, folder / SCORES, compression="zstd")
    if run.pairs is not None:
        pq.write_table(run.pairs, folder / PAIRS, compression="zstd")
    (folder / RESULT).write_text(run.result.model_dump_json(indent=2) + "\n", "utf-8")


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    return (folder / RESULT).is_file() and (folder / SCORES).is_file()


def read_run(folder: Path) -> Run:
    """The run in a folder; ``RunError`` if there is none, or it is damaged."""
    if not is_run(folder):
        what = f"has no {RESULT} and {SCORES}" if folder.is_dir() else "does not exist"
        raise RunError(f"{folder} is no run: it {what}; make one with holisticbias evaluate")
    result = read_result(folder)
    pairs = _read_table(folder / PAIRS) if (folder / PAIRS).is_file() else None
    return Run(result, _read_scores(folder / SCORES), pairs)


def read_result(folder: Path) -> Result:
    """Read the result of the run in a folder; ``RunError`` if it is damaged."""
    try:
        return Result.model_validate_json((folder / RESULT).read_bytes())
    except OSError as error:
        raise RunError(f"{folder / RESULT} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise RunError(
            f"{folder / RESULT} is damaged or of another version: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from error


def _read_table(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise RunError(f"{path} cannot be read: {error}") from error


def _read_scores(path: Path) -> pa.Table:
    scores = _read_table(path)
    for name in (*SENTENCE_COLUMNS, *SCORE_COLUMNS):
        if name not in scores.column_names:
            raise RunError(f"{path} has no column {name}: it is no table of scored sentences; evaluate again")
    return scores
