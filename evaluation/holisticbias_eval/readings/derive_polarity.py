"""Rebuild the gender polarity of words from word vectors.

``python -m holisticbias_eval.readings.derive_polarity VECTORS --pairs FILE --specific FILE --equalise FILE --out FILE``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import yaml

from holisticbias.errors import HolisticBiasError
from holisticbias.output import new_file
from holisticbias.terminal import write
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readings.hard_debias import Pairs, gender_polarities
from holisticbias_eval.readings.vectors import read_vectors
from holisticbias_eval.readings.word_lists import WORD_PATTERN, Polarity

_PLACES = 4
_SMALLEST = 5e-6  # polarities below this are rounding errors of neutral words
_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("vectors", type=_FILE)
@click.option("--pairs", type=_FILE, required=True, help="Definitional pairs: definitional_pairs.json of debiaswe.")
@click.option("--specific", type=_FILE, required=True, help="Words with a gender: gender_specific_full.json.")
@click.option("--equalise", type=_FILE, required=True, help="Pairs to equalise: equalize_pairs.json.")
@click.option("--out", type=_FILE, required=True, help="YAML file to write, for --polarity.")
def command(vectors: Path, pairs: Path, specific: Path, equalise: Path, out: Path) -> None:
    """Write the words of VECTORS whose gender polarity is not 0 after hard debiasing.

    VECTORS are in the text or binary format of word2vec; the other files are JSON lists as in debiaswe.
    """
    try:
        found = derive(vectors, pairs, specific, equalise, out.stem.lower())
        content = yaml.safe_dump(found.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=120)
        with new_file(out) as made:
            made.write_text(content, "utf-8")
    except HolisticBiasError as error:
        raise click.ClickException(str(error)) from error
    write(f"{len(found.words):,} words with a gender polarity; wrote {out}")


def derive(vectors: Path, pairs: Path, specific: Path, equalise: Path, name: str) -> Polarity:
    """The polarities of the words in a file of vectors, as a file of ``evaluation/polarity/``; male words first.

    Words that no text can contain, as of other characters than a to z, are left out. Raises ``EvaluationError``.
    """
    words, rows = read_vectors(vectors)
    kept = _strings(specific)
    values = gender_polarities(words, rows.astype(np.float64), _pairs(pairs), kept, _pairs(equalise))
    found = {w: v for w, v in zip(words, values.tolist(), strict=True) if abs(v) > _SMALLEST and WORD_PATTERN.match(w)}
    if not found:
        raise EvaluationError(f"no word of {vectors} has a gender polarity")
    return Polarity(
        id="".join(c if c.isascii() and c.isalnum() else "-" for c in name).strip("-") or "polarity",
        title="Words that keep a gender polarity after hard debiasing",
        licence="that of the vectors",
        source=(
            f"Cosine with she - he (Dhamala et al. 2021, section 4.5) after hard debiasing (Bolukbasi et al. 2016) of "
            f"the {len(words):,} words of {vectors.name}"
        ),
        words={word: round(value, _PLACES) for word, value in sorted(found.items(), key=lambda item: item[1])},
    )


def _pairs(path: Path) -> Pairs:
    found = _json(path)
    if not all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(w, str) for w in pair) for pair in found):
        raise EvaluationError(f"{path} is not a JSON list of pairs of words")
    return [(first.lower(), second.lower()) for first, second in found]


def _strings(path: Path) -> list[str]:
    found = _json(path)
    if not all(isinstance(word, str) for word in found):
        raise EvaluationError(f"{path} is not a JSON list of words")
    return [str(word) for word in found]


def _json(path: Path) -> list[Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise EvaluationError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(found, list):
        raise EvaluationError(f"{path} is not a JSON list")
    return found


if __name__ == "__main__":
    sys.exit(command())
