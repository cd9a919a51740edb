"""The form of a table of users: its columns, and what else holds of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import TableError
from holisticbias_eval.settings import listed
from holisticbias_eval.tables.fields import Field, Kind
from holisticbias_eval.tables.files import OpenedTable, open_table, refuse_repeated_columns

_FEW = 10
Check = Callable[[str, pa.Table], None]
"""Raises ``TableError``; takes the name of a table for messages, and the table."""


@dataclass(frozen=True, slots=True)
class Form:
    """The columns of a table of ``what``, in words.

    ``instead`` has, for a needed column, sets of columns of which one may stand for it. ``published`` has, for each
    form of others, the names of its columns with their names here; the first is taken whose needed columns a table has.
    With ``others``, further columns are kept as they are. With ``blank_is_missing``, an empty label is null. With
    ``any_case``, names may be in capitals and with underscores for blanks.
    """

    what: str
    fields: tuple[Field, ...]
    checks: tuple[Check, ...] = ()
    instead: Mapping[str, tuple[tuple[str, ...], ...]] | None = None
    published: tuple[Mapping[str, str], ...] = ()
    others: bool = False
    blank_is_missing: bool = False
    any_case: bool = False

    def open(self, source: Path) -> OpenedTable:
        """Open a file that may have this form; raises ``TableError``."""
        wanted = (*(field.name for field in self.fields), *(name for names in self.published for name in names))
        return open_table(source, wanted)

    def read(self, source: Path | OpenedTable) -> pa.Table:
        """Read the columns of a file that this form has, in its order.

        Raises ``TableError`` with the file, and the row and column of what is wrong.
        """
        opened = source if isinstance(source, OpenedTable) else self.open(source)
        names = self._renamed(opened.names)
        chosen = {name: field for field in self.fields for name in field.names(names)}
        self._refuse_lacking(opened, names)
        others = [name for name in names if name not in chosen] if self.others else []
        needed = [names[name] for name in (*chosen, *others)]
        refuse_repeated_columns(opened.label, opened.names, needed, self._plain)
        lists = [names[name] for name, field in chosen.items() if field.kind == "words"]
        raw = opened.read([names[name] for name in chosen], [names[name] for name in others], lists)
        if not raw.num_rows:
            raise TableError(f"{opened.label} has no rows")
        columns = {
            name: field.read(opened.label, names[name], raw[names[name]], decimal_comma=opened.decimal_comma)
            for name, field in chosen.items()
        }
        columns = self._filled(opened.label, columns, names, raw.num_rows)
        table = pa.table(columns | {name: raw[names[name]] for name in others})
        for check in self.checks:
            check(opened.label, table)
        return table

    def needing(self, *needed: str, filled: Sequence[str] = ()) -> "Form":
        """The same form with further needed columns."""
        fields = (replace(f, need=f.need or f.name in needed, filled=f.filled or f.name in filled) for f in self.fields)
        return replace(self, fields=tuple(fields))

    def _renamed(self, names: Sequence[str]) -> dict[str, str]:
        """The names in a table by the names of the form; of a repeated name one."""
        plain = {self._plain(name): name for name in reversed(names)}
        needed = {field.name for field in self.fields if field.need}
        for published in self.published:
            if all(self._plain(name) in plain for name, here in published.items() if here in needed):
                break
        else:
            published = {}
        taken = {here: plain[self._plain(name)] for name, here in published.items() if self._plain(name) in plain}
        left = {here: name for here, name in plain.items() if name not in taken.values()}
        taken |= {f.name: left[f.formerly] for f in self.fields if f.formerly in left and f.name not in plain}
        own = {field.name: left[field.name] for field in self.fields if field.name in left} if self.any_case else {}
        return {name: name for name in names if name not in taken.values()} | own | taken

    def _plain(self, name: str) -> str:
        return name.strip().casefold().replace("_", " ") if self.any_case else name

    def _refuse_lacking(self, opened: OpenedTable, names: Mapping[str, str]) -> None:
        needed = [field for field in self.fields if field.need]
        for field in needed:
            sets = (self.instead or {}).get(field.name, ())
            if not field.names(names) and not any({*others} <= names.keys() for others in sets):
                wanted = listed([f.title for f in needed])
                wanted += "".join(f", or {' and '.join(others)}" for others in sets)
                may = [f.title for f in self.fields if not f.need]
                wanted += f", and may have {', '.join(may)}" if 0 < len(may) <= _FEW else ""
                found = ", ".join(repr(name[:40]) for name in opened.names[:8])
                raise TableError(
                    f"{opened.label} has no column {field.title}: a table of {self.what} has {wanted}; "
                    f"this one has {found}"
                )

    def _filled(
        self, label: str, read: dict[str, pa.ChunkedArray], names: Mapping[str, str], rows: int
    ) -> dict[str, pa.ChunkedArray]:
        """The columns that were read and those with a default, in the order of the fields, without missing cells."""
        made = dict[str, pa.ChunkedArray]()
        for field in self.fields:
            if field.default is not None and field.name not in read:
                made[field.name] = field.default(made, rows)
            for name in field.names(read):
                values = read[name]
                if (self.blank_is_missing and field.kind == "label") or field.filled_from:
                    values = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
                if field.filled_from in read:
                    values = pc.coalesce(values, read[field.filled_from])
                if field.filled or field.kind == "name":
                    field.refuse_missing(label, names[name], values)
                made[name] = values
        return made


def columns(kind: Kind, *names: str, need: bool = False, filled: bool = False) -> tuple[Field, ...]:
    """Fields of one kind."""
    return tuple(Field(name, kind, need=need, filled=filled) for name in names)
