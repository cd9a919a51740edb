"""Build the shipped folder of the gossip, its corpus, and its neutral sentences."""

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
from calibration.provenance import Origin, Rounded, write_model
from calibration.training import LearningSettings, sampling
from holisticbias.output import new_file
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.calibration import CORPUS, NEUTRAL_LINES
from holisticbias_eval.models.embedded import GOSSIP, SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.progress import Progress

CARD = Path(__file__).with_name("card.md")
"""The model card, with the fields of the record and of ``card_tables``."""
NOTE = SHIPPED[GOSSIP].note


class GossipProvenance(Origin):
    """``provenance.json`` of the gossip; for the deviations see ``train.GossipDeviation``."""

    odds_deviation: Rounded
    mean_odds_deviation: Rounded
    effects_deviation: Rounded
    neutral_deviation: Rounded


def rebuild(folder: Path, progress: Progress, settings: LearningSettings = SETTINGS) -> tuple[GossipProvenance, str]:
    """Train the model and write its folder and, beside it, its sentences; say how near it is to what is planted."""
    description, specifications = read_description(), shipped_specifications(GOSSIP)
    tokenizer = make_gossip_tokenizer(description, specifications)
    lessons = make_lessons(description, specifications, tokenizer)
    model = train(lessons, tokenizer, description.seed, settings, progress)
    model.generation_config = sampling(tokenizer)
    off = measure_deviation(model, lessons, description, specifications)
    made = write_model(
        folder,
        model,
        tokenizer,
        GossipProvenance,
        CARD,
        card_tables(description, specifications),
        note=NOTE,
        corpus_digest=corpus_digest(description, specifications),
        seed=description.seed,
        settings=settings,
        odds_deviation=off.odds,
        mean_odds_deviation=off.mean_odds,
        effects_deviation=off.effects,
        neutral_deviation=off.neutral,
    )
    with new_file(folder.parent / CORPUS.name) as file:
        pq.write_table(draw_corpus(description, specifications), file, compression="zstd")
    with new_file(folder.parent / NEUTRAL_LINES.name) as file:
        file.write_text("".join(f"{line}\n" for line in held_out_neutral(description.neutral)), "utf-8")
    return made, f"log-odds are at most {made.odds_deviation} nats from what is planted"


def corpus_digest(description: GossipDescription, specifications: Sequence[Specification]) -> str:
    """SHA-256 of what is learned: all sentences with their probabilities, and the words of several tokens."""
    digest = hashlib.sha256(json.dumps({word: list(parts) for word, parts in description.pieces.items()}).encode())
    for corpus in (neutral_corpus(description.neutral), said_corpus(specifications, description)):
        digest.update(corpus.digest.encode())
    return digest.hexdigest()


def card_tables(description: GossipDescription, specifications: Sequence[Specification]) -> dict[str, str]:
    """The planted odds and effects, as rows of a table in Markdown."""
    rows = [
        f"| {specification.id.rpartition('.')[2]} | {group.name}{' (held out)' if group.held_out else ''} "
        f"| {description.odds[specification.id][group.name]:.3g} "
        f"| {true_effects(description, specification)[group.name]:+.2f} |"
        for specification in specifications
        for group in specification.groups
    ]
    return {"rows": "\n".join(rows)}
