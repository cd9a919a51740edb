"""The machine and the packages of a run."""

import os
import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from holisticbias.terminal import counted

CPUINFO = Path("/proc/cpuinfo")
PACKAGES = ("holisticbias", "numpy", "pyarrow", "scipy", "tokenizers", "torch", "transformers")
installed_version = cache(version)


def machine() -> str:
    """The system, its architecture, its processor with the number of its cores, and its accelerators."""
    cores = os.cpu_count() or 1
    processor = f"{_processor()}, {counted(cores, 'cores')}"
    return "; ".join([f"{platform.system()} {platform.machine()}", processor, *_accelerators()])


def _processor() -> str:
    """The processor's name according to the system."""
    try:
        lines = CPUINFO.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), "") or platform.processor() or "processor not known"


def _accelerators() -> list[str]:
    """The devices that torch sees, if torch was loaded."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]


def package_versions() -> dict[str, str]:
    """The versions of Python and of the packages that figures can depend on."""
    return {"python": platform.python_version(), **{name: installed_version(name) for name in PACKAGES}}
