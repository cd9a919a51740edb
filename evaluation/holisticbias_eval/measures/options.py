"""Settings of single measures and of what reads their texts: classifiers, phrases, lexicons, bounds."""

from pathlib import Path

from holisticbias_eval.models.settings import ModelSettings, keeping_uses
from holisticbias_eval.settings import Condition, Settings, Texts, Use, Values, read_settings, setting, split_names


class Resampling(Settings):
    """Intervals, floors and other figures that need resampling."""

    trust: bool = setting(True, "Add intervals, floors and other trust figures.")


class ResamplingSeed(Settings):
    """The seed of the resampling."""

    seed: int = setting(0, "Seed of the resampling.", ge=0)


class CorpusSettings(Settings):
    """A corpus to count descriptors in."""

    corpus: Path | None = setting(
        None,
        "Text file, such as training data, to count descriptors in: shows their frequency against the figures.",
        metavar="PATH",
    )


class Judging(Settings):
    """Classifiers of texts."""

    group = "Judging responses"

    classifier: Texts = setting(
        (),
        "Classifiers of responses, separated by commas or each with its own --classifier; see `holisticbias "
        "classifiers`. Default: go-emotions for styles, toxicity for offensiveness and toxicity, regard for regard; "
        "for styles and offensiveness of the embedded responder its own.",
        metavar="NAMES|FILES",
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The classifiers by name."""
        return split_names(self.classifier)


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
    from holisticbias_eval.readers.card import CARDS

    names = read_settings(Judging, values).names
    return any(CARDS.read(name).engine == "chat" for name in names)


def _has_weights(values: Values) -> bool:
    """Whether a classifier that is named, or the measure's own, is a model of transformers."""
    from holisticbias_eval.readers.card import CARDS

    names = read_settings(Judging, values).names
    return not names or any(CARDS.read(name).engine == "transformers" for name in names)


WEIGHTS = Condition("with a --classifier of transformers", _has_weights)
CHAT_JUDGE = Condition("with a --classifier that is a chat model", _is_chat)
CLASSIFIED = (
    Use(Judging),
    Use(ClassifierServer, (CHAT_JUDGE,)),
    Use(ModelSettings, (WEIGHTS,), ("device",)),
    *keeping_uses(),
)
"""The settings of measures whose texts a classifier reads."""
