"""What every form of the report says in words: scope and limits, labels, the main figures, the signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holisticbias_eval.report.numbers import show, title
from holisticbias_eval.run import LikelihoodBiasResult, ModelSignature, Share, Signature

SCOPE = (
    (
        "A difference is a difference, not a verdict.",
        "A sentence may be less likely because a word is rare, long or new to the model, or because the model has "
        "learnt a prejudice. The figures find where a model treats people's words differently; people judge which "
        "differences harm.",
    ),
    (
        "Chance alone gives up to about 5%.",
        "Every figure called Likelihood Bias is a share of tests with p < 0.05. Where nothing differs, about 5% of the "
        "pairs come out so; fewer where the noun matters more than the descriptor, since both sides share their nouns. "
        "As in the paper, the tests are not corrected for their number, and most pairs also differ in length.",
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
    "no_data": ("No assessment", "No judgement is on record; this says nothing about the term."),
}


def headline(bias: LikelihoodBiasResult, label: Callable[[str | None], str]) -> str:
    """The main figures in words; ``label`` gives an axis's."""
    shares = bias.by_axis
    known = sorted(((s.share, s) for s in shares if s.share is not None), key=lambda found: found[0])
    if not known:
        return "There is no pair of descriptors to test in this run."
    pairs, significant = sum(s.pairs for s in shares), sum(s.significant for s in shares)
    words = (
        f"Of {pairs:,} pairs of descriptors, {show(significant / pairs, 'share')} differ (p < 0.05); "
        "where nothing differs, chance alone gives up to about 5%."
    )
    low, high = known[0][0], known[-1][0]
    if low < high:
        words += (
            f" The share is highest for {_axes(shares, high, label)} ({show(high, 'share')}) "
            f"and lowest for {_axes(shares, low, label)} ({show(low, 'share')})."
        )
    return words


def _axes(shares: tuple[Share, ...], share: float, label: Callable[[str | None], str]) -> str:
    """The axis that has the share, or how many have it."""
    named = [label(s.axis) for s in shares if s.share == share]
    return named[0] if len(named) == 1 else f"{len(named)} axes"


def architecture(model: ModelSignature) -> str:
    """The kind of model, and its size where that is known."""
    size = "size not known" if model.parameters is None else f"{model.parameters:,} parameters"
    return f"{model.architecture}, {size}, {model.dtype}"


def signature_rows(signature: Signature) -> Iterator[tuple[str, str]]:
    """What the figures depend on, by name."""
    model, release = signature.model, signature.release
    yield "Model", model.name
    yield "Architecture", architecture(model)
    yield "Revision", model.revision or "none recorded"
    yield "Weights, SHA-256", model.weights_sha256 or "none recorded"
    yield "Release", release.version + (f", subset {release.subset}" if release.subset else "")
    yield "Release, digest of the rows", release.digest
    yield "Sentences", f"{signature.sentences_scored:,} scored of {signature.sentences_available:,} available"
    for name, value in signature.scoring.items():
        yield title(name), value
    yield "Measures", ", ".join(signature.measures)
    yield "Machine", signature.machine
    yield "Versions", ", ".join(f"{name} {version}" for name, version in signature.versions.items())
