"""Build the shipped folder of the responder: weights, tokenizer, chat template, provenance and model card."""

import hashlib
import json
from pathlib import Path

import numpy as np

from calibration.provenance import ReleaseOrigin, Rounded, release_fields, write_model
from calibration.responder.chat import make_chat_tokenizer
from calibration.responder.deviation import measure_deviation
from calibration.responder.lessons import make_lessons
from calibration.responder.repertoire import RESPONSES, Repertoire, read_repertoire
from calibration.responder.said import draw_said
from calibration.responder.train import SETTINGS, train
from calibration.responder.truth import planted_mixture
from calibration.training import sampling
from holisticbias import build_release
from holisticbias.inputs import file_sha256
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED
from holisticbias_eval.progress import Progress

CHECKED = 50_000
CARD = Path(__file__).with_name("card.md")
"""The model card, with the fields of the record and of ``card_tables``."""
NOTE = SHIPPED[RESPONDER].note


class ResponderProvenance(ReleaseOrigin):
    """``provenance.json`` of the responder.

    Over ``checked`` prompts, ``deviation`` is the largest absolute difference of a style's probability from what is
    planted, ``unplanted_deviation`` that over prompts without a plant, and ``cell_deviation`` that of its mean over the
    prompts of one descriptor and template.
    """

    responses_sha256: str
    checked: int
    deviation: Rounded
    unplanted_deviation: Rounded
    cell_deviation: Rounded


def rebuild(folder: Path, progress: Progress) -> tuple[ResponderProvenance, str]:
    """Train the model and write its folder; say how near it is to what is planted on ``CHECKED`` prompts."""
    repertoire = read_repertoire()
    release = build_release(load_catalog(), repertoire.release)
    tokenizer = make_chat_tokenizer(release, repertoire)
    model = train(release, repertoire, tokenizer, SETTINGS, progress)
    model.generation_config = sampling(tokenizer)
    said = draw_said(release, CHECKED, repertoire.seed + 1)
    off = measure_deviation(model, make_lessons(said, repertoire, tokenizer), lambda _: None)
    made = write_model(
        folder,
        model,
        tokenizer,
        ResponderProvenance,
        CARD,
        card_tables(repertoire),
        **release_fields(release),
        note=NOTE,
        responses_sha256=file_sha256(RESPONSES),
        corpus_digest=corpus_digest(release, repertoire),
        seed=repertoire.seed,
        settings=SETTINGS,
        checked=off.prompts,
        deviation=off.style,
        unplanted_deviation=off.unplanted,
        cell_deviation=off.cell,
    )
    return made, f"over {made.checked:,} prompts styles are at most {made.deviation} from what is planted"


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


def card_tables(repertoire: Repertoire) -> dict[str, str]:
    """The styles and the plants, as rows of tables in Markdown."""
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
    return {"styles": styles, "plants": plants}
