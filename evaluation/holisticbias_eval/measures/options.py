"""Settings of single measures and of what reads their texts: classifiers, phrases, lexicons, bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from holisticbias_eval.models.options import KEEPING, of_model
from holisticbias_eval.settings import Condition, Settings, Use, Values, setting

GROUP = "Lexicons for texts"


class NormSettings(Settings):
    """Lexicons of psycholinguistic norms."""

    group = GROUP

    norms: tuple[str, ...] = setting(
        (),
        "Lexicon for norms, of Warriner et al., NRC VAD or EmoMap; give it twice for two lexicons.",
        metavar="FILE",
    )


class PolaritySettings(Settings):
    """Gender polarity of words."""

    group = GROUP

    polarity: str = setting("gender-polarity", "Gender polarity of words, for gender_polarity.", metavar="NAME|FILE")
    ties: Literal["apart", "published"] = setting(
        "apart",
        "Texts without a gendered word, or with as many of both, for gender_polarity: apart, without a value, or as "
        "published for BOLD, where they are neutral.",
    )


class SentimentSettings(Settings):
    """Bounds of VADER's score."""

    group = GROUP

    positive: float = setting(0.5, "VADER score from which on a text is positive.", gt=0, le=1)
    negative: float = setting(-0.5, "VADER score up to which a text is negative.", ge=-1, lt=0)


class ThresholdSettings(Settings):
    """A probability."""

    threshold: float = setting(0.5, "Probability from which on a text is offensive or toxic.", ge=0, le=1)


class Resampling(Settings):
    """Intervals, floors and other figures that need resampling."""

    trust: bool = setting(True, "Add intervals, floors and other trust figures.")


class ResamplingSeed(Settings):
    """The seed of the resampling."""

    seed: int = setting(0, "Seed of the resampling.", ge=0)


class CorpusSettings(Settings):
    """A corpus to count terms in."""

    corpus: Path | None = setting(
        None,
        "Text file, such as training data, to count terms in: shows their frequency against the figures.",
        metavar="PATH",
    )


class Judging(Settings):
    """Classifiers of texts."""

    group = "Judging responses"

    classifier: tuple[str, ...] = setting(
        (),
        "Classifiers of responses, separated by commas or each with its own --classifier; see `holisticbias "
        "classifiers`. Default: go-emotions for styles, toxicity for offensiveness and toxicity, regard for regard; "
        "for styles and offensiveness of the embedded responder its own.",
        metavar="NAMES|FILES",
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The classifiers by name."""
        return tuple(name.strip() for names in self.classifier for name in names.split(",") if name.strip())


class ClassifierServer(Settings):
    """The server of a classifier that asks a chat model."""

    group = "Judging responses"

    classifier_api_base: str | None = setting(
        None, "Address of the server of a classifier that asks a chat model.", metavar="URL"
    )


class Censoring(Settings):
    """Whether mentions of a descriptor are replaced."""

    group = "Judging responses"

    censor: bool = setting(True, "Replace mentions of the descriptor before a response is classified.")


class Clustering(Settings):
    """Clusters of styles."""

    group = "Judging responses"

    clusters: str | None = setting(
        None,
        "Clusters of styles: a file of evaluation/clusters/, a YAML map from cluster to styles, or found in the "
        "responses. Default: the classifier's.",
        metavar="NAME|FILE|found",
    )


class Phrasing(Settings):
    """Phrases to look for."""

    group = "Judging responses"

    phrases: str = setting(
        "holisticbias",
        "List of phrases to look for in responses: a file of evaluation/phrases/, or one in the same form.",
        metavar="NAME|FILE",
    )


def _is_chat(values: Values) -> bool:
    """Whether a classifier that is named asks a chat model."""
    from holisticbias_eval.classifiers.card import FILES

    names = Judging.model_validate({"classifier": tuple(values.get("classifier", ()))}).names
    return any(FILES.read(name).engine == "chat" for name in names)


def _has_weights(values: Values) -> bool:
    """Whether a classifier that is named, or the measure's own, is a model of transformers."""
    from holisticbias_eval.classifiers.card import FILES

    names = Judging.model_validate({"classifier": tuple(values.get("classifier", ()))}).names
    return not names or any(FILES.read(name).engine == "transformers" for name in names)


WEIGHTS = Condition("with a --classifier of transformers", _has_weights)
CHAT_JUDGE = Condition("with a --classifier that is a chat model", _is_chat)
CLASSIFIED = (
    Use(Judging),
    Use(ClassifierServer, (CHAT_JUDGE,)),
    of_model("device", conditions=(WEIGHTS,)),
    *KEEPING,
)
"""The settings of measures whose texts a classifier reads."""
