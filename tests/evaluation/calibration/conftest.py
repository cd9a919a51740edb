"""Sentences of version 1.0.0, scored by the calibration model."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from holisticbias.release.release import Release
from holisticbias_eval.models.engines import start_scorer
from holisticbias_eval.models.likelihood.scorer import score_spans, with_scores
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.prompts.selection import filter_sentences, select_compared
from known import ignore


@pytest.fixture(scope="session")
def score(release: Release) -> Callable[..., pa.Table]:
    """Score the sentences that meet filters such as ``axis=age,nonce``."""

    def scored(*where: str) -> pa.Table:
        few = filter_sentences(select_compared(release.sentences), where)
        scorer = start_scorer(None, ignore)
        return with_scores(few, score_spans(whole(few["text"].to_pylist()), scorer, ignore))

    return scored
