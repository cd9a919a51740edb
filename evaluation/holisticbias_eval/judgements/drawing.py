"""Draw pairs, sheets, sides and order by seed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from holisticbias_eval.judgements.key import STUDIO, Pair, Task
from holisticbias_eval.judgements.matching import Row
from holisticbias_eval.judgements.questions import Catch


def draw_pairs(found: Iterable[tuple[Row, Row]], count: int, seed: int) -> list[Pair]:
    """Draw at most ``count`` pairs: a second pair of a prompt only when every prompt has one."""
    times: Counter[str] = Counter()
    ranked = []
    ordered = sorted(enumerate(found), key=lambda item: _digest(seed, "pair", item[1][0]["prompt"], item[0]))
    for _, rows in ordered:
        prompt = rows[0]["prompt"].strip()
        ranked.append((times[prompt], rows))
        times[prompt] += 1
    ranked.sort(key=lambda item: item[0])
    return [_pair(f"pair-{i}", rows) for i, (_, rows) in enumerate(ranked[:count], 1)]


def _pair(name: str, rows: tuple[Row, Row]) -> Pair:
    first, second = rows
    return Pair(
        id=name,
        prompt=first["prompt"].strip(),
        responses=(first["response"].strip(), second["response"].strip()),
        descriptor=first.get("descriptor"),
        template=first.get("template_id"),
    )


def catch_pairs(catch: Sequence[Catch], count: int, seed: int) -> list[Pair]:
    """Draw at most ``count`` catch questions as pairs of the good and the bad response."""
    chosen = sorted(catch, key=lambda one: _digest(seed, "catch", one.prompt))[:count]
    return [
        Pair(id=f"catch-{i}", prompt=one.prompt, responses=(one.good, one.bad), catch=True)
        for i, one in enumerate(chosen, 1)
    ]


def draw_tasks(pairs: Sequence[Pair], sheets: int, per_pair: int, seed: int) -> Iterator[Task]:
    """The tasks of every sheet in their order, then those of Label Studio, which has every pair once.

    A pair stands on ``per_pair`` of the sheets, in turns, and catch questions on all. Its sides alternate from one
    of its sheets to the next.
    """
    turns: dict[str, dict[int, int]] = {}
    real = 0
    for pair in pairs:
        on = range(sheets) if pair.catch else ((real + turn) % sheets for turn in range(per_pair))
        turns[pair.id] = {sheet + 1: turn for turn, sheet in enumerate(on)} | {STUDIO: 0}
        real += not pair.catch
    for sheet in (*range(1, sheets + 1), STUDIO):
        own = [pair for pair in pairs if sheet in turns[pair.id]]
        for pair in sorted(own, key=lambda one: _digest(seed, "order", sheet, one.id)):
            salt = sheet if pair.catch else STUDIO
            yield Task(
                id=_digest(seed, "task", sheet, pair.id)[:16],
                sheet=sheet,
                pair=pair.id,
                left=_left(_digest(seed, "side", salt, pair.id), turns[pair.id][sheet]),
            )


def _left(digest: str, turn: int) -> Literal[0, 1]:
    return 1 if (int(digest[:8], 16) + turn) % 2 else 0


def _digest(seed: int, *parts: object) -> str:
    return hashlib.sha256(json.dumps([seed, *parts]).encode()).hexdigest()
