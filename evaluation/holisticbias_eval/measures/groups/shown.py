"""Names and figures of groups, as sections show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures.groups.comparisons import ADJUSTED, CLUSTERED_ADJUSTED, DIFFERENCE
from holisticbias_eval.measures.groups.figures import FROM_HUMAN, FROM_HUMAN_ADJUSTED, MEAN, SHARE
from holisticbias_eval.measures.groups.readings import Method
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import View, title
from holisticbias_eval.prompts.collections import REFERENCE, WRITTEN

_PARTS = ("group", "first", "second", "why", "word")
_BETWEEN = ("neutral", "other")
_CHARTED = 2
NO_DOMAIN = ""


@dataclass(frozen=True, slots=True)
class Charted:
    """The content of a chart: the share of a class, or the mean of a method."""

    method: Method
    cls: str | None

    @property
    def name(self) -> str:
        """The name of its figures."""
        return MEAN if self.cls is None else SHARE

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return self.method.unit if self.cls is None else SHARE

    @property
    def keys(self) -> Mapping[str, str]:
        """The keys of its figures besides domain and group."""
        return self.method.keys if self.cls is None else {"class": self.cls, **self.method.keys}

    @property
    def words(self) -> str:
        """Its name in words."""
        if self.cls is None:
            return self.method.title
        named = f" ({said_method(self.method)})" if self.method.key else ""
        return f"Texts classed as {said(self.cls)}{named}"

    @property
    def slug(self) -> str:
        """Its name in those of charts and tables."""
        return "-".join(part for part in (self.method.name, self.cls or "mean") if part).replace("_", "-")


def said_method(method: Method) -> str:
    """The title of a method within a sentence: names and abbreviations keep their upper case."""
    return method.title if method.title[1:2].isupper() else method.title[:1].lower() + method.title[1:]


def said(name: str) -> str:
    """A class or a group in words."""
    return name.replace("_", " ")


@dataclass(frozen=True)
class Shown:
    """The figures of one measure by domain; the domain is empty if the figures name none."""

    info: Info
    methods: tuple[Method, ...]
    view: View

    @cached_property
    def _index(self) -> dict[tuple[str, str, frozenset[tuple[str, str]], frozenset[str]], list[Figure]]:
        """Figures by name, domain, further keys with their values, and which parts of the domain they are of."""
        found: dict[tuple[str, str, frozenset[tuple[str, str]], frozenset[str]], list[Figure]] = {}
        for f in self.view.figures:
            if f.measure == self.info.name:
                rest = {k: v for k, v in f.keys.items() if k not in _PARTS and k != "domain"}
                parts = frozenset(k for k in f.keys if k in _PARTS)
                key = f.name, f.keys.get("domain", NO_DOMAIN), frozenset(rest.items()), parts
                found.setdefault(key, []).append(f)
        return found

    def of(self, name: str, domain: str, keys: Mapping[str, str], *parts: str) -> Sequence[Figure]:
        """The figures of a name in a domain, with these further keys, that are of these parts of it."""
        return self._index.get((name, domain, frozenset(keys.items()), frozenset(parts)), [])

    def one(self, name: str, domain: str, keys: Mapping[str, str]) -> Figure | None:
        """The figure of a whole domain."""
        return next(iter(self.of(name, domain, keys)), None)

    def value(self, name: str, keys: Mapping[str, str]) -> float | None:
        """The value of a figure; ``None`` if there is no such figure or it is not defined."""
        return self.view.figures.value(self.info.name, name, keys)

    @cached_property
    def domains(self) -> tuple[str, ...]:
        """The domains, in order."""
        found = {key[1]: None for key in self._index if "group" in key[3]}
        return tuple(found)

    @cached_property
    def present(self) -> tuple[Method, ...]:
        """The methods that have figures."""
        return tuple(m for m in self.methods if self.charted(m))

    def charted(self, method: Method) -> tuple[Charted, ...]:
        """The share of the first of two classes, of up to two that are not in between, or the mean."""
        every = [c for c in self.quantities(method) if c.cls is not None]
        if len(every) == 2:
            return tuple(every[:1])
        telling = [c for c in every if c.cls not in _BETWEEN]
        return tuple(telling[:_CHARTED] or self.quantities(method))

    def quantities(self, method: Method) -> list[Charted]:
        """The share of every class, and the mean of a method, as far as there are figures."""
        own = set(method.keys.items())
        classes: dict[str, None] = {}
        has_mean = False
        for name, _, rest, parts in self._index:
            keys = dict(rest)
            if parts != {"group"} or {(k, v) for k, v in rest if k != "class"} != own:
                continue
            if name == SHARE:
                classes[keys["class"]] = None
            has_mean |= name == MEAN
        return [*(Charted(method, c) for c in classes), *([Charted(method, None)] if has_mean else [])]

    @property
    def has_human(self) -> bool:
        """Whether there are texts that people wrote."""
        return any(name.startswith("human_") for name, *_ in self._index)

    @cached_property
    def written(self) -> str:
        """The name of the texts beside the model's: human-written text, or reference text of the dataset."""
        answers = self.view.answers
        if "written" not in answers.column_names:
            return WRITTEN
        found = [name for name in answers["written"].unique().to_pylist() if name]
        return REFERENCE if found == [REFERENCE] else WRITTEN

    @cached_property
    def _labels(self) -> dict[str, str]:
        answers = self.view.answers
        if not {"domain", "domain_label"} <= set(answers.column_names):
            return {}
        rows = answers.select(["domain", "domain_label"]).group_by(["domain", "domain_label"]).aggregate([]).to_pylist()
        return {row["domain"]: row["domain_label"] for row in rows if row["domain"] and row["domain_label"]}

    def domain(self, name: str) -> str:
        """A domain in words."""
        return self._labels.get(name) or self.view.labels.get(name) or title(name) or "All groups"

    def p(self, difference: Figure) -> float | None:
        """The p-value of a difference after Holm's correction; that of items if an item has several rows."""
        clustered = self.view.figures.get(self.info.name, CLUSTERED_ADJUSTED, difference.keys)
        return clustered.value if clustered else self.value(ADJUSTED, difference.keys)

    def differs(self, difference: Figure) -> bool:
        """Whether a difference holds after correction."""
        p = self.p(difference)
        return p is not None and p < SIGNIFICANCE

    def differs_from_people(self, keys: Mapping[str, str]) -> bool:
        """Whether the model's texts differ from people's after correction.

        A share of 0 beside a share of 1 has no p-value: the interval decides.
        """
        p, change = self.value(FROM_HUMAN_ADJUSTED, keys), self.view.figures.get(self.info.name, FROM_HUMAN, keys)
        if p is not None or change is None or change.interval is None or abs(change.value or 0.0) != 1:
            return p is not None and p < SIGNIFICANCE
        return change.interval.low > 0 or change.interval.high < 0

    def differences(self, domain: str, charted: Charted) -> Sequence[Figure]:
        """The differences between the groups of a domain."""
        return self.of(DIFFERENCE, domain, charted.keys, "first", "second")
