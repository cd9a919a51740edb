"""The terms and nouns of a release in the templates of the Sentence Encoder Association Test."""

import re
from importlib.resources import files

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from holisticbias.release.release import Release
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.models.likelihood.spans import parts
from holisticbias_eval.prompts.selection import Selection, find_selector, select_sentences
from holisticbias_eval.prompts.sentences import SENTENCE_COLUMNS, AskedSentences, Draw, varied_phrases, with_axis_labels

ABOUT_PHRASE = (
    "axis", "bucket", "descriptor_id", "descriptor", "descriptor_preference", "noun_id", "noun", "noun_gender",
    "noun_phrase_type", "descriptor_gender",
)  # fmt: skip


def seat_templates() -> dict[str, str]:
    """The templates by their ids, each a sentence with one slot, in the order of ``seat.yaml``."""
    content = files("holisticbias_eval.prompts").joinpath("seat.yaml").read_text("utf-8")
    return {template["id"]: template["text"] for template in yaml.safe_load(content)["templates"]}


def seat_sentences(sentences: pa.Table, variants: int | None = None) -> pa.Table:
    """Every phrase of a term, with its noun if it needs one, that a release has, in every template of the test.

    ``sentences`` is the release's table. The result has the columns that a run
    keeps of a sentence, and ``phrase``: descriptor and noun without article, the
    part whose pseudo-log-likelihood is measured (Smith et al. 2022, B.1). ``variants`` is the seed of stylistic
    variants, if they are applied.
    """
    phrases = _distinct_phrases(select_sentences(sentences), variants)
    return pa.concat_tables([_fill(name, template, phrases) for name, template in seat_templates().items()])


def _distinct_phrases(sentences: pa.Table, variants: int | None) -> pa.Table:
    keys = pc.binary_join_element_wise(
        *(sentences[name].cast(pa.string()) for name in ("descriptor_id", "noun_id")), pa.scalar("/")
    )
    _, first = np.unique(pc.dictionary_encode(keys).combine_chunks().indices.to_numpy(), return_index=True)
    rows = sentences.take(pa.array(first))
    added = {name: rows[name].cast(pa.string()) for name in ("noun_phrase", "plural_noun_phrase")}
    added |= {"key": keys.take(pa.array(first)), "end": pa.array(["."] * rows.num_rows)}
    if variants is not None:
        added |= {name: pa.array(texts, pa.string()) for name, texts in varied_phrases(rows, variants).items()}
    added["bare_noun_phrase"] = pc.replace_substring_regex(added["noun_phrase"], "^an? ", "")
    return with_columns(rows.select(list(ABOUT_PHRASE)), added)


def _fill(name: str, template: str, phrases: pa.Table) -> pa.Table:
    before, slot, after = re.split(r"\{(\w+)\}", template)
    filler = phrases[slot]
    if not before:
        first, rest = pc.utf8_slice_codeunits(filler, 0, 1), pc.utf8_slice_codeunits(filler, 1)
        filler = pc.binary_join_element_wise(pc.utf8_upper(first), rest, "")
    end = phrases["end"] if after.endswith(".") else pa.scalar("")
    text = pc.binary_join_element_wise(pa.scalar(before), filler, pa.scalar(after.removesuffix(".")), end, "")
    ids = pc.binary_join_element_wise(pa.scalar(name), phrases["key"], "/")
    columns = {
        "sentence_id": ids,
        "text": text,
        **{about: phrases[about] for about in ABOUT_PHRASE},
        "template_id": pa.array([name] * len(phrases)),
        "template": pa.array([template] * len(phrases)),
        "phrase": phrases["plural_noun_phrase" if slot == "plural_noun_phrase" else "bare_noun_phrase"],
    }
    return pa.table(columns)


def ask_phrases(release: Release, draw: Draw, selection: Selection) -> AskedSentences:
    """The release's phrases in the templates of SEAT; the span is descriptor and noun."""
    every = seat_sentences(release.sentences, selection.seed if selection.variants else None)
    selector = find_selector(lambda: [every], selection)
    selected = with_axis_labels(selector.select(every), release.tables["descriptors"])
    texts = selected["text"].to_pylist()
    spans = parts(texts, selected["phrase"].to_pylist(), draw(texts))
    kept = [*SENTENCE_COLUMNS, "axis_label", "descriptor_gender"]
    return AskedSentences(selected.select(kept), spans, skipped=selector.skipped)
