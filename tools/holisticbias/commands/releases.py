"""``holisticbias releases``: list the versions, check them, freeze one, begin the next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands import options
from holisticbias.terminal import counted, refuse_unused, write, write_changed, write_data

if TYPE_CHECKING:
    from holisticbias.terms.catalog import Catalog

_BY_CHANGES = "by the changes"


def _number(_context: click.Context, option: click.Parameter, version: str | None) -> str | None:
    """The number of a version; raises ``BadParameter`` for anything else."""
    from holisticbias.terms.versions import is_number

    if version not in (None, _BY_CHANGES) and not is_number(str(version)):
        raise click.BadParameter(f"{version!r} is not a version number such as 4.0.0.", param_hint=f"--{option.name}")
    return version


@click.command()
@options.output_format("text", "json")
@click.option("--check", is_flag=True, help="Compile every published version; exit 1 if a digest changed.")
@click.option(
    "--freeze",
    is_flag=False,
    flag_value=_BY_CHANGES,
    metavar="[VERSION]",
    callback=_number,
    help="Publish the version in preparation: give it its number, and record its digests. It cannot change after that.",
)
@click.option("--next", "to_next", is_flag=True, help="Begin the version next, with all that is in preparation.")
@click.option(
    "--fix",
    metavar="VERSION",
    callback=_number,
    help="Begin a version before next, with a fix alone; or give it another number.",
)
@click.option("--withdraw", metavar="VERSION", help="Say that a published version should no longer be used.")
@click.option("--reason", help="Why a version is withdrawn.")
@options.source
def command(
    style: str,
    check: bool,
    freeze: str | None,
    to_next: bool,
    fix: str | None,
    withdraw: str | None,
    reason: str | None,
    source: Path | None,
) -> int:
    """List the versions: date, number of entries, digest, summary.

    --freeze without VERSION freezes next, with the number that its changes
    need. It also writes the changelog and the citation, begins the version
    that follows, and lists the steps that are left.
    """
    from holisticbias.contribute.release_files import begin_version, record_withdrawal
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    values = {"check": check, "freeze": freeze, "next": to_next, "fix": fix, "withdraw": withdraw}
    given = [name for name, value in values.items() if value not in (None, False)]
    if len(given) > 1:
        raise click.UsageError("Use one of --check, --freeze, --next, --fix and --withdraw at a time.")
    if (withdraw is None) != (reason is None):
        raise click.UsageError("--withdraw and --reason need each other.")
    for name in given:
        refuse_unused(["style"], f"with --{name}")
    root = source or find_source(to_write=given not in ([], ["check"]))
    if freeze is not None:
        _freeze(root, None if freeze == _BY_CHANGES else freeze)
    elif to_next or fix is not None:
        write_changed(begin_version(root, fix or "next"))
        write(f"{fix or 'next'} is in preparation.")
    elif withdraw is not None:
        write_changed(record_withdrawal(load_catalog(root), root, withdraw, str(reason), options.today()))
        write(f"{load_catalog(root).withdrawal(withdraw)}.")
    elif check:
        return _check(load_catalog(root))
    else:
        _list(load_catalog(root), style)
    return 0


def _freeze(root: Path, version: str | None) -> None:
    from holisticbias.contribute.freeze import freeze
    from holisticbias.contribute.release_files import complete_release, remaining_steps
    from holisticbias.rules.validate import load_catalog

    version, digest = freeze(root, version, options.today())
    write(f"{version}: digest {digest}; its record is in releases/")
    try:
        changed = complete_release(root, version)
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"run holisticbias releases --freeze {version} to finish") from error
    write_changed(changed)
    write("\nLeft to do:")
    for number, step in enumerate(remaining_steps(root, load_catalog(root), version), 1):
        write(f"{number}. {step}")


def _check(catalog: Catalog) -> int:
    from holisticbias.contribute.freeze import moved_versions

    moved = list(moved_versions(catalog))
    for version, recorded, found in moved:
        write(f"{version} differs from the published version: digest {found}, recorded {recorded}")
    if not moved:
        write(f"{counted(len(catalog.published), 'published versions')} compiled to the recorded digests.")
    return 1 if moved else 0


def _list(catalog: Catalog, style: str) -> None:
    from holisticbias.terms.catalog import FILES
    from holisticbias.terms.file_kinds import entries_key

    rows = []
    for version in catalog.versions:
        file, held = catalog.release(version), catalog.at(version)
        counts = {entries_key(kind): sum(len(f.entries) for f in getattr(held, name)) for kind, name in FILES.items()}
        withdrawn = str(file.withdrawn) if file.withdrawn else None
        about = file.model_dump(include={"version", "date", "summary", "digest"})
        rows.append({**about, **counts, "withdrawn": withdrawn})
        state = f"digest {file.digest[:12]}" if file.digest else "in preparation"
        state += f"  withdrawn {withdrawn}" if withdrawn else ""
        numbers = [counted(count, name) for name, count in counts.items()]
        shown = ", ".join(numbers if held.companions else numbers[:3])
        if style == "text":
            write(f"{version}  {f'{file.date}  ' if file.date else ''}{shown}  {state}")
            write(f"    {' '.join(file.summary.split())}")
    if style == "json":
        write_data(json.dumps(rows, indent=2))
