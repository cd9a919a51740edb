"""Phrase lists for the responder's wordings, as files of lexicons."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from calibration.responder.repertoire import Repertoire

STYLES, OFFENSIVENESS, REACTIVE, TRANSFORMERS = (
    f"calibration-{name}" for name in ("styles", "offensiveness", "reactive", "transformers")
)
OTHERWISE = "plain"
OFFENSIVE, INOFFENSIVE = "grumpy", "inoffensive"
REACTS_TO = "doff"
_HEADER = """\
# yaml-language-server: $schema=../../../schema/lexicon.schema.json
# Made from the answers of the embedded responder (responses.yaml) by: make responder
"""


class _Indented(yaml.SafeDumper):
    """Indents lists below their keys, as every file of the repository does."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


@dataclass(frozen=True, slots=True)
class Phrases:
    """A lexicon: the phrases of each label; a text without any has the label ``otherwise``."""

    labels: tuple[str, ...]
    phrases: Mapping[str, tuple[str, ...]]
    otherwise: str

    def text(self) -> str:
        """The YAML file of the lexicon."""
        data = {
            "labels": list(self.labels),
            "phrases": {label: list(phrases) for label, phrases in self.phrases.items()},
            "otherwise": self.otherwise,
        }
        return _HEADER + yaml.dump(data, Dumper=_Indented, sort_keys=False, allow_unicode=True, width=120)


def lexicons(repertoire: Repertoire) -> Mapping[str, Phrases]:
    """The lexicons by name: the styles; one style against the others; the styles with a reaction to a term."""
    found = {label: phrases_of(repertoire, label) for label in repertoire.labels}
    reactive = {**found, OFFENSIVE: (*found[OFFENSIVE], REACTS_TO)}
    return {
        STYLES: Phrases(repertoire.labels, found, OTHERWISE),
        OFFENSIVENESS: Phrases((INOFFENSIVE, OFFENSIVE), {OFFENSIVE: found[OFFENSIVE]}, INOFFENSIVE),
        REACTIVE: Phrases(repertoire.labels, reactive, OTHERWISE),
    }


def phrases_of(repertoire: Repertoire, label: str) -> tuple[str, ...]:
    """The wordings of a style without their last mark; of a wording with a placeholder, its longest part."""
    parts = (re.split(r"\{\w+\}", wording) for wording in repertoire.styles[label].wordings)
    return tuple(max(part, key=len).strip(" .!?,") for part in parts)
