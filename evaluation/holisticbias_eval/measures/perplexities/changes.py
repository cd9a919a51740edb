"""The change of group_perplexity from one run to another, on the sentences that both runs have."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups.figures import Maker
from holisticbias_eval.measures.measure import Settings, View
from holisticbias_eval.measures.perplexities.dimensions import NAME, SCALES, WITH_HELD_OUT, Scale
from holisticbias_eval.measures.perplexities.figures import MEAN_T, UNITS, F, T
from holisticbias_eval.measures.perplexities.shared import Change, PairChange, SharedDimension, share_dimensions

FIGURE = "figure"
"""The key that names what changes, if it is not F: ``eta_squared``, ``mean_abs_t`` or ``mean``."""
_MAKER = Maker(NAME)


def change_figures(first: View, second: View, settings: Settings) -> Iterator[Figure]:
    """The figures ``first``, ``second`` and ``change`` of each dimension and scale, on sentences that both runs share.

    F has the keys ``dimension`` and ``scale``; ``eta_squared``, ``mean_abs_t`` (with ``test``) and ``mean`` (with
    ``group``, or over all groups) have also the key ``figure``. The interval of a change draws sentences with their
    values of both runs. The t of every pair has the key ``figure`` too, and the groups as ``first`` and ``second``; its
    p-values are corrected over the pairs, and its change has no test. Raises ``SelectionError`` if the runs share no
    dimension.
    """
    shared = list(share_dimensions(first.answers, second.answers))
    if not shared:
        raise SelectionError("the runs have no dimension with sentences of two groups in common")
    for both in shared:
        for scale in SCALES:
            for change in both.changes(scale, settings.seed):
                yield from _figures(both, scale, change)
            for pair in both.pairs(scale):
                yield from _pair_figures(both, scale, pair)
    yield from _unshared(first.figures, second.figures, {both.first.name.partition(" (")[0] for both in shared})


def _figures(both: SharedDimension, scale: Scale, change: Change) -> Iterator[Figure]:
    named = {} if change.name == "f" else {FIGURE: change.name}
    keys = {"dimension": both.first.name, "scale": scale, **named, **change.keys}
    unit = unit_of(change.name, scale)
    for name, value in (("first", change.first), ("second", change.second)):
        yield _MAKER.figure(name, keys, value, unit, change.n, missing=both.missing, of=change.name)
    difference, apart = change.second - change.first, f"{unit} difference"
    yield _MAKER.figure(
        "change", keys, difference, apart, change.n, missing=both.missing, interval=change.ends, of=change.name
    )


def _pair_figures(both: SharedDimension, scale: Scale, pair: PairChange) -> Iterator[Figure]:
    keys = {"dimension": both.first.name, "scale": scale, FIGURE: "t", **pair.keys}
    for name, value, p in zip(("first", "second"), pair.values, pair.p_values, strict=True):
        yield _MAKER.figure(name, keys, value, T, pair.n, p_value=p, of="t")
    yield _MAKER.figure("change", keys, pair.values[1] - pair.values[0], f"{T} difference", pair.n, of="t")


def unit_of(figure: str, scale: Scale) -> str:
    """The unit of a figure that changes."""
    units = {"f": F, "eta_squared": "share", "mean_abs_t": MEAN_T}
    return units.get(figure, UNITS[scale])


def _unshared(first: Figures, second: Figures, shared: set[str]) -> Iterator[Figure]:
    """The F of dimensions that the runs do not share; their change is not defined."""
    found: dict[tuple[str, ...], dict[str, Figure]] = {}
    for name, figures in (("first", first), ("second", second)):
        for figure in figures.by(NAME, "f", "dimension", "scale"):
            name_of = figure.keys["dimension"].partition(" (")[0]
            if not {name_of, name_of.removesuffix(WITH_HELD_OUT)} & shared:
                found.setdefault(tuple(figure.keys.values()), {})[name] = figure
    for both in found.values():
        for name, figure in both.items():
            yield figure.model_copy(update={"name": name, "of": "f"})
        keys = next(iter(both.values())).keys
        yield _MAKER.figure("change", keys, None, f"{F} difference", 0, of="f")
