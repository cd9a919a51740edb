"""Rules on ids, texts and what refers to what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holisticbias.source.findings import Finding
from holisticbias.source.records import Located, Repository
from holisticbias.terms.entries import Descriptor
from holisticbias.terms.versions import version_key


def unique_id(repository: Repository) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for file, i, entry in repository.entries():
        if entry.id in seen:
            yield file.report_entry("unique-id", i, ("id",), f"The id is taken by an entry in {seen[entry.id]}.")
        seen.setdefault(entry.id, file.document.path)


def id_place(repository: Repository) -> Iterator[Finding]:
    prefixes = {
        **{id(f): f.record.axis for f in repository.axes},
        **{id(f): "noun" for f in repository.genders},
        **{id(f): f.record.family for f in repository.families},
    }
    for file, i, entry in repository.entries():
        prefix = f"{prefixes[id(file)]}."
        if not entry.id.startswith(prefix):
            yield file.report_entry("id-place", i, ("id",), f"The id does not begin with {prefix!r}.")


def unique_text(repository: Repository) -> Iterator[Finding]:
    """Two entries of one file with one text in one position, in versions that overlap."""
    for file in repository.with_entries:
        seen: dict[tuple[str, str], list[tuple[str, str | None, str]]] = {}
        for i, entry in enumerate(getattr(file.record, file.entries)):
            stands = entry.text, getattr(entry, "position", "")
            for since, until, other in seen.get(stands, []):
                if _overlap((entry.since, entry.until), (since, until)):
                    yield file.report_entry("unique-text", i, ("text",), f"{other} has the text {entry.text!r} too.")
                    break
            seen.setdefault(stands, []).append((entry.since, entry.until, entry.id))


def _overlap(a: tuple[str, str | None], b: tuple[str, str | None]) -> bool:
    return all(
        until is None or version_key(since) < version_key(until) for since, until in ((a[0], b[1]), (b[0], a[1]))
    )


def unique_file(repository: Repository) -> Iterator[Finding]:
    named: list[tuple[Located[Any], str, str]] = [
        *((f, "axis", f.record.axis) for f in repository.axes),
        *((f, "gender", f.record.gender) for f in repository.genders),
        *((f, "family", f.record.family) for f in repository.families),
        *((f, "version", f.record.version) for f in repository.releases),
        *((f, "subset", f.record.subset) for f in repository.subsets),
    ]
    seen: dict[tuple[str, str], str] = {}
    for file, key, name in named:
        if (key, name) in seen:
            yield file.report("unique-file", (key,), f"The {key} {name!r} has a file already, {seen[key, name]}.")
        seen.setdefault((key, name), file.document.path)


def known_bucket(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.bucket is not None and descriptor.bucket not in file.record.buckets:
                declared = ", ".join(file.record.buckets) or "none"
                message = f"The bucket {descriptor.bucket!r} is not declared; declared are: {declared}."
                yield file.report_entry("known-bucket", i, ("bucket",), message)


def bucket_needed(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.bucket is None and file.record.buckets:
                yield file.report_entry("bucket-needed", i, (), "The entry names no bucket.")


def known_source(repository: Repository) -> Iterator[Finding]:
    known = {s.id for f in repository.sources for s in f.record.sources} | repository.left_out
    for file, i, entry in repository.entries():
        for k, source in enumerate(entry.sources):
            if source not in known:
                yield file.report_entry("known-source", i, ("sources", k), f"The source {source!r} is not listed.")
        for k, assessment in enumerate(entry.assessments if isinstance(entry, Descriptor) else ()):
            if assessment.source is not None and assessment.source not in known:
                message = f"The source {assessment.source!r} is not listed."
                yield file.report_entry("known-source", i, ("assessments", k, "source"), message)


def assessment_source(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            for k, assessment in enumerate(descriptor.assessments):
                if assessment.reviewer is None and assessment.source is None:
                    message = "The judgement names neither a reviewer nor a source."
                    yield file.report_entry("assessment-source", i, ("assessments", k), message)


def known_replacement(repository: Repository) -> Iterator[Finding]:
    known = {entry.id for _, _, entry in repository.entries()} | repository.left_out
    for file, i, entry in repository.entries():
        if entry.replaced_by is not None and (entry.replaced_by not in known or entry.replaced_by == entry.id):
            message = f"No other entry has the id {entry.replaced_by!r}."
            yield file.report_entry("known-replacement", i, ("replaced_by",), message)


def known_descriptor(repository: Repository) -> Iterator[Finding]:
    known = {d.id for f in repository.axes for d in f.record.descriptors} | repository.left_out
    for file in repository.subsets:
        for i, name in enumerate(file.record.descriptors):
            if name not in known:
                yield file.report("known-descriptor", ("descriptors", i), f"No descriptor has the id {name!r}.", name)


def known_noun(repository: Repository) -> Iterator[Finding]:
    known = {n.id for f in repository.genders for n in f.record.nouns} | repository.left_out
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            for k, noun in enumerate(descriptor.not_with):
                if "." in noun and noun not in known:
                    yield file.report_entry("known-noun", i, ("not_with", k), f"No noun has the id {noun!r}.")


def known_template(repository: Repository) -> Iterator[Finding]:
    """A paraphrase or an opposite names another template, which is not a paraphrase itself."""
    known = {t.id for f in repository.families for t in f.record.templates if t.paraphrase_of is None}
    known |= repository.left_out
    for file in repository.families:
        for i, template in enumerate(file.record.templates):
            for key in ("paraphrase_of", "opposite_of"):
                named = getattr(template, key)
                if named is not None and named not in known - {template.id}:
                    message = f"No other template that is not a paraphrase itself has the id {named!r}."
                    yield file.report_entry("known-template", i, (key,), message)


def known_selector(repository: Repository) -> Iterator[Finding]:
    """What an exclusion names, and each axis in the order."""
    axes = {f.record.axis for f in repository.axes}
    known = {d.id for f in repository.axes for d in f.record.descriptors} | repository.left_out
    known |= {f"{f.record.axis}/{bucket}" for f in repository.axes for bucket in f.record.buckets}
    for file in repository.intersections:
        for i, exclusion in enumerate(file.record.exclusions):
            for side in ("these", "those"):
                for k, name in enumerate(getattr(exclusion, side)):
                    if name not in known:
                        message = f"No descriptor has the id {name!r}, and no axis that bucket."
                        yield file.report("known-selector", ("exclusions", i, side, k), message)
        for k, axis in enumerate(file.record.order):
            if axis not in axes:
                yield file.report("known-selector", ("order", k), f"No file has the axis {axis!r}.")
