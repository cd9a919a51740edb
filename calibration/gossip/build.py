"""Build the shipped folder of the gossip, its corpus, and its neutral sentences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq

from calibration.gossip.corpus import draw_corpus
from calibration.gossip.description import GossipDescription, read_description
from calibration.gossip.grammar import held_out_neutral, neutral_corpus, said_corpus
from calibration.gossip.lessons import make_gossip_tokenizer, make_lessons
from calibration.gossip.train import SETTINGS, measure_deviation, train
from calibration.gossip.truth import true_effects
from calibration.provenance import Origin, write_model
from calibration.training import LearningSettings, sampling
from holisticbias.output import new_file
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.calibration import CORPUS, NEUTRAL_LINES
from holisticbias_eval.models.embedded import GOSSIP, SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.progress import Progress

CARD = Path(__file__).with_name("card.md")
"""The model card, with the fields of ``render_card``."""
NOTE = SHIPPED[GOSSIP].note


class GossipProvenance(Origin):
    """``provenance.json`` of the gossip; for the deviations see ``train.GossipDeviation``."""

    odds_deviation: float
    mean_odds_deviation: float
    effects_deviation: float
    neutral_deviation: float


def rebuild(folder: Path, progress: Progress) -> tuple[GossipProvenance, str]:
    """Build the shipped model and, beside its folder, its sentences; say how near the model is to what is planted."""
    description, specifications = read_description(), shipped_specifications(GOSSIP)
    made = build_gossip(description, specifications, folder, SETTINGS, progress)
    with new_file(folder.parent / CORPUS.name) as file:
        pq.write_table(draw_corpus(description, specifications), file, compression="zstd")
    with new_file(folder.parent / NEUTRAL_LINES.name) as file:
        file.write_text("".join(f"{line}\n" for line in held_out_neutral(description.neutral)), "utf-8")
    return made, f"log-odds are at most {made.odds_deviation} nats from what is planted"


def build_gossip(
    description: GossipDescription,
    specifications: Sequence[Specification],
    folder: Path,
    settings: LearningSettings,
    progress: Progress,
) -> GossipProvenance:
    """Train the gossip from its seed and write its folder, whole or not at all; ``progress`` counts steps."""
    tokenizer = make_gossip_tokenizer(description, specifications)
    lessons = make_lessons(description, specifications, tokenizer)
    model = train(lessons, tokenizer, description.seed, settings, progress)
    model.generation_config = sampling(tokenizer)
    off = measure_deviation(model, lessons, description, specifications)
    return write_model(
        folder,
        model,
        tokenizer,
        GossipProvenance,
        lambda made: render_card(description, specifications, made),
        note=NOTE,
        corpus_digest=corpus_digest(description, specifications),
        seed=description.seed,
        settings=settings,
        odds_deviation=round(off.odds, 4),
        mean_odds_deviation=round(off.mean_odds, 4),
        effects_deviation=round(off.effects, 4),
        neutral_deviation=round(off.neutral, 4),
    )


def corpus_digest(description: GossipDescription, specifications: Sequence[Specification]) -> str:
    """SHA-256 of what is learned: all sentences with their probabilities, and the words of several tokens."""
    digest = hashlib.sha256(json.dumps({word: list(parts) for word, parts in description.pieces.items()}).encode())
    for corpus in (neutral_corpus(description.neutral), said_corpus(specifications, description)):
        digest.update(corpus.digest.encode())
    return digest.hexdigest()


def render_card(
    description: GossipDescription, specifications: Sequence[Specification], provenance: GossipProvenance
) -> str:
    """Render the model card, in Markdown with the metadata header that model hubs read."""
    rows = [
        f"| {specification.id.rpartition('.')[2]} | {group.name}{' (held out)' if group.held_out else ''} "
        f"| {description.odds[specification.id][group.name]:.3g} "
        f"| {true_effects(description, specification)[group.name]:+.2f} |"
        for specification in specifications
        for group in specification.groups
    ]
    return CARD.read_text("utf-8").format(
        note=NOTE,
        rows="\n".join(rows),
        parameters=f"{provenance.parameters:,}",
        seed=provenance.seed,
        odds=provenance.odds_deviation,
        mean_odds=provenance.mean_odds_deviation,
        effects=provenance.effects_deviation,
        neutral=provenance.neutral_deviation,
    )
