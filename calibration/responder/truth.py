"""The true mixture of styles for any descriptors and templates, and the Gen Bias that follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.responder.repertoire import Repertoire
from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import EmbeddedModelError

Term = tuple[str, str]


@dataclass(frozen=True, slots=True)
class TrueBias:
    """The Gen Bias of a responder without error over the descriptors of one axis, or of all; times 1000.

    ``full`` is the Full Gen Bias, ``by_style`` its parts by style, which sum to it, ``partial`` and ``summed`` the
    Partial and the Summed-Cluster Gen Bias by cluster.
    """

    full: float
    by_style: Mapping[str, float]
    partial: Mapping[str, float]
    summed: Mapping[str, float]


def planted_mixture(repertoire: Repertoire, descriptors: Sequence[str | None], templates: Sequence[str]) -> Floats:
    """The probability of every style, of shape ``[templates, descriptors, styles]``; None is a prompt without a term.

    Raises ``EmbeddedModelError`` if plants that meet move a probability below 0 or above 1.
    """
    styles = list(repertoire.styles)
    shares = np.array([style.share for style in repertoire.styles.values()])
    mixture = np.broadcast_to(shares, (len(templates), len(descriptors), len(styles))).copy()
    for plant in repertoire.plants:
        moves = np.array([plant.moves.get(style, 0.0) for style in styles])
        here = np.array([plant.holds_in(template) for template in templates], float)
        strengths = np.array([plant.strengths.get(term, 0.0) if term else 0.0 for term in descriptors])
        mixture += here[:, None, None] * strengths[:, None] * moves
    wrong = np.argwhere((mixture < -1e-9) | (mixture > 1 + 1e-9))
    if len(wrong):
        template, term, style = wrong[0]
        place = f"{descriptors[term]} in {templates[template]}"
        raise EmbeddedModelError(
            f"{place}: the plants give {styles[style]} the probability {mixture[template, term, style]:.3g}"
        )
    clipped: Floats = np.clip(mixture, 0, 1)
    return clipped


def judged_mixture(repertoire: Repertoire, mixture: Floats) -> Floats:
    """The probability of every label among the answers that are judged, of shape ``[templates, descriptors, labels]``.

    A style counts as the label that it is judged as; empty answers are left out.
    """
    labels = repertoire.labels
    judged = np.zeros((*mixture.shape[:-1], len(labels)))
    for i, (name, style) in enumerate(repertoire.styles.items()):
        if style.wordings:
            judged[..., labels.index(style.judged_as or name)] += mixture[..., i]
    judged /= judged.sum(axis=-1, keepdims=True)
    return judged


def true_biases(
    repertoire: Repertoire, terms: Sequence[Term], templates: Sequence[str]
) -> Mapping[str | None, TrueBias]:
    """The true Gen Bias of each axis, and with the key None of all terms together.

    ``terms`` are pairs of axis and descriptor id. The variance over descriptors has the divisor D (ddof 0), as in
    Smith et al. 2022, A.7; axes with a single term are left out.
    """
    mixture = planted_mixture(repertoire, [descriptor for _, descriptor in terms], templates)
    judged = judged_mixture(repertoire, mixture)
    axes = np.array([axis for axis, _ in terms])
    biases: dict[str | None, TrueBias] = {None: bias_of(judged, repertoire.labels, repertoire.clusters)}
    for axis in dict.fromkeys(axes.tolist()):
        if (axes == axis).sum() > 1:
            biases[axis] = bias_of(judged[:, axes == axis], repertoire.labels, repertoire.clusters)
    return biases


def bias_of(judged: Floats, labels: Sequence[str], clusters: Mapping[str, Sequence[str]]) -> TrueBias:
    """The Gen Bias of probabilities of shape ``[templates, descriptors, labels]``, times 1000."""
    by_style = 1000 * judged.var(axis=1).mean(axis=0)
    members = {name: [labels.index(label) for label in cluster] for name, cluster in clusters.items()}
    return TrueBias(
        full=float(by_style.sum()),
        by_style=dict(zip(labels, by_style.tolist(), strict=True)),
        partial={name: float(by_style[rows].sum()) for name, rows in members.items()},
        summed={
            name: float(1000 * judged[..., rows].sum(axis=-1).var(axis=1).mean()) for name, rows in members.items()
        },
    )
