"""Contents of folders, and changes of their files."""

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import yaml

from holisticbias.rules.validate import validate_paths
from holisticbias.source.folder import FOLDERS, SINGLE_FILES, term_files
from holisticbias.source.layout import format_file

ROOT = Path(__file__).resolve().parents[2]


def copy_terms(root: Path, folder: Path) -> Path:
    """Copy the terms of a repository to a new folder."""
    for name in (n for n in FOLDERS if (root / n).is_dir()):
        shutil.copytree(root / name, folder / name)
    for name in SINGLE_FILES:
        shutil.copy(root / f"{name}.yaml", folder)
    return folder


FEW = {
    "descriptors": ("ability", "age", "cultural", "nationality", "nonce", "sexual_orientation"),
    "prompts": ("gender",),
    "specifications": ("stereotypes",),
}
"""The files of these kinds that ``copy_few`` copies."""


def copy_few(root: Path, folder: Path) -> Path:
    """Copy a third of the terms of a repository, with their locks: they are checked in a third of the time."""
    copy_terms(root, folder)
    for kind, names in FEW.items():
        for path in (folder / kind).glob("*.yaml"):
            if path.stem not in names:
                path.unlink()
    specifications = folder / "specifications" / "stereotypes.yaml"
    head, *entries = specifications.read_text("utf-8").split("\n  - id: ")
    entries = [entry for entry in entries if not re.search(r"descriptors: \[(?!age|nonce)", entry)]
    specifications.write_text("\n  - id: ".join([head, *entries]), "utf-8")
    texts = [path.read_text("utf-8") for path in folder.glob("*/*.yaml")]
    known = {*FEW["descriptors"], "collections/bold", "prompts/bold/gender"}
    known |= {entry_id for text in texts for entry_id in re.findall(r"^  - id: (\S+)", text, re.MULTILINE)}
    for path in (folder / "releases").glob("*.lock.json"):
        lock = json.loads(path.read_text("utf-8"))
        lock["entries"] = {key: digest for key, digest in lock["entries"].items() if key in known}
        path.write_text(json.dumps(lock), "utf-8")
    _leave_out_others(folder, known)
    return folder


def _leave_out_others(folder: Path, known: set[str]) -> None:
    """Leave out of waivers, subset and intersections what is neither known nor a bucket of a known axis."""

    def kept(names: list[str]) -> list[str]:
        return [name for name in names if name in known or name.partition("/")[0] in FEW["descriptors"]]

    waivers, small, crossed = (folder / name for name in ("waivers.yaml", "subsets/small.yaml", "intersections.yaml"))
    contents = {path: yaml.safe_load(path.read_text("utf-8")) for path in (waivers, small, crossed)}
    contents[waivers]["waivers"] = {rule: kept(names) for rule, names in contents[waivers]["waivers"].items()}
    contents[small]["descriptors"] = kept(contents[small]["descriptors"])
    sides = ({**e, "these": kept(e["these"]), "those": kept(e["those"])} for e in contents[crossed]["exclusions"])
    contents[crossed]["exclusions"] = [e for e in sides if e["these"] and e["those"]]
    contents[crossed]["order"] = kept(contents[crossed]["order"])
    for path, content in contents.items():
        path.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
        path.write_text(format_file(path), "utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    """The content of each file, by its path in the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def replaced(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file, which must have it."""
    text = path.read_text("utf-8")
    assert old in text, f"{path} does not have {old!r}"
    path.write_text(text.replace(old, new, 1), "utf-8")


def stale_files(paths: Iterable[Path]) -> set[Path]:
    """The files that are not in canonical layout."""
    return {path for path in paths if path.read_bytes() != format_file(path).encode()}


def is_clean(folder: Path) -> bool:
    """Whether terms follow every rule, and the files that differ from the project's are in canonical layout."""
    originals = {path.relative_to(ROOT): path.read_bytes() for path in term_files(ROOT)}
    changed = [path for path in term_files(folder) if path.read_bytes() != originals.get(path.relative_to(folder))]
    return validate_paths([folder]) == () and not stale_files(changed)
