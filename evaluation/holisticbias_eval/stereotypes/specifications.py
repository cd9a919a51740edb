"""Find and read bias specifications: entries of the dataset, a user's YAML file, or the published JSON form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from holisticbias.rules.validate import load_catalog
from holisticbias.source.document import read_document
from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Record
from holisticbias.terms.file_kinds import SpecificationFile
from holisticbias.terms.specification_entries import Slot, Specification, is_stem, wrong_forms
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.models.embedded import SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications

SUFFIXES = (".yaml", ".yml", ".json")
R = TypeVar("R", bound=Record)
_SHOWN = 200  # characters of a user's text in a message
_USERS = {"sources": ["contributors"], "since": "3.0.0"}  # keys that a user's own file may leave out


def read_specification(name: str, version: str | None = None) -> Specification:
    """The specification with this id, unique end of an id, or published name, or the only one of a file.

    ``version`` is that of the dataset; null is the newest, also in preparation. Descriptors in its slots are
    replaced by their texts. Raises ``SpecificationError``.
    """
    found = read_specifications([name], version)
    if len(found) > 1:
        ids = ", ".join(s.id for s in found[:5])
        raise SpecificationError(f"{name} holds {len(found)} specifications ({ids} ...): give a file with one")
    return found[0]


def read_specifications(names: Iterable[str] = (), version: str | None = None) -> tuple[Specification, ...]:
    """The specifications of names and files, in order, or all of a version of the dataset; see above.

    The names ``calibration`` and ``calibration-control`` are those of the embedded writer, ``calibration-many`` and
    ``calibration-many-untouched`` those of the embedded gossip.
    """
    catalog = None
    known: tuple[Specification, ...] = ()
    found: list[Specification] = []
    names = tuple(names)
    if not names or any(not _is_file(name) for name in names):
        known = list_specifications(version)
    named = (*known, *read_calibration())
    for name in names:
        found += read_file(Path(name)) if _is_file(name) else (_find(name, named),)
    chosen = tuple(found) if names else known
    if any(slot.descriptors for specification in chosen for slot in specification.slots):
        catalog = load_catalog()
        catalog = catalog.at(version or catalog.versions[-1])
    return tuple(s if catalog is None else _with_texts(s, catalog) for s in chosen)


def list_specifications(version: str | None = None) -> tuple[Specification, ...]:
    """The specifications of a version of the dataset, as worded then; by default all that are not retired."""
    if version is not None:
        catalog = load_catalog().at(version)
        return tuple(entry for family in catalog.specifications for entry in family.specifications)
    catalog = load_catalog()
    return tuple(entry for family in catalog.specifications for entry in family.specifications if entry.until is None)


def read_calibration() -> tuple[Specification, ...]:
    """The specifications of the calibration models, which are not of the dataset."""
    return tuple(specification for model in SHIPPED for specification in shipped_specifications(model))


def known_specifications() -> tuple[Specification, ...]:
    """The specifications of the dataset and of the calibration models."""
    return (*list_specifications(), *read_calibration())


def specification_digest(specification: Specification) -> str:
    """SHA-256 of a specification's content; a specification without word forms has the digest that it always had."""
    left_out = None if specification.forms else {"forms"}
    return hashlib.sha256(specification.model_dump_json(exclude=left_out).encode()).hexdigest()


def has_stereotype(specification: Specification) -> bool:
    """Whether the stereotype gives a set of attributes to a group, so that a pair has a stereotyped sentence."""
    return any(group.stereotype for group in specification.groups)


def refuse_stems(specifications: Iterable[Specification]) -> None:
    """Raise ``SpecificationError`` if an attribute is a stem, which cannot be put into a sentence."""
    for specification in specifications:
        stem = next((t for chosen in specification.attributes for t in chosen.terms if is_stem(t)), None)
        if stem is not None:
            raise SpecificationError(
                f"{specification.id}: no sentence can be made with the attribute {stem[:_SHOWN]!r}, which stands for "
                "all words that begin so: name a specification without such attributes"
            )


def refuse_without_stereotype(specifications: Iterable[Specification]) -> None:
    """Raise ``SpecificationError`` if no group of a specification has a stereotype."""
    for specification in specifications:
        if not has_stereotype(specification):
            raise SpecificationError(
                f"{specification.id} says of no group which attributes its stereotype has, so that no sentence of a "
                "pair would be the stereotyped one: measure it with group_perplexity"
            )


def calibration_model(names: Iterable[str]) -> str | None:
    """The calibration model that all specifications belong to, by their ids or the ends of these; null if none does."""
    names = set(names)
    for model in SHIPPED:
        ids = {specification.id for specification in shipped_specifications(model)}
        if names and names <= ids | {name.partition(".")[2] for name in ids}:
            return model
    return None


def read_file(path: Path) -> tuple[Specification, ...]:
    """The specifications of a YAML file with one or several, or of a JSON file in the published form.

    Raises ``SpecificationError`` with the place of the first error.
    """
    if path.suffix.lower() == ".json":
        return from_published(_read_json(path), path)
    document = read_document(path, str(path))
    if document.findings:
        finding = document.findings[0]
        raise SpecificationError(f"{path}:{finding.line}: {finding.message}")
    data = document.data
    if not isinstance(data, dict):
        raise SpecificationError(f"{path} is not a mapping of keys: see docs/stereotypes.md for the form")
    if "specifications" in data:
        return _with_right_forms(_validated(SpecificationFile, data, path).specifications, path)
    named = {"id": f"own.{_kebab(path.stem)}", "text": path.stem}
    return _with_right_forms((_validated(Specification, {**_USERS, **named, **data}, path),), path)


