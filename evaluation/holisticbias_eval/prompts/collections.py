"""Prompts about groups of people that a model continues: prompts of a release's collection, or of a user's files."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias import build_release
from holisticbias.compile.filters import parse_conditions, refuse_unknown
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.prompt_entries import joined
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import SelectionError, TableError
from holisticbias_eval.models.embedded import FOLDER
from holisticbias_eval.models.store.keys import counted, table_of
from holisticbias_eval.prompts.selection import having
from holisticbias_eval.prompts.spread import spread_rows
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import columns

FORMS, PERSON = "forms", "person"
TYPES = {FORMS: pa.list_(pa.large_string()), PERSON: pa.bool_()}
"""The columns of a table of prompts or texts: the words for the group, and whether the subject is a person's name."""
GROUPED = (
    Field("group", "name", need=True),
    *columns("label", "domain", "subject", "item"),
    Field(FORMS, "words"),
    Field(PERSON, "flag"),
)
"""What a user's table of prompts or texts says of their group."""
_LONGEST_NAME = 1000  # characters


def refuse_names(label: str, table: pa.Table) -> None:
    """Refuse long names, and a domain that only some rows have."""
    for name in ("group", "domain"):
        if name not in table.column_names or table[name].null_count == table.num_rows:
            continue
        Field(name).refuse_missing(label, name, table[name])
        lengths = pc.utf8_length(table[name])
        longest = pc.max(lengths).as_py()
        if longest > _LONGEST_NAME:
            row = pc.index(lengths, longest).as_py() + 1
            raise TableError(
                f"{label}: row {row}: column {name} has {longest:,} characters: the most is {_LONGEST_NAME:,}"
            )


@dataclass(frozen=True, slots=True)
class GroupWords:
    """The words for each group by its id, whether it is named by persons, and what both are signed with."""

    forms: Mapping[str, tuple[str, ...]]
    persons: frozenset[str]
    origin: str

    @property
    def settings(self) -> Mapping[str, str]:
        """The origin and the SHA-256 of the words, for a signature."""
        content = json.dumps([sorted(self.forms.items()), sorted(self.persons)], ensure_ascii=False)
        return {"group_words": self.origin, "group_words_sha256": hashlib.sha256(content.encode()).hexdigest()}

    def add_to(self, table: pa.Table, groups: Sequence[str | None]) -> pa.Table:
        """Add the columns ``forms`` and ``person``; ``groups`` has the id of each row's group, null if unknown."""
        forms = [list(self.forms.get(group or "", ())) for group in groups]
        persons = [None if group is None else group in self.persons for group in groups]
        found = {FORMS: pa.array(forms, TYPES[FORMS]), PERSON: pa.array(persons, TYPES[PERSON])}
        return with_columns(table, found)


def release_words(release: Release) -> GroupWords:
    """The words for the groups of a release; of a release without forms (layout 4), those of the newest data."""
    table = release.tables["collections"]
    names = table["group_id"].cast(pa.string()).to_pylist()
    persons = frozenset(name for name, one in zip(names, table["needs_person"].to_pylist(), strict=True) if one)
    if FORMS not in table.column_names:
        newest = newest_words()
        return GroupWords({n: newest.forms[n] for n in names if n in newest.forms}, persons, newest.origin)
    forms = {name: tuple(words) for name, words in zip(names, table[FORMS].to_pylist(), strict=True) if words}
    return GroupWords(forms, persons, f"release {release.version}")


def newest_words() -> GroupWords:
    """The words for all groups in the newest version of the data, also one in preparation."""
    catalog = load_catalog()
    version = catalog.versions[-1]
    groups = [group for file in catalog.at(version).collections for group in file.groups]
    forms = {group.id: group.forms.words for group in groups if group.forms}
    return GroupWords(forms, frozenset(g.id for g in groups if g.needs_person), f"data of {version}")


_NAMES = ("prompt_id", "item", "domain", "group", "subject", "prompt", "human", "fault")
FIELDS = tuple((name, TYPES[FORMS] if name == "human" else pa.large_string()) for name in _NAMES)
"""The columns of prompts. ``item`` is the prompt or the page that it is from: texts of one item are resampled
together. ``human`` are the whole texts of people that begin with the prompt, ``fault`` is what is wrong with a prompt.
Domain, subject and fault may be missing. ``TYPES`` may follow: they say how a text is measured."""

FILTERS = ("domain", "group")
"""The keys of ``--where``."""

WRITTEN, REFERENCE = "human-written text", "reference text"
"""What people's texts are: found in the world, or written for the dataset."""
TABLE, COLLECTIONS = "prompts", "collections"
CALIBRATION = "calibration"
"""The name of the prompts of the embedded writer."""
SHIPPED_PROMPTS = FOLDER / "writer" / "prompts.parquet"


