"""Decide whether a new run may replace the run in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holisticbias_eval.errors import RunError
from holisticbias_eval.results.run import is_run, read_signature
from holisticbias_eval.results.signature import ModelSignature, ReleaseSignature, Signature


def may_replace(folder: Path, signature: Signature, *, overwrite: bool) -> bool:
    """Whether a folder holds a run that a run of this signature may replace.

    Raises ``RunError`` for another run or a damaged one, unless ``overwrite``.
    """
    if not is_run(folder):
        return False
    if overwrite:
        return True
    advice = "name another folder with --out, or replace the run with --overwrite"
    try:
        old = read_signature(folder)
    except RunError as error:
        raise RunError(f"{error}; {advice}") from error
    found = differences(old, signature)
    if found:
        raise RunError(f"{folder} holds another run ({'; '.join(found)}): {advice}")
    return True


def differences(old: Signature, new: Signature) -> tuple[str, ...]:
    """List the differences between two runs, except the machine, the packages and a model's folder.

    More measures than in the old run are not a difference. Settings are listed only if release, model, precision
    and measure are the same, because another model has other settings.
    """
    same = same_model(old.model, new.model)
    kept = {*old.measures} <= {*new.measures}
    found = _unequal(
        {
            "release": (_release_name(old.release), _release_name(new.release)),
            "model": ("", "") if same else (_model_name(old.model), _model_name(new.model)),
            "precision": (old.model.dtype, new.model.dtype),
            "measure": ("", "") if kept else (", ".join(old.measures), ", ".join(new.measures)),
        }
    )
    keys = sorted({*old.settings, *new.settings})
    return found or _unequal({key: (_setting(old, key), _setting(new, key)) for key in keys})


def same_model(one: ModelSignature, other: ModelSignature) -> bool:
    """Whether two models have the same weights or, if a digest is missing, the same name and revision."""
    if one.weights_sha256 and other.weights_sha256:
        return one.weights_sha256 == other.weights_sha256
    return (one.name, one.revision) == (other.name, other.revision)


def _unequal(pairs: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    return tuple(f"{what} {one}, not {other}" for what, (one, other) in pairs.items() if one != other)


def _release_name(release: ReleaseSignature) -> str:
    part = f" {release.subset}" if release.subset else ""
    return f"{release.prompts or release.version}{part} (digest {release.digest[:8]})"


def _model_name(model: ModelSignature) -> str:
    known = model.weights_sha256 or model.revision
    return f"{model.name} ({known[:8]})" if known else model.name


def _setting(signature: Signature, key: str) -> str:
    value = signature.settings.get(key)
    return "not given" if value is None else repr(value if len(value) < 60 else f"{value[:57]}...")