def _with_right_forms(found: tuple[Specification, ...], path: Path) -> tuple[Specification, ...]:
    for specification in found:
        for keys, message in wrong_forms(specification, {}):
            raise SpecificationError(f"{path}: {'.'.join(map(str, keys))}: {message[:_SHOWN]}")
    return found


def _is_file(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SpecificationError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SpecificationError(f"{path} is not JSON: {str(error)[:_SHOWN]}") from error


def _validated(model: type[R], data: Mapping[str, Any], path: Path) -> R:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise SpecificationError(f"{path}: {where[:_SHOWN]}: {schema_message(first)[:_SHOWN]}") from error


def _find(name: str, known: tuple[Specification, ...]) -> Specification:
    """The specification with this id or published name, else the only one whose id ends so."""
    for specification in known:
        if name in (specification.id, specification.published_as):
            return specification
    ending = [s for s in known if name and re.search(rf"(^|[.-]){re.escape(name)}$", s.id)]
    if len(ending) == 1:
        return ending[0]
    shown = name[:_SHOWN]
    if ending:
        raise SpecificationError(f"{shown!r} is the end of several ids: give {' or '.join(s.id for s in ending)}")
    raise SpecificationError(
        f"there is no specification {shown!r}; `holisticbias stereotypes specifications` lists them"
    )


def _with_texts(specification: Specification, catalog: Catalog) -> Specification:
    """The specification with the texts of its descriptors as terms of its slots, and as terms of its word forms."""
    texts = {d.id: d.text for axis in catalog.axes for d in axis.descriptors}
    slots = tuple(_slot_with_texts(slot, texts, specification.id) for slot in specification.slots)
    forms = tuple(
        one.model_copy(update={"of": texts[one.of]}) if one.of in texts else one for one in specification.forms
    )
    return specification.model_copy(update={"slots": slots, "forms": forms})


def _slot_with_texts(slot: Slot, texts: Mapping[str, str], specification: str) -> Slot:
    missing = next((d for d in slot.descriptors if d not in texts), None)
    if missing:
        raise SpecificationError(f"{specification}: there is no descriptor {missing} in this version")
    return slot.model_copy(update={"terms": tuple(texts[d] for d in slot.descriptors)}) if slot.descriptors else slot


def _kebab(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "specification"


_FORMS = {"he": "subject", "she": "subject", "him": "object", "his": "possessive", "hers": "possessive"}
_GENDERS = {"he": "male", "him": "male", "his": "male", "she": "female", "her": "female", "hers": "female"}


def from_published(data: Any, path: Path) -> tuple[Specification, ...]:
    """The specifications of a published file: one object, or a list of them.

    An object has ``name``, ``social_groups`` and ``attributes``, each a mapping of names to words, and may have
    ``templates``. The first two groups are used, as in the published code; words at the same index form a slot.
    Raises ``SpecificationError``.
    """
    entries = data if isinstance(data, list) else [data]
    if not entries:
        raise SpecificationError(f"{path} has no specifications")
    return tuple(_specification(entry, i, path) for i, entry in enumerate(entries))


def _specification(entry: Any, position: int, path: Path) -> Specification:
    try:
        groups, sets = entry["social_groups"], entry["attributes"]
        name, templates = str(entry["name"]), entry.get("templates", [])
        (first, words), (second, others) = list(groups.items())[:2]
        return Specification.model_validate(
            {
                "id": f"published.{_joined(name, '-')}",
                "text": name[:200],
                "groups": [_group(first, words, sets, 0), _group(second, others, sets, 1)],
                "slots": [_slot(pair) for pair in zip_longest(words, others)],
                "attributes": [{"name": _joined(n, "_"), "label": n, "terms": terms} for n, terms in sets.items()],
                "templates": templates,
                "published_as": name,
                "sources": ["kocielnik-2023"],
                "since": "3.0.0",
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = schema_message(error.errors()[0]) if isinstance(error, ValidationError) else "it needs"
        needs = "name, social_groups with two lists of words, and attributes"
        raise SpecificationError(f"{path}: specification {position + 1}: {reason[:200]}: {needs}") from error


def _group(name: str, words: Sequence[str], sets: Mapping[str, Sequence[str]], position: int) -> dict[str, Any]:
    """A group; the attributes at its position are its stereotype."""
    stereotype = _joined(list(sets)[position], "_") if position < len(sets) else None
    genders = {_GENDERS[word] for word in words if word in _GENDERS}
    gender = genders.pop() if len(genders) == 1 else None
    return {"name": _joined(name, "_"), "label": name, "stereotype": stereotype, "gender": gender}


def _slot(pair: tuple[str | None, str | None]) -> dict[str, Any]:
    given = [word for word in pair if word]
    form = next((_FORMS[word] for word in given if word in _FORMS), "noun")
    is_name = all(word[:1].isupper() for word in given)
    return {"form": "name" if is_name else form, "terms": list(pair)}


def _joined(name: str, by: str) -> str:
    """A name as a key: lower case, other characters replaced."""
    words = re.sub(r"[^a-z0-9]+", by, name.lower()).strip(by)
    return words if words[:1].isalpha() else f"x{by}{words}".rstrip(by)
