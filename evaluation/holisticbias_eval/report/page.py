"""The report of a run as one HTML page."""

from __future__ import annotations

import html
from pathlib import Path

from holisticbias_eval.run import REPORT, Run


def write_page(run: Run, folder: Path) -> Path:
    """Write the page into the run's folder; its path."""
    path = folder / REPORT
    path.write_text(f"<title>{html.escape(run.result.signature.model.name)}</title>", "utf-8")
    return path
