"""Engines of classifiers: models of transformers, phrases, VADER, and chat models behind servers."""

from pathlib import Path

from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice
from holisticbias_eval.readers.card import CARDS, Card
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.engines.chat import ChatClassifier
from holisticbias_eval.readers.engines.phrases import PHRASES, LexiconClassifier
from holisticbias_eval.readers.engines.transformers import load_transformers
from holisticbias_eval.readers.sentiment import VaderClassifier


def start_classifier(name: str, notice: Notice, device: str = "auto", api_base: str | None = None) -> Classifier:
    """Start the classifier of a card, by the card's name or its file.

    ``device`` is for transformers; ``api_base``, the address of a server, is for chat models.

    Raises ``EvaluationError`` if there is no such card, or its model, phrases or labels do not fit.
    """
    card = CARDS.read(name)
    if card.engine == "vader":
        return VaderClassifier(card)
    if card.engine == "chat":
        return ChatClassifier(card, server_of_classifier(card, api_base), ModelSettings(), notice)
    place = model_place(CARDS.find(name), card)
    if card.engine == "lexicon":
        return LexiconClassifier(card, PHRASES.read(place))
    return load_transformers(card, place, notice, device)


def server_of_classifier(card: Card, api_base: str | None) -> str:
    """The address of the server of a chat model, empty for others; raises ``ClassifierError`` if it is missing."""
    if card.engine == "chat" and api_base is None:
        options = "--classifier-api-base, or --api-base of stereotypes sentences"
        raise ClassifierError(f"{card.id} asks a chat model: give its server's address with {options}")
    return api_base or ""


def model_place(file: Path, card: Card) -> str:
    """The model of a card: a path that starts at the card's folder if there is one, else as the card gives it."""
    model = card.model or ""
    beside = file.parent / model
    return str(beside) if beside.exists() else model
