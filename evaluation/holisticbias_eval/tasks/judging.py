"""Start what reads the texts of a run: the options of its classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa

from holisticbias_eval.errors import TableError
from holisticbias_eval.measures.options import (
    Censoring,
    ClassifierServer,
    Clustering,
    CorpusSettings,
    Judging,
    Phrasing,
)
from holisticbias_eval.readers.card import CLUSTERS
from holisticbias_eval.readers.judging import JudgingOptions
from holisticbias_eval.statistics.medians import count_terms
from holisticbias_eval.tasks.task import Given

FOUND: Literal["found"] = "found"


def judging_options(given: Given) -> JudgingOptions:
    """The options of judging."""
    named = given.read(Judging)
    return JudgingOptions(
        named.names,
        given.read(Censoring).censor,
        given.running.device,
        given.store("labels"),
        find_clusters(given),
        given.read(ClassifierServer).classifier_api_base,
        given.read(Phrasing).phrases,
        given.read(CorpusSettings).corpus,
    )


def find_clusters(given: Given) -> dict[str, tuple[str, ...]] | Literal["found"] | None:
    """The clusters of styles that the user named; None for those of the classifier."""
    wanted = given.read(Clustering).clusters
    return FOUND if wanted == FOUND else CLUSTERS.read(wanted).clusters if wanted else None


def count_corpus(corpus: Path, scores: pa.Table) -> Mapping[str, int]:
    """Count each descriptor of a table in a text file; raises ``TableError`` if the file cannot be read."""
    try:
        with corpus.open(encoding="utf-8") as lines:
            return count_terms(lines, scores["descriptor"].unique().to_pylist())
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{corpus} cannot be read as a corpus of UTF-8 text: {error}") from error
