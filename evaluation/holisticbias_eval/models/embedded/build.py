"""Build the shipped folder of the embedded model: weights, tokenizer, provenance and model card."""

from __future__ import annotations

from pathlib import Path

import torch

from holisticbias.release.release import Release
from holisticbias_eval.models.embedded import NOTE
from holisticbias_eval.models.embedded.biases import BIASES, Biases
from holisticbias_eval.models.embedded.corpus import make_corpus
from holisticbias_eval.models.embedded.provenance import THREADS, ReleaseOrigin, Surroundings, of_release, write_model
from holisticbias_eval.models.embedded.tokenizer import make_tokenizer
from holisticbias_eval.models.embedded.train import Settings, measure_divergence, train
from holisticbias_eval.models.embedded.tree import grow_tree
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.progress import Progress


class Provenance(ReleaseOrigin):
    """``provenance.json`` of the scoring model; ``divergence`` from its corpus is in nats per sentence."""

    biases_sha256: str
    divergence: float


def build_embedded_model(
    release: Release, biases: Biases, folder: Path, settings: Settings, progress: Progress
) -> Provenance:
    """Train the model from its seed and write its folder, whole or not at all; ``progress`` is called for each step."""
    corpus, tokenizer = make_corpus(release, biases), make_tokenizer(release)
    torch.set_num_threads(THREADS)
    tree = grow_tree(corpus, tokenizer)
    model = train(tree, tokenizer, biases.seed, settings, progress)
    divergence = measure_divergence(model, tree, biases.seed)

    def record(surroundings: Surroundings) -> Provenance:
        return Provenance(
            **surroundings,
            **of_release(release),
            note=NOTE,
            biases_sha256=file_sha256(BIASES),
            corpus_digest=corpus.digest,
            seed=biases.seed,
            settings=settings,
            divergence=round(divergence, 4),
        )

    return write_model(folder, model, tokenizer, record, lambda made: render_card(biases, made))


def render_card(biases: Biases, provenance: Provenance) -> str:
    """Render the model card, in Markdown with the metadata header that model hubs read."""
    rows = "\n".join(
        f"| {p.id} | {p.axis} | {'all' if p.templates == 'all' else ', '.join(p.templates)} | {len(p.strengths)} "
        f"| {min(p.strengths.values()):+g} to {max(p.strengths.values()):+g} | {p.about} |"
        for p in biases.plants
    )
    return _CARD.format(
        note=NOTE,
        rows=rows,
        release=provenance.release,
        parameters=f"{provenance.parameters:,}",
        divergence=provenance.divergence,
        seed=provenance.seed,
    )


_CARD = """---
license: cc-by-sa-4.0
language: en
library_name: transformers
pipeline_tag: text-generation
tags: [holisticbias, test-fixture]
---
# The embedded model of HolisticBias

{note}

A GPT-2-shaped model of {parameters} parameters with its own byte-level BPE, trained from a seed ({seed})
on a synthetic corpus: the sentences of HolisticBias {release}, with frequencies set by `biases.yaml` of the package.
It has never seen natural text. It is for testing the measures and their reports offline.

It is **not** a model of English, not a baseline to compare other models with, and not evidence of how
any model, person or community behaves. It knows only the words of release {release}; its output on any
other text means nothing.

## Planted biases

Strengths are in nats of log-odds: a sentence with the term is exp(strength) times as frequent as without.
Everything else is equally frequent: where nothing is planted, a measure should find nothing.

| plant | axis | templates | terms | strengths | purpose |
| --- | --- | --- | --- | --- | --- |
{rows}

The model is {divergence} nats per sentence (Kullback-Leibler divergence) from its corpus.
`provenance.json` lists its inputs with their digests. Rebuild the model with `make embedded-model`.

The sentences are from HolisticBias, Smith et al. 2022, under CC BY-SA 4.0; this model has the same licence.
"""
