"""A column of a table of users: its kind, and how its cells become values of this kind."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from holisticbias_eval.errors import TableError

Kind = Literal["name", "label", "text", "number", "count", "probability", "flag", "words"]
"""What the cells of a column are.

- name: a text that is never missing or blank;
- label, text: a text, or missing; a text is long, and a blank label is empty;
- number: a number, or missing; also as text, and NaN is missing, as in every kind of number;
- count: a whole number from 0 to ``MOST``;
- probability: a number from 0 to 1, or missing;
- flag: true or false, also as 1 or 0, or missing;
- words: a list of texts, or texts with semicolons between them.
"""
TYPES: Mapping[Kind, pa.DataType] = {
    "name": pa.string(), "label": pa.string(), "text": pa.large_string(), "number": pa.float64(), "count": pa.float64(),
    "probability": pa.float64(), "flag": pa.bool_(), "words": pa.list_(pa.large_string()),
}  # fmt: skip
ROUNDING = 1e-6
"""A probability may exceed 1 by this much: sums of float32 do."""
MOST = 2**31 - 1
"""The largest count: counts are kept as int32."""
_TEXTS = ("name", "label", "text")
_NUMBERS: tuple[Kind, ...] = ("number", "count", "probability")
PARSED: Mapping[Kind, str] = {
    **dict.fromkeys(_NUMBERS, "a number"),
    "flag": "true or false, or 1 or 0",
    "words": "a list of texts, or texts with ; between them",
}
"""What a cell of a kind must be, in words, if it is not a text."""
MISSING = sorted({text.lower() for text in (*pa.csv.ConvertOptions().null_values, "None")})
"""What a cell of numbers without a value has, in lower case."""
_FLAGS = (0.0, 1.0, None)
_SHOWN = 60


Default = Callable[[Mapping[str, pa.ChunkedArray], int], pa.Array | pa.ChunkedArray]
"""Makes a column from those before it and the number of rows."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a form.

    ``need`` says that a table must have the column, and ``filled`` that every row must have a value, as every name
    must; a number is then finite. Where a row has none, that of the column ``filled_from`` stands, if there is one.
    ``default`` makes the column if a table lacks it. With ``prefix`` the field is every column whose name begins so.
    ``hint`` is what to write, for messages about wrong cells. ``formerly`` is the name in older tables, which is read
    if a table lacks the column.
    """

    name: str
    kind: Kind = "label"
    need: bool = False
    filled: bool = False
    filled_from: str | None = None
    default: Default | None = None
    choices: tuple[object, ...] = ()
    prefix: bool = False
    hint: str = ""
    formerly: str | None = None

    @property
    def title(self) -> str:
        """The name in messages."""
        return f"{self.name}NAME" if self.prefix else self.name

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names of this field's columns among those of a table."""
        return tuple(name for name in names if name == self.name or (self.prefix and name.startswith(self.name)))

    def read(self, label: str, name: str, column: pa.ChunkedArray, *, decimal_comma: bool = False) -> pa.ChunkedArray:
        """The column with the type of its kind; raises ``TableError`` that names the row of what is wrong.

        ``label`` names the table, and ``name`` the column.
        """
        column = _plain(column)
        if self.kind in (*_NUMBERS, "flag") and pa.types.is_large_string(column.type):
            column = _known(column, decimal_comma=decimal_comma, flags=self.kind == "flag")
        convert = _words if self.kind == "words" else self._cast
        try:
            values = convert(column)
        except pa.ArrowException as error:
            row = _first_wrong(column, convert)
            wanted = PARSED.get(self.kind, "text")
            raise TableError(
                f"{label}: row {row + 1}: column {name} is not {wanted} but {_shown(column[row])}{self._hint}"
            ) from error
        if self.kind in ("name", "label"):
            values = pc.if_else(pc.utf8_is_space(values), "", values)
        self._refuse_wrong(label, name, values)
        return values

    def refuse_missing(self, label: str, name: str, values: pa.ChunkedArray) -> None:
        """Raise ``TableError`` if a row has no value; ``values`` are numbers or texts."""
        if pa.types.is_floating(values.type):
            missing = pc.invert(pc.fill_null(pc.is_finite(values), False))
        else:
            texts = pc.fill_null(values, "")
            missing = pc.or_(pc.equal(texts, ""), pc.utf8_is_space(texts))

        def said(row: int) -> str:
            found = str(values[row].as_py() or "").strip() or "missing"
            return f"column {name} is {found}: every row needs a value"

        refuse_rows(label, missing, said)

    def refuse_repeated(self, label: str, values: pa.ChunkedArray | pa.Array) -> None:
        """Raise ``TableError`` if two rows have the same value; a missing value may be repeated."""
        first: dict[object, int] = {}
        for row, value in enumerate(values, 1):
            before = first.setdefault(value.as_py(), row) if value.is_valid else row
            if before < row:
                shown = f"{_shown(value)}, as in row {before}"
                raise TableError(f"{label}: row {row}: column {self.name} is {shown}: give every row its own")

    def _cast(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = column.type
        if pa.types.is_nested(kind) or (self.kind in _NUMBERS and pa.types.is_boolean(kind)):
            raise pa.ArrowInvalid("of another kind")
        binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
        if self.kind in _TEXTS and any(is_kind(kind) for is_kind in binary):
            column = column.cast(pa.large_string())  # which checks that it is UTF-8
        is_other = pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if self.kind == "text" and is_other and column.null_count < len(column):
            raise pa.ArrowInvalid("not text")
        if self.kind in _TEXTS and pa.types.is_floating(kind) and pc.all(pc.equal(column, pc.round(column))).as_py():
            column = column.cast(pa.int64())  # whole numbers with a missing one are floats in a data frame
        if self.kind == "flag" and not pa.types.is_boolean(kind):
            column = column.cast(pa.float64())
            if not pc.all(pc.is_in(column, pa.array(_FLAGS))).as_py():
                raise pa.ArrowInvalid("neither 1 nor 0")
        return column.cast(TYPES[self.kind], safe=False)

    def _refuse_wrong(self, label: str, name: str, values: pa.ChunkedArray) -> None:
        if self.choices:
            empty = ("",) if self.kind in _TEXTS else ()
            wrong = pc.invert(pc.is_in(values, pa.array([*self.choices, *empty, None], values.type)))
            wanted = f"write {' or '.join(map(str, self.choices))}, or leave the cell empty"
        elif self.kind == "probability":
            wrong = pc.or_(pc.less(values, 0), pc.greater(values, 1 + ROUNDING))
            wanted = "it must lie between 0 and 1; leave the cell empty for a text that was not judged"
        elif self.kind == "count":
            outside = pc.or_(pc.less(values, 0), pc.greater(values, MOST))
            wrong = pc.or_(outside, pc.not_equal(values, pc.round(values)))
            wanted = f"it must be a whole number from 0 to {MOST:,}"
        else:
            return
        refuse_rows(label, wrong, lambda row: f"column {name} is {_shown(values[row])}: {wanted}", self._hint)

    @property
    def _hint(self) -> str:
        return f"; {self.hint}" if self.hint else ""


def refuse_rows(label: str, wrong: pa.ChunkedArray, said: Callable[[int], str], hint: str = "") -> None:
    """Raise ``TableError`` for the first row that is wrong, with their number; ``said`` is the fault of a row."""
    count = pc.sum(wrong).as_py()
    if count:
        row = pc.index(wrong, True).as_py()
        raise TableError(f"{label}: row {row + 1}: {said(row)}{such_rows(count)}{hint}")


def such_rows(count: int) -> str:
    """The number of rows with the same fault, for the end of a message, if there are several."""
    return f" ({count:,} such rows)" if count > 1 else ""


def _shown(value: pa.Scalar) -> str:
    return repr(value.as_py())[:_SHOWN]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary and NaN, and with one type of texts; of objects with a text, the text."""
    kind = column.type
    if pa.types.is_struct(kind) and kind.get_field_index("text") >= 0:
        column = pc.struct_field(column, "text")
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    # Arrow rounds a decimal twice on its way to a float, a text once
    plain = pa.types.is_string, pa.types.is_string_view, pa.types.is_decimal
    is_text = any(is_kind(column.type) for is_kind in plain)
    return column.cast(pa.large_string()) if is_text else column


def _known(column: pa.ChunkedArray, *, decimal_comma: bool, flags: bool) -> pa.ChunkedArray:
    """Texts of numbers, or of flags as 1 and 0: null where they say that a value is missing."""
    texts = pc.utf8_trim_whitespace(column)
    if decimal_comma:
        texts = pc.if_else(pc.match_substring(texts, "."), texts, pc.replace_substring(texts, ",", "."))
    for word, number in (("true", "1"), ("false", "0")) if flags else ():
        texts = pc.if_else(pc.equal(pc.utf8_lower(texts), word), number, texts)
    missing = pc.is_in(pc.utf8_lower(texts), pa.array(MISSING, texts.type))
    return pc.if_else(missing, pa.scalar(None, texts.type), texts)


def _words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of texts; none is the empty list. Raises ``pa.ArrowInvalid``."""
    cells = column.to_pylist()
    lists = [[] if cell is None else words_of(cell) for cell in cells]
    if None in lists:
        raise pa.ArrowInvalid("not words")
    words = [[word.strip() for word in cell or () if word.strip()] for cell in lists]
    return pa.chunked_array([pa.array(words, TYPES["words"])])


def words_of(cell: object) -> list[str] | None:
    """The texts of a cell that is a list of them, or a text with ``;`` between them; None for any other cell."""
    words = cell.split(";") if isinstance(cell, str) else cell
    return words if isinstance(words, list) and all(isinstance(word, str) for word in words) else None


def _first_wrong(column: pa.ChunkedArray, convert: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> int:
    """The first row that cannot be converted, found by halves."""
    start, stop = 0, len(column)
    while stop - start > 1:
        middle = (start + stop) // 2
        part = column.slice(start, middle - start)
        try:
            if part.null_count < len(part):
                convert(part)
            start = middle
        except pa.ArrowException:
            stop = middle
    return start
