"""The release's own sentences with a descriptor and a noun, and the noun phrase of each alone."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias.terms.grammar import PLURAL_SLOT
from holisticbias_eval.likelihood.spans import Texts, whole
from holisticbias_eval.prompts.columns import OPTIONAL_COLUMNS, SENTENCE_COLUMNS, with_axis_labels
from holisticbias_eval.prompts.prompts import Asked, Draw, ScoredPrompts, Skipped
from holisticbias_eval.prompts.selection import GENDERED, is_gendered, select_sentences, with_noun


def _ask(release: Release, draw: Draw) -> Asked:
    """Select the sentences; each phrase is read under the context of its sentence."""
    selected = with_stances(select_sentences(release.sentences), release.tables["templates"])
    selected = with_axis_labels(selected, release.tables["descriptors"])
    columns = [*SENTENCE_COLUMNS, *(c for c in OPTIONAL_COLUMNS if c in selected.column_names)]
    texts = Texts(selected["text"])
    contexts = draw(texts)
    return Asked(selected.select(columns), whole(texts, contexts), whole(Texts(_phrases(selected)), contexts))


def _skipped(sentences: pa.Table) -> tuple[Skipped, ...]:
    kinds = sentences["noun_phrase_type"].cast(pa.string())
    reasons = {
        "no noun: a descriptor alone gives one sentence a template": pc.is_in(
            kinds, pa.array(["descriptor", "fixed_phrase"])
        ),
        "no descriptor: control sentences": pc.equal(kinds, "noun"),
        GENDERED: pc.and_(with_noun(sentences), is_gendered(sentences)),
    }
    counts = {reason: pc.sum(mask.cast(pa.int64())).as_py() or 0 for reason, mask in reasons.items()}
    return tuple(Skipped(reason=reason, sentences=count) for reason, count in counts.items() if count)


def with_stances(sentences: pa.Table, templates: pa.Table) -> pa.Table:
    """Add the templates that each sentence's template paraphrases or opposes, if the release has them."""
    places = pc.index_in(sentences["template_id"].cast(pa.string()), templates["template_id"].combine_chunks())
    for name in ("paraphrase_of", "opposite_of"):
        if name in templates.column_names:
            sentences = sentences.append_column(name, templates[name].combine_chunks().take(places))
    return sentences


def _phrases(sentences: pa.Table) -> pa.ChunkedArray:
    """The noun phrase of each sentence, in the number that its template has."""
    plural = pc.match_substring(sentences["template"].cast(pa.string()), PLURAL_SLOT)
    singular, several = (sentences[n].cast(pa.string()) for n in ("noun_phrase", "plural_noun_phrase"))
    return pc.if_else(plural, several, singular)


RELEASE_SENTENCES = ScoredPrompts("sentences", "sentences about people", _ask, _skipped)
