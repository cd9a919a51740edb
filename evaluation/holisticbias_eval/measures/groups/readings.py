"""The values of texts about groups by each method that reads them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.prompts.texts import by_people
from holisticbias_eval.statistics.cells import encode, finite, floats


@dataclass(frozen=True, slots=True)
class TextMethod:
    """One way in which a measure gives a text a value and a class.

    ``unit`` is that of the value. ``classes`` are in the order in which a report lists them; they are empty if the
    method has no classes or if the classifier names them. ``key`` is the key of figures that names the method; if it is
    empty, figures of this method do not name it. ``opposite`` are two classes that are also given as shares of all
    texts, with or without a value.
    """

    name: str
    title: str
    unit: str
    classes: tuple[str, ...] = ()
    key: str = ""
    opposite: tuple[str, ...] = ()

    @property
    def keys(self) -> dict[str, str]:
        """The keys that name the method in figures."""
        return {self.key: self.name} if self.key else {}


NO_REASON = "no value"
NO_DOMAIN = "no domain"


@dataclass(frozen=True, slots=True)
class Reading:
    """A method's value of each row (NaN if undefined), and the codes of its class and of its reason, -1 for none."""

    method: TextMethod
    values: Floats
    classes: tuple[str, ...]
    class_codes: Ints
    reasons: tuple[str, ...]
    reason_codes: Ints

    def of(self, cls: str | None) -> Floats:
        """Whether each row is of a class, 1 or 0; without a class the values."""
        if cls is None:
            return self.values
        code = self.classes.index(cls) if cls in self.classes else len(self.classes)
        return np.where(self.class_codes == code, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Texts:
    """The rows of a table of texts, by group.

    ``groups`` are the domain and the name of each group, those of one domain next to each other; the domain is null if
    the table has no domains. ``domains`` are the places where a domain starts, and the number of groups. ``group``,
    ``item`` (-1: the row is an item by itself) and ``human`` have shape ``[rows]``. ``unnamed`` counts the rows that
    are left out because they have no group, ``rows`` are the others.
    """

    groups: tuple[tuple[str | None, str], ...]
    domains: tuple[int, ...]
    group: Ints
    item: Ints
    human: Bools
    rows: Ints
    unnamed: int

    def keys(self, group: int) -> dict[str, str]:
        """The keys of a group in figures."""
        domain, name = self.groups[group]
        return {"group": name} if domain is None else {"domain": domain, "group": name}

    def domain_keys(self, group: int) -> dict[str, str]:
        """The keys of a group's domain in figures."""
        domain, _ = self.groups[group]
        return {} if domain is None else {"domain": domain}

    @property
    def group_keys(self) -> list[dict[str, str]]:
        """The keys of every group in figures."""
        return [self.keys(g) for g in range(len(self.groups))]

    @property
    def all_domain_keys(self) -> list[dict[str, str]]:
        """The keys of every domain in figures."""
        return [self.domain_keys(g) for g in self.domains[:-1]]

    def slices(self) -> list[slice]:
        """The groups of each domain."""
        return [slice(a, b) for a, b in zip(self.domains, self.domains[1:], strict=False)]


def read_texts(answers: pa.Table) -> Texts:
    """Arrange the rows of a table of texts by domain and group, in order of appearance.

    Raises ``SelectionError`` if no row has a group.
    """
    if "group" not in answers.column_names:
        raise SelectionError("the texts have no column group: it names the group that each text is about")
    named = pc.is_valid(answers["group"]).to_numpy()
    rows = np.flatnonzero(named)
    if not len(rows):
        raise SelectionError("no text names its group: fill in the column group")
    chosen = answers.select([n for n in ("domain", "group", "item", "source") if n in answers.column_names])
    chosen = chosen if named.all() else chosen.take(pa.array(rows))
    domains, domain = _domains(chosen)
    names, name = encode(chosen["group"])
    codes, first, place = np.unique(domain * len(names) + name, return_index=True, return_inverse=True)
    order = np.lexsort((first, codes // len(names)))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    groups = tuple((domains[int(c) // len(names)], names[int(c) % len(names)]) for c in codes[order])
    starts = np.flatnonzero(np.diff(codes[order] // len(names), prepend=-1)).tolist()
    _, item = _codes(chosen, "item")
    return Texts(groups, (*starts, len(groups)), rank[place], item, by_people(chosen), rows, len(named) - len(rows))


def _domains(chosen: pa.Table) -> tuple[list[str | None], Ints]:
    """The domains and the domain of each row; a null domain only if no row has one."""
    if "domain" not in chosen.column_names or chosen["domain"].null_count == len(chosen):
        return [None], np.zeros(len(chosen), np.int64)
    names, domain = encode(pc.fill_null(chosen["domain"].cast(pa.string()), NO_DOMAIN))
    return list(names), domain


def _codes(answers: pa.Table, name: str, first: Sequence[str] = ()) -> tuple[tuple[str, ...], Ints]:
    """The distinct texts of a column, those of ``first`` before others in order, and the code of each row; -1: null.

    If the table lacks the column, every row has -1.
    """
    if name not in answers.column_names:
        return (), np.full(len(answers), -1)
    texts = answers[name].cast(pa.string())
    names = (*first, *sorted({*texts.drop_null().unique().to_pylist()} - {*first}))
    codes = pc.fill_null(pc.index_in(texts, pa.array(names, pa.string())), -1)
    return names, codes.to_numpy().astype(np.int64)


def read_method(answers: pa.Table, measure: str, method: TextMethod, texts: Texts) -> Reading:
    """The columns of a method, for the rows that have a group.

    Raises ``SelectionError`` if the table has no values of the method.
    """
    name = f"{measure}.{method.name}"
    if name not in answers.column_names:
        raise SelectionError(f"the texts have no column {name}: measure them with holisticbias measure {measure}")
    own = answers.select([n for n in (name, f"{name}.class", f"{name}.why") if n in answers.column_names])
    own = own.take(pa.array(texts.rows)) if texts.unnamed else own
    numbers = finite(floats(own[name]))
    class_names, class_codes = _codes(own, f"{name}.class", method.classes)
    reason_names, reason_codes = _codes(own, f"{name}.why")
    unknown = np.isnan(numbers)
    if (unknown & (reason_codes < 0)).any():
        reason_names = (*reason_names, NO_REASON)
        reason_codes = np.where(unknown & (reason_codes < 0), len(reason_names) - 1, reason_codes)
    reason_codes = np.where(unknown, reason_codes, -1)
    return Reading(method, numbers, class_names, class_codes, reason_names, reason_codes)
