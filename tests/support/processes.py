"""Run Python in another process."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def python(
    *arguments: object, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments, whatever its exit code."""
    command, own = [sys.executable, *map(str, arguments)], {**os.environ, **(environment or {})}
    return subprocess.run(command, cwd=cwd, env=own, capture_output=True, text=True, timeout=120, check=False)
