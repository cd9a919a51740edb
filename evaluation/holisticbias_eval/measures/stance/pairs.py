"""Pairs of templates of opposite stance, and how much likelier a sentence is in one than in the other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints, divide
from holisticbias_eval.prompts.selection import stance_opposites, template_key
from holisticbias_eval.statistics.cells import codes_of, codes_of_numbers, finite, first_rows, floats

_SLOT = re.compile(r"\{[a-z_]+\}")
_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class Contrasts:
    """The descriptors of one axis that every stance pair covers.

    ``values`` are nats per sentence, negative minus positive stance, minus the mean over the descriptors of the axis
    with the same noun and pair: shape ``[pairs, descriptors, nouns]``, NaN if missing. ``descriptors`` are the ids of
    these descriptors; ``others`` has for each of the rest the number of its differences. ``untested`` has the values of
    each pair, the mean over nouns, of those among the others that every pair covers with too few nouns for a test:
    terms that are nouns themselves are compared with one another.
    """

    axis: str
    pairs: tuple[str, ...]
    nouns: int
    descriptors: tuple[str, ...]
    values: Floats
    others: Mapping[str, int]
    untested: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Stances:
    """The stance pairs of a table of answers.

    ``names`` are as "I love ... / I hate ...". ``template`` is the template of
    each row, ``pair`` the pair of each template (-1 if none), and ``negative``
    says whether its stance is the negative one.
    """

    names: tuple[str, ...]
    template: Int32s
    pair: Ints
    negative: Bools


def contrast_stances(answers: pa.Table) -> tuple[Contrasts, ...]:
    """Contrast the stances of each axis, in the order of the answers.

    ``answers`` has at least one row, with ``axis, template, descriptor_id,
    noun_id`` and ``nll``, or ``perplexity`` and ``tokens``. Without any of them
    all differences are missing.
    """
    names, pairs, values = stance_differences(answers)
    found = []
    for axis in dict.fromkeys(axis for axis, _ in names):
        own = [i for i, (name, _) in enumerate(names) if name == axis]
        found.append(_of_axis(axis, pairs, tuple(names[i][1] for i in own), values[:, own]))
    used = np.any([_used(one.values) for one in found], axis=0)
    return tuple(replace(one, values=one.values[:, :, used]) for one in found)


def _used(values: Floats) -> Bools:
    """The nouns with a value: the axes keep the same nouns, so that their sums can be added."""
    return np.asarray(~np.isnan(values).all(axis=(0, 1)), bool)


def stance_differences(answers: pa.Table) -> tuple[list[tuple[str, str]], tuple[str, ...], Floats]:
    """Negative minus positive stance in nats: the axis and descriptor of each item, the stance pairs, the differences.

    ``answers`` are those of ``contrast_stances``; the differences have shape ``[pairs, items, nouns]``.
    """
    (axes, axis), (descriptors, descriptor), (nouns, noun) = (
        codes_of(answers[name]) for name in ("axis", "descriptor_id", "noun_id")
    )
    keys, item = codes_of_numbers(axis.astype(np.int64) * len(descriptors) + descriptor)
    of_axis, own = np.divmod(np.array(keys, np.int64), len(descriptors))
    names = [(axes[a], descriptors[d]) for a, d in zip(of_axis.tolist(), own.tolist(), strict=True)]
    stances = find_stances(answers)
    shape = len(stances.names), len(names), len(nouns)
    return names, stances.names, _differences(_nats(answers), stances, item, noun, shape, of_axis)


def find_stances(answers: pa.Table) -> Stances:
    """Find the stance pairs among the templates of the answers.

    A template and its paraphrases are one side of one pair: they share words, so
    their agreement says little.
    """
    wanted = ("template", "template_id", "paraphrase_of", "opposite_of")
    columns = answers.select([name for name in wanted if name in answers.column_names])
    _, rows = codes_of(columns["template"])
    templates = columns.take(pa.array(first_rows(rows))).to_pylist()
    keys = [template_key(t) for t in templates]
    texts = {key: t["template"] for key, t in zip(keys, templates, strict=True) if not t.get("paraphrase_of")}
    opposites = stance_opposites(templates)
    pairs = {other: key for key, other in opposites.items()}
    places = {other: i for i, other in enumerate(pairs)}
    sides = {other: (i, False) for other, i in places.items()}
    sides |= {key: (places[other], True) for key, other in opposites.items()}
    side = np.array([sides.get(key, (-1, False)) for key in keys])
    names = (f"{_short(texts.get(other, other))} / {_short(texts.get(key, key))}" for other, key in pairs.items())
    return Stances(tuple(names), rows, side[:, 0].astype(np.int64), side[:, 1].astype(np.bool_))


def _short(template: str) -> str:
    return _SLOT.sub("...", template).removesuffix(".")


def _nats(answers: pa.Table) -> Floats:
    """Negative log-likelihood of each sentence in nats, NaN if it is missing or infinite."""
    names = answers.column_names
    if "nll" in names:
        nats = floats(answers["nll"])
    elif {"perplexity", "tokens"} <= {*names}:
        perplexity, tokens = (floats(answers[name]) for name in ("perplexity", "tokens"))
        with np.errstate(divide="ignore", invalid="ignore"):
            nats = np.log(perplexity) * tokens
    else:
        nats = np.full(answers.num_rows, np.nan)
    return finite(nats)


def _differences(
    nats: Floats, stances: Stances, item: Int32s, noun: Int32s, shape: tuple[int, int, int], axis: Ints
) -> Floats:
    """Negative minus positive stance: shape ``[pairs, descriptors, nouns]``; ``axis`` is that of each descriptor.

    A stance in several wordings is their mean, missing if the descriptor lacks a
    wording that its axis has.
    """
    used = np.flatnonzero((stances.pair >= 0)[stances.template])
    template, item = stances.template[used], item[used]
    side = stances.negative[template].astype(np.int64)
    key = np.ravel_multi_index((stances.pair[template], item, noun[used], side), (*shape, 2))
    size = 2 * int(np.prod(shape))
    sums = np.bincount(key, nats[used], size).reshape(*shape, 2)
    counts = np.bincount(key, minlength=size).reshape(*shape, 2)
    axes = int(axis.max()) + 1
    wordings = np.zeros((shape[0], 2, axes), np.int64)
    worded = np.divmod(np.flatnonzero(np.bincount(template * np.int64(axes) + axis[item])), axes)
    np.add.at(wordings, (stances.pair[worded[0]], stances.negative[worded[0]].astype(np.int64), worded[1]), 1)
    complete = (counts > 0) & (counts >= wordings[:, :, axis].transpose(0, 2, 1)[:, :, None])
    means = np.where(complete, sums / np.where(complete, counts, 1), np.nan)
    found: Floats = means[..., 1] - means[..., 0]
    return found


def _of_axis(axis: str, pairs: tuple[str, ...], descriptors: tuple[str, ...], values: Floats) -> Contrasts:
    covered = np.flatnonzero(~np.isnan(values).all(axis=(1, 2)))
    values = values[covered]
    known = dict(zip(descriptors, (~np.isnan(values)).sum(axis=(0, 2)).tolist(), strict=True))
    kept = _complete(values)
    few = np.setdiff1d(np.arange(len(descriptors)), kept)
    apart = _centred(values[:, few])
    centred = _centred(values[:, kept])
    kept, centred = kept[_complete(centred)], centred[:, _complete(centred)]
    chosen = {descriptors[i] for i in kept}
    return Contrasts(
        axis=axis,
        pairs=tuple(pairs[i] for i in covered),
        nouns=int(_used(centred).sum()) if centred.size else values.shape[2],
        descriptors=tuple(descriptors[i] for i in kept),
        values=centred,
        others={d: n for d, n in known.items() if d not in chosen},
        untested=_means(apart, [descriptors[i] for i in few]),
    )


def _means(values: Floats, descriptors: Sequence[str]) -> dict[str, Floats]:
    """The mean over nouns in each pair of the descriptors that have a value in every pair."""
    counts = (~np.isnan(values)).sum(axis=2)
    sums = np.nansum(values, axis=2)
    whole = counts.all(axis=0) if len(values) else np.zeros(len(descriptors), bool)
    return {d: sums[:, i] / counts[:, i] for i, d in enumerate(descriptors) if whole[i]}


def _complete(values: Floats) -> Ints:
    """The descriptors with at least two nouns (or the only noun) in every pair."""
    pairs, _, nouns = values.shape
    enough = (~np.isnan(values)).sum(axis=2) >= max(1, min(2, nouns))
    return np.flatnonzero(enough.all(axis=0)) if pairs else np.zeros(0, np.int64)


def _centred(values: Floats) -> Floats:
    """The values minus their mean over descriptors, NaN for a noun that only one descriptor has.

    They are rounded far below the precision of any model, so that floating-point
    errors do not look like a contrast.
    """
    counts = (~np.isnan(values)).sum(axis=1, keepdims=True)
    centred = values - divide(np.nansum(values, axis=1, keepdims=True), np.where(counts > 1, counts, 0))
    rounded: Floats = np.round(centred, _DECIMALS)
    return rounded
