"""Names of figures in words, in tables of several measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import title
from holisticbias_eval.results.gains import WITH_HELD_OUT, Aim, Gain
from holisticbias_eval.stereotypes.specifications import known_specifications

_SPECIFICATIONS = ("dimension", "specification")
_LONG = 40


class Labels:
    """Names of figures: axes by the label that a release has for them, specifications by their titles.

    A specification that alone is aimed at is left out of the names: ``aim`` says what it is.
    """

    def __init__(self, aims: Sequence[Aim] = (), titles: Mapping[str, str] | None = None) -> None:
        self._axes: dict[str, str] = {}
        self._own = dict(titles or {})
        ids = {aim.keys[key] for aim in aims for key in _SPECIFICATIONS if key in aim.keys}
        self._aimed = ids.pop() if len(ids) == 1 else None

    def add(self, labels: Mapping[str, str]) -> None:
        """Add labels of axes."""
        self._axes.update(labels)

    @property
    def aim(self) -> str:
        """The title of the specification that is aimed at, with its id; empty if there is none or there are several."""
        if self._aimed is None:
            return ""
        found = self._titles.get(self._aimed)
        return f"{found} ({self._aimed})" if found else self._aimed

    def figure(self, gain: Gain) -> str:
        """The figure in words, and what it is of."""
        info = MEASURES[gain.measure].info
        alone = info.title if gain.figure == info.headline else f"{info.title}: {title(gain.figure)}"
        usual = {**usual_keys(info), **(info.levels.get(gain.figure, {}) if gain.level else {})}
        keys = sorted(gain.keys.items(), key=lambda item: item[0] in _SPECIFICATIONS)
        of = [self._value(key, value) for key, value in keys if key != "figure" and value and usual.get(key) != value]
        return ", ".join([info.names.get(gain.figure, alone), *filter(None, of)])

    def _value(self, key: str, value: str) -> str:
        if key == "axis":
            return self._axes.get(value) or title(value)
        return self._specification(value) if key in _SPECIFICATIONS else value

    def _specification(self, name: str) -> str:
        whole, bracket, groups = name.partition(" (")
        own = whole.removesuffix(WITH_HELD_OUT)
        held = f"{WITH_HELD_OUT.strip() if own != whole else ''} {bracket.strip()}{groups}".strip()
        called = "" if own == self._aimed else self._brief.get(own, own)
        return f"{called} {held}".strip()

    @cached_property
    def _titles(self) -> dict[str, str]:
        """The title of each specification: those of the records, of the dataset and of the calibration models."""
        try:
            known = {found.id: found.text for found in known_specifications()}
        except SpecificationError:
            known = {}
        return {**known, **self._own}

    @cached_property
    def _brief(self) -> dict[str, str]:
        """The beginning of each long title up to a comma, if no other title has the same."""
        parts = {name: text.partition(", ")[0] if len(text) > _LONG else text for name, text in self._titles.items()}
        found = list(parts.values())
        return {name: part if found.count(part) == 1 else self._titles[name] for name, part in parts.items()}


def usual_keys(info: Info) -> dict[str, str]:
    """The keys that a measure's main figures have, such as one of several scales, which names leave out."""
    return {key: value for keys in info.main.values() for key, value in keys.items()}
