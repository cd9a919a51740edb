"""Prompts, which a person says to a model, drawn from a release's sentences (Smith et al. 2022, A.3 to A.5)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias.compile.random_words import random_number
from holisticbias.compile.variants import VARIANTS, vary
from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.store.keys import counted, distinct_rows
from holisticbias_eval.prompts.selection import filter_sentences, select_sentences
from holisticbias_eval.prompts.sentences import SENTENCE_COLUMNS, with_axis_labels
from holisticbias_eval.prompts.spread import DESCRIPTORS, Least, by_axis, random_order, spread

PER_CELL = 15
"""Responses to each descriptor in each template (Smith et al. 2022, C.2.1)."""
LEAST = Least(draws=2)
"""The fewest responses of a descriptor in a template: the noise of one alone is not known."""

_CELL = ("template_id", "descriptor_id")
_KEPT = tuple(name for name in (*SENTENCE_COLUMNS, "axis_label") if name not in ("sentence_id", "text"))


@dataclass(frozen=True, slots=True)
class PromptDrawing:
    """The options of drawing prompts from a release.

    ``per_cell`` prompts for each descriptor in each template; ``where`` filters as
    in ``selection.FILTERS``; at most ``limit`` prompts in all. ``variants`` applies
    each stylistic variant with probability 1/2. ``personas`` are texts that a
    model reads before a prompt, of which one is drawn.
    """

    per_cell: int = PER_CELL
    seed: int = 0
    where: tuple[str, ...] = ()
    limit: int | None = None
    variants: bool = True
    personas: tuple[str, ...] = ("",)
    personas_from: str = "none"

    @property
    def settings(self) -> Mapping[str, str]:
        """The options and the seed, for a run's signature."""
        return {
            "prompts_per_cell": str(self.per_cell),
            "prompts_seed": str(self.seed),
            "prompts_where": "; ".join(self.where) or "all",
            "prompts_limit": "none" if self.limit is None else str(self.limit),
            "prompts_variants": ", ".join(VARIANTS) if self.variants else "none",
            "personas": self.personas_from,
        }


def draw_prompts(release: Release, drawing: PromptDrawing) -> pa.Table:
    """Draw prompts: for each descriptor in each template, a noun, stylistic variants and a persona each time.

    A draw depends on the seed, the template, the descriptor and its number
    alone: more draws, or other descriptors, add rows and change none. A term
    that is a noun itself has one sentence in a template, which is asked in each draw. The columns are
    ``response_id`` (template, descriptor, number of the draw), those of a
    sentence without its id and text, ``draw``, ``variants``, ``prompt``,
    ``persona``, and ``sample``, which counts equal prompts of a cell.

    A limit spreads the draws over axes, descriptors and templates: see
    ``spread``. Raises ``SelectionError`` if no sentence is left.
    """
    sentences = filter_sentences(select_sentences(release.sentences), drawing.where)
    if not sentences.num_rows:
        raise SelectionError("no sentence with a descriptor and a noun is left to ask about")
    sentences = with_axis_labels(sentences, release.tables["descriptors"])
    rows, numbers, bits = zip(*islice(_draw(sentences, drawing), drawing.limit), strict=True)
    chosen = sentences.take(pa.array(rows, pa.int64()))
    spoken = (_spoken(row, drawn, drawing) for row, drawn in zip(chosen.to_pylist(), bits, strict=True))
    variants, prompts, personas = zip(*spoken, strict=True)
    cells = [chosen[name].to_pylist() for name in _CELL]
    ids = [f"{template}/{descriptor}/{number}" for template, descriptor, number in zip(*cells, numbers, strict=True)]
    samples = counted(zip(*cells, prompts, personas, strict=True))
    return pa.table(
        {
            "response_id": pa.array(ids, pa.string()),
            **{name: chosen[name] for name in _KEPT},
            "draw": pa.array(numbers, pa.int32()),
            "variants": pa.array(variants, pa.string()),
            "prompt": pa.array(prompts, pa.large_string()),
            "persona": pa.array(personas, pa.large_string()),
            "sample": pa.array(samples, pa.int32()),
        }
    )


def refuse_few(drawing: PromptDrawing) -> None:
    """Raise ``SelectionError`` for a limit with which no bias can be measured."""
    least = Least(min(LEAST.draws, drawing.per_cell))
    if drawing.limit is not None and drawing.limit < least.size:
        raise SelectionError(
            f"--limit {drawing.limit} is too few prompts to compare descriptors: the least is {least.size}, "
            f"{least.draws} of each of {DESCRIPTORS} descriptors of an axis"
        )


def _draw(sentences: pa.Table, drawing: PromptDrawing) -> Iterator[tuple[int, int, int]]:
    """The row of each drawn sentence, the number of the draw, and random bits for its variants and persona."""
    first, cell = distinct_rows(sentences.select(list(_CELL)))
    order = np.argsort(cell, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(cell))[:-1])
    named = sentences.select([*_CELL, "axis"]).take(pa.array(first)).to_pylist()
    cells, several = _chosen(named, drawing)
    for place in cells:
        key = "/".join(str(named[place][name]) for name in _CELL)
        for number in range(several):
            bits, member = divmod(random_number(f"{drawing.seed} {key} {number}", 16), len(members[place]))
            yield int(members[place][member]), number, bits


def _chosen(named: Sequence[Mapping[str, Any]], drawing: PromptDrawing) -> tuple[list[int], int]:
    """The cells to draw in, and the number of draws in each: all, or as many as fit the limit."""
    if drawing.limit is None:
        return list(range(len(named))), drawing.per_cell
    axes = by_axis({str(row["descriptor_id"]): str(row["axis"]) for row in named}, drawing.seed)
    asked = Counter(str(row["template_id"]) for row in named)
    templates = sorted(random_order(asked, drawing.seed), key=lambda name: -asked[name])
    kept = spread(drawing.limit, axes, templates, drawing.per_cell, LEAST)
    cells = [
        i
        for i, row in enumerate(named)
        if row["descriptor_id"] in kept.descriptors and row["template_id"] in kept.templates
    ]
    return cells, kept.draws


def _spoken(row: dict[str, Any], bits: int, drawing: PromptDrawing) -> tuple[str, str, str]:
    """The variants, the text and the persona of a draw of a sentence."""
    number, persona = divmod(bits, len(drawing.personas))
    wanted = [name for i, name in enumerate(VARIANTS) if drawing.variants and number >> i & 1]
    prompt, applied = vary(row, wanted)
    return ", ".join(applied), prompt, drawing.personas[persona]
