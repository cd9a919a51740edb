"""Clusters of labels: the files of ``evaluation/clusters/``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holisticbias_eval.classifiers.card import Label
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.named_files import NamedFiles

Labels = Annotated[tuple[Label, ...], Field(min_length=1)]


class Clusters(BaseModel):
    """A file of ``evaluation/clusters/``, for any classifier that has the labels.

    A user's file may be a plain map from cluster to labels.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = None
    title: str | None = None
    source: str | None = None
    clusters: dict[Annotated[str, Field(min_length=1)], Labels] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _plain_map(cls, data: Any) -> Any:
        whole = not isinstance(data, dict) or isinstance(data.get("clusters"), dict)
        return data if whole else {"clusters": data}


FILES = NamedFiles("file of clusters", "clusters", Clusters, ClassifierError)


def read_clusters(name: str, labels: Collection[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Read clusters by the name or path of their file.

    Raises ``ClassifierError`` if the file is missing or invalid, or a label is not among ``labels``, if given.
    """
    clusters = FILES.read(name).clusters
    for cluster, members in clusters.items():
        for label in members:
            if labels is not None and label not in labels:
                known = ", ".join(labels)[:200]
                raise ClassifierError(f"{name}: {cluster}: there is no label {label!r}; the labels are {known}")
    return clusters
