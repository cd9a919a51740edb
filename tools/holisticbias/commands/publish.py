"""``holisticbias publish``: publish a release on the Hugging Face Hub."""

from pathlib import Path

import click

from holisticbias.terminal import write


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("repo")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and stop.")
@click.option("--private", is_flag=True, help="Make a new repository private.")
def command(folder: Path, repo: str, dry_run: bool, private: bool) -> None:
    """Publish the release in FOLDER as a tagged version on the Hub.

    REPO is the dataset, organisation/name.

    Published versions are never overwritten. The same command finishes an interrupted run.
    """
    from holisticbias.release.publish import publish_release

    done = publish_release(folder, repo, private=private, dry_run=dry_run)
    write(f"{done.repo}@{done.tag.removeprefix('v')}: {done.outcome}" + (f" in {done.commit}" if done.commit else ""))
    if done.branch != "main":
        write(f"  on the branch {done.branch}: main keeps a newer version")
    for verb, names in (("upload", done.uploaded), ("delete", done.deleted)):
        for name in names:
            write(f"  {verb} {name}")
