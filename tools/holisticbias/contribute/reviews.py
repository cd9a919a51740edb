"""Sections for reviewers on each changed entry: sentences or parts, objections, judgements."""

from collections.abc import Iterable, Iterator

from holisticbias.contribute.diff import Difference
from holisticbias.contribute.markdown import block, code, table
from holisticbias.contribute.proposals import objections
from holisticbias.contribute.readings import TermForm, entry_lines, forms, template_examples
from holisticbias.contribute.revisions import Revision
from holisticbias.terminal import and_more
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Descriptor, Entry, Judged, Noun, Template
from holisticbias.terms.grammar import PLURAL_SLOT, SINGULAR_SLOT, fill, with_article
from holisticbias.terms.prompt_entries import Prompt
from holisticbias.terms.specification_entries import Specification

MAX_REVIEWED = 20
_MAX_LINES = 60


def entry_reviews(difference: Difference, old: Revision, new: Revision) -> Iterator[str]:
    """A section in Markdown for each entry that is added, changed or judged, at most ``MAX_REVIEWED``, and a count."""
    before, after = old.catalog.at(old.version), new.catalog.at(new.version)
    changes: dict[str, list[str]] = {}
    for change in difference.entries:
        if change.change != "retired":
            changes.setdefault(change.id, []).append(change.change)
    entries, earlier = _by_id(after), _by_id(before)
    for entry_id in list(changes)[:MAX_REVIEWED]:
        entry = entries[entry_id]
        yield f"#### {code(entry.text)} {code(entry_id)}: {', '.join(changes[entry_id])}"
        if set(changes[entry_id]) - {"reassessed"}:
            yield from _shown(after, entry, new)
            yield from _objections(old.catalog, entry)
        if isinstance(entry, Judged) and ("reassessed" in changes[entry_id] or entry.assessments):
            yield from _judgements(earlier.get(entry_id), entry)
    yield from filter(None, [and_more(len(changes), MAX_REVIEWED)])


def _by_id(catalog: Catalog) -> dict[str, Entry]:
    return {entry.id: entry for _, entry in catalog.entries()}


def _shown(held: Catalog, entry: Entry, revision: Revision) -> Iterator[str]:
    """The entry in sentences, or its parts as lines."""
    rule = revision.catalog.release(revision.version).article_rule
    if isinstance(entry, Descriptor):
        yield _sentences(forms(held, entry, rule))
    elif isinstance(entry, Noun):
        singular = with_article(entry.text, rule, entry.article)
        yield _sentences((TermForm("noun", singular, entry.plural, held.templates),))
    elif isinstance(entry, Template):
        yield block(template_examples(entry.text, bare=not entry.must_be_noun))
    else:
        file = next(f for f in held.companions if any(e.id == entry.id for e in f.entries))
        lines = list(entry_lines(held, file, entry))
        yield block([*lines[:_MAX_LINES], *(["..."] if len(lines) > _MAX_LINES else [])])


def _sentences(shown: Iterable[TermForm]) -> str:
    """A sentence in the singular and one in the plural for each form; empty if no template has the slot."""
    rows: list[list[str]] = []
    for form in shown:
        texts = [template.text for template in form.templates]
        first = (next((text for text in texts if slot in text), "") for slot in (SINGULAR_SLOT, PLURAL_SLOT))
        rows.append([code(form.name), *(code(fill(text, form.singular, form.plural)) for text in first)])
    return table(("form", "singular", "plural"), rows) if rows else "No sentence: it goes with no noun of this version."


def _objections(catalog: Catalog, entry: Entry) -> Iterator[str]:
    """The objections on record to the words of an entry."""
    found = dict.fromkeys(line for text in _texts(entry) for line in objections(catalog, text))
    own = [line for line in found if f"({entry.id})" not in line]
    if own:
        lines = "\n".join(f"- {code(line)}" for line in own[:10])
        yield f"**Objections on record.** Reviewers decide whether it meets the criteria in CONTRIBUTING.md.\n\n{lines}"


def _texts(entry: Entry) -> Iterator[str]:
    if not isinstance(entry, Template):
        yield entry.text
    if isinstance(entry, Noun) or (isinstance(entry, Descriptor) and entry.plural):
        yield str(entry.plural)
    if isinstance(entry, Prompt):
        yield entry.continuation
    if isinstance(entry, Specification):
        yield from (term for slot in entry.slots for term in slot.terms or () if term)


def _judgements(earlier: Entry | None, entry: Judged) -> Iterator[str]:
    """The community preference before and after, and the judgements that are new or gone."""
    known = earlier.assessments if isinstance(earlier, Judged) else ()
    before = earlier.preference if isinstance(earlier, Judged) else "no_data"
    added = [f"- new: {_judgement(a)}" for a in entry.assessments if a not in known]
    removed = [f"- gone: {_judgement(a)}" for a in known if a not in entry.assessments]
    if added or removed:
        yield f"Community preference: {code(before)} -> {code(entry.preference)}"
        yield "\n".join([*added[:20], *removed[:20]])


def _judgement(a: Assessment) -> str:
    community = f", {code(a.community)}" if a.community else ""
    return f"{code(a.judgement)} by {code(a.whose)}, {code(a.locale)}, {code(a.date)}{community}"
