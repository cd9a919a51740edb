"""A chat model that chooses the sentence of a pair by a letter."""

from collections.abc import Sequence

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.opening import Opening
from holisticbias_eval.models.loading.load import ModelSource, find_kind, load_kind
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.tasks.task import Given


class ChoiceScorer(CausalScorer):
    """A chat model that scores the letters of a choice; ``control_tokens`` are texts that it reads as control."""

    control_tokens: Sequence[str] = ()


def choice_scorer(model: ModelSource, options: ModelSettings, given: Given) -> ChoiceScorer:
    """A chat model on this machine.

    Raises ``EvaluationError`` if the model has no chat template, and for engines that cannot choose.
    """
    if options.engine != "local":
        raise EvaluationError(f"--mode choice needs the local or the api engine, not {options.engine}")
    if find_kind(model, options.kind) != "causal":
        raise EvaluationError("--mode choice needs a causal model with a chat template")
    loaded = load_kind(model, "causal", options.device)
    if not getattr(loaded.tokenizer, "chat_template", None):
        raise ModelError(f"{loaded.identity.name}: its tokenizer has no chat template: leave --mode choice out")
    conversation = find_conversation(loaded.tokenizer, ConversationOptions(chat="on"), "causal")
    settings = {"first_token": "counted, given the chat template", "chat": conversation.frame.without_persona}
    opening = Opening(settings=settings)
    scorer = ChoiceScorer(loaded, given.display.notice, dtype=options.dtype, opening=opening)
    scorer.control_tokens = conversation.encoder.spelt
    return scorer
