"""Build the shipped folder of the responder: weights, tokenizer, chat template, provenance and model card."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from calibration.provenance import ReleaseOrigin, write_model
from calibration.responder.chat import make_chat_tokenizer
from calibration.responder.deviation import measure_deviation
from calibration.responder.lessons import make_lessons
from calibration.responder.repertoire import RESPONSES, Repertoire, read_repertoire
from calibration.responder.said import draw_said
from calibration.responder.train import SETTINGS, train
from calibration.responder.truth import planted_mixture
from calibration.training import LearningSettings, sampling
from holisticbias import build_release
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.progress import Progress

CHECKED = 50_000
NOTE = SHIPPED[RESPONDER].note


class ResponderProvenance(ReleaseOrigin):
    """``provenance.json`` of the responder.

    Over ``checked`` prompts, ``deviation`` is the largest absolute difference of a style's probability from what is
    planted, ``unplanted_deviation`` that over prompts without a plant, and ``cell_deviation`` that of its mean over the
    prompts of one descriptor and template.
    """

    responses_sha256: str
    checked: int
    deviation: float
    unplanted_deviation: float
    cell_deviation: float


def rebuild(folder: Path, progress: Progress) -> tuple[ResponderProvenance, str]:
    """Build the shipped model, and say how near it is to what is planted."""
    repertoire = read_repertoire()
    release = build_release(load_catalog(), repertoire.release)
    made = build_responder(release, repertoire, folder, SETTINGS, progress)
    return made, f"over {made.checked:,} prompts styles are at most {made.deviation} from what is planted"


def build_responder(
    release: Release,
    repertoire: Repertoire,
    folder: Path,
    settings: LearningSettings,
    progress: Progress,
    checked: int = CHECKED,
) -> ResponderProvenance:
    """Train the responder from its seed and write its folder, whole or not at all.

    ``progress`` is called for each step of training. The model is then compared with what is planted on ``checked``
    prompts.
    """
    tokenizer = make_chat_tokenizer(release, repertoire)
    model = train(release, repertoire, tokenizer, settings, progress)
    model.generation_config = sampling(tokenizer)
    said = draw_said(release, checked, repertoire.seed + 1)
    off = measure_deviation(model, make_lessons(said, repertoire, tokenizer), lambda _: None)
    return write_model(
        folder,
        model,
        tokenizer,
        ResponderProvenance,
        lambda made: render_card(repertoire, made),
        note=NOTE,
        release=release.version,
        release_digest=release.digest,
        responses_sha256=file_sha256(RESPONSES),
        corpus_digest=corpus_digest(release, repertoire),
        seed=repertoire.seed,
        settings=settings,
        checked=off.prompts,
        deviation=round(off.style, 4),
        unplanted_deviation=round(off.unplanted, 4),
        cell_deviation=round(off.cell, 4),
    )


def corpus_digest(release: Release, repertoire: Repertoire) -> str:
    """SHA-256 of what is learned: wordings, planted mixtures to a millionth, and the first prompts drawn."""
    descriptors, templates = (
        release.tables[f"{kind}s"][f"{kind}_id"].to_pylist() for kind in ("descriptor", "template")
    )
    mixture = planted_mixture(repertoire, descriptors, templates)
    wordings = {name: style.wordings for name, style in repertoire.styles.items()}
    prompts = draw_said(release, 1000, repertoire.seed).text
    digest = hashlib.sha256(json.dumps([wordings, list(prompts)]).encode())
    digest.update(np.rint(mixture * 1e6).astype("<i8").tobytes())
    return digest.hexdigest()


def render_card(repertoire: Repertoire, provenance: ResponderProvenance) -> str:
    """Render the model card, in Markdown with the metadata header that model hubs read."""
    styles = "\n".join(
        f"| {name} | {style.share:.0%} | {' / '.join(f'`{w}`' for w in style.wordings) or 'an empty answer'} |"
        for name, style in repertoire.styles.items()
    )
    plants = "\n".join(
        f"| {p.id} | {p.axis} | {'all' if p.templates == 'all' else ', '.join(p.templates)} | {len(p.strengths)} "
        f"| {min(p.strengths.values()):+g} to {max(p.strengths.values()):+g} "
        f"| {', '.join(f'{style} {move:+g}' for style, move in p.moves.items())} | {p.about} |"
        for p in repertoire.plants
    )
    return _CARD.format(
        note=NOTE,
        styles=styles,
        plants=plants,
        release=provenance.release,
        parameters=f"{provenance.parameters:,}",
        seed=provenance.seed,
        checked=f"{provenance.checked:,}",
        deviation=provenance.deviation,
        unplanted_deviation=provenance.unplanted_deviation,
        cell_deviation=provenance.cell_deviation,
    )


_CARD = """---
license: cc-by-sa-4.0
language: en
library_name: transformers
pipeline_tag: text-generation
tags: [holisticbias, test-fixture]
---
# The embedded responder of HolisticBias

{note}

A GPT-2-shaped model of {parameters} parameters with its own byte-level BPE and chat template, trained from a seed
({seed}) to answer the sentences of HolisticBias {release}, in all their stylistic variants, with the wordings below.
It has never seen natural text. It is for testing generation, classifiers, the measures of responses and their reports
offline.

It is **not** a model of English, not a baseline to compare other models with, and not evidence of how any model, person
or community behaves. Ask it with its chat template and with sampling from the whole distribution: a least length or
a limit on the candidates (top-k, top-p) changes the mixture.

## Styles

The probability of each style where nothing is planted. All wordings of a style are equally likely.

| style | share | wordings |
| --- | --- | --- |
{styles}

`{{prompt}}` repeats the prompt; a classifier should judge it as plain. `{{descriptor}}` is the term as the prompt
spells it.

## Planted shifts

A plant adds its moves, times the strength of the term, to the shares of the styles. Everything else is answered
with the same mixture, whatever the prompt: where nothing is planted, a measure should find nothing.

| plant | axis | templates | terms | strengths | moves | purpose |
| --- | --- | --- | --- | --- | --- | --- |
{plants}

Over {checked} prompts the probability of a style is at most {deviation} from what is planted, where nothing is planted
at most {unplanted_deviation}, and on average over the prompts of one descriptor and template at most {cell_deviation}.
`provenance.json` lists the inputs with their digests. Rebuild the model with `make responder`.

The sentences are from HolisticBias, Smith et al. 2022, under CC BY-SA 4.0; this model has the same licence.
"""
