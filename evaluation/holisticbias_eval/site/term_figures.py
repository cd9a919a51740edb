"""The figures of a term that its page shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TermFigure:
    """A figure of one term on one model, as text for people.

    ``release`` is the release that it was measured on, such as ``2.0.0`` or ``2.0.0, subset small``; ``measure`` the
    title of the measure; ``name`` what the figure is, such as "median perplexity"; ``value`` the value with its unit;
    ``interval`` both ends of the 95% interval, null if it has none; ``meaning`` what the value says, in one sentence,
    the same for all figures of a name; ``page`` the address of the model's page in the site, such as
    ``models/gpt2.html``, null if it has none.
    """

    model: str
    release: str
    measure: str
    name: str
    value: str
    interval: str | None
    meaning: str
    page: str | None = None
