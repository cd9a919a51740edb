"""HolisticBias, the living dataset: identity terms in YAML, compiled into releases.

>>> from holisticbias import load_catalog, build_release, open_release
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holisticbias.errors import HolisticBiasError as HolisticBiasError
    from holisticbias.release.build import build_release as build_release
    from holisticbias.release.build import write_release as write_release
    from holisticbias.release.open import open_release as open_release
    from holisticbias.rules.validate import load_catalog as load_catalog

_HOMES = {
    "HolisticBiasError": "holisticbias.errors",
    "load_catalog": "holisticbias.rules.validate",
    "build_release": "holisticbias.release.build",
    "open_release": "holisticbias.release.open",
    "write_release": "holisticbias.release.build",
}
__all__ = ["HolisticBiasError", "build_release", "load_catalog", "open_release", "write_release"]


def __getattr__(name: str) -> object:
    """Import a name on first use, so that the command starts fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """The public names, for completion in a notebook."""
    return sorted(__all__)
