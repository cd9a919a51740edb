"""Find and read bias specifications: entries of the dataset, a user's YAML file, or the published JSON form."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from holisticbias.errors import HolisticBiasError
from holisticbias.rules.validate import load_catalog
from holisticbias.source.folder import find_source
from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.file_kinds import SpecificationFile
from holisticbias.terms.grammar import distinct_name
from holisticbias.terms.specification_entries import Specification, is_stem, pronoun_form, pronoun_gender, wrong_forms
from holisticbias.terms.versions import version_key
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.models.embedded import SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.named_files import read_yaml
from holisticbias_eval.stereotypes.targets import refuse_uneven_slots
from holisticbias_eval.tables.rows import read_json

SUFFIXES = (".yaml", ".yml", ".json")
_SHOWN = 200  # characters of a user's text in a message
_LONG = 40  # letters of a title that names of figures have in full
USERS = {"sources": ["contributors"], "since": "3.0.0"}
"""Keys of an entry that a user's own file may leave out."""


def read_specification(name: str, version: str | None = None) -> Specification:
    """The specification with this id, unique end of an id, or published name, or the only one of a file.

    ``version`` is that of the dataset; null is the newest, also in preparation. Descriptors in its slots are
    replaced by their texts. Raises ``SpecificationError``.
    """
    read = read_specifications([name], version)
    if len(read) > 1:
        ids = ", ".join(s.id for s in read[:5])
        raise SpecificationError(f"{name} holds {len(read)} specifications ({ids} ...): give a file with one")
    return read[0]


def read_specifications(names: Iterable[str] = (), version: str | None = None) -> tuple[Specification, ...]:
    """The specifications of names and files, each once and in order, or all of a version of the dataset; see above.

    The names ``calibration`` and ``calibration-control`` are those of the embedded writer, ``calibration-many`` and
    ``calibration-many-untouched`` those of the embedded gossip.
    """
    names, shipped = tuple(names), read_calibration()
    own = {specification.id for specification in shipped}
    of_dataset = () if names and all(_is_file(name) or name in own for name in names) else list_specifications(version)
    found = [] if names else [*of_dataset]
    for name in names:
        found += read_file(Path(name)) if _is_file(name) else (_find(name, (*of_dataset, *shipped)),)
    by_id = {specification.id: specification for specification in found}
    if other := next((s for s in found if s != by_id[s.id]), None):
        raise SpecificationError(f"two specifications that differ have the id {other.id}: give one of them another id")
    chosen = tuple(by_id.values())
    if any(slot.descriptors for specification in chosen for slot in specification.slots):
        catalog = load_catalog()
        axes = catalog.at(version or catalog.versions[-1]).axes
        texts = {descriptor.id: descriptor.text for axis in axes for descriptor in axis.descriptors}
        chosen = tuple(_with_texts(specification, texts) for specification in chosen)
    for specification in chosen:
        refuse_uneven_slots(specification)
    return chosen


def list_specifications(version: str | None = None) -> tuple[Specification, ...]:
    """The specifications of a version of the dataset, as worded then; by default all that are not retired."""
    catalog = load_catalog() if version is None else load_catalog().at(version)
    entries = [entry for family in catalog.specifications for entry in family.specifications]
    return tuple(entry for entry in entries if version is not None or entry.until is None)


def read_calibration() -> tuple[Specification, ...]:
    """The specifications of the calibration models, which are not of the dataset."""
    return tuple(specification for model in SHIPPED for specification in shipped_specifications(model))


def known_specifications() -> tuple[Specification, ...]:
    """The specifications of the dataset and of the calibration models."""
    return (*list_specifications(), *read_calibration())


def found_specifications() -> Mapping[str, Specification]:
    """The known specifications by id, without those of the dataset if its terms are not valid or not installed."""
    found = read_calibration()
    with suppress(HolisticBiasError):
        found = (*list_specifications(), *found)
    return {specification.id: specification for specification in found}


def specifications_version(names: Mapping[str, None]) -> str:
    """The newest version of the dataset, from which the specifications are, or that they are not of the dataset."""
    try:
        versions = [path.stem for path in (find_source() / "releases").glob("*.yaml")]
        known = {specification.id for specification in list_specifications()}
    except HolisticBiasError:
        return "not known: the dataset cannot be read"
    unknown = [name for name in names if name not in known]
    if len(unknown) == len(names):
        return "not of the dataset"
    newest = max(versions, key=version_key)
    return f"{newest}, but for {', '.join(unknown)}" if unknown else newest


