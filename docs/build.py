"""Build the documentation with Zensical: python docs/build.py OUT.

OUT gets ``latest``, made from the working tree, and a folder for each version whose tag exists. Pages are the Markdown
files beside the README and below ``docs``, whose links work on GitHub. In the documentation, a link to a file that is
not a page leads to GitHub, and pictures are copied. A broken link fails the build, except at a tag, which is final.
"""

import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from holisticbias.output import new_folder
from holisticbias.source.addresses import BRANCH, file_link

ROOT = Path(__file__).resolve().parent.parent
FRONT = ("README.md", "CONTRIBUTING.md", "GOVERNANCE.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "CHANGELOG.md")
LATEST = "latest"
COLOURS = "colours.css"
VERSIONS = "versions.json"  # read by the pages
PICTURES = (".svg", ".png")
LINK = re.compile(r"(?<=\]\()(?!#|[a-z]+:)([^)\s#]+)")
NAVIGATION = re.compile(r' *"([\w/-]+\.md)",\n')
EMPTY = re.compile(r' *\{ "[^"]+" = \[\s*\] \},\n')
COLOUR = re.compile(r"\x1b\[[\d;]*m")
START = '<!doctype html>\n<title>HolisticBias</title>\n<meta http-equiv="refresh" content="0; url=latest/index.html">\n'


def build_all(out: Path, root: Path = ROOT) -> None:
    """Build the documentation of the working tree and of all tags into a folder; replaces an earlier one."""
    with new_folder(out, lambda old: (old / VERSIONS).is_file()) as made:
        write_versions(made, root)


def write_versions(out: Path, root: Path) -> None:
    """Build all versions into a folder, with the list of them and a first page that leads to the latest."""
    build(root, LATEST, BRANCH, out)
    versions = [LATEST]
    for tag in tags(root):
        with TemporaryDirectory() as name:
            archive = Path(name, "tree.tar")
            subprocess.run(["git", "-C", root, "archive", f"--output={archive}", tag], check=True)
            shutil.unpack_archive(archive, Path(name, "tree"))
            if Path(name, "tree", "docs").is_dir():
                versions.append(tag.removeprefix("v"))
                build(Path(name, "tree"), versions[-1], tag, out)
    listed = [{"version": version, "title": version, "aliases": []} for version in versions]
    (out / VERSIONS).write_text(json.dumps(listed), "utf-8")
    (out / "index.html").write_text(START, "utf-8")


def tags(root: Path) -> Sequence[str]:
    """The tags of versions, the newest first; none outside of a clone."""
    command = ["git", "-C", str(root), "tag", "--list", "v[0-9]*", "--sort=-version:refname"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def build(root: Path, version: str, ref: str, out: Path) -> None:
    """Build the documentation of a tree; exits with the broken links of the working tree."""
    with TemporaryDirectory() as name:
        work = Path(name)
        broken = prepare(root, work / "docs", ref)
        if broken and version == LATEST:
            sys.exit("\n".join(broken))
        shutil.copy(ROOT / "docs" / COLOURS, work / "docs")
        (work / "zensical.toml").write_text(settings(root, work / "docs"), "utf-8")
        command = [sys.executable, "-m", "zensical", "build", *(["--strict"] if version == LATEST else [])]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(COLOUR.sub("", done.stdout + done.stderr).partition("Traceback")[0])
        shutil.copytree(work / "site", out / version)


def prepare(root: Path, docs: Path, ref: str) -> list[str]:
    """Copy the pages of a tree and their pictures to a folder; returns the broken links to files."""
    found = sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    places = {path: place(path) for path in (*(name for name in FRONT if (root / name).is_file()), *found)}
    broken: list[str] = []
    for path, page in places.items():
        text = (root / path).read_text("utf-8")
        addresses: dict[str, str] = {}
        for target in LINK.findall(text):
            to = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            address = resolve(root, to, places, posixpath.dirname(page), ref)
            addresses[target] = address or target
            if address is None:
                broken.append(f"{path}: the link {target} leads nowhere")
            elif to.endswith(PICTURES):
                write(docs / "files" / to, (root / to).read_bytes())
        parts = LINK.split(text)
        write(docs / page, "".join(map(addresses.get, parts, parts)).encode())
    return broken


def place(path: str) -> str:
    """The place of a page in the documentation."""
    if path == FRONT[0]:
        return "index.md"
    inner = path.removeprefix("docs/").replace("README.md", "index.md")
    return inner if path.startswith("docs/") else f"project/{path.lower()}"


def resolve(root: Path, to: str, places: Mapping[str, str], folder: str, ref: str) -> str | None:
    """The address of a file of the repository for a page in a folder; null if there is no such file."""
    if to.startswith("../") or not (root / to).exists():
        return None
    picture = f"files/{to}" if to.endswith(PICTURES) else None
    inside = places.get(to) or places.get(f"{to}/README.md") or picture
    return posixpath.relpath(inside, folder or ".") if inside else file_link(to, ref=ref)


def settings(root: Path, docs: Path) -> str:
    """The settings, with the pages that there are and the folders of the code."""
    text = (ROOT / "zensical.toml").read_text("utf-8")
    text = NAVIGATION.sub(lambda line: line[0] if (docs / line[1]).is_file() else "", text)
    paths = json.dumps([str(root / "tools"), str(root / "evaluation")])
    return EMPTY.sub("", text).replace('["tools", "evaluation"]', paths)


def write(path: Path, content: bytes) -> None:
    """Write a file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    build_all(Path(sys.argv[1]))
