"""Rules on ids, and on keys that refer to other files."""

import difflib
from pathlib import Path, PurePath
from typing import Any

from holisticbias.rules.check import WITH_ENTRIES, Problems, rule, stated_texts
from holisticbias.source.folder import folder_kind, is_new
from holisticbias.source.records import EntryFile, Located, Repository
from holisticbias.terms.catalog import FILES
from holisticbias.terms.entries import Descriptor, Template

_CLOSE = 0.75  # likeness of two names that one can take for each other


@rule(
    asks="No two entries have the same id, and no two different sources.",
    fix="choose another id for this entry; never reuse the id of an entry that is gone",
)
def unique_id(repository: Repository) -> Problems:
    seen: dict[str, str] = {}
    for file, i, entry in repository.entries():
        if entry.id in seen:
            yield file.entry_problem(i, ("id",), f"An entry in {seen[entry.id]} has the same id.")
        seen.setdefault(entry.id, file.origins[i][0].path)
    known: dict[str, Any] = {}
    for document in (d for f in (*repository.sources, *repository.with_entries) for d in f.documents):
        stated: Any = document.data
        for i, source in enumerate(stated.get("sources", ())):
            name = source.get("id") if isinstance(source, dict) else None
            if isinstance(name, str) and known.setdefault(name, source) != source:
                fix = "choose another id for this source, or remove it if it is the other one"
                yield document.problem(("sources", i, "id"), "Another source has the same id.", fix=fix)


