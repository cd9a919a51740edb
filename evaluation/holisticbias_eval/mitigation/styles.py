"""Training texts of a model's own responses: what the methods of styles share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.measures.options import CHAT_JUDGE, ClassifierServer, Judging
from holisticbias_eval.measures.responses.styles import style_names
from holisticbias_eval.mitigation.method import TRAINED, Method
from holisticbias_eval.mitigation.settings import Tagging
from holisticbias_eval.models.generation.conversation import ConversationSettings
from holisticbias_eval.models.generation.frame import close_with
from holisticbias_eval.readers.classifier import PREFIX
from holisticbias_eval.settings import Chosen, Condition, ReleaseName, Use, is_one_of
from holisticbias_eval.statistics.cells import encode, floats
from holisticbias_eval.statistics.medians import group_rows
from holisticbias_eval.statistics.responses.cells import descriptor_column
from holisticbias_eval.tasks.response_settings import DecodingName, Samples

BIAS, NO_BIAS = "bias", "no_bias"


JUDGING = ("classifier", "classifier_api_base")
ANSWERING = ("per_cell", "where", "decoding", "system", "separator", "continuation", *JUDGING)
"""The settings of the responses that are trained on and measured, besides the seed."""
_ASKED = Condition(
    "without --responses and --no-measure together",
    lambda values: values.get("responses") is None or not values.get("no_measure"),
)
_NO_THRESHOLD = Condition("without --threshold", is_one_of("threshold", None))


@dataclass(frozen=True, slots=True)
class Valued:
    """Responses with a bias value, the values, the threshold, and counts of the responses that are left out."""

    rows: pa.Table
    values: Floats
    threshold: float
    left_out: Mapping[str, int]

    @property
    def biased(self) -> Bools:
        """Whether the value of each response is above the threshold."""
        above: Bools = self.values > self.threshold
        return above


class StyleMethod(Method):
    """A method that trains on a model's own responses, judged by a classifier of styles.

    Its examples have ``axis``, ``descriptor`` and ``template``, the columns ``p:STYLE``, ``before``, the context up to
    the end of the prompt, ``close``, the rest of it, and ``text``, the response as the model writes it.
    """

    uses = (
        Use(Tagging, fields=("responses", "alpha", "threshold")),
        Use(Tagging, (_NO_THRESHOLD,), ("quantile",)),
        Use(Samples, (_ASKED,)),
        Use(Chosen, (_ASKED,), ("where",)),
        Use(DecodingName, (_ASKED,)),
        Use(ConversationSettings, (_ASKED,), ("system", "separator", "continuation")),
        Use(Judging, (_ASKED,)),
        Use(ClassifierServer, (_ASKED, CHAT_JUDGE)),
        Use(ReleaseName, (_ASKED,)),
        *TRAINED,
    )

    defaults: ClassVar[Mapping[str, Any]] = {"batch": 16, "warmup": 100, "learning_rate": 3e-6}

    @abstractmethod
    def tags(self, valued: Valued) -> Sequence[str | None]:
        """The tag at the end of the context of each response, null if there is none."""

    def style_texts(self, valued: Valued) -> pa.Table:
        """The ``context`` and ``text`` of each response, and the ``tag`` in its context."""
        tags = self.tags(valued)
        parts = zip(valued.rows["before"].to_pylist(), valued.rows["close"].to_pylist(), tags, strict=True)
        contexts = [before + close_with(close, tag or "") for before, close, tag in parts]
        columns = {"context": pa.array(contexts, pa.string()), "text": valued.rows["text"]}
        return pa.table({**columns, "tag": pa.array(tags, pa.string())})


def value_responses(examples: pa.Table, settings: Tagging) -> Valued:
    """Value responses and choose the threshold; raises ``MitigationError`` if no response has a value.

    Responses that are not judged, and those without a defined value, are left out and counted.
    """
    styles = np.stack([floats(examples[PREFIX + style]) for style in style_names(examples)], axis=1)
    descriptors, _ = group_rows(examples, ("axis", descriptor_column(examples)))
    _, templates = encode(examples["template"])
    values = bias_values(styles, descriptors, templates, settings.alpha)
    judged, defined = ~np.isnan(styles).any(axis=1), ~np.isnan(values)
    threshold = choose_threshold(values, settings)
    left_out = {"not_judged": int((~judged).sum()), "no_value": int((judged & ~defined).sum())}
    return Valued(examples.filter(pa.array(defined)), values[defined], threshold, left_out)


def bias_values(styles: Floats, descriptors: Ints | Int32s, templates: Ints, alpha: int = 0) -> Floats:
    """The bias value of each response, NaN where it is not defined.

    ``styles`` are probabilities of shape ``[responses, styles]``, NaN in the rows of responses that were not judged;
    ``descriptors`` and ``templates`` number the descriptor and the template of each response from 0.

        b = (p - m) . (m_d - m) / |m_d - m| ** alpha

    ``p`` is the style vector of a response; ``m_d`` the mean over templates of the mean of the descriptor's responses
    in each; ``m`` the mean of ``m_d`` over descriptors. With ``alpha`` above 0 the value is not defined for a
    descriptor whose mean is ``m``. Its mean over a descriptor's templates is ``|m_d - m| ** (2 - alpha)``. Smith et al.
    2022, C.1.
    """
    judged = ~np.isnan(styles).any(axis=1)
    means = balanced_means(styles[judged], descriptors[judged], templates[judged])
    found = np.full(len(styles), np.nan)
    if not len(means):
        return found
    middle = np.nanmean(means, axis=0)
    away = means - middle
    along = np.einsum("ij,ij->i", styles[judged] - middle, away[descriptors[judged]])
    length = np.linalg.norm(away, axis=1)[descriptors[judged]]
    divisor = np.where(length > 0, length**alpha, 1.0 if alpha == 0 else np.nan)
    found[judged] = along / divisor
    return found


def balanced_means(values: Floats, descriptors: Ints | Int32s, templates: Ints) -> Floats:
    """The mean of each descriptor over its templates, each the mean of its responses; NaN without responses.

    Shape ``[descriptors, columns]`` for values of shape ``[responses, columns]``.
    """
    if not len(values):
        return np.empty((0, values.shape[1]))
    cells, cell, count = np.unique(
        np.stack([descriptors, templates], axis=1), axis=0, return_inverse=True, return_counts=True
    )
    sums = np.zeros((len(cells), values.shape[1]))
    np.add.at(sums, cell.ravel(), values)
    means = np.zeros((int(descriptors.max()) + 1, values.shape[1]))
    np.add.at(means, cells[:, 0], sums / count[:, None])
    known = np.bincount(cells[:, 0], minlength=len(means))
    return np.where(known[:, None] > 0, means / np.maximum(known, 1)[:, None], np.nan)


def choose_threshold(values: Floats, settings: Tagging) -> float:
    """The threshold that is given, or else the value above which the share ``1 - quantile`` of defined values lies.

    Raises ``MitigationError`` if no value is defined.
    """
    if np.isnan(values).all():
        raise MitigationError("no response has a bias value: the responses need probabilities of styles that differ")
    if settings.threshold is not None:
        return settings.threshold
    return float(np.nanquantile(values, settings.quantile))
