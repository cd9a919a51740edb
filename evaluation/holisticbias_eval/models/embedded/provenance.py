"""The record of what a calibration model was made from: ``provenance.json`` in its folder."""

from __future__ import annotations

import platform
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import BaseModel, ConfigDict

from holisticbias.release.release import Release
from holisticbias_eval.models.embedded.train import Settings
from holisticbias_eval.models.source import file_sha256

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PROVENANCE = "provenance.json"
THREADS = 2
_PACKAGES = ("numpy", "tokenizers", "torch", "transformers")


class Origin(BaseModel):
    """The inputs that the files of a folder were made from, with digests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    note: str
    release: str
    release_digest: str
    corpus_digest: str
    seed: int
    settings: Settings
    parameters: int
    files: dict[str, str]
    versions: dict[str, str]
    machine: str

    def write(self, folder: Path) -> None:
        """Write the record to its file in a folder."""
        (folder / PROVENANCE).write_text(self.model_dump_json(indent=2) + "\n", "utf-8")


class Surroundings(TypedDict):
    """The fields of a record that do not depend on the kind of model."""

    release: str
    release_digest: str
    parameters: int
    files: dict[str, str]
    versions: dict[str, str]
    machine: str


def save_model(model: PreTrainedModel, tokenizer: Any, folder: Path) -> None:
    """Write weights, configuration and tokenizer to a folder; the weights may be read by all, as other files."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)


def surroundings(folder: Path, release: Release, model: PreTrainedModel) -> Surroundings:
    """The release, the number of parameters, the digests of a folder's files, and the versions that made them."""
    return Surroundings(
        release=release.version,
        release_digest=release.digest,
        parameters=sum(p.numel() for p in model.parameters()),
        files={path.name: file_sha256(path) for path in sorted(folder.iterdir()) if path.is_file()},
        versions={"python": platform.python_version(), **{name: installed_version(name) for name in _PACKAGES}},
        machine=f"{platform.system()} {platform.machine()}",
    )
