"""The figures of a run as a table in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from holisticbias_eval.run import Run


def print_report(run: Run) -> None:
    """Print Likelihood Bias by axis, and what it was measured on."""
    signature = run.result.signature
    table = Table(title=f"Likelihood Bias of {signature.model.name} on HolisticBias {signature.release.version}")
    for name in ("axis", "descriptors", "pairs", "share with p < 0.05"):
        table.add_column(name, justify="left" if name == "axis" else "right")
    for share in run.result.likelihood_bias.by_axis:
        shown = "none to test" if share.share is None else f"{share.share:.1%}"
        table.add_row((share.axis or "").replace("_", " "), f"{share.descriptors:,}", f"{share.pairs:,}", shown)
    Console().print(table)
