"""The folder of a calibration model, with the record of what it was made from: ``provenance.json``."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from calibration.training import LearningSettings
from holisticbias.inputs import file_sha256
from holisticbias.output import new_folder
from holisticbias.release.release import Release

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PROVENANCE = "provenance.json"
_PACKAGES = ("numpy", "tokenizers", "torch", "transformers")
Rounded = Annotated[float, AfterValidator(lambda value: round(value, 4))]
"""A measured value, which is recorded with four decimals."""


class Origin(BaseModel):
    """The inputs that the files of a folder were made from, with digests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    note: str
    corpus_digest: str
    seed: int
    settings: LearningSettings
    parameters: int
    files: dict[str, str]
    versions: dict[str, str]
    machine: str


class ReleaseOrigin(Origin):
    """The record of a model that learned the words of a release."""

    release: str
    release_digest: str


Made = TypeVar("Made", bound=Origin)


def write_model(
    folder: Path,
    model: PreTrainedModel,
    tokenizer: Any,
    kind: type[Made],
    card: Path,
    tables: Mapping[str, str],
    **origin: object,
) -> Made:
    """Write weights, configuration, tokenizer, record and model card to a folder, whole or not at all.

    The record is of a ``kind``, with the fields ``origin`` and what the folder says of itself; for ``card`` and
    ``tables`` see ``render_card``.
    """
    with new_folder(folder, lambda old: (old / PROVENANCE).is_file()) as made:
        model.save_pretrained(made)
        generation = getattr(model, "generation_config", None)
        if generation is None or not generation.do_sample:
            (made / "generation_config.json").unlink(missing_ok=True)
        tokenizer.save_pretrained(made)
        (made / "model.safetensors").chmod(0o644)  # read by all, as the other files
        provenance = kind.model_validate({**origin, **_surroundings(made, model)})
        (made / PROVENANCE).write_text(provenance.model_dump_json(indent=2) + "\n", "utf-8")
        (made / "README.md").write_text(render_card(card, provenance, tables), "utf-8")
    return provenance


def release_fields(release: Release) -> Mapping[str, str]:
    """The fields of a record for the release whose words a model learned."""
    return {"release": release.version, "release_digest": release.digest}


def render_card(card: Path, provenance: Origin, tables: Mapping[str, str]) -> str:
    """Fill a template of a model card with the fields of a record, and with what else it shows of the description."""
    return card.read_text("utf-8").format(**{**dict(provenance), **tables})


def _surroundings(folder: Path, model: PreTrainedModel) -> dict[str, object]:
    """The number of parameters, the digests of a folder's files, and the versions that made them."""
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "files": {path.name: file_sha256(path) for path in sorted(folder.iterdir()) if path.is_file()},
        "versions": {"python": platform.python_version(), **{name: installed_version(name) for name in _PACKAGES}},
        "machine": f"{platform.system()} {platform.machine()}",
    }
