"""The repository on GitHub, and its ``CODEOWNERS`` file, generated from the data."""

from __future__ import annotations

from collections.abc import Iterable

from holisticbias.source.folder import SourceFile

ORGANISATION = "holisticbias"
MAINTAINERS = f"@{ORGANISATION}/maintainers"
REPOSITORY = f"https://github.com/{ORGANISATION}/holisticbias"


def code_owners(files: Iterable[SourceFile]) -> str:
    """The content of ``.github/CODEOWNERS``: one team per axis, and the maintainers for everything else."""
    lines = [
        "# Generated from the data by holisticbias generate",
        f"* {MAINTAINERS}",
        f"/nouns/ @{ORGANISATION}/reviewers-language",
        f"/templates/ @{ORGANISATION}/reviewers-language",
    ]
    for file in files:
        data = file.document.data
        if file.kind == "descriptors" and isinstance(data, dict):
            name = file.document.path.replace("\\", "/").rsplit("/", maxsplit=1)[-1]
            lines.append(f"/descriptors/{name} {team(str(data.get('axis')))}")
    return "\n".join(lines) + "\n"


def team(axis: str) -> str:
    """The GitHub team that reviews an axis."""
    return f"@{ORGANISATION}/reviewers-{axis.replace('_', '-')}"
