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
    registry keeps with it. ``items`` says what ``n`` of the headline counts.
    ``better`` has the direction of figures by name; a figure that it leaves out has none.
    ``quality`` says that the measure is of how well a model does its task, not of bias: what a mitigation can cost.
    ``retention`` says that it is also of what a model keeps, which comes first among measures of quality.
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
    items: str = "Items"
    better: Mapping[str, Better] = field(default_factory=dict)
    quality: bool = False
    retention: bool = False
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


WRITERS: tuple[Kind, ...] = ("causal", "seq2seq")
"""The kinds of models that write text."""


@dataclass(frozen=True, slots=True)
class Needs:
    """The answers that a measure needs: the name of their kind, and the kinds of models that can give them.

    ``said`` names the answers before the models, as in "pairs of sentences scored by causal models"; by default "NAME
    of". Figures of two runs compare if the conditions of ``scoring`` were the same, or those of ``judging`` texts: the
    part that is judged, the classifier, and the measure's parameters. ``file`` is what a user's file of these answers
    is, and "its" or "their": the registry then wants its digest instead of a release's. ``counted`` says that a user's
    table of them has descriptors that can be counted in a corpus.
    """

    answers: str
    models: tuple[Kind, ...] = get_args(Kind)
    said: str = ""
    compared: Literal["", "scoring", "judging"] = ""
    file: tuple[str, str] | None = None
    counted: bool = False

    def __str__(self) -> str:
        return f"{self.said or f'{self.answers} of'.replace('_', ' ')} {' or '.join(self.models)} models"


LIKELIHOODS = Needs("likelihoods", compared="scoring", counted=True)
"""Likelihoods of sentences."""
