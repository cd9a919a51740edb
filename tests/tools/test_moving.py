"""Moving a term to another axis or bucket, and retiring entries that have waivers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from changed_terms import changed_files
from holisticbias.contribute.authoring import next_version
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.layout import stale_files
from holisticbias.terms.entries import Descriptor

Invoke = Callable[..., tuple[int, str, str]]

ADDED = """
  # said by the people themselves
  - id: ability.with-a-test # a comment
    text: with a test
    bucket: after_the_noun
    position: after
    plural: with tests
    assessments: # one so far
      - {judgement: dispreferred, locale: en-US, reviewer: rv-0001, date: 2026-01-02}
    sources: [contributors]
    since: VERSION
"""


def descriptors(folder: Path) -> dict[str, Descriptor]:
    return {d.id: d for axis in load_catalog(folder).axes for d in axis.descriptors}


def bucket_of(folder: Path) -> tuple[str, ...]:
    """The option for a bucket of the axis of cultural terms, if it has any."""
    buckets = next(a.buckets for a in load_catalog(folder).axes if a.axis == "cultural")
    return ("--bucket", buckets[0]) if buckets else ()


def is_clean(folder: Path) -> bool:
    return validate_paths([folder]) == () and stale_files(changed_files(folder)) == ()


@pytest.fixture
def version(terms_copy: Path) -> str:
    """The version in preparation; there is one."""
    catalog = load_catalog(terms_copy)
    following = next_version(catalog)
    path = terms_copy / "releases" / f"{following}.yaml"
    if not path.exists():
        newest = (terms_copy / "releases" / f"{catalog.published[-1]}.yaml").read_text("utf-8")
        head = newest[: newest.index("digest:")].replace(catalog.published[-1], following)
        path.write_text(head, "utf-8")
    return following


@pytest.fixture
def unpublished(terms_copy: Path, version: str) -> Path:
    """The file of ability, with a term that is not published yet at its end."""
    path = terms_copy / "descriptors" / "ability.yaml"
    path.write_text(path.read_text("utf-8") + ADDED.replace("VERSION", version), "utf-8")
    return path


def test_a_published_term_is_replaced_by_one_on_the_other_axis(terms_copy: Path, version: str, invoke: Invoke) -> None:
    before = descriptors(terms_copy)["ability.deaf"]
    code, out, err = invoke("move", "ability.deaf", "cultural", *bucket_of(terms_copy), "--source", terms_copy)
    assert (code, err) == (0, "")
    assert "cultural.deaf replaces it" in out
    assert is_clean(terms_copy)
    found = descriptors(terms_copy)
    assert found["ability.deaf"] == before.model_copy(update={"until": version, "replaced_by": "cultural.deaf"})
    assert found["cultural.deaf"].model_dump(exclude={"id", "bucket", "since", "history", "assessments"}) == (
        before.model_dump(exclude={"id", "bucket", "since", "history", "assessments"})
    )
    assert (found["cultural.deaf"].since, found["cultural.deaf"].history) == (version, ())
    for name in ("subsets/small.yaml", "intersections.yaml"):
        text = (terms_copy / name).read_text("utf-8")
        assert text.count("ability.deaf\n") == text.count("cultural.deaf\n")


def test_a_term_that_is_not_published_moves_with_its_comments(
    terms_copy: Path, unpublished: Path, version: str, invoke: Invoke
) -> None:
    before = unpublished.read_text("utf-8").replace(ADDED.replace("VERSION", version), "")
    code, out, _ = invoke("move", "ability.with-a-test", "nonce", "--source", terms_copy)
    assert (code, "ability.with-a-test is now nonce.with-a-test." in out) == (0, True)
    assert is_clean(terms_copy)
    assert unpublished.read_text("utf-8") == before
    moved = ADDED.replace("VERSION", version).replace("ability.", "nonce.").replace("    bucket: after_the_noun\n", "")
    moved = moved.replace("\n  # said by the people themselves\n", "")
    text = (terms_copy / "descriptors" / "new" / "nonce.with-a-test.yaml").read_text("utf-8")
    assert re.sub("(?<=.) +#", " #", text).endswith(f"axis: nonce\ndescriptors:\n{moved}")


@pytest.mark.parametrize(
    ("entry_id", "keeps"), [("ability.deaf", True), ("ability.with-a-test", False)], ids=["published", "unpublished"]
)
@pytest.mark.usefixtures("unpublished")
def test_another_bucket_of_the_axis(terms_copy: Path, version: str, invoke: Invoke, entry_id: str, keeps: bool) -> None:
    before = descriptors(terms_copy)[entry_id]
    bucket = next(
        b for a in load_catalog(terms_copy).axes if a.axis == "ability" for b in a.buckets if b != before.bucket
    )
    assert invoke("move", entry_id, "ability", "--bucket", bucket, "--source", terms_copy)[0] == 0
    assert is_clean(terms_copy)
    after = descriptors(terms_copy)[entry_id]
    assert after.bucket == bucket
    assert [(w.until, w.bucket) for w in after.history if w.until == version] == (
        [(version, before.bucket)] if keeps else []
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ability.no-such", "age"), "no descriptor has the id 'ability.no-such'"),
        (("ability.deaf", "no_such"), "there is no axis 'no_such': name one of ability, age,"),
        (("ability.deaf", "ability"), "name a bucket of ability with --bucket: "),
        (("ability.deaf", "ability", "--bucket", "auditory"), "ability.deaf is in that place already"),
        (("ability.deaf", "age", "--bucket", "no_such"), "name a bucket of age with --bucket: "),
    ],
)
def test_a_move_that_cannot_be_made(terms_copy: Path, invoke: Invoke, arguments: tuple[str, ...], message: str) -> None:
    before = {path: path.read_bytes() for path in terms_copy.rglob("*.yaml")}
    code, _, err = invoke("move", *arguments, "--source", terms_copy)
    assert (code, message in err) == (2, True), err
    assert {path: path.read_bytes() for path in terms_copy.rglob("*.yaml")} == before


@pytest.mark.parametrize(
    ("retired", "replacement"),
    [
        ("ability.non-disabled", "ability.nondisabled"),
        ("ability.nondisabled", "ability.non-disabled"),
        ("characteristics.a-veteran", "characteristics.a-military-spouse"),
    ],
)
def test_retiring_an_entry_leaves_the_waivers_alone(
    terms_copy: Path, version: str, retired: str, replacement: str
) -> None:
    """A waiver of the retired entry, or of the entry that is like it."""
    assert {retired, replacement} <= set(descriptors(terms_copy))
    path = terms_copy / "descriptors" / f"{retired.partition('.')[0]}.yaml"
    head, start, rest = path.read_text("utf-8").partition(f"  - id: {retired}\n")
    entry, end, others = rest.partition("\n\n")
    path.write_text(f"{head}{start}{entry}\n    until: {version}\n    replaced_by: {replacement}{end}{others}", "utf-8")
    assert validate_paths([terms_copy]) == ()


def test_a_waiver_that_no_version_needs_is_stale(terms_copy: Path) -> None:
    path = terms_copy / "waivers.yaml"
    path.write_text(path.read_text("utf-8").rstrip() + "\n    - ability.deaf\n", "utf-8")
    assert [f.rule for f in validate_paths([terms_copy])] == ["waiver-stale"]
