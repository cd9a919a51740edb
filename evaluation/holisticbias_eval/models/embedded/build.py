"""Build the shipped folder of the embedded model: weights, tokenizer, provenance and model card."""

from __future__ import annotations

import platform
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from pydantic import BaseModel, ConfigDict

from holisticbias.output import new_folder
from holisticbias.release.release import Release
from holisticbias_eval.models.embedded import NOTE
from holisticbias_eval.models.embedded.biases import BIASES, Biases
from holisticbias_eval.models.embedded.corpus import Corpus, make_corpus
from holisticbias_eval.models.embedded.tokenizer import make_tokenizer
from holisticbias_eval.models.embedded.train import Settings, measure_divergence, train
from holisticbias_eval.models.embedded.tree import grow_tree
from holisticbias_eval.models.source import file_sha256
from holisticbias_eval.progress import Progress

if TYPE_CHECKING:
    from transformers import GPT2LMHeadModel

PROVENANCE = "provenance.json"
THREADS = 2
_PACKAGES = ("numpy", "tokenizers", "torch", "transformers")


class Provenance(BaseModel):
    """``provenance.json``: the inputs that the shipped files were made from, with digests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    note: str
    biases_sha256: str
    release: str
    release_digest: str
    corpus_digest: str
    seed: int
    settings: Settings
    parameters: int
    divergence: float
    files: dict[str, str]
    versions: dict[str, str]
    machine: str


def build_embedded_model(
    release: Release, biases: Biases, folder: Path, settings: Settings, progress: Progress
) -> Provenance:
    """Train the model from its seed and write its folder, whole or not at all; ``progress`` is called for each step."""
    corpus, tokenizer = make_corpus(release, biases), make_tokenizer(release)
    torch.set_num_threads(THREADS)
    tree = grow_tree(corpus, tokenizer)
    model = train(tree, tokenizer, biases.seed, settings, progress)
    divergence = measure_divergence(model, tree, biases.seed)
    with new_folder(folder, lambda old: (old / PROVENANCE).is_file()) as made:
        model.save_pretrained(made)
        tokenizer.save_pretrained(made)
        (made / "model.safetensors").chmod(0o644)
        (made / "generation_config.json").unlink(missing_ok=True)
        provenance = _provenance(made, release, biases, corpus, settings, model, divergence)
        (made / PROVENANCE).write_text(provenance.model_dump_json(indent=2) + "\n", "utf-8")
        (made / "README.md").write_text(render_card(biases, provenance), "utf-8")
    return provenance


def _provenance(
    folder: Path,
    release: Release,
    biases: Biases,
    corpus: Corpus,
    settings: Settings,
    model: GPT2LMHeadModel,
    divergence: float,
) -> Provenance:
    return Provenance(
        note=NOTE,
        biases_sha256=file_sha256(BIASES),
        release=release.version,
        release_digest=release.digest,
        corpus_digest=corpus.digest,
        seed=biases.seed,
        settings=settings,
        parameters=sum(p.numel() for p in model.parameters()),
        divergence=round(divergence, 4),
        files={path.name: file_sha256(path) for path in sorted(folder.iterdir())},
        versions={"python": platform.python_version(), **{name: installed_version(name) for name in _PACKAGES}},
        machine=f"{platform.system()} {platform.machine()}",
    )


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
