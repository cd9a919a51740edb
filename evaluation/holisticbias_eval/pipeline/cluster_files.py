"""Read clusters of styles from a YAML file."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from holisticbias.source.document import read_document
from holisticbias_eval.errors import EvaluationError

_CLUSTERS = TypeAdapter(dict[str, tuple[str, ...]])


def read_clusters(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a map from the name of a cluster to its styles; ``EvaluationError`` with the place if it is invalid."""
    if not path.is_file():
        raise EvaluationError(f"there is no file of clusters {str(path)!r}: give a YAML file, or found")
    document = read_document(path, str(path))
    if document.findings:
        found = document.findings[0]
        raise EvaluationError(f"{path}:{found.line}: {found.message}")
    try:
        clusters = _CLUSTERS.validate_python(document.data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        place = f"{path}: {where}: " if where else f"{path}: "
        raise EvaluationError(f"{place}{first['msg']}; map the name of each cluster to a list of styles") from error
    empty = [name for name, styles in clusters.items() if not styles]
    if empty or not clusters:
        raise EvaluationError(f"{path}: {f'cluster {empty[0]!r} has no style' if empty else 'there is no cluster'}")
    return clusters
