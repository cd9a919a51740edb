"""Cards of classifiers, and clusters of their labels: ``evaluation/classifiers/`` and ``evaluation/clusters/``."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.named_files import NamedFiles

Task = Literal["style", "sentiment", "regard", "toxicity", "offensiveness"]
Label = Annotated[str, Field(min_length=1)]
Labels = Annotated[tuple[Label, ...], Field(min_length=1)]
_JUDGING = {"engine", "labels", "activation", "prompt"}


class Card(Record):
    """A file of ``evaluation/classifiers/``: which classifier judges texts, how, and what is known about it.

    ``engine`` names what reads the texts: a model of transformers, a file of
    phrases (``lexicon``), VADER, or a chat model behind a server. ``model`` is
    a Hub repository, a folder, a file, or a server's name for its model; a
    relative path starts at the card's folder.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = Field(min_length=1)
    task: Task
    engine: Literal["transformers", "lexicon", "vader", "chat"]
    model: str | None = Field(None, min_length=1, description="a Hub repository, a folder, a file, or a server's model")
    revision: str | None = Field(None, min_length=1, description="for transformers: commit of the repository")
    labels: tuple[Label, ...] = Field(min_length=2, description="names of the labels, in the order of the classifier")
    activation: Literal["softmax", "sigmoid", "none"] = Field(
        description="softmax: the labels exclude each other; sigmoid: each is judged alone; none: already probabilities"
    )
    clusters: dict[str, tuple[str, ...]] = Field({}, description="clusters of labels, by name")
    offensive: str | None = Field(None, description="the label whose probability is that of an offensive text")
    threshold: float = Field(0.5, ge=0, le=1, description="a text has a label from this probability on")
    prompt: str | None = Field(None, description="for chat: what the model is asked, with {text}")
    licence: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who made it, and where it is described")
    limits: str = Field(min_length=1, description="what it should not be used for, and what is known to go wrong")

    @model_validator(mode="after")
    def _check(self) -> Self:
        unknown = [label for labels in self.clusters.values() for label in labels if label not in self.labels]
        if unknown:
            raise ValueError(f"clusters: there is no label {unknown[0]!r}")
        if self.offensive is not None and self.offensive not in self.labels:
            raise ValueError(f"offensive: there is no label {self.offensive!r}")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("labels: a label stands twice")
        self._check_engine()
        return self

    def _check_engine(self) -> None:
        if (self.model is None) != (self.engine == "vader"):
            raise ValueError("model: vader has none, and every other engine needs one")
        if self.revision is not None and self.engine != "transformers":
            raise ValueError("revision is for the engine transformers")
        if (self.activation == "none") == (self.engine == "transformers"):
            raise ValueError("activation: transformers needs softmax or sigmoid; write none for the other engines")
        if (self.prompt is None) == (self.engine == "chat"):
            raise ValueError("prompt is for the engine chat, which needs it")
        if self.prompt is not None and "{text}" not in self.prompt:
            raise ValueError("prompt: {text} is missing, the place of the text to judge")

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything in the card that probabilities depend on: name, engine, model, and a digest of the rest.

        Title, licence, source, limits, clusters and threshold change no probability.
        """
        digest = hashlib.sha256(self.model_dump_json(include=_JUDGING).encode()).hexdigest()
        named = {"classifier": self.id, "classifier_engine": self.engine, "classifier_card_sha256": digest}
        return named if self.model is None else {**named, "classifier_model": self.model}

    @property
    def about(self) -> Mapping[str, str]:
        """The description of the classifier: title, task, licence, source and limits."""
        return {name: str(getattr(self, name)) for name in ("title", "task", "licence", "source", "limits")}


class Clusters(Record):
    """A file of ``evaluation/clusters/``, for any classifier that has the labels.

    A user's file may be a plain map from cluster to labels.
    """

    id: str | None = None
    title: str | None = None
    source: str | None = None
    clusters: dict[Annotated[str, Field(min_length=1)], Labels] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _plain_map(cls, data: Any) -> Any:
        whole = not isinstance(data, dict) or isinstance(data.get("clusters"), dict)
        return data if whole else {"clusters": data}


CARDS = NamedFiles("classifier", "classifiers", Card, ClassifierError)
CLUSTERS = NamedFiles("file of clusters", "clusters", Clusters, ClassifierError)
