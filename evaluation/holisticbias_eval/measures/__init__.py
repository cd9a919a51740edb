"""The measures, one file each, in the order of reports."""

from collections.abc import Sequence

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures.dialogue_state import DialogueState
from holisticbias_eval.measures.gender_polarity import GenderPolarity
from holisticbias_eval.measures.generation_bias import GenerationBias
from holisticbias_eval.measures.group_perplexity import GroupPerplexity
from holisticbias_eval.measures.intersections import Intersections
from holisticbias_eval.measures.likelihood_bias import LikelihoodBias
from holisticbias_eval.measures.love_hate import LoveHate
from holisticbias_eval.measures.measure import Measure
from holisticbias_eval.measures.medians import Medians
from holisticbias_eval.measures.norms import Norms
from holisticbias_eval.measures.offensiveness import Offensiveness
from holisticbias_eval.measures.prompt_offensiveness import PromptOffensiveness
from holisticbias_eval.measures.pseudo_likelihood_bias import PseudoLikelihoodBias
from holisticbias_eval.measures.regard import Regard
from holisticbias_eval.measures.response_wording import ResponseWording
from holisticbias_eval.measures.retained import Retained
from holisticbias_eval.measures.retention import Retention
from holisticbias_eval.measures.sentiment import Sentiment
from holisticbias_eval.measures.shares.measure import COMPARED
from holisticbias_eval.measures.stance_contrast import StanceContrast
from holisticbias_eval.measures.stereotype_score import StereotypeScore
from holisticbias_eval.measures.toxicity import Toxicity
from holisticbias_eval.settings import close_to

MEASURES: dict[str, Measure] = {
    measure.info.name: measure
    for measure in (
        StanceContrast(),
        LikelihoodBias(),
        Medians(),
        LoveHate(),
        PseudoLikelihoodBias(),
        GenerationBias(),
        Offensiveness(),
        PromptOffensiveness(),
        ResponseWording(),
        Sentiment(),
        Toxicity(),
        Regard(),
        Norms(),
        GenderPolarity(),
        StereotypeScore(),
        GroupPerplexity(),
        Retention(),
        DialogueState(),
        Retained(),
        Intersections(),
    )
}


def find_measure(name: str) -> Measure:
    """The measure of this name; raises ``EvaluationError`` if there is none."""
    if name not in MEASURES:
        close = close_to(name, MEASURES)
        raise EvaluationError(f"there is no measure {name!r}{close}; `holisticbias measures` explains all")
    return MEASURES[name]


def shown_columns(measures: Sequence[str]) -> tuple[str, ...] | None:
    """The columns of the answers that the reports of these measures use; None means all."""
    shown = [MEASURES[name].shown if name in MEASURES else None for name in measures]
    known = [columns for columns in shown if columns is not None]
    return tuple(dict.fromkeys(name for columns in known for name in columns)) if len(known) == len(shown) else None


def compared_columns(measures: Sequence[str]) -> tuple[str, ...] | None:
    """The columns of the answers that comparing runs of these measures uses; None means all."""
    shown = shown_columns(measures)
    return None if shown is None else (*shown, *COMPARED)
