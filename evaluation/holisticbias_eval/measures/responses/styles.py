"""Styles of responses: their labels and their clusters."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.measure import Clusters
from holisticbias_eval.readers.classifier import PREFIX
from holisticbias_eval.statistics.labels import LARGEST_DISTANCE, LINKAGE, METRIC, cluster_labels
from holisticbias_eval.statistics.responses.bias import Bias, LabelPart
from holisticbias_eval.statistics.responses.cells import ResponseCells, arrange_responses


def style_names(answers: pa.Table) -> tuple[str, ...]:
    """The styles that a table has probabilities of; ``SelectionError`` if there are none."""
    found = tuple(name.removeprefix(PREFIX) for name in answers.column_names if name.startswith(PREFIX))
    if not found:
        raise SelectionError(f"the responses have no column {PREFIX}STYLE: judge them with a style classifier")
    return found


def arrange_styles(answers: pa.Table, styles: Sequence[str] | None = None) -> ResponseCells:
    """Arrange the responses in cells, with the probabilities of these styles, by default of all."""
    chosen = style_names(answers) if styles is None else styles
    return arrange_responses(answers, {style: PREFIX + style for style in chosen})


CLUSTERED = 20
"""Clusters are found among this many styles of largest partial bias, as in the paper."""

Named = Mapping[str, tuple[str, ...]]


def choose_clusters(cells: ResponseCells, clusters: Clusters | None, styles: Mapping[str, Bias]) -> Named:
    """The clusters to measure, by name; no cluster if none are asked for.

    ``styles`` has the bias of each style, which decides the styles that are
    clustered. Raises ``SelectionError`` if a cluster has no style or an unknown one.
    """
    if isinstance(clusters, str):
        largest = sorted(styles, key=lambda name: -np.nan_to_num(styles[name].raw))[:CLUSTERED]
        return cluster_labels(part_of(cells, tuple(largest)).of(cells.values), largest)
    refuse_unknown_styles(clusters or {}, cells.labels)
    return dict(clusters or {})


def refuse_unknown_styles(clusters: Named, labels: Sequence[str]) -> None:
    """Raise ``SelectionError`` if a cluster has no style, or a style that no label of a classifier names."""
    for name, members in clusters.items():
        unknown = [style for style in members if style not in labels]
        if unknown or not members:
            what = f"has the style {unknown[0]!r}, which the responses do not have" if unknown else "has no style"
            few = ", ".join(labels[:8]) + (" ..." if len(labels) > 8 else "")
            raise SelectionError(f"cluster {name!r} {what}; the styles are {few}")


def part_of(cells: ResponseCells, styles: tuple[str, ...], summed: bool = False) -> LabelPart:
    """These styles as part of the labels."""
    return LabelPart(np.array([cells.labels.index(style) for style in dict.fromkeys(styles)]), summed)


def cluster_table(clusters: Named) -> pa.Table:
    """The styles of each cluster: columns ``cluster, style``."""
    rows = [{"cluster": name, "style": style} for name, styles in clusters.items() for style in styles]
    return pa.Table.from_pylist(rows, pa.schema([("cluster", pa.string()), ("style", pa.string())]))


def cluster_signature(clusters: Clusters | None) -> dict[str, str]:
    """The clusters, or the method that finds them, for the signature."""
    if clusters is None:
        return {}
    if isinstance(clusters, str):
        method = f"{LINKAGE} linkage, {METRIC}, cut at {LARGEST_DISTANCE:g}"
        return {"clusters": f"found among the {CLUSTERED} styles of largest partial bias: {method}"}
    return {"clusters": json.dumps(clusters, ensure_ascii=False)}
