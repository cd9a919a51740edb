"""What every form of the report says in words: scope and limits, labels, the main figures, the signature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holisticbias_eval.measures.records import Trust
from holisticbias_eval.report.numbers import model_title, show, title
from holisticbias_eval.report.trust import nats_per
from holisticbias_eval.report.wording import wording_of
from holisticbias_eval.run import ModelSignature, Result, Share, Signature

SCOPE = (
    (
        "A difference is a difference, not a verdict.",
        "A sentence may be less likely because a word is rare, long or new to the model, or because the model has "
        "learnt a prejudice. The figures find where a model treats people's words differently; people judge which "
        "differences harm.",
    ),
    (
        "Chance alone gives up to about 5%.",
        "Every share of pairs that differ is a share of tests with p < 0.05. Where nothing differs, about 5% of the "
        "pairs come out so; fewer where the noun matters more than the descriptor, since both sides share their nouns. "
        "As in the paper, the tests are not corrected for their number, and most pairs also differ in length.",
    ),
    (
        "Significant is not large.",
        "A test says that a difference is not chance, however small it is; effect sizes beside it say how large it is. "
        "Tests that pair the same nouns call differences significant that nobody would notice.",
    ),
    (
        "The words are American English,",
        "gathered with people who use them, and never complete. No result here holds for another language or place.",
    ),
    (
        "What communities prefer to be called is theirs to say.",
        "The labels beside terms are judgements of named sources at a time. They can be wrong, they differ within "
        "communities, and they are revised. Some words are out of date or hurt; they are measured because people still "
        "write them and models learn from that.",
    ),
)

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


def headline(result: Result, label: Callable[[str | None], str]) -> str:
    """The main figures in words; ``label`` gives an axis's."""
    shares = result.likelihood_bias.by_axis
    known = sorted(((s.share, s) for s in shares if s.share is not None), key=lambda found: found[0])
    if not known:
        return "There is no pair of descriptors to test in this run."
    pairs, significant = sum(s.pairs for s in shares), sum(s.significant for s in shares)
    words = (
        f"Of {pairs:,} tests of two descriptors in a template, {show(significant / pairs, 'share')} find a difference "
        "(p < 0.05); where nothing differs, chance alone gives up to about 5%."
    )
    low, high = known[0][0], known[-1][0]
    if low < high:
        words += (
            f" The share is highest for {_axes(shares, high, label)} ({show(high, 'share')}) "
            f"and lowest for {_axes(shares, low, label)} ({show(low, 'share')})."
        )
    return words + (_beyond_chance(result.trust, label) if result.trust else "")


def _axes(shares: tuple[Share, ...], share: float, label: Callable[[str | None], str]) -> str:
    """The axis that has the share, or how many have it."""
    named = [label(s.axis) for s in shares if s.share == share]
    return named[0] if len(named) == 1 else f"{len(named)} axes"


def axes_beyond_chance(trust: Trust) -> tuple[str | None, ...]:
    """The axes whose share lies above the middle 95 % of what descriptors give that change places."""
    return tuple(
        t.axis
        for t in trust.by_axis
        if t.share is not None and t.floor_interval is not None and t.share > t.floor_interval.high
    )


def _beyond_chance(trust: Trust, label: Callable[[str | None], str]) -> str:
    """Which axes differ by more than descriptors that change places, in words; and which do not."""
    known = [t.axis for t in trust.by_axis if t.share is not None and t.floor_interval is not None]
    beyond = axes_beyond_chance(trust)
    if not known:
        return ""
    if len(beyond) in (0, len(known)):
        return f" It lies above what permuted descriptors give for {'every' if beyond else 'no'} axis."
    few = len(beyond) <= len(known) / 2
    named = [label(axis) for axis in known if (axis in beyond) == few]
    return f" It lies above what permuted descriptors give for {'' if few else 'all axes but '}{_listed(named)}" + (
        f", and for none of the {len(known) - len(beyond)} others." if few else "."
    )


def _listed(names: list[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


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
    yield "Revision", model.revision or "none recorded"
    yield "Weights, SHA-256", model.weights_sha256 or "none recorded"
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
