"""Names and figures of groups, as sections show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from holisticbias_eval.figures import SIGNIFICANCE, Figure
from holisticbias_eval.measures.columns import FigureColumns
from holisticbias_eval.measures.groups.comparisons import CLUSTERED_ADJUSTED, DIFFERENCE
from holisticbias_eval.measures.groups.figures import FROM_HUMAN, MEAN, SHARE, Quantity, said
from holisticbias_eval.measures.groups.readings import TextMethod
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import MeasureFigures
from holisticbias_eval.prompts.collections import REFERENCE, WRITTEN
from holisticbias_eval.sections.tables import ColumnOf

_BETWEEN = ("neutral", "other")
_CHARTED = 2
NO_DOMAIN = ""


@dataclass(frozen=True)
class GroupFigures(MeasureFigures):
    """The figures of one measure by domain; the domain is empty if the figures name none."""

    info: Info
    methods: tuple[TextMethod, ...]

    def of(self, name: str, domain: str, keys: Mapping[str, str], *parts: str) -> Sequence[Figure]:
        """The figures of a name in a domain, with these further keys, that are of these parts of it."""
        return self.by(name, *parts, **({"domain": domain} if domain else {}), **keys)

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
        of_groups = (f for f in self.figures if f.measure == self.measure and "group" in f.keys)
        return tuple(dict.fromkeys(f.keys.get("domain", NO_DOMAIN) for f in of_groups))

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
        first, own = self.domains[0] if self.domains else NO_DOMAIN, method.keys
        classes = dict.fromkeys(f.keys["class"] for f in self.of(SHARE, first, own, "group", "class"))
        means = (None,) if self.of(MEAN, first, own, "group") else ()
        return [Quantity(method, cls) for cls in (*classes, *means)]

    @property
    def has_human(self) -> bool:
        """Whether there are texts that people wrote."""
        return any(f.name.startswith("human_") for f in self.figures if f.measure == self.measure)

    @cached_property
    def written(self) -> str:
        """The name of the texts beside the model's: human-written text, or reference text of the dataset."""
        answers = self.view.answers
        if "written" not in answers.column_names:
            return WRITTEN
        found = [name for name in answers["written"].unique().to_pylist() if name]
        return REFERENCE if found == [REFERENCE] else WRITTEN

    def domain(self, name: str) -> str:
        """A domain in words."""
        return self.view.label("domain", name) or "All groups"

    def of_domain(self, figure: Figure) -> str:
        """The domain of a figure in words."""
        return self.domain(figure.keys.get("domain", NO_DOMAIN))

    def group(self, figure: Figure) -> str:
        """The group of a figure in words."""
        return said(figure.keys["group"])

    @property
    def names(self) -> FigureColumns:
        """The columns of groups and their domains in words."""
        return ColumnOf("group", "Group", self.group), ColumnOf("domain", "Domain", self.of_domain)

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