@rule(
    asks="A file of new entries has the name of its first entry.",
    fix="rename the file",
    why="Two contributions with the same entry then meet in one file, and with different entries never do.",
)
def new_entry_file(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        document, index = file.origins[i]
        path = PurePath(document.path)
        if index == 0 and is_new(path) and path.stem != entry.id:
            yield file.entry_problem(i, ("id",), f"The file has the name {path.name}, not {entry.id}.yaml.")


@rule(
    asks="An id begins with the axis, family, collection or domain of its file, or with 'noun'.",
    fix="begin the id like the other ids in this file",
)
def id_place(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        prefix = f"{file.record.prefix}."
        if not entry.id.startswith(prefix):
            yield file.entry_problem(i, ("id",), f"The id does not begin with {prefix!r}.")


@rule(
    asks="Each axis, gender, family, collection, domain of a collection, version and subset has one file.",
    fix="move the entries into the other file",
)
def unique_file(repository: Repository) -> Problems:
    named: list[tuple[Located[Any], str, str]] = [
        *((f, f.record.keys[-1], f.record.group) for f in repository.with_entries),
        *((f, "version", f.record.version) for f in repository.releases),
        *((f, "subset", f.record.subset) for f in repository.subsets),
    ]
    seen: dict[tuple[str, str, str], Located[Any]] = {}
    for file, key, name in named:
        first = seen.setdefault((file.entries, key, name), file)
        if first is not file:
            yield file.problem((key,), f"The {key} {name!r} already has a file, {first.document.path}.")


@rule(
    asks="A new axis, family, collection or domain has a name that is not close to another.",
    fix="add its entries to the file that exists; if it is another group, choose a name that cannot be mistaken",
    why="A file with a misspelled name would begin a new group beside the one that was meant.",
)
def close_name(repository: Repository) -> Problems:
    published = repository.published
    for name in (name for kind, name in FILES.items() if kind != "nouns"):
        files: tuple[EntryFile, ...] = getattr(repository, name)
        known = [f.record.prefix for f in files if not _is_begun(f, published)]
        for file in (f for f in files if _is_begun(f, published)):
            kind, key, group = file.record.kind, file.record.keys[-1], file.record.prefix
            others = [f.record.prefix for f in files if f is not file]
            close = difflib.get_close_matches(group, known or others, n=1, cutoff=_CLOSE)
            if close and close[0] != group:
                yield file.problem((key,), f"The {key} {group!r} is new in {kind}/, and close to {close[0]!r}.")


@rule(
    asks="A new axis has a place in intersections.yaml.",
    fix="write its name in the list order of intersections.yaml, or the names of its buckets",
    why="The list says which of two terms comes first: 'a Deaf Black woman'.",
    level="warning",
    needs=frozenset({"intersections"}),
)
def axis_order(repository: Repository) -> Problems:
    published = repository.published
    listed = {name.partition("/")[0] for f in repository.intersections for name in f.record.order}
    for file in repository.axes:
        if _is_begun(file, published) and file.record.axis not in listed:
            yield file.problem(("axis",), f"The axis {file.record.axis!r} is new: intersections.yaml does not have it.")


def _is_begun(file: EntryFile, published: frozenset[str]) -> bool:
    """Whether a file in a folder of terms begins a group: no published version has an entry of it."""
    if not folder_kind(Path(file.document.path)) or not published:
        return False
    return not any(entry.id in published for entry in file.record.entries)


@rule(
    asks="The bucket of an entry is in the list at the top of its file.",
    fix="use a bucket from the list, or add this one to it",
)
def known_bucket(repository: Repository) -> Problems:
    for file in repository.axes:
        listed = file.record.buckets
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.bucket is not None and descriptor.bucket not in listed:
                message = f"The bucket {descriptor.bucket!r} is not in the list of this file: "
                yield file.entry_problem(i, ("bucket",), f"{message}{', '.join(listed) or 'none'}.")


@rule(
    asks="In a file with buckets, each entry has a bucket.",
    fix="add the bucket",
)
def bucket_needed(repository: Repository) -> Problems:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.bucket is None and file.record.buckets:
                yield file.entry_problem(i, (), "The entry has no bucket.")


@rule(
    asks="Every source is listed in sources.yaml, or at the top of the file of a new entry.",
    fix="list the source in sources.yaml, or under 'sources' at the top of the file of a new entry",
    needs=frozenset({"sources"}),
)
def known_source(repository: Repository) -> Problems:
    known = {source.id for source in repository.listed_sources} | repository.left_out
    for file, i, keys, source in stated_texts(repository, {"sources", "source"}.__contains__):
        if source not in known:
            yield file.entry_problem(i, keys, f"The source {source!r} is not listed.")


@rule(
    asks="The entry in 'replaced_by' exists, and is not the entry itself.",
    fix="name the id of another entry",
    needs=WITH_ENTRIES,
)
def known_replacement(repository: Repository) -> Problems:
    known = {entry.id for _, _, entry in repository.entries()} | repository.left_out
    for file, i, entry in repository.entries():
        if entry.replaced_by is not None and (entry.replaced_by not in known or entry.replaced_by == entry.id):
            yield file.entry_problem(i, ("replaced_by",), f"No other entry has the id {entry.replaced_by!r}.")


@rule(
    asks="The descriptors of a subset exist.",
    fix="name the id of a descriptor",
    needs=frozenset({"descriptors"}),
)
def known_descriptor(repository: Repository) -> Problems:
    known = {d.id for f in repository.axes for d in f.record.descriptors} | repository.left_out
    for file in repository.subsets:
        for i, name in enumerate(file.record.descriptors):
            if name not in known:
                yield file.problem(("descriptors", i), f"No descriptor has the id {name!r}.", name)


@rule(
    asks="The nouns in 'not_with' exist.",
    fix="name the id of a noun, or a gender in nouns/",
    needs=frozenset({"nouns"}),
)
def known_noun(repository: Repository) -> Problems:
    known = {n.id for f in repository.genders for n in f.record.nouns} | repository.left_out
    for file, i, descriptor in repository.of(Descriptor):
        for k, noun in enumerate(descriptor.not_with):
            if "." in noun and noun not in known:
                yield file.entry_problem(i, ("not_with", k), f"No noun has the id {noun!r}.")


@rule(
    asks="A paraphrase or an opposite names another template, which is not a paraphrase itself.",
    fix="name an original template",
    needs=frozenset({"templates"}),
)
def known_template(repository: Repository) -> Problems:
    known = {t.id for f in repository.families for t in f.record.templates if t.paraphrase_of is None}
    known |= repository.left_out
    for file, i, template in repository.of(Template):
        for key in ("paraphrase_of", "opposite_of"):
            named = getattr(template, key)
            if named is not None and named not in known - {template.id}:
                yield file.entry_problem(i, (key,), f"No other original template has the id {named!r}.")


@rule(
    asks="The axes, buckets, descriptors and nouns in intersections.yaml exist.",
    fix="name an axis, axis/bucket, or the id of a descriptor or a noun",
    needs=frozenset({"descriptors", "nouns"}),
)
def known_selector(repository: Repository) -> Problems:
    axes = {f.record.axis for f in repository.axes}
    terms = {d.id for f in repository.axes for d in f.record.descriptors} | repository.left_out
    terms |= {f"{f.record.axis}/{bucket}" for f in repository.axes for bucket in f.record.buckets}
    nouns = {n.id for f in repository.genders for n in f.record.nouns}
    for file in repository.intersections:
        for i, exclusion in enumerate(file.record.exclusions):
            for side, known in (("these", terms), ("those", terms | nouns)):
                for k, name in enumerate(getattr(exclusion, side)):
                    if name not in known:
                        message = f"{name!r} is neither the id of a descriptor nor the bucket of an axis."
                        yield file.problem(("exclusions", i, side, k), message)
        for k, name in enumerate(file.record.order):
            if name not in axes | terms:
                yield file.problem(("order", k), f"No axis, bucket or descriptor is called {name!r}.")
