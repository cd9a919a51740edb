"""A method of a measure: one way to give a text a value and a class."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Method:
    """One way in which a measure gives a text a value and a class.

    ``unit`` is that of the value. ``classes`` are in the order in which a report lists them; they are empty if the
    method has no classes or if the classifier names them. ``direction`` says what a large value means. ``key`` is the
    key of figures that names the method; if it is empty, figures of this method do not name it. ``least`` and ``most``
    are the ends of the scale of values; null if it has none. ``opposite`` are two classes that are also given as
    shares of all texts, with or without a value.
    """

    name: str
    title: str
    unit: str
    classes: tuple[str, ...] = ()
    direction: str = ""
    key: str = ""
    least: float | None = None
    most: float | None = None
    opposite: tuple[str, ...] = ()

    @property
    def keys(self) -> dict[str, str]:
        """The keys that name the method in figures."""
        return {self.key: self.name} if self.key else {}
