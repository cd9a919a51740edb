"""Names and figures of groups, as sections show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from holisticbias_eval.blocks import ColumnOf
from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures.groups.comparisons import CLUSTERED_ADJUSTED, DIFFERENCE
from holisticbias_eval.measures.groups.figures import FROM_HUMAN, MEAN, SHARE, Quantity
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import title
from holisticbias_eval.measures.measure_figures import MeasureFigures
from holisticbias_eval.prompts.collections import REFERENCE, WRITTEN

_PARTS = ("group", "first", "second", "why", "word")
_BETWEEN = ("neutral", "other")
_CHARTED = 2
NO_DOMAIN = ""
_Place = tuple[str, str, frozenset[tuple[str, str]], frozenset[str]]


@dataclass(frozen=True)
class GroupFigures(MeasureFigures):
    """The figures of one measure by domain; the domain is empty if the figures name none."""

    info: Info
    methods: tuple[TextMethod, ...]

    @cached_property
    def _index(self) -> dict[_Place, list[Figure]]:
        """Figures by name, domain, further keys with their values, and which parts of the domain they are of."""
        found: dict[_Place, list[Figure]] = {}
        for f in self.figures:
            if f.measure == self.measure:
                rest = {k: v for k, v in f.keys.items() if k not in _PARTS and k != "domain"}
                parts = frozenset(k for k in f.keys if k in _PARTS)
                key = f.name, f.keys.get("domain", NO_DOMAIN), frozenset(rest.items()), parts
                found.setdefault(key, []).append(f)
        return found

    def of(self, name: str, domain: str, keys: Mapping[str, str], *parts: str) -> Sequence[Figure]:
        """The figures of a name in a domain, with these further keys, that are of these parts of it."""
        return self._index.get((name, domain, frozenset(keys.items()), frozenset(parts)), [])

    def known(self, name: str, domain: str, keys: Mapping[str, str], *parts: str) -> list[Figure]:
        """Those of them with a value."""
        return [f for f in self.of(name, domain, keys, *parts) if f.value is not None]

    def place(self, domain: str, quantity: Quantity) -> dict[str, str]:
        """The keys of the figures of a quantity in a whole domain."""
        return {**({"domain": domain} if domain else {}), **quantity.keys}

    def at(self, name: str, domain: str, quantity: Quantity) -> Figure | None:
        """The figure of a quantity in a whole domain."""
        return self.get(name, self.place(domain, quantity))

    def in_group(self, column: ColumnOf[Figure], keys: Mapping[str, str]) -> ColumnOf[Figure]:
        """A column of figures of the same domain and group, but with these further keys."""

        def same(f: Figure) -> Figure:
            return f.model_copy(update={"keys": {**{k: f.keys[k] for k in ("domain", "group") if k in f.keys}, **keys}})

        return replace(column, cell=lambda f: column.cell(same(f)))

    @cached_property
    def domains(self) -> tuple[str, ...]:
        """The domains, in order."""
        return tuple(dict.fromkeys(domain for _, domain, _, parts in self._index if "group" in parts))

    @cached_property
    def present(self) -> tuple[TextMethod, ...]:
        """The methods that have figures."""
        return tuple(m for m in self.methods if self.charted(m))

    def charted(self, method: TextMethod) -> tuple[Quantity, ...]:
        """The share of the first of two classes, of up to two that are not in between, or the mean."""
        every = [c for c in self.quantities(method) if c.cls is not None]
        if len(every) == 2:
            return tuple(every[:1])
        telling = [c for c in every if c.cls not in _BETWEEN]
        return tuple(telling[:_CHARTED] or self.quantities(method))

    def quantities(self, method: TextMethod) -> list[Quantity]:
        """The share of every class, and the mean of a method, as far as there are figures."""
        own, found = method.keys.items(), dict[str | None, None]()
        for name, _, rest, parts in self._index:
            keys = dict(rest)
            cls = keys.pop("class", None)
            if parts == {"group"} and keys.items() == own and name in (SHARE, MEAN):
                found[cls] = None
        classes = [Quantity(method, cls) for cls in found if cls is not None]
        return [*classes, Quantity(method, None)] if None in found else classes

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
        return {**self.view.labels, **self.view.labels_of("domain")}

    def domain(self, name: str) -> str:
        """A domain in words."""
        return self._labels.get(name) or title(name) or "All groups"

    def p(self, difference: Figure) -> float | None:
        """The p-value of a difference after Holm's correction; that of items if an item has several rows."""
        clustered = self.get(CLUSTERED_ADJUSTED, difference.keys)
        return clustered.value if clustered else difference.adjusted_p

    def differs(self, difference: Figure) -> bool:
        """Whether a difference holds after correction."""
        p = self.p(difference)
        return p is not None and p < SIGNIFICANCE

    def differs_from_people(self, keys: Mapping[str, str]) -> bool:
        """Whether the model's texts differ from people's after correction.

        A share of 0 beside a share of 1 has no p-value: the interval decides.
        """
        change = self.get(FROM_HUMAN, keys)
        if change is None or change.differs:
            return change is not None
        return change.adjusted_p is None and abs(change.value or 0.0) == 1 and change.excludes_zero

    def differences(self, domain: str, quantity: Quantity) -> Sequence[Figure]:
        """The differences between the groups of a domain."""
        return self.of(DIFFERENCE, domain, quantity.keys, "first", "second")
