"""Values that a test knows to be there, or that it does not need."""

from typing import TypeVar

Value = TypeVar("Value")


def known(value: Value | None) -> Value:
    """The value, which must not be missing."""
    assert value is not None
    return value


def ignore(said: object) -> None:
    """Take a notice or a number of texts done, and do nothing."""
