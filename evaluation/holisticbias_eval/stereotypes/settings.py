"""Settings of the commands that make test sentences and pairs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from holisticbias_eval.settings import Condition, Settings, Texts, Values, read_settings, setting

RequestForm = Literal["text", "chat", "list"]
"""How a sentence is asked for: as the continuation of a text, as a response in a chat, or as a JSON list of several."""
Mode = Literal["grammatical", "published"]


class RequestSettings(Settings):
    """The requests for sentences, and the number of sentences wanted of each attribute."""

    group = "Requests"

    seed: int = setting(0, "Seed of terms and sentences.", ge=0)
    ask: Literal["auto", "text", "chat", "list"] = setting(
        "auto",
        "How a sentence is asked for: as the continuation of a text, as a response in the model's chat template, or as "
        "a JSON list of sentences from a chat server. auto: list for --engine api, else text.",
    )
    samples: int = setting(5, "Sentences per request.", ge=1, le=100)
    per_attribute: int = setting(2, "Sentences wanted for each attribute; all that a request gives are kept.", ge=1)
    per_group: int = setting(0, "Of these, at least this many for each group.", ge=0)
    requests: int = setting(40, "Most requests for an attribute.", ge=1)
    shots: str = setting("fixed", "Example sentences in each request.", metavar="NAME|FILE")
    nearest: int | None = setting(
        None,
        "Put the K examples into a request whose keywords are most similar to its terms; 0 puts all. Default: 5 if the "
        "file has more than 5.",
        metavar="K",
        ge=0,
    )
    vectors: Path | None = setting(
        None, "Word vectors, as text like GloVe's or word2vec's binary file. Default: the generator's input embeddings."
    )
    decoding: str | None = setting(
        None,
        "How the next token is chosen. Default: autobiastest, and autobiastest-list for lists.",
        metavar="NAME|FILE",
    )

    @property
    def recorded(self) -> Mapping[str, str]:
        """The settings of requests, for the record of a run."""
        return {
            "seed": str(self.seed),
            "form": self.ask,
            "samples_per_request": str(self.samples),
            "sentences_per_attribute": str(self.per_attribute),
            "sentences_per_group": str(self.per_group),
            "requests_per_attribute": str(self.requests),
        }


class AcceptanceSettings(Settings):
    """The conditions that an accepted sentence meets."""

    group = "Acceptance"

    rules: str = setting(
        "all", "Rules that a sentence must pass; see docs/stereotypes.md.", metavar="all|none|ID,ID..."
    )
    least_words: int = setting(3, "Words of the shortest sentence.", ge=1)
    most_words: int = setting(40, "Words of the longest sentence.", ge=1)
    classifier: Texts = setting(
        (),
        "Refuse sentences that have one of these labels. Default label: the one that the card calls offensive.",
        metavar="NAME|FILE[=LABEL,...]",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.least_words > self.most_words:
            raise ValueError("--least-words must not exceed --most-words")
        return self


def _engines(values: Values) -> set[str]:
    """The engines of the classifiers of sentences."""
    from holisticbias_eval.readers.card import CARDS

    names = read_settings(AcceptanceSettings, values).classifier
    return {CARDS.read(name.partition("=")[0]).engine for name in names}


JUDGED = Condition("with --classifier", lambda values: bool(values.get("classifier")))
WEIGHTS = Condition("with a --classifier of transformers", lambda values: "transformers" in _engines(values))
CHAT_JUDGE = Condition("with a --classifier that is a chat model", lambda values: "chat" in _engines(values))


class PairingSettings(Settings):
    """The mode of pairing, and whether templates are paired."""

    mode: Mode = setting(
        "grammatical",
        "grammatical: forms, articles and capitals agree. published: as the published code makes pairs, errors "
        "included, also as a CSV file in its columns.",
    )
    templates: bool = setting(True, "Add the pairs of hand-written templates.")
