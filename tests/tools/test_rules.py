"""Rules on several files together, and validation of randomly changed files."""

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folders import ROOT
from holisticbias import build_release
from holisticbias.errors import ReleaseError, SourceError
from holisticbias.rules.characters import hidden_character
from holisticbias.rules.collections import is_replaced
from holisticbias.rules.validate import load_catalog, validate_files, validate_paths
from holisticbias.source.document import Document, parse_document
from holisticbias.source.findings import Finding, render_findings
from holisticbias.source.folder import SourceFile
from holisticbias.source.records import parse_files
from holisticbias.terms.anonymise import Named, anonymise
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import Kind
from invoking import Invoke

KINDS: tuple[Kind, ...] = ("descriptors", "nouns", "templates", "releases", "sources")
FILES = {kind: (ROOT / "tests" / "data" / "smallest" / f"{kind}.yaml").read_bytes() for kind in KINDS}
AXIS, NOUNS, _, RELEASE, _ = FILES.values()
NAMES: dict[Kind, str] = {"releases": "1.0.0"}  # the name of a version's file is its number


def files(changed: dict[Kind, bytes] | None = None, added: Sequence[tuple[Kind, bytes]] = ()) -> list[SourceFile]:
    contents = {**FILES, **(changed or {})}
    all_of_them = [(f"{kind}/{NAMES.get(kind, 'a')}.yaml", kind, content) for kind, content in contents.items()]
    all_of_them += [(f"{kind}/b.yaml", kind, content) for kind, content in added]
    return [SourceFile(kind, parse_document(content, path)) for path, kind, content in all_of_them]


def broken(findings: Sequence[Finding]) -> list[tuple[str, str, int, int]]:
    return [(f.rule, f.path, f.line, f.column) for f in findings]


def test_smallest_source_is_valid() -> None:
    catalog, findings = validate_files(files())
    assert findings == ()
    assert build_release(catalog).sentences["text"].to_pylist() == ["I'm a kind person.", "I'm a person."]


@pytest.mark.parametrize(
    ("kind", "content", "rule", "line", "column"),
    [
        ("descriptors", b"axis: example\nlabel: Another\ndescriptors: []\n", "unique-file", 1, 7),
        ("nouns", b"gender: neutral\nlabel: Another\nnouns: []\n", "unique-file", 1, 9),
        ("templates", b"family: dialogue\nlabel: Another\ntemplates: []\n", "unique-file", 1, 9),
        ("releases", RELEASE, "unique-file", 1, 10),
        ("releases", RELEASE, "version-file", 1, 10),  # its name is not the number
        ("nouns", NOUNS.replace(b"neutral", b"female"), "unique-id", 4, 9),
    ],
)
def test_rule_between_two_files(kind: Kind, content: bytes, rule: str, line: int, column: int) -> None:
    found = broken(validate_files(files(added=[(kind, content)]))[1])
    assert (rule, f"{kind}/b.yaml", line, column) in found
    assert len(found) == (2 if kind == "releases" else 1)


@pytest.mark.parametrize("kind", KINDS[:3])
def test_version_with_nothing_of_a_kind_is_empty(kind: Kind) -> None:
    start = FILES[kind].index(b":\n  - id")
    catalog, findings = validate_files(files({kind: FILES[kind][:start] + b": []\n"}))
    assert ("empty-version", "releases/1.0.0.yaml", 1, 10) in broken(findings)
    if kind == "templates":
        with pytest.raises(ReleaseError, match="the version would have no sentences"):
            build_release(catalog)


def test_gendered_term_without_nouns_of_that_gender() -> None:
    _, findings = validate_files(files({"descriptors": AXIS + b"    noun_gender: female\n"}))
    assert broken(findings) == [("noun-gender", "descriptors/a.yaml", 8, 18)]


def test_findings_come_in_the_order_of_files_and_lines(copy: Path) -> None:
    (copy / "descriptors" / "zzz.yaml").write_bytes(AXIS.replace(b"text: kind", b"text: yes").replace(b"1.0.0", b"no"))
    (copy / "descriptors" / "aaa.yaml").write_bytes(b"a: [\n")
    findings = validate_paths([copy])
    assert broken(findings) == [
        ("yaml-closed", "descriptors/aaa.yaml", 1, 4),
        ("axis-order", "descriptors/zzz.yaml", 1, 7),
        ("ambiguous-scalar", "descriptors/zzz.yaml", 5, 11),
        ("ambiguous-scalar", "descriptors/zzz.yaml", 7, 12),
        ("schema", "descriptors/zzz.yaml", 7, 12),
    ]


