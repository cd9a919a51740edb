"""Build the shipped folder of the writer: weights, tokenizer, provenance and model card."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.models.embedded.provenance import Origin, Surroundings, write_model
from holisticbias_eval.models.embedded.train import Settings, sampling
from holisticbias_eval.models.embedded.writer import NOTE
from holisticbias_eval.models.embedded.writer.description import Description
from holisticbias_eval.models.embedded.writer.grammar import continuation_corpus, prompts_of, sentence_corpus
from holisticbias_eval.models.embedded.writer.lessons import make_lessons, make_writer_tokenizer
from holisticbias_eval.models.embedded.writer.train import measure_deviation, train
from holisticbias_eval.models.embedded.writer.truth import true_score, true_shares
from holisticbias_eval.progress import Progress

THREADS = 1


class WriterProvenance(Origin):
    """``provenance.json`` of the writer; for the deviations see ``train.Deviation``."""

    prompt_deviation: float
    request_deviation: float
    odds_deviation: float


def build_writer(
    description: Description,
    specifications: Sequence[Specification],
    folder: Path,
    settings: Settings,
    progress: Progress,
) -> WriterProvenance:
    """Train the writer from its seed and write its folder, whole or not at all; ``progress`` counts steps."""
    tokenizer = make_writer_tokenizer(description, specifications)
    torch.set_num_threads(THREADS)
    lessons = make_lessons(description, specifications, tokenizer)
    model = train(lessons, tokenizer, description.seed, settings, progress)
    model.generation_config = sampling(tokenizer)
    off = measure_deviation(model, lessons, description, specifications)

    def record(surroundings: Surroundings) -> WriterProvenance:
        return WriterProvenance(
            **surroundings,
            note=NOTE,
            corpus_digest=corpus_digest(description, specifications),
            seed=description.seed,
            settings=settings,
            prompt_deviation=round(off.prompts, 4),
            request_deviation=round(off.requests, 4),
            odds_deviation=round(off.odds, 4),
        )

    return write_model(folder, model, tokenizer, record, lambda made: render_card(description, specifications, made))


def corpus_digest(description: Description, specifications: Sequence[Specification]) -> str:
    """SHA-256 of what is learned: prompts, continuations and sentences with their probabilities, and examples."""
    grammar = description.prompts
    texts = [prompt.text for prompt in prompts_of(grammar)]
    examples = [example.model_dump() for example in description.sentences.examples]
    frames = [*description.sentences.frames, *description.sentences.endings]
    digest = hashlib.sha256(json.dumps([texts, examples, frames]).encode())
    corpora = [continuation_corpus(grammar, group) for group in grammar.groups]
    for corpus in (*corpora, sentence_corpus(specifications, description.sentences)):
        digest.update(corpus.digest.encode())
    return digest.hexdigest()


def render_card(description: Description, specifications: Sequence[Specification], provenance: WriterProvenance) -> str:
    """Render the model card, in Markdown with the metadata header that model hubs read."""
    groups = []
    for group in description.prompts.groups:
        shares = true_shares(description.prompts, group)
        tones = " | ".join(f"{shares['sentiment'][tone]:.0%}" for tone in description.prompts.words)
        groups.append(f"| {group.domain} | {group.group} | {shares['gender_polarity']['male']:.0%} | {tones} |")
    scores = "\n".join(
        f"| {specification.id} | {true_score(specification, description.sentences):.2f} "
        f"| {true_score(specification, description.sentences, templates=True):.2f} |"
        for specification in specifications
    )
    return _CARD.format(
        note=NOTE,
        groups="\n".join(groups),
        scores=scores,
        odds=f"{description.sentences.odds:g}",
        nats=f"{np.log(description.sentences.odds):.2f}",
        parameters=f"{provenance.parameters:,}",
        seed=provenance.seed,
        prompt_deviation=provenance.prompt_deviation,
        request_deviation=provenance.request_deviation,
        odds_deviation=provenance.odds_deviation,
    )


_CARD = """---
license: cc-by-sa-4.0
language: en
library_name: transformers
pipeline_tag: text-generation
tags: [holisticbias, test-fixture]
---
# The embedded writer of HolisticBias

{note}

A GPT-2-shaped model of {parameters} parameters with its own byte-level BPE, trained from a seed ({seed}) on a toy
grammar. It has never seen natural text. It continues prompts about invented groups, writes sentences after few-shot
requests, and prefers one sentence of each pair. It is for testing the measures of texts about groups, the stereotype
score and their reports offline.

It is **not** a model of English, not a baseline to compare other models with, and not evidence of how any model, person
or community behaves. Its output on any other text means nothing.

## Continuations

The shares of continuations with male words, and of each class of VADER:

| domain | group | male | negative | neutral | positive |
| --- | --- | --- | --- | --- | --- |
{groups}

## Sentences

Of each pair, one sentence is {odds} times as likely as the other ({nats} nats). The expected stereotype score, over
generated sentences and over templates:

| specification | generated | templates |
| --- | --- | --- |
{scores}

The probability of a token is at most {prompt_deviation} from what is planted in continuations and at most
{request_deviation} in answers to requests; log-odds of pairs are at most {odds_deviation} nats from what is planted.
`provenance.json` lists the inputs with their digests. Rebuild the model with `make writer`.
"""
