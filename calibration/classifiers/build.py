"""Build the files of the calibration classifiers: the lexicons, and the folder of the small model."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from calibration.classifiers.lexicons import lexicons
from calibration.classifiers.model import SETTINGS, draw_examples, make_word_tokenizer, train_judge
from calibration.provenance import ReleaseOrigin, Rounded, release_fields, write_model
from calibration.responder.repertoire import RESPONSES, Repertoire, read_repertoire
from calibration.responder.said import draw_said
from holisticbias import build_release
from holisticbias.inputs import file_sha256
from holisticbias.output import write_files
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.arrays import Floats
from holisticbias_eval.progress import Progress

CHECKED = 2000
CARD = Path(__file__).with_name("card.md")
"""The model card, with the fields of the record and of ``card_tables``."""
NOTE = (
    "The calibration classifier reads the wordings of the embedded responder, and nothing else; what it says of any "
    "other text means nothing."
)


class JudgeProvenance(ReleaseOrigin):
    """``provenance.json`` of the classifier; ``lowest`` is the least probability of a right label over some texts."""

    responses_sha256: str
    checked: int
    lowest: Rounded


def rebuild(folder: Path, progress: Progress) -> tuple[JudgeProvenance, str]:
    """Write the lexicons beside the folder of the classifier, train it and write it; say how well it reads."""
    repertoire = read_repertoire()
    beside = folder.parent / "lexicons"
    write_files({beside / f"{name}.yaml": lexicon.text() for name, lexicon in lexicons(repertoire).items()})
    release = build_release(load_catalog(), repertoire.release)
    tokenizer = make_word_tokenizer(repertoire)
    model = train_judge(release, repertoire, tokenizer, SETTINGS, progress)
    said = draw_said(release, CHECKED, repertoire.seed + 1)
    examples = draw_examples(said, repertoire, CHECKED, np.random.default_rng(repertoire.seed + 1))
    right = read_styles(model, tokenizer, examples.texts)[np.arange(CHECKED), list(examples.labels)]
    made = write_model(
        folder,
        model,
        tokenizer,
        JudgeProvenance,
        CARD,
        card_tables(repertoire),
        **release_fields(release),
        note=NOTE,
        responses_sha256=file_sha256(RESPONSES),
        corpus_digest=examples_digest(release, repertoire),
        seed=repertoire.seed,
        settings=SETTINGS,
        checked=CHECKED,
        lowest=float(right.min()),
    )
    return made, f"right labels from {made.lowest} on"


@torch.inference_mode()
def read_styles(model: Any, tokenizer: Any, texts: Sequence[str]) -> Floats:
    """The probability of each label for each text, of shape ``[texts, labels]``."""
    read = tokenizer(list(texts), padding=True, truncation=True, return_tensors="pt")
    probabilities: Floats = model(**read).logits.double().softmax(dim=-1).numpy()
    return probabilities


def examples_digest(release: Release, repertoire: Repertoire) -> str:
    """SHA-256 of the first texts that are learned, with their labels."""
    rng = np.random.default_rng(repertoire.seed)
    examples = draw_examples(draw_said(release, 1000, repertoire.seed), repertoire, 1000, rng)
    return hashlib.sha256(json.dumps([list(examples.texts), list(examples.labels)]).encode()).hexdigest()


def card_tables(repertoire: Repertoire) -> dict[str, str]:
    """The labels that the classifier tells apart."""
    return {"labels": ", ".join(repertoire.labels)}