def with_specifications(pairs: pa.Table) -> pa.Table:
    """Add the title of each specification (``label``) and whether it is a control, unless given."""
    known = found_specifications()
    names = pairs["specification"].to_pylist()
    if "label" not in pairs.column_names:
        labels = [known[name].text if name in known else None for name in names]
        pairs = pairs.append_column("label", pa.array(labels, pa.string()))
    if "control" not in pairs.column_names:
        controls = [known[name].control if name in known else False for name in names]
        pairs = pairs.append_column("control", pa.array(controls))
    return pairs


def short_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """A name of each id that no other has: its title up to a comma if it is long, all of it, or with the id."""
    parts = {name: text.partition(", ")[0] if len(text) > _LONG else text for name, text in titles.items()}
    short, whole = Counter(parts.values()), Counter(titles.values())
    return {
        name: part if short[part] == 1 else titles[name] if whole[titles[name]] == 1 else f"{titles[name]} ({name})"
        for name, part in parts.items()
    }


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
        return from_published(path)

    def made_of(data: Any) -> tuple[Specification, ...]:
        if not isinstance(data, dict):
            raise SpecificationError(f"{path} is not a mapping of keys: see docs/stereotypes.md for the form")
        if "specifications" in data:
            return SpecificationFile.model_validate(data).specifications
        named = {"id": f"own.{distinct_name(path.stem.lower(), 'a-z0-9', '-') or 'specification'}", "text": path.stem}
        return (Specification.model_validate({**USERS, **named, **data}),)

    read = read_yaml(path, made_of, SpecificationError)
    for specification in read:
        for keys, message in wrong_forms(specification, {}):
            raise SpecificationError(f"{path}: {'.'.join(map(str, keys))}: {message[:_SHOWN]}")
    return read


def _is_file(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


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
        f"there is no specification {shown!r}; `holisticbias stereotypes specifications` lists them, and a file of "
        f"your own ends in {' or '.join(SUFFIXES)}"
    )


def _with_texts(specification: Specification, texts: Mapping[str, str]) -> Specification:
    """The specification with the texts of its descriptors as terms of its slots, and as terms of its word forms."""
    slots = []
    for slot in specification.slots:
        missing = next((d for d in slot.descriptors if d not in texts), None)
        if missing:
            raise SpecificationError(f"{specification.id}: there is no descriptor {missing} in this version")
        terms = tuple(texts[d] for d in slot.descriptors) or slot.terms
        slots.append(slot.model_copy(update={"terms": terms}))
    forms = [form.model_copy(update={"of": texts.get(form.of or "", form.of)}) for form in specification.forms]
    return specification.model_copy(update={"slots": tuple(slots), "forms": tuple(forms)})


def from_published(path: Path) -> tuple[Specification, ...]:
    """The specifications of a published file: one object, or a list of them.

    An object has ``name``, ``social_groups`` and ``attributes``, each a mapping of names to words, and may have
    ``templates``. The first two groups are used, as in the published code; words at the same index form a slot.
    Raises ``SpecificationError``.
    """
    data = read_json(path, SpecificationError, "name a file of specifications")
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
                "id": f"published.{key_of_name(name, '-')}",
                "text": name[:200],
                "groups": [_group(first, words, sets, 0), _group(second, others, sets, 1)],
                "slots": [_slot(pair) for pair in zip_longest(words, others)],
                "attributes": [{"name": key_of_name(n, "_"), "label": n, "terms": terms} for n, terms in sets.items()],
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
    stereotype = key_of_name(list(sets)[position], "_") if position < len(sets) else None
    return {"name": key_of_name(name, "_"), "label": name, "stereotype": stereotype, "gender": pronoun_gender(words)}


def _slot(pair: tuple[str | None, str | None]) -> dict[str, Any]:
    words = [word for word in pair if word]
    is_name = all(word[:1].isupper() for word in words)
    return {"form": "name" if is_name else pronoun_form(words) or "noun", "terms": list(pair)}


def key_of_name(name: str, by: str) -> str:
    """A name as a key, which begins with a letter."""
    words = distinct_name(name.lower(), "a-z0-9", by)
    return words if words[:1].isalpha() else f"x{by}{words}".rstrip(by)
