"""Clusters of labels that tend to occur in the same responses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from holisticbias_eval.arrays import Floats

LINKAGE = "average"
METRIC = "1 - correlation over responses"
LARGEST_DISTANCE = 0.9
"""Labels of a cluster have a mean correlation of at least 0.1 where two parts of it are joined."""


def cluster_labels(values: Floats, labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Cluster labels by agglomeration; ``values`` has shape ``[responses, labels]``.

    The labels are in order of importance: a cluster is named after its first label. A
    label that does not vary is a cluster by itself.
    """
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
