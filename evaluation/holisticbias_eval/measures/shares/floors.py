"""Shares in the order of reports, and the axes and templates in which terms may be named."""

from __future__ import annotations

from holisticbias_eval.figures import Figure, Figures


def shares_in_order(figures: Figures, measure: str) -> tuple[Figure, ...]:
    """The shares of the axes: those above their floor first, the largest first; then the others in their order."""
    shares = figures.by(measure, "share", "axis")
    return tuple(sorted(shares, key=lambda share: -(share.value or 0) if share.above_floor else 1))


def axes_above_floor(figures: Figures, measure: str) -> tuple[str, ...]:
    """The axes whose share is above its floor, in their order."""
    return tuple(share.keys["axis"] for share in figures.by(measure, "share", "axis") if share.above_floor)


def cells_above_floor(figures: Figures, measure: str) -> frozenset[tuple[str, str]]:
    """The axes and templates in which terms may be named: the axis is above its floor, and also in that template."""
    axes = axes_above_floor(figures, measure)
    cells = figures.by(measure, "share", "axis", "template")
    return frozenset(
        (share.keys["axis"], share.keys["template"])
        for share in cells
        if share.keys["axis"] in axes and share.above_floor
    )


def has_floors(figures: Figures, measure: str) -> bool:
    """Whether any share has a floor."""
    return any(share.floor is not None for share in figures.by(measure, "share", "axis"))
