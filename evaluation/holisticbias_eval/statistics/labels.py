"""Labels: agreement of the people who give them, and clusters of labels that occur together."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from holisticbias_eval.arrays import Floats

Agreement = tuple[float | None, int]
_LABELS = (0.0, 1.0)


def agreement_figures(labels: Floats) -> dict[str, Agreement]:
    """Raw agreement, Krippendorff's alpha and Fleiss' kappa of all raters, by name."""
    return {
        "raw": raw_agreement(labels),
        "krippendorff_alpha": krippendorffs_alpha(labels),
        "fleiss_kappa": fleiss_kappa(labels),
    }


def raw_agreement(labels: Floats) -> Agreement:
    """The share of pairs of labels of the same example that are equal."""
    pairs = [_complete(labels[:, list(two)]) for two in combinations(range(labels.shape[1]), 2)]
    equal = np.concatenate([both[:, 0] == both[:, 1] for both in pairs] or [np.zeros(0)])
    return (float(equal.mean()) if len(equal) else None), len(_rated_twice(labels))


def cohens_kappa(first: Floats, second: Floats) -> Agreement:
    """Cohen's kappa of two raters, over the examples that both have labelled (Cohen 1960)."""
    from statsmodels.stats.inter_rater import cohens_kappa as kappa

    both = _complete(np.column_stack([first, second]))
    table = [[int(((both[:, 0] == a) & (both[:, 1] == b)).sum()) for b in _LABELS] for a in _LABELS]
    return _value(lambda: kappa(np.array(table), return_results=False), both), len(both)


def fleiss_kappa(labels: Floats) -> Agreement:
    """Fleiss' kappa, over the examples with equally many labels, of whichever raters (Fleiss 1971).

    The number of labels is the commonest above one, and the larger of two equally common.
    """
    from statsmodels.stats.inter_rater import fleiss_kappa as kappa

    rated = _rated_twice(labels)
    given = (~np.isnan(rated)).sum(axis=1)
    sizes = np.bincount(given) if len(given) else np.zeros(1)
    rated = rated[given == len(sizes) - 1 - int(np.argmax(sizes[::-1]))]
    counts = np.column_stack([(rated == label).sum(axis=1) for label in _LABELS])
    return _value(lambda: kappa(counts, method="fleiss"), rated), len(rated)


def krippendorffs_alpha(labels: Floats) -> Agreement:
    """Krippendorff's alpha for nominal labels, over the examples with two labels or more (Krippendorff 2011)."""
    import krippendorff

    rated = _rated_twice(labels)
    return _value(lambda: krippendorff.alpha(rated.T, level_of_measurement="nominal"), rated), len(rated)


def _complete(labels: Floats) -> Floats:
    """The examples with a label of every rater."""
    return labels[~np.isnan(labels).any(axis=1)]


def _rated_twice(labels: Floats) -> Floats:
    """The examples with two labels or more."""
    return labels[(~np.isnan(labels)).sum(axis=1) >= 2]


def _value(figure: Callable[[], float], labels: Floats) -> float | None:
    """The figure, null if it is undefined: without both labels among the examples nothing can disagree by chance."""
    return float(figure()) if len(np.unique(labels[~np.isnan(labels)])) > 1 else None


LINKAGE = "average"
METRIC = "1 - correlation over responses"
LARGEST_DISTANCE = 0.9
"""Labels of a cluster have a mean correlation of at least 0.1 where two parts of it are joined."""


def cluster_labels(values: Floats, labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Cluster labels by agglomeration; ``values`` has shape ``[responses, labels]``.

    The labels are in order of importance: a cluster is named after its first label. A
    label that does not vary is a cluster by itself.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    varying = [i for i in range(len(labels)) if np.ptp(values[:, i]) > 0]
    number = {i: -1 - i for i in range(len(labels))}
    if len(varying) > 1:
        distance = np.asarray(1 - np.corrcoef(values[:, varying].T))
        np.fill_diagonal(distance, 0)
        tree = linkage(squareform(np.maximum(distance, 0), checks=False), method=LINKAGE)
        number |= dict(zip(varying, fcluster(tree, LARGEST_DISTANCE, criterion="distance").tolist(), strict=True))
    members: dict[int, list[str]] = {}
    for i, label in enumerate(labels):
        members.setdefault(number[i], []).append(label)
    return {names[0]: tuple(names) for names in members.values()}
