"""Titles and signatures of runs, in words."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.generation.requests import SampledRecord
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.prompts.contexts import UNSCORED
from holisticbias_eval.results.signature import ReleaseSignature, Signature, judging_settings
from holisticbias_eval.units import model_title, title

NOT_RUN = "not measured"
"""The value of a property of a run that a model does not have; it differs from no other."""


def run_title(signature: Signature) -> str:
    """A run as its model and the part of the release that it measured."""
    return f"{model_title(signature.model.name)} on {signature.title}"


def terms_measured(signature: Signature) -> Iterator[str]:
    """How many of the release's descriptors were measured, and why not the others; nothing if it is not recorded."""
    if (terms := signature.terms) is not None:
        rest = "; ".join(f"{one.terms:,}: {one.reason}" for one in terms.left_out)
        yield f"{terms.measured:,} of {terms.available:,} descriptors measured{f' ({rest})' if rest else ''}."


def unknown_measures(signature: Signature) -> Iterator[str]:
    """The measures of a run that this version lacks."""
    unknown = [name for name in signature.measures if name not in MEASURES]
    if unknown:
        yield f"Not shown: {', '.join(unknown)}, which this version of holisticbias does not have."


def signature_notes(signature: Signature) -> tuple[str, ...]:
    """Notes to read before the figures of a run: the model's note, and how much was not scored."""
    unscored = signature.scoring.get(UNSCORED)
    return tuple(filter(None, (signature.model.note, unscored and f"Not scored: {unscored}.")))


def architecture(model: ModelSignature) -> str:
    """The kind of model, its size if known, and its precision."""
    size = "size not known" if model.parameters is None else f"{model.parameters:,} parameters"
    return f"{model.architecture}, {size}, {model.dtype}"


def weights_rows(model: ModelSignature) -> Iterator[tuple[str, str]]:
    """The properties of a model that tell its weights from others."""
    yield "Revision", model.revision or "not recorded"
    yield "Weights, SHA-256", model.weights_sha256 or "not recorded"
    if model.quantization:
        yield "Quantization", model.quantization
    if model.file_sha256:
        yield "File, SHA-256", model.file_sha256


def signature_rows(signature: Signature) -> Iterator[tuple[str, str]]:
    """The name and the value of every property that the figures depend on."""
    model, release = signature.model, signature.release
    yield "Model", model.name
    yield "Architecture", architecture(model)
    if rounding := signature.rounding:
        off = f"{rounding.largest:.2g} nats off at most, {rounding.mean:.2g} on average"
        yield "Rounding", f"{rounding.dtype} instead of float32: on {rounding.texts} texts tried {off}"
    if (exact := signature.exactness) and exact.error is not None and exact.plain_error is not None:
        yield (
            "Exactness",
            f"{exact.method}: at most {exact.error:.2g} nats from float64 on {exact.texts} texts; one text at a time, "
            f"at most {exact.plain_error:.2g}",
        )
    yield from weights_rows(model)
    yield from _release_rows(release)
    if (sameness := signature.sameness) is not None:
        yield "Same in any batch", f"{sameness.same} of {sameness.tried} responses tried"
        if isinstance(sameness, SampledRecord) and not sameness.varies:
            yield "With another seed", "the same responses: the server may write the likeliest tokens"
    signed = {**signature.scoring, **signature.generation}
    names = {title(name) for name in signed}
    if signature.generation:
        what, number = "Responses", f"{signature.sentences_scored:,}"
    else:
        what = "Sentences" if release.what == "prompts" else title(release.what)
        number = f"{signature.sentences_scored:,} scored of {signature.sentences_available:,} available"
    yield f"{what}, number" if what in names else what, number
    for name, value in signed.items():
        yield title(name).replace("sha256", "SHA-256"), value.replace("\n", "\\n") or "none"
    for classifier, about in signature.classifiers.items():
        yield f"Classifier {classifier}", _listed(judging_settings(about))
    yield "Measures", ", ".join(signature.measures)
    for measure, parameters in signature.measuring.items():
        if parameters:
            yield title(measure), _listed(parameters)
    yield "Skipped", "; ".join(f"{s.sentences:,} ({s.reason})" for s in signature.skipped) or "nothing"
    yield "Machine", signature.machine
    yield "Versions", ", ".join(f"{name} {version}" for name, version in signature.versions.items())


def signatures_side_by_side(
    runs: Sequence[tuple[str, Sequence[Signature | None]]],
) -> Iterator[tuple[str, ...]]:
    """The signatures of several runs side by side, each with the name of the run and a signature for every model.

    A property stands once if every run has it with the same values, or if one run alone has it. A model without the
    run has ``NOT_RUN`` there.
    """
    rows: dict[str, dict[str, tuple[str, ...]]] = {}
    for run, signatures in runs:
        found = [dict(signature_rows(signature)) if signature else None for signature in signatures]
        for name in dict.fromkeys(chain.from_iterable(filter(None, found))):
            cells = (NOT_RUN if values is None else values.get(name, "none") for values in found)
            rows.setdefault(name, {})[run] = tuple(cells)
    for name, by_run in rows.items():
        values = set(by_run.values())
        if len(by_run) in (1, len(runs)) and len(values) == 1:
            yield (name, *values.pop())
        else:
            yield from ((f"{name} ({run})", *values) for run, values in by_run.items())


def _listed(values: Mapping[str, str]) -> str:
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in values.items())


def _release_rows(release: ReleaseSignature) -> Iterator[tuple[str, str]]:
    if release.prompts is None:
        yield "Release", release.version + (f", subset {release.subset}" if release.subset else "")
        if release.where:
            yield "Release, filters", ", ".join(release.where)
        yield "Release, digest of the rows", release.digest
    else:
        yield f"{title(release.what)}, name", release.prompts
        yield f"{title(release.what)}, digest", release.digest
