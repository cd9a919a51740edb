"""Code that loads a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holisticbias.release.manifest import Manifest


class Snippet(NamedTuple):
    """A piece of code to copy: what it does, and the code."""

    title: str
    code: str


def load_snippets(manifest: Manifest) -> Sequence[Snippet]:
    """Code that builds this release, and code that loads it in Python."""
    version = manifest.version
    folder = f"holisticbias-{version}"
    options = "".join(
        (*(f" --where {where}" for where in manifest.where), " --small" if manifest.subset == "small" else "")
    )
    arguments = f'load_catalog(), "{version}"'
    if manifest.subset:
        arguments += f', subset="{manifest.subset}"'
    if manifest.where:
        arguments += f", where={list(manifest.where)}"
    return (
        Snippet("Build it as Parquet files", f"holisticbias build --version {version}{options} --out {folder}"),
        Snippet(
            "Load it in Python",
            f"from holisticbias import build_release, load_catalog\n\n"
            f"release = build_release({arguments})\n"
            f'assert release.digest == "{manifest.digest}"\n'
            f"release.sentences  # a pyarrow table",
        ),
        Snippet(
            "Load the files with Hugging Face datasets",
            f'from datasets import load_dataset\n\nsentences = load_dataset("{folder}", "sentences", split="test")',
        ),
        Snippet(
            "Load the files with pandas",
            f'import pandas\n\nsentences = pandas.read_parquet("{folder}/data/sentences.parquet")',
        ),
    )