def test_invalid_terms_load_no_catalog(copy: Path) -> None:
    (copy / "descriptors" / "age.yaml").write_bytes(b"axis: [\n")
    with pytest.raises(SourceError, match=r"descriptors/age.yaml:1:7 error yaml-closed .* Run: holisticbias validate"):
        load_catalog(copy)


def test_links_that_cannot_be_read_are_findings(copy: Path) -> None:
    (copy / "nouns" / "dangling.yaml").symlink_to("nowhere")
    (copy / "nouns" / "loop.yaml").symlink_to("loop.yaml")
    expected = [("unreadable", "nouns/dangling.yaml"), ("unreadable", "nouns/loop.yaml")]
    assert [(f.rule, f.path) for f in validate_paths([copy])] == expected
    assert [(f.rule, f.path) for f in validate_paths([copy / "nouns"])] == expected


@pytest.mark.parametrize("kind", ["releases", "subsets"])
def test_a_version_or_a_subset_among_new_entries_is_a_finding(copy: Path, kind: str) -> None:
    path = next((copy / kind).glob("*.yaml"))
    (copy / kind / "new").mkdir()
    path.rename(copy / kind / "new" / path.name)
    found = {(f.rule, f.path) for f in validate_paths([copy])}
    assert ("new-entry-name", f"{kind}/new/{path.name}") in found


def test_a_folder_that_is_a_link_to_elsewhere_is_a_finding(copy: Path, tmp_path: Path) -> None:
    """Its files are not read, which would otherwise pass for a folder without terms."""
    (copy / "descriptors").rename(tmp_path / "elsewhere")
    (copy / "descriptors").symlink_to(tmp_path / "elsewhere")
    found = validate_paths([copy])
    assert {f.rule for f in found if f.path.endswith("elsewhere/age.yaml")} == {"unreadable"}


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("descriptors/ability.yaml", "yaml-closed"),
        ("releases/2.0.0.lock.json", "lock-syntax"),
        ("sources.yaml", "yaml-closed"),
        ("waivers.yaml", "yaml-closed"),
    ],
)
def test_file_that_cannot_be_read_is_one_finding_and_not_one_for_each_entry(copy: Path, path: str, rule: str) -> None:
    (copy / path).write_text((copy / path).read_text("utf-8") + "x: [\n", "utf-8")
    assert [(f.rule, f.path) for f in validate_paths([copy])] == [(rule, path)]


def test_a_term_that_may_be_waived_is_not_refused_while_the_waivers_cannot_be_read() -> None:
    terms: dict[Kind, bytes] = {"descriptors": AXIS.replace(b"text: kind", b"text: kind person")}
    assert "noun-repeated" in {f.rule for f in validate_files(files(terms))[1]}
    assert "noun-repeated" not in {f.rule for f in validate_files(files({**terms, "waivers": b"waivers: [\n"}))[1]}


def test_entries_that_break_the_schema_are_not_missed_elsewhere(copy: Path) -> None:
    for path, old, new in (
        ("descriptors/ability.yaml", "    bucket: auditory\n", "    bucket: Auditory\n"),
        ("nouns/neutral.yaml", "    plural: kids\n", "    plurals: kids\n"),
        ("templates/dialogue.yaml", "    first_turn_only: true\n", "    first_turn_only: 1\n"),
    ):
        (copy / path).write_text((copy / path).read_text("utf-8").replace(old, new, 1), "utf-8")
    assert {f.rule for f in validate_paths([copy])} == {"schema", "unknown-key"}


def test_output_cannot_steer_a_terminal_or_an_annotation() -> None:
    text = AXIS.replace(b"text: kind", b'text: "\\e[2Jkind\\u202e\\n::error::x"')
    hostile = text.replace(b"label: Example", b"%0A::x: 1")
    findings = validate_files(files({"descriptors": hostile}))[1]
    assert findings
    for line in render_findings(findings, "text").split("\n"):
        assert line.isprintable()
    for line in render_findings(findings, "github").split("\n"):
        assert line.startswith(("::error file=descriptors/a.yaml,line=", "::error file=releases/a.yaml,line="))
        assert line.isprintable()
    assert len(render_findings(findings, "text").split("\n")) == len(findings)


