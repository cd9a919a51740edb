"""What every form of the report says in words: caveats, labels, sizes of differences, the signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holisticbias_eval.report.numbers import model_title, show, title
from holisticbias_eval.report.trust import nats_per
from holisticbias_eval.report.wording import wording_of
from holisticbias_eval.results.run import ModelSignature, Result, Signature
from holisticbias_eval.statistics.shares import SIGNIFICANCE

CAVEATS = {
    "verdict": (
        "A difference is not a verdict.",
        "A sentence may be less likely because a word is rare, long or new to the model, or because the model has "
        "learnt a prejudice. The figures show where a model treats people's words differently; people judge which "
        "differences harm.",
    ),
    "size": (
        "Significant is not large.",
        "A test says that a difference is more than chance, however small it is; effect sizes say how large it is. "
        "Tests that pair the same nouns call differences significant that nobody would notice.",
    ),
    "tests": (
        "The tests are not corrected for their number,",
        "as in the paper, and most pairs of descriptors also differ in length.",
    ),
    "language": (
        "The words are American English,",
        "gathered with people who use them, and never complete. No result here holds for another language or place.",
    ),
    "preferences": (
        "What communities prefer to be called is theirs to say.",
        "The labels beside terms are judgements of named sources at a time. They can be wrong, they differ within "
        "communities, and they are revised. Some words are out of date or hurt; they are measured because people still "
        "write them and models learn from that.",
    ),
}
SCOPE = tuple(CAVEATS.values())

PREFERENCES = {
    "reviewed": ("Reviewed", "Reviewed by people with lived experience; none recorded an objection."),
    "dispreferred": ("Dispreferred", "People with lived experience said that they would rather not be called so."),
    "polarizing": ("Polarizing", "People with lived experience disagree, or say that their community does."),
    "no_data": ("No assessment", "Too few judgements are on record; this says nothing about the term."),
}


def run_title(signature: Signature) -> str:
    """A run as its model and release."""
    release = signature.release
    subset = f", subset “{release.subset}”" if release.subset else ""
    return f"{model_title(signature.model.name)} on HolisticBias {release.version}{subset}"


def measured(signature: Signature) -> str:
    """What was measured, on what."""
    wording = wording_of(signature.measures)
    return (
        f"{signature.sentences_scored:,} {wording.scored}. {wording.bias}: the share of pairs of descriptors of an "
        f"axis whose {wording.of} differ in {wording.value} (p < {SIGNIFICANCE:g})."
    )


def size_of_differences(result: Result) -> str | None:
    """How many of the differences are large, by the paper's test and by the paired one, in words."""
    trust = result.trust
    if trust is None:
        return None
    pairs = {s.axis: s.pairs for s in result.likelihood_bias.by_axis}
    large = _pooled((t.effects.large, pairs[t.axis]) for t in trust.by_axis)
    paired = _pooled((t.paired.wilcoxon, pairs[t.axis]) for t in trust.by_axis)
    paired_large = _pooled((t.paired.large, pairs[t.axis]) for t in trust.by_axis)
    nats = [t.effects.nats for t in trust.by_axis if t.effects.nats is not None]
    if large is None or not nats:
        return None
    words = f"{show(large, 'share')} of all tests find a difference that is large (rank-biserial 0.43 or more). "
    if paired is not None:
        words += f"The paired tests find one in {show(paired, 'share')}, however small it is"
        words += f", and a large one in {show(paired_large, 'share')}. " if paired_large is not None else ". "
    low, high = (show(end, "effect") for end in (min(nats), max(nats)))
    per = nats_per(trust, wording_of(result.signature.measures))
    return words + f"The median difference of an axis lies between {low} and {high} nats a {per}."


def _pooled(weighted: Iterable[tuple[float | None, int]]) -> float | None:
    """The mean of the shares that are known, by their numbers of pairs."""
    known = [(share, pairs) for share, pairs in weighted if share is not None]
    total = sum(pairs for _, pairs in known)
    return sum(share * pairs for share, pairs in known) / total if total else None


def architecture(model: ModelSignature) -> str:
    """The kind of model, and its size where that is known."""
    size = "size not known" if model.parameters is None else f"{model.parameters:,} parameters"
    return f"{model.architecture}, {size}, {model.dtype}"


def signature_rows(signature: Signature) -> Iterator[tuple[str, str]]:
    """What the figures depend on, by name."""
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
    yield "Revision", model.revision or "none recorded"
    yield "Weights, SHA-256", model.weights_sha256 or "none recorded"
    if model.quantization:
        yield "Quantization", model.quantization
    if model.file_sha256:
        yield "File, SHA-256", model.file_sha256
    yield "Release", release.version + (f", subset {release.subset}" if release.subset else "")
    yield "Release, digest of the rows", release.digest
    yield "Sentences", f"{signature.sentences_scored:,} scored of {signature.sentences_available:,} available"
    for name, value in signature.scoring.items():
        yield title(name), value
    yield "Measures", ", ".join(signature.measures)
    for name, value in signature.measuring.items():
        yield title(name), value
    yield "Skipped", "; ".join(f"{s.sentences:,}: {s.reason}" for s in signature.skipped) or "nothing"
    yield "Machine", signature.machine
    yield "Versions", ", ".join(f"{name} {version}" for name, version in signature.versions.items())
