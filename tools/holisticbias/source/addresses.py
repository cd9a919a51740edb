"""Addresses of the repository on GitHub: its files, and the pages of the rules."""

from urllib.parse import quote

ORGANISATION = "holisticbias"
REPOSITORY = f"https://github.com/{ORGANISATION}/holisticbias"
BRANCH = "main"


def file_link(path: str, line: int | None = None, ref: str = BRANCH) -> str:
    """The address of a file of the repository, and of a line in it."""
    shown = quote(path.replace("\\", "/"))
    return f"{REPOSITORY}/blob/{ref}/{shown}" + (f"#L{line}" if line else "")


def rule_link(rule_id: str) -> str:
    """The address of the page of a rule."""
    return file_link(f"docs/rules/{rule_id}.md")