PIECES = [
    b"\xff",
    b"    replaced_by: example.kind\n    until: 2.0.0\n",
    b"until: 1.0.0\n",
    b"    history:\n      - {until: 9.0.0, reason: x}\n",
    b"    position: after\n",
    b"    noun_gender: female\n",
    b"    assessments: [{judgement: accepted, date: '2020'}]\n",
    b"    not_with: [noun.person, neutral]\n",
    b"    without_noun: false\n",
    b"    paraphrase_of: dialogue.im\n",
    b"    history:\n      - {until: 9.0.0, reason: x, text: null, article: null, not_with: []}\n",
    b"    replaced_by: example.kind\n",
    *(piece.encode() for piece in ("", "\n", " ", "#", "\u202e", "\x85", "\u2028", "{noun_phrase}", "!!set ", "&a ")),
    *b": - ' \" { } [ *a null yes 0 1.0.0".split(),
]


@st.composite
def changed(draw: st.DrawFn) -> tuple[Kind, bytes]:
    """One of the files, with up to twenty bytes replaced in up to three places."""
    kind = draw(st.sampled_from(sorted(FILES)))
    content = FILES[kind]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        until = at + draw(st.integers(0, 20))
        content = content[:at] + draw(st.sampled_from(PIECES)) + content[until:]
    return kind, content


@settings(deadline=None)
@given(changed())
def test_changed_file_gives_findings_or_a_catalog_that_compiles(change: tuple[Kind, bytes]) -> None:
    kind, content = change
    catalog, findings = validate_files(files({kind: content}))
    assert isinstance(catalog, Catalog)
    for style in ("text", "json", "github"):
        render_findings(findings, style)
    if not any(f.level == "error" for f in findings):
        for version in catalog.versions:
            assert build_release(catalog, version).sentences.num_rows


@given(
    st.text("aB é_-.\n", max_size=12),
    st.text("aB é_-.", min_size=1, max_size=4).filter(lambda subject: any(map(str.isalpha, subject))),
    st.booleans(),
)
def test_a_subject_stands_in_a_text_if_measures_replace_it(text: str, subject: str, person: bool) -> None:
    assert is_replaced(text, subject, person) == (anonymise([text], [Named(subject, person=person)]) != [text])


@given(st.text("ab é\n\t\u200b\u202e\ufe0f", min_size=1, max_size=6))
def test_hidden_characters_of_any_prose(title: str) -> None:
    document = Document("sources.yaml", {"sources": [{"id": "x", "title": title}]}, {})
    repository, _ = parse_files([SourceFile("sources", document)])
    hidden = set("\t\u200b\u202e\ufe0f")
    assert len(list(hidden_character.findings(repository))) == (1 if hidden & set(title) else 0)


def test_files_outside_of_the_folder_are_checked_at_once(
    terms_copy: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They replace their counterparts together; two files of one axis are checked one by one."""
    parsed = Mock(wraps=parse_files)
    monkeypatch.setattr("holisticbias.rules.validate.parse_files", parsed)
    outside = terms_copy / "elsewhere"
    outside.mkdir()
    for name in ("ability", "age", "cultural"):
        text = (terms_copy / "descriptors" / f"{name}.yaml").read_text("utf-8")
        (outside / f"{name}.yaml").write_text(text, "utf-8")
    assert invoke("validate", *sorted(outside.iterdir())) == (0, "", "No findings.\n")
    assert parsed.call_count == 1
    (outside / "another.yaml").write_text((outside / "age.yaml").read_text("utf-8"), "utf-8")
    assert invoke("validate", *sorted(outside.iterdir()))[0] == 0
    assert parsed.call_count == 3


def test_prompts_of_another_collection_replace_no_file_of_their_domain(terms_copy: Path, invoke: Invoke) -> None:
    prompts = terms_copy / "elsewhere.yaml"
    text = (terms_copy / "prompts" / "gender.yaml").read_text("utf-8")
    prompts.write_text(text.replace("collection: bold", "collection: other"), "utf-8")
    code, shown, _ = invoke("validate", prompts)
    assert code == 1
    assert "unique-id [gender.american-actors-1]" in shown
