"""The description of a measure: what it says of itself, and the answers that it needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.models.model import Kind

Better = Literal["lower", "higher", "nearer zero", "nearer one half", "none"]
"""The direction in which a change of a figure is a gain; ``none`` if a change is only a change."""
NEUTRAL: Mapping[Better, float] = {"nearer zero": 0.0, "nearer one half": 0.5}
"""The best value of figures that have one."""


@dataclass(frozen=True, slots=True)
class Info:
    """The description of a measure, as ``holisticbias measures`` prints it.

    ``headline`` names the figure that is shown when runs are compared and
    results are listed, ``by`` its keys, and ``beside`` further figures that the
    registry keeps with it. ``better`` has the direction of figures by name; a figure that it leaves out has none.
    ``quality`` says that the measure is of how well a model does its task, not of bias: what a mitigation can cost.
    ``names`` has words for figures in a table of several measures, where the measure's title does not say enough.
    ``main`` has the figures that stand for the measure in such a table, with the keys that they must have, such as one
    of several scales; the others are details. Without it all are shown. ``levels`` has figures of how much there is of
    something unwanted, such as negative texts, with their keys; lower is better.
    """

    name: str
    title: str
    summary: str
    direction: str
    limits: str
    source: str
    headline: str
    by: tuple[str, ...] = ("axis",)
    beside: tuple[str, ...] = ()
    better: Mapping[str, Better] = field(default_factory=dict)
    quality: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    main: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def neutral(self) -> float:
        """The value of the headline figure without a difference: its best value, else 0."""
        return NEUTRAL.get(self.better.get(self.headline, "none"), 0.0)

    def is_level(self, change: Figure) -> bool:
        """Whether a change is of a level; ``of`` names the figure that changes."""
        keys = self.levels.get(change.of or "")
        return keys is not None and keys.items() <= change.keys.items() and set(change.keys) <= {*self.by, *keys}

    def headlines(self, figures: Figures, name: str = "") -> tuple[Figure, ...]:
        """The figures of a name, by default the headline, with the keys ``by``; without ``domain`` if none has one."""
        chosen = name or self.headline
        without = [key for key in self.by if key != "domain"]
        return figures.by(self.name, chosen, *self.by) or figures.by(self.name, chosen, *without)


Answers = str
"""What a table of answers has: likelihoods of sentences, or responses with probabilities of styles, with
probabilities of being offensive, or with their text; texts about groups with the values of a measure; pairs of
sentences with both scores; the same sentences about several groups with their likelihoods; likelihoods of lines of a
text; candidates of a classification task; the numbers that another program reports; or the likelihoods of sentences
with two descriptors, summarised by their descriptors. A new task
names its own kind."""

_ANSWERS: Mapping[Answers, str] = {
    "likelihoods": "likelihoods",
    "labels": "responses judged by a style classifier,",
    "offensiveness": "texts judged by an offensiveness classifier,",
    "responses": "responses",
    "texts": "texts about groups",
    "pairs": "pairs of sentences scored by",
    "group_sentences": "sentences about several groups scored by",
    "lines": "likelihoods of lines of a text",
    "candidates": "answers to a classification task after fine-tuning",
    "results": "numbers that another program reports",
    "intersections": "likelihoods of sentences with two descriptors",
}
_MODELS: Mapping[bool, tuple[Kind, ...]] = {True: get_args(Kind), False: ("causal", "seq2seq")}
_WRITTEN = ("labels", "offensiveness", "responses", "texts")


@dataclass(frozen=True, slots=True)
class Needs:
    """The answers that a measure needs, and the kinds of models that can give them.

    By default these are the kinds that generate text for responses, and all kinds for other answers.
    """

    answers: Answers = "likelihoods"
    models: tuple[Kind, ...] = ()

    def __post_init__(self) -> None:
        if not self.models:
            object.__setattr__(self, "models", _MODELS[self.answers not in _WRITTEN])

    def __str__(self) -> str:
        of = "" if self.answers in ("pairs", "group_sentences") else "of "
        named = _ANSWERS.get(self.answers, self.answers.replace("_", " "))
        return f"{named} {of}{' or '.join(self.models)} models"
