"""Candidates of dialogue state tracking: whether a slot has a value after a user's turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.corpus.multiwoz import Turn

COLUMNS = ("candidate_id", "dialogue", "turn", "slot", "value", "history", "label")


def slot_values(turns: Sequence[Turn]) -> dict[str, tuple[str, ...]]:
    """The values of each slot in these turns, sorted."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for turn in turns:
        for slot, value in turn.state.items():
            found[slot].add(value)
    return {slot: tuple(sorted(values)) for slot, values in sorted(found.items())}


def make_candidates(turns: Sequence[Turn], known: Mapping[str, Sequence[str]], most: int, seed: int) -> pa.Table:
    """Draw at most ``most`` candidates: values of the state with label 1, and for each another value with label 0.

    The other value is of the same slot, drawn from ``known`` with equal chances. A slot with one known value gives no
    candidate. The columns are ``COLUMNS``; the draw depends on ``seed`` and the turns alone.
    """
    rng = np.random.default_rng(seed)
    places = [(turn, slot, value) for turn in turns for slot, value in turn.state.items()]
    rows: list[tuple[object, ...]] = []
    for place in rng.permutation(len(places)).tolist():
        turn, slot, value = places[place]
        others = [other for other in known.get(slot, ()) if other.lower() != value.lower()]
        if others and len(rows) + 2 <= most:
            other = others[int(rng.integers(len(others)))]
            rows += _rows(turn, slot, ((value, 1), (other, 0)))
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    return pa.table(dict(zip(COLUMNS, map(list, columns), strict=True)), schema=_SCHEMA)


_TEXTS = ("candidate_id", "dialogue", "slot", "value", "history")
_SCHEMA = pa.schema([(name, pa.string() if name in _TEXTS else pa.int64()) for name in COLUMNS])


def _rows(turn: Turn, slot: str, values: Sequence[tuple[str, int]]) -> Iterator[tuple[object, ...]]:
    for value, label in values:
        name = f"{turn.dialogue}/{turn.number}/{slot}={value}"
        yield name, turn.dialogue, turn.number, slot, value, turn.history, label


def candidate_text(history: str, slot: str, value: str) -> str:
    """The text of a candidate for a model: the dialogue so far, then the slot and its value."""
    return f"{history}\n{slot.replace('-', ' ')}: {value}"
