"""Choose the examples that a split is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.examples import LABEL, STATE
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.errors import CorpusError

Row = Mapping[str, str | None]
_UNLABELLED = {"disagreed": "annotators disagree", "incomplete": "too few labels"}


def usable_examples(examples: pa.Table, specification: Specification) -> tuple[list[Row], Counter[str], bool]:
    """The biased examples of groups that are not held out, once each; how many are left out, and why; if labelled.

    Without any label all examples count as biased. Raises ``CorpusError`` if none is left.
    """
    names = {group.name: group.held_out for group in specification.groups}
    held_out = {name for name, held in names.items() if held}
    labelled = _is_labelled(examples)
    left_out: Counter[str] = Counter()
    kept: dict[str, Row] = {}
    for row in examples.to_pylist():
        reason = _refusal(row, specification, names, held_out, labelled=labelled)
        key = " ".join(row["text"].casefold().split())
        if reason is None and key in kept:
            reason = "repeated text"
        if reason is None:
            kept[key] = row
        else:
            left_out[reason] += 1
    if not kept:
        why = ", ".join(f"{reason}: {count:,}" for reason, count in left_out.most_common())
        raise CorpusError(f"no example of {specification.id} can be used ({why or 'the table is empty'})")
    return list(kept.values()), left_out, labelled


def _is_labelled(examples: pa.Table) -> bool:
    if LABEL not in examples.column_names:
        return False
    return examples[LABEL].null_count < len(examples) or STATE in examples.column_names


def _refusal(
    row: Mapping[str, object],
    specification: Specification,
    names: Mapping[str, bool],
    held_out: set[str],
    *,
    labelled: bool,
) -> str | None:
    """The reason for leaving out an example, null to keep it."""
    own = {specification.id, specification.published_as, specification.id.rpartition(".")[2]}
    if row["dimension"] not in own:
        return "other dimension"
    if row["group"] not in names:
        return "group that the specification does not have"
    if labelled and row[LABEL] is None:
        return _UNLABELLED.get(str(row.get(STATE)), "no agreed label")
    if labelled and row[LABEL] == 0:
        return "not biased"
    if row["group"] in held_out:
        return "held-out group"
    mentions = target_finder(specification).find(str(row["text"]))
    return "mentions a held-out group" if any(mention.of.group in held_out for mention in mentions) else None
