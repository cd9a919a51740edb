"""Render a difference as text, Markdown or JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from holisticbias.contribute.diff import CHANGES, Difference, EntryChange, SentenceCount
from holisticbias.contribute.markdown import code, collapsed, plain, table
from holisticbias.terminal import and_more

MAX_ENTRIES = 200
COMPARABLE = {
    "same": "the same: every sentence is unchanged, so results remain comparable",
    "superset": "a superset: the old sentences are unchanged, so results on them remain comparable",
    "unknown": "not all compared: files or entries cannot be read, so whether their sentences change is unknown",
    "changed": "changed: compare results only on the sentences that both versions have, or measure again",
}


def render_difference(difference: Difference, style: str) -> str:
    """Render a difference as ``text``, ``md`` or ``json``; not in JSON, a table has at most ``MAX_ENTRIES`` entries."""
    if style == "json":
        return _json(difference)
    return "\n".join(_text(difference)) if style == "text" else "\n\n".join(_markdown(difference))


def _json(d: Difference) -> str:
    parts = {name: value for name, value in asdict(d).items() if name not in ("companions", "not_compared") or value}
    whole = {**parts, "bump": d.bump, "comparable": d.comparable}
    return json.dumps(whole, ensure_ascii=False, indent=2)


def _text(d: Difference) -> Iterator[str]:
    yield f"{d.old} -> {d.new}"
    yield f"version bump: {_at_least(d)}{d.bump}; sentences are {COMPARABLE[d.comparable]}"
    yield from (f"not compared: {plain(name)}" for name in d.not_compared[:MAX_ENTRIES])
    for change in CHANGES:
        changed = [e for e in d.entries if e.change == change]
        if changed:
            yield f"\n{change}: {len(changed):,}"
            yield from (f"  {plain(line)}" for e in changed[:MAX_ENTRIES] for line in _entry_lines(e))
            yield from filter(None, [and_more(len(changed), MAX_ENTRIES, "  ")])
    yield f"\nsentences: {_numbers(d.sentences)}"
    counts = [(f"axis {c.name}", c) for c in d.axes]
    counts += [(c.name if alike else f"template {c.name}", c) for c, alike in _folded(d.templates)]
    yield from (f"  {plain(name)}: {_numbers(c)}" for name, c in counts)
    yield from (f"{c.name}: {_numbers(c)}" for c in d.companions)
    if d.samples:
        yield "\nsamples:"
        yield from (f"  {plain(line)}" for sample in d.samples for line in sample.lines)


def _numbers(count: SentenceCount) -> str:
    return f"{count.added:,} added, {count.changed:,} changed, {count.gone:,} gone"


def _at_least(d: Difference) -> str:
    return "at least " if d.not_compared else ""


def _folded(templates: Sequence[SentenceCount]) -> Iterator[tuple[SentenceCount, bool]]:
    """One count for all templates with the same numbers, and whether it is that of several templates."""
    groups: dict[tuple[int, int, int], list[SentenceCount]] = {}
    for count in templates:
        groups.setdefault((count.added, count.changed, count.gone), []).append(count)
    for first, *others in groups.values():
        name = f"each of {len(others) + 1} templates" if others else first.name
        yield replace(first, name=name), bool(others)


def _entry_lines(e: EntryChange) -> Iterator[str]:
    yield f"{e.id}: {e.text}" + (f" (replaced by {e.replaced_by})" if e.replaced_by else "")
    yield from (f"  {key}: {before} -> {after}" for key, before, after in e.fields)


def _markdown(d: Difference) -> Iterator[str]:
    yield f"### {code(d.old)} to {code(d.new)}"
    yield f"Version bump: {_at_least(d)}**{d.bump}**. Sentences are {COMPARABLE[d.comparable]}."
    if d.not_compared:
        names = ", ".join(map(code, d.not_compared[:20]))
        yield f"Not compared, because YAML or the schema cannot be read: {names}."
    if d.entries:
        rows = (row for e in d.entries[:MAX_ENTRIES] for row in _rows(e))
        yield table(("entry", "text", "change", "from", "to"), rows)
        yield from filter(None, [and_more(len(d.entries), MAX_ENTRIES)])
    if d.sentences.added or d.sentences.changed or d.sentences.gone:
        yield _count_table("axis", (*d.axes, d.sentences))
        yield collapsed("By template", _count_table("template", [c for c, _ in _folded(d.templates)]))
    if d.companions:
        yield _count_table("besides sentences", d.companions)


def _rows(e: EntryChange) -> Iterator[tuple[str, ...]]:
    if not e.fields:
        yield code(e.id), code(e.text), e.change, "", code(e.replaced_by) if e.replaced_by else ""
    for key, before, after in e.fields:
        yield code(e.id), code(e.text), f"{e.change}: {code(key)}", code(before), code(after)


def _count_table(name: str, counts: Sequence[SentenceCount]) -> str:
    rows = ((code(c.name), f"{c.added:,}", f"{c.changed:,}", f"{c.gone:,}") for c in counts)
    return table((name, "added", "changed", "gone"), rows)
