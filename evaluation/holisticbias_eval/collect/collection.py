"""Find a collection of groups: of the dataset, or in a user's YAML file."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

from holisticbias.rules.validate import load_catalog
from holisticbias.terms.file_kinds import CollectionFile
from holisticbias_eval.errors import CollectError
from holisticbias_eval.named_files import read_yaml
from holisticbias_eval.stereotypes.specifications import USERS

_SHOWN = 200  # characters of a user's text in a message


def find_collection(name: str) -> CollectionFile:
    """The collection of the newest version of the dataset with this name, or the one in a YAML file.

    Raises ``CollectError`` if it is missing or invalid, or names no page.
    """
    path = Path(name)
    found = read_collection(path) if path.suffix in {".yaml", ".yml"} or path.is_file() else _of_dataset(name)
    if not any(group.has_pages for group in found.groups):
        raise CollectError(
            f"the collection {found.collection!r} names no page: give a group pages: {{titles, lists or categories}}"
        )
    return found


def collection_digest(collection: CollectionFile) -> str:
    """SHA-256 of a collection's content, as 64 hexadecimal digits."""
    return hashlib.sha256(collection.model_dump_json().encode("utf-8", "replace")).hexdigest()


def read_collection(path: Path) -> CollectionFile:
    """Read a collection from YAML; groups may leave out ``sources`` and ``since``. Raises ``CollectError``."""

    def made_of(data: Any) -> CollectionFile:
        if not isinstance(data, dict) or not isinstance(data.get("groups"), list):
            raise CollectError(f"{path} is not a collection: it needs a list groups; see docs/collect.md")
        stem = re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_")
        groups = [{**USERS, **group} if isinstance(group, dict) else group for group in data["groups"]]
        return CollectionFile.model_validate({"collection": stem, "label": path.stem, **data, "groups": groups})

    found = read_yaml(path, made_of, CollectError)
    twice = [name for name, count in Counter(group.id for group in found.groups).items() if count > 1]
    if twice:
        raise CollectError(f"{path} has two groups with the id {twice[0]!r}: rename one")
    return found


def _of_dataset(name: str) -> CollectionFile:
    catalog = load_catalog()
    known = catalog.at(catalog.versions[-1]).collections
    for collection in known:
        if collection.collection == name:
            return collection
    names = ", ".join(c.collection for c in known) or "none"
    raise CollectError(f"there is no collection {name[:_SHOWN]!r} and no such .yaml file; available: {names}")
