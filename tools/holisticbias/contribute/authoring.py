"""Write valid new entries to the files of terms, in canonical layout, and check edits of these files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.entry_text import Edit, Field, written
from holisticbias.errors import SourceError
from holisticbias.output import write_files
from holisticbias.rules.validate import load_catalog, validate_files
from holisticbias.source.document import parse_document
from holisticbias.source.findings import Finding, in_words, one_line
from holisticbias.source.folder import NEW, SourceFile, find_source, read_source, shown_path
from holisticbias.source.layout import canonical_text
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import GROUP_KEYS, Kind, Source, entries_key
from holisticbias.terms.version_files import IN_PREPARATION, WITH_PROMPTS
from holisticbias.terms.versions import NEXT, version_key


@dataclass(frozen=True, slots=True)
class Draft:
    """A new entry: its kind of file, its group, and its keys and values.

    The group is an axis, a gender or a family; of a prompt, it is the collection and the domain: ``bold/gender``.
    ``sources`` are those of its sources that ``sources.yaml`` does not list.
    """

    kind: Kind
    group: str
    entry: Mapping[str, Field]
    sources: Sequence[Source] = ()


@dataclass(frozen=True, slots=True)
class OpenTerms:
    """A folder of terms to change, its catalog, and the version in preparation that the change is for."""

    root: Path
    catalog: Catalog
    version: str = NEXT

    def whole(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """The edits, and the one that creates the version if there is no file of it."""
        return (*edits, *prepare_version(self.catalog, self.root, self.version))


def open_terms(source: Path | None, version: str = NEXT) -> OpenTerms:
    """The terms to change, by default in the folder around the current one.

    Raises ``SourceError`` if there is no folder that can be written, and for a version that is not in preparation.
    """
    root = source or find_source(to_write=True)
    catalog = load_catalog(root)
    if version in catalog.published:
        raise SourceError(f"version {version} is published and cannot change: a change is for next, or for a fix")
    if version not in (NEXT, *catalog.versions):
        raise SourceError(
            f"version {version} is not in preparation: begin a fix with holisticbias releases --fix {version}"
        )
    return OpenTerms(root, catalog, version)


def prepare_version(catalog: Catalog, root: Path, version: str = NEXT) -> tuple[Edit, ...]:
    """Create the file of a version in preparation, with the settings of the newest version; empty if it exists."""
    if version in catalog.versions:
        return ()
    last = [catalog.release(v) for v in catalog.versions if version_key(v) < version_key(version)][-1:]
    rule, layout = (last[0].article_rule, last[0].layout) if last else ("sound", WITH_PROMPTS)
    text = (
        "# yaml-language-server: $schema=../schema/releases.schema.json\n"
        f"version: {version}\nsummary: {IN_PREPARATION}.\narticle_rule: {rule}\nlayout: {layout}\n"
    )
    return (Edit(root / "releases" / f"{version}.yaml", "releases", text),)


def add_entry(terms: OpenTerms, draft: Draft) -> Edit:
    """Add an entry as a new file, in the folder ``new`` of its kind.

    A descriptor leaves out the nouns that ``intersections.yaml`` excludes for its bucket.
    """
    entry = dict(draft.entry)
    order = terms.catalog.intersections
    if order and draft.kind == "descriptors" and entry.get("position") != "standalone":
        excluded = order.excluded_nouns().get(f"{draft.group}/{entry.get('bucket')}", ())
        entry.setdefault("not_with", tuple(dict.fromkeys(excluded)) or None)
    return new_entry(terms.root, draft.kind, draft.group, written(entry), draft.sources)


def new_entry(root: Path, kind: Kind, group: str, entry: CommentedMap, sources: Sequence[Source] = ()) -> Edit:
    """The file of a new entry; ``SourceError`` if there is another one, not the same one of a killed command."""
    path = root / kind / NEW / f"{entry['id']}.yaml"
    keys = dict(zip(GROUP_KEYS[kind], group.split("/"), strict=True))
    content = CommentedMap({**keys, entries_key(kind): CommentedSeq([entry])})
    if sources:
        content["sources"] = [written(source.model_dump(exclude_none=True)) for source in sources]
    content.yaml_set_start_comment(f"yaml-language-server: $schema=../../schema/{kind}.schema.json")
    text = canonical_text(content, kind)
    if path.exists() and path.read_bytes() != text.encode():
        raise SourceError(f"{shown_path(path)} exists: correct the entry there, or choose another id")
    return Edit(path, kind, text)


def check_edits(root: Path, edits: Sequence[Edit]) -> tuple[Catalog, tuple[Finding, ...]]:
    """The catalog after edits, and the warnings that they would add; raises ``SourceError`` with the errors."""
    catalog, findings = edited_terms(root, edits)
    errors = [f for f in findings if f.level == "error"]
    if errors:
        raise SourceError(f"nothing was written: {one_line(' '.join(map(in_words, errors)))}")
    return catalog, findings


def apply_edits(root: Path, edits: Sequence[Edit]) -> tuple[Path, ...]:
    """Check the edits, then write all files; no file is written if ``check_edits`` raises."""
    check_edits(root, edits)
    return write_edits(edits)


def write_edits(edits: Sequence[Edit]) -> tuple[Path, ...]:
    """Write edits that were checked, all or none, and return the paths of their files.

    Files are removed last, so that nothing is lost if the command is killed; the same command then removes them.
    Raises ``SourceError`` if a file has changed or appeared since its edit was made, such as while the command asked.
    """
    for edit in edits:
        found = edit.path.read_text("utf-8", "replace") if edit.path.is_file() else None
        if found not in (edit.before, edit.text):
            raise SourceError(f"{shown_path(edit.path)} has changed meanwhile: run the same command again")
    try:
        write_files({edit.path: edit.text for edit in edits if edit.text is not None})
        for edit in edits:
            if edit.text is None:
                edit.path.unlink(missing_ok=True)
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt("run the same command again to finish") from error
    return tuple(edit.path for edit in edits)


def edited_terms(root: Path, edits: Sequence[Edit]) -> tuple[Catalog, tuple[Finding, ...]]:
    """The catalog after edits, and the findings that they would add."""
    before = read_source(root)
    catalog, found = validate_files(edited_files(before, edits))
    old = {(f.rule, f.entry, f.message) for f in validate_files(before)[1]} if found else set()
    return catalog, tuple(f for f in found if (f.rule, f.entry, f.message) not in old)


def edited_files(before: Sequence[SourceFile], edits: Sequence[Edit]) -> tuple[SourceFile, ...]:
    """The files of a folder of terms as they are after edits."""
    texts = {shown_path(edit.path): edit for edit in edits}
    kept = [file for file in before if file.document.path not in texts]
    new = [
        SourceFile(edit.kind, parse_document(edit.text.encode(), path))
        for path, edit in texts.items()
        if edit.text is not None
    ]
    return tuple(sorted((*kept, *new), key=lambda file: (file.kind, file.document.path)))
