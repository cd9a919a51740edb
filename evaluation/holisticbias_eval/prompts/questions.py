"""What a run asks of a scorer: parts of a release's sentences, and the phrases that also stand alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias.terms.grammar import PLURAL_SLOT
from holisticbias_eval.likelihood.scores import Scores, with_scores
from holisticbias_eval.likelihood.spans import Spans, joined, parts, whole
from holisticbias_eval.measures import PSEUDO_LIKELIHOOD_BIAS
from holisticbias_eval.prompts.columns import OPTIONAL_COLUMNS, SENTENCE_COLUMNS
from holisticbias_eval.prompts.seat import seat_sentences
from holisticbias_eval.prompts.selection import select_sentences

Draw = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Sentences and a part of each, and beside them phrases standing alone: one a sentence, or none.

    All are scored in one call: what they share is then run through the model once.
    """

    sentences: pa.Table
    spans: Spans
    alone: Spans | None = None

    @property
    def together(self) -> Spans:
        """Everything to be scored, the sentences first."""
        return self.spans if self.alone is None else joined(self.spans, self.alone)

    def answer(self, scores: Scores) -> pa.Table:
        """The sentences with what was scored of them.

        ``phrase_nll`` are the nats of the phrase alone, missing where no token of
        it was scored; ``context`` is there where any was given.
        """
        rows = np.arange(len(self.spans))
        table = with_scores(self.sentences, scores.take(rows))
        if any(self.spans.context):
            table = table.append_column("context", pa.array(list(self.spans.context), pa.string()))
        if self.alone is None:
            return _whole_phrases(table)
        alone = scores.take(rows + len(rows))
        nll = pa.array(np.where(alone.tokens > 0, alone.nll, np.nan), from_pandas=True)
        return table.append_column("phrase_nll", nll)


def ask(release: Release, measures: tuple[str, ...], draw: Draw) -> Asked:
    """What the measures are over; ``draw`` gives each sentence the context that its phrase is read under as well."""
    return _seat(release, draw) if measures == (PSEUDO_LIKELIHOOD_BIAS,) else _dialogue(release, draw)


def _dialogue(release: Release, draw: Draw) -> Asked:
    """The release's own sentences, and the phrase of each alone."""
    selected = _with_stances(select_sentences(release.sentences), release.tables["templates"])
    selected = _with_axis_labels(selected, release.tables["descriptors"])
    columns = [*SENTENCE_COLUMNS, *(c for c in OPTIONAL_COLUMNS if c in selected.column_names)]
    texts = selected["text"].to_pylist()
    contexts = draw(texts)
    return Asked(selected.select(columns), whole(texts, contexts), whole(_phrases(selected).to_pylist(), contexts))


def _seat(release: Release, draw: Draw) -> Asked:
    """The release's phrases in the templates of SEAT: of each the descriptor and the noun."""
    selected = _with_axis_labels(seat_sentences(release.sentences), release.tables["descriptors"])
    texts = selected["text"].to_pylist()
    spans = parts(texts, selected["phrase"].to_pylist(), draw(texts))
    return Asked(selected.select([*SENTENCE_COLUMNS, "axis_label"]), spans)


def _whole_phrases(scores: pa.Table) -> pa.Table:
    """The value compared is that of the whole phrase, as in Smith et al. 2022, B.1.

    ``perplexity`` is exp of its nats, not divided by its tokens.
    """
    nll = np.where(scores["tokens"].to_numpy() > 0, scores["nll"].to_numpy(), np.nan)
    values = pa.array(np.exp(nll), from_pandas=True)
    return scores.set_column(scores.column_names.index("perplexity"), "perplexity", values)


def _with_stances(sentences: pa.Table, templates: pa.Table) -> pa.Table:
    """The sentences with the template that theirs words in another way, where the release says so."""
    if "paraphrase_of" not in templates.column_names:
        return sentences
    places = pc.index_in(sentences["template_id"].cast(pa.string()), templates["template_id"].combine_chunks())
    return sentences.append_column("paraphrase_of", templates["paraphrase_of"].combine_chunks().take(places))


def _with_axis_labels(sentences: pa.Table, descriptors: pa.Table) -> pa.Table:
    """The sentences with their axis in words, from layout 3 on a column of their own."""
    if "axis_label" in sentences.column_names:
        return sentences
    axes = sentences["axis"].cast(pa.string()).dictionary_encode().unify_dictionaries().combine_chunks()
    places = pc.index_in(axes.dictionary, descriptors["axis"].cast(pa.string()).combine_chunks())
    labels = descriptors["axis_label"].cast(pa.string()).combine_chunks().take(places)
    return sentences.append_column("axis_label", pa.DictionaryArray.from_arrays(axes.indices, labels))


def _phrases(sentences: pa.Table) -> pa.ChunkedArray:
    """The noun phrase of each sentence, in the number that its template has."""
    plural = pc.match_substring(sentences["template"].cast(pa.string()), PLURAL_SLOT)
    singular, several = (sentences[n].cast(pa.string()) for n in ("noun_phrase", "plural_noun_phrase"))
    return pc.if_else(plural, several, singular)