@dataclass(frozen=True, slots=True)
class CollectionPrompts:
    """Prompts with the columns ``FIELDS``, their name, and further settings for a run's signature.

    ``notes`` are for the user: what was left out, and faults. ``release`` is the release that the prompts are from.
    ``written`` says what the column ``human`` has.
    """

    name: str
    table: pa.Table
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    release: Release | None = None
    written: str = WRITTEN

    @property
    def digest(self) -> str:
        """SHA-256 of the prompts and their columns, as 64 hexadecimal digits; words that are replaced do not count."""
        digest = hashlib.sha256()
        for name in (name for name in self.table.column_names if name not in TYPES):
            values = self.table[name].to_pylist()
            digest.update(repr((name, values)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def calibration_prompts() -> CollectionPrompts:
    """The prompts of the embedded writer, about invented groups, with continuations that stand for people's."""
    table = pq.ParquetFile(SHIPPED_PROMPTS).read()
    return CollectionPrompts(CALIBRATION, table, notes=(f"{table.num_rows:,} prompts about invented groups",))


def release_prompts(release: Release | None, name: str | None = None) -> CollectionPrompts:
    """The prompts of a release, by default the newest with prompts; ``name`` is that of a collection, None means all.

    Raises ``SelectionError`` if the release has no prompts or no such collection.
    """
    release = _newest_with_prompts() if release is None else release
    if TABLE not in release.tables or COLLECTIONS not in release.tables:
        raise SelectionError(
            f"release {release.version} has no prompts: choose a version that has them with --release, or give prompts "
            "of your own with --prompts"
        )
    found = release.tables[TABLE]
    if name is not None:
        found = _of_collection(release, found, name)
    texts = found["prompt"].cast(pa.large_string()).to_pylist()
    human = [
        [] if more is None else [joined(text, more)]
        for text, more in zip(texts, found["continuation"].to_pylist(), strict=True)
    ]
    columns = {key: found[key].cast(pa.large_string()) for key in ("prompt_id", "domain", "group", "subject")}
    table = prompt_table({**columns, "item": columns["prompt_id"], "prompt": texts, "human": human})
    words = release_words(release)
    table = words.add_to(table, found["group_id"].cast(pa.string()).to_pylist())
    notes = (f"{table.num_rows:,} prompts of release {release.version}",)
    return CollectionPrompts(name or TABLE, table, words.settings, notes, release, REFERENCE)


def _newest_with_prompts() -> Release:
    """The newest version with prompts that is not withdrawn, also one in preparation, compiled from the terms."""
    catalog = load_catalog()
    usable = (version for version in reversed(catalog.versions) if catalog.release(version).withdrawn is None)
    for release in (build_release(catalog, version) for version in usable):
        if TABLE in release.tables:
            return release
    raise SelectionError("no version of the dataset has prompts: give prompts of your own with --prompts")


def _of_collection(release: Release, prompts: pa.Table, name: str) -> pa.Table:
    collections = release.tables[COLLECTIONS]
    known = collections["collection"].cast(pa.string()).to_pylist()
    if name not in known:
        shown = ", ".join(dict.fromkeys(known)) or "none"
        raise SelectionError(
            f"--prompts {name}: there is no such file or folder, and release {release.version} has no collection of "
            f"this name; its collections: {shown}"
        )
    groups = having(collections, {"collection": [name]})["group_id"].cast(pa.string())
    return having(prompts, {"group_id": groups.to_pylist()})


def prompt_table(columns: Mapping[str, Any]) -> pa.Table:
    """A table with the columns ``FIELDS``, each given as an Arrow column or a list; a missing column has no values."""
    count = len(next(iter(columns.values())))
    given = [columns.get(name, [None] * count) for name, _ in FIELDS]
    return table_of(FIELDS, given)


def select_prompts(prompts: CollectionPrompts, where: Sequence[str], limit: int | None, seed: int) -> CollectionPrompts:
    """The prompts of some domains or groups, and at most ``limit`` of them: as many of each group as fit.

    The seed draws the prompts of a limit. Raises ``SelectionError`` if no prompt is left.
    """
    conditions = parse_conditions(where, FILTERS)
    known = {key: prompts.table[key].unique().to_pylist() for key in conditions}
    refuse_unknown(conditions, known, "the table of prompts", SelectionError)
    kept = having(prompts.table, conditions)
    if limit is not None and kept.num_rows > limit:
        groups = zip(kept["domain"].to_pylist(), kept["group"].to_pylist(), strict=True)
        kept = kept.take(pa.array(spread_rows(groups, kept["prompt_id"].to_pylist(), limit, seed)))
    if not kept.num_rows:
        raise SelectionError("no prompt is left: widen the selection")
    return replace(prompts, table=kept)


def repeat_prompts(prompts: pa.Table, names: Sequence[str], samples: int) -> pa.Table:
    """Each prompt ``samples`` times, as requests: with ``response_id``, ``persona`` and ``sample``.

    ``names`` are the ids of the prompts, and a missing persona is empty. ``sample`` counts equal prompts, so that a
    prompt that stands twice is asked twice.
    """
    rows = np.repeat(np.arange(prompts.num_rows), samples)
    table = prompts.take(pa.array(rows))
    given = table["persona"].to_pylist() if "persona" in table.column_names else [None] * len(rows)
    personas = [text or "" for text in given]
    ids = [f"{name}/{draw}" for name in names for draw in range(samples)]
    numbers = counted(zip(table["prompt"].to_pylist(), personas, strict=True))
    table = table.add_column(0, "response_id", pa.array(ids, pa.large_string()))
    made = {"persona": pa.array(personas, pa.large_string()), "sample": pa.array(numbers, pa.int32())}
    return with_columns(table, made)
