"""Tables with other values in a column, or without some rows."""

import pyarrow as pa


def with_column(table: pa.Table, name: str, values: object) -> pa.Table:
    """The table with other values in a column."""
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def only(table: pa.Table, name: str, value: object) -> pa.Table:
    """The rows that have this value in a column."""
    return table.filter(pa.array([found == value for found in table[name].to_pylist()]))


def without(table: pa.Table, name: str, value: object) -> pa.Table:
    """The rows that do not have this value in a column."""
    return table.filter(pa.array([found != value for found in table[name].to_pylist()]))
