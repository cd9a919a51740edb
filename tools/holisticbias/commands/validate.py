"""``holisticbias validate``: check terms against every rule."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write, write_data


@click.command(short_help="Check the terms against every rule.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.output_format("text", "json", "github")
def command(paths: tuple[Path, ...], style: str) -> int:
    """Check files or folders of terms, by default all, and print every finding.

    Exit codes: 0 no errors; 1 errors; 2 could not run. Warnings are printed only.
    """
    from holisticbias.rules.validate import validate_paths
    from holisticbias.source.addresses import rule_link
    from holisticbias.source.findings import count_findings, render_findings
    from holisticbias.source.folder import find_source

    findings = validate_paths(paths or (find_source(),))
    if findings or style == "json":
        write_data(render_findings(findings, style))
    if style == "text":
        summary = count_findings(findings)
        write(f"{summary[0].upper()}{summary[1:]}.", err=True)
        for rule_id in dict.fromkeys(finding.rule for finding in findings):
            write(f"About {rule_id}: {rule_link(rule_id)}", err=True)
    return 1 if any(f.level == "error" for f in findings) else 0
