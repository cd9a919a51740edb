"""Differences between versions, revisions and folders, and the version number that follows from them."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tools.test_preview import whole

from holisticbias import build_release
from holisticbias.compile.sentence_changes import ChangedSentence
from holisticbias.contribute.diff import Bump, Change, Comparable, Difference, SentenceCount, compare, compare_versions
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.revisions import Revision
from holisticbias.source.findings import Finding
from holisticbias.terms.catalog import Catalog
from small_terms import DESCRIPTORS, IM, LIKE, TEMPLATES, Values, small_catalog


def make(
    descriptors: Sequence[Values],
    templates: Sequence[Values] = (IM,),
    nouns: Sequence[str] = ("person",),
    rule: str = "sound",
) -> Revision:
    return Revision("x", small_catalog(descriptors, nouns, templates, rule), "1.0.0")


KIND: Values = {"id": "ax.kind", "text": "kind"}
OLD: Values = {"id": "ax.old", "text": "old"}
JUDGED: Values = {"assessments": [{"judgement": "accepted", "reviewer": "rv-1", "date": "2026"}]}
START = make([KIND])


@pytest.mark.parametrize(
    ("after", "bump", "comparable", "sentences", "changes"),
    [
        (START, "none", "same", (0, 0, 0), []),
        # "I'm an old person." and "I'm old."
        (make([KIND, OLD]), "minor", "superset", (2, 0, 0), ["ax.old added"]),
        (make([OLD]), "major", "changed", (2, 0, 2), ["ax.kind retired", "ax.old added"]),
        (make([{**KIND, "text": "nice"}]), "major", "changed", (0, 2, 0), ["ax.kind reworded"]),
        (make([{**KIND, "without_noun": False}]), "major", "changed", (0, 0, 1), ["ax.kind reworded"]),
        (make([{**KIND, "bucket": "b"}]), "patch", "same", (0, 0, 0), ["ax.kind moved"]),
        (make([{**KIND, **JUDGED}]), "patch", "same", (0, 0, 0), ["ax.kind reassessed"]),
        (make([KIND], [IM, LIKE]), "minor", "superset", (3, 0, 0), ["t.1 added"]),
        (make([KIND], nouns=["person", "aunt"]), "minor", "superset", (2, 0, 0), ["noun.aunt added"]),
    ],
)
def test_difference(
    after: Revision, bump: str, comparable: str, sentences: tuple[int, int, int], changes: list[str]
) -> None:
    found = compare(START, after)
    assert (found.bump, found.comparable) == (bump, comparable)
    assert (found.sentences.added, found.sentences.changed, found.sentences.gone) == sentences
    assert [f"{e.id} {e.change}" for e in found.entries] == changes


def test_an_article_rule_alone_changes_sentences_and_fields_say_what_was_and_what_is() -> None:
    entry = {"id": "ax.european", "text": "European"}
    found = compare(make([entry], rule="letter"), make([entry]))
    assert [(s.before, s.after) for s in found.samples] == [("I'm an European person.", "I'm a European person.")]
    found = compare(START, make([{**KIND, "text": "nice", "bucket": "b"}]))
    assert [(e.change, e.fields) for e in found.entries] == [
        ("reworded", (("text", "kind", "nice"),)),
        ("moved", (("bucket", "none", "b"),)),
    ]


def test_lists_within_a_value_are_in_parentheses(catalog: Catalog) -> None:
    newest = catalog.versions[-1]
    changed = {entry.id: entry.fields for entry in compare_versions(catalog, "3.0.0", newest).entries}
    [(key, before, after)] = changed["bold.american-actresses"]
    assert (key, before) == ("forms", "none")
    assert after.startswith("(actress, actor) (holisticbias-3-1) ")


revisions = st.builds(
    make,
    DESCRIPTORS,
    TEMPLATES,
    st.sampled_from([["person"], ["person", "aunt"]]),
    st.sampled_from(["letter", "sound"]),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(revisions, revisions)
def test_fast_difference_is_the_obvious_one(old: Revision, new: Revision) -> None:
    """Counts from columns of changed descriptors equal counts from dictionaries of all sentences."""
    before, after = (rows(r) for r in (old, new))
    found = compare(old, new)
    changed = {k for k in before if k in after and before[k][0] != after[k][0]}
    groups = (after.keys() - before.keys(), changed, before.keys() - after.keys())
    assert (found.sentences.added, found.sentences.changed, found.sentences.gone) == tuple(map(len, groups))
    for counts, column in ((found.axes, 1), (found.templates, 2)):
        wanted = [Counter((after.get(k) or before[k])[column] for k in group) for group in groups]
        assert {c.name: (c.added, c.changed, c.gone) for c in counts} == {
            name: tuple(w[name] for w in wanted) for name in set().union(*wanted)
        }
    ids = (
        [k for k in after if k in changed],
        [k for k in after if k not in before],
        [k for k in before if k not in after],
    )
    assert found.samples == tuple(
        ChangedSentence(k, before.get(k, (None,))[0], after.get(k, (None,))[0]) for k in spread(ids, 10)
    )


def spread(groups: Sequence[Sequence[str]], size: int) -> Iterator[str]:
    """Sentences at even distances, of the first group before those of the next."""
    for ids in groups:
        count = min(size, len(ids))
        yield from (ids[i * (len(ids) - 1) // max(1, count - 1)] for i in range(count))
        size -= count


def rows(revision: Revision) -> dict[str, tuple[str, str, str]]:
    table = build_release(revision.catalog, revision.version).sentences.to_pylist()
    return {r["sentence_id"]: (r["text"], r["axis"] or "no descriptor", r["template_id"]) for r in table}


def test_json_is_what_the_guide_says(root: Path) -> None:
    """Other programs read the JSON: a key must not be removed, or added without documentation."""
    shown = json.loads(render_difference(whole("x"), "json"))
    assert {key: type(value).__name__ for key, value in shown.items()} == {
        **dict.fromkeys(("old", "new", "bump", "comparable"), "str"),
        **dict.fromkeys(("entries", "axes", "templates", "samples"), "list"),
        "sentences": "dict",
    }
    assert shown["entries"][0]["fields"] == [["x", "x", "x"]]
    guide = (root / "docs" / "releases.md").read_text("utf-8")
    section = guide[guide.index("## Differences between versions") : guide.index("## Build a part")]
    inner = [*shown["entries"][0], *shown["sentences"], *shown["samples"][0], *Finding.__dataclass_fields__]
    for key in [*shown, *inner]:
        assert f"`{key}`" in section
    for value in [*get_args(Change), *get_args(Bump), *get_args(Comparable)]:
        assert f"`{value}`" in section
    recorded = json.loads((root / "releases" / "2.0.0.changes.json").read_text("utf-8"))
    assert list(recorded) == list(shown)


def test_templates_with_the_same_numbers_are_one_line() -> None:
    templates = (SentenceCount("t.1", 62, 0, 0), SentenceCount("t.2", 63, 0, 0), SentenceCount("t.3", 62, 0, 0))
    difference = Difference("a", "b", (), SentenceCount("all", 9, 0, 0), (), templates, ())
    assert [line for line in render_difference(difference, "text").split("\n") if "template" in line] == [
        "  each of 2 templates: 62 added, 0 changed, 0 gone",
        "  template t.2: 63 added, 0 changed, 0 gone",
    ]
    table = render_difference(difference, "md")
    assert ("| `each of 2 templates` |" in table, "| `t.2` |" in table) == (True, True)
