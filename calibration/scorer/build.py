"""Build the shipped folder of the embedded model: weights, tokenizer, provenance and model card."""

from pathlib import Path

from calibration.provenance import ReleaseOrigin, Rounded, release_fields, write_model
from calibration.scorer.corpus import make_corpus
from calibration.scorer.train import measure_divergence, train
from calibration.texts import grow_tree
from calibration.tokenizer import make_tokenizer
from calibration.training import LearningSettings
from holisticbias import build_release
from holisticbias.inputs import file_sha256
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.embedded.planted import BIASES, PlantedBiases, read_biases
from holisticbias_eval.progress import Progress

SETTINGS = LearningSettings()
CARD = Path(__file__).with_name("card.md")
"""The model card, with the fields of the record and of ``card_tables``."""
NOTE = SHIPPED[EMBEDDED_MODEL].note


class ScorerProvenance(ReleaseOrigin):
    """``provenance.json`` of the scoring model; ``divergence`` from its corpus is in nats per sentence."""

    biases_sha256: str
    divergence: Rounded


def rebuild(folder: Path, progress: Progress) -> tuple[ScorerProvenance, str]:
    """Train the model and write its folder; say how near it is to what is planted."""
    biases = read_biases()
    release = build_release(load_catalog(), biases.release)
    corpus, tokenizer = make_corpus(release, biases), make_tokenizer(release)
    tree = grow_tree(corpus, tokenizer)
    model = train(tree, tokenizer, biases.seed, SETTINGS, progress)
    made = write_model(
        folder,
        model,
        tokenizer,
        ScorerProvenance,
        CARD,
        card_tables(biases),
        **release_fields(release),
        note=NOTE,
        biases_sha256=file_sha256(BIASES),
        corpus_digest=corpus.digest,
        seed=biases.seed,
        settings=SETTINGS,
        divergence=measure_divergence(model, tree, biases.seed),
    )
    return made, f"{made.divergence} nats per sentence from its corpus"


def card_tables(biases: PlantedBiases) -> dict[str, str]:
    """The plants, as rows of a table in Markdown."""
    rows = "\n".join(
        f"| {p.id} | {p.axis} | {'all' if p.templates == 'all' else ', '.join(p.templates)} | {len(p.strengths)} "
        f"| {min(p.strengths.values()):+g} to {max(p.strengths.values()):+g} | {p.about} |"
        for p in biases.plants
    )
    return {"rows": rows}
