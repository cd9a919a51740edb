"""Adding entries and judgements, formatting, and issue forms."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from changed_terms import changed_files
from holisticbias.cli import main
from holisticbias.commands.questions import Questions
from holisticbias.contribute.authoring import next_version
from holisticbias.contribute.issue_forms import issue_chooser, issue_forms, read_issue
from holisticbias.contribute.proposals import (
    plural_of,
    propose_article,
    propose_id,
    propose_plural,
    propose_position,
    similar_terms,
)
from holisticbias.errors import OutputError, SourceError
from holisticbias.output import write_files
from holisticbias.rules import RULES
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.addresses import REPOSITORY
from holisticbias.source.folder import term_files
from holisticbias.source.layout import format_text, stale_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, Position

Invoke = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("text", "position", "plural"),
    [
        ("Deaf", "before", None),
        ("with a stoma", "after", "with stomas"),
        ("with an anxiety disorder", "after", "with anxiety disorders"),
        ("with asthma", "after", None),
        ("who is expecting", "after", "who are expecting"),
        ("who was adopted", "after", "who were adopted"),
        ("who uses a wheelchair", "after", "who use wheelchairs"),
        ("who stutters", "after", "who stutter"),
        ("living in poverty", "after", None),
    ],
)
def test_position_and_plural_that_are_proposed(text: str, position: Position, plural: str | None) -> None:
    assert propose_position(text) == position
    assert propose_plural(text, position) == plural


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("amputee", "amputees"),
        ("person of color", "people of color"),
        ("wheelchair user", "wheelchair users"),
        ("Jehovah's Witness", "Jehovah's Witnesses"),
        ("survivor of domestic violence", "survivors of domestic violence"),
        ("enby", "enbies"),
        ("boy", "boys"),
        ("military spouse", "military spouses"),
        ("trans woman", "trans women"),
        ("housewife", "housewives"),
    ],
)
def test_plural_of_a_phrase(singular: str, plural: str) -> None:
    assert plural_of(singular) == plural


@pytest.mark.parametrize(
    ("text", "position", "entry_id"),
    [
        ("Bahá'í", "before", "x.bahai"),
        ("LGBTQ+", "before", "x.lgbtq-plus"),
        ("amputee", "standalone", "x.an-amputee"),
        ("../../etc", "before", "x.etc"),
        ("日本", "before", "x.entry"),
        ("I met {noun_phrase}.", "before", "x.i-met"),
    ],
)
def test_id_that_is_proposed(text: str, position: Position, entry_id: str) -> None:
    assert propose_id("x", text, position) == entry_id


def test_similar_terms(catalog: Catalog) -> None:
    assert similar_terms(catalog, "deaf blind")[0] == "ability.deafblind"
    assert "gender_and_sex.nonbinary" in similar_terms(catalog, "Non Binary")
    assert similar_terms(catalog, "xyzzy") == ()


# fmt


def test_repository_is_canonical(root: Path) -> None:
    assert stale_files(term_files(root)) == ()


MESSY = """# about the file
label: Example
axis: example   # the axis
descriptors:
    # about kind
    - since: 1.0.0
      sources:
          - smith-2022
      text: kind  # a comment


      id: example.kind
    - {id: example.old, text: "old", sources: [smith-2022], since: 1.0.0}
"""


def test_formatting_keeps_comments_and_sorts_keys() -> None:
    formatted = format_text(MESSY, "descriptors")
    assert yaml.safe_load(formatted) == yaml.safe_load(MESSY)
    assert [line.split(":")[0].strip() for line in formatted.split("\n") if line.startswith("    ")][1:] == [
        "text",
        "sources",
        "since",
    ]
    for comment in ("# about the file", "# the axis", "# about kind", "# a comment"):
        assert formatted.count(comment) == 1
    assert format_text(formatted, "descriptors") == formatted


LONGEST_LINE = 200  # of .yamllint
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=30)
entries = st.lists(
    st.fixed_dictionaries(
        {"text": words, "id": st.from_regex(r"example\.[a-z]{1,8}", fullmatch=True)},
        optional={
            "not_with": st.lists(st.just("noun.kid"), max_size=30),
            "since": st.just("1.0.0"),
            "history": st.lists(
                st.fixed_dictionaries(
                    {"until": st.just("2.0.0"), "reason": words},
                    optional={"not_with": st.lists(st.just("noun.kid"), max_size=30)},
                ),
                max_size=2,
            ),
            "summary": st.text("ab \n", max_size=40),
        },
    ),
    max_size=3,
)


@settings(deadline=None)
@given(entries, st.booleans(), st.sampled_from([None, "'", '"', "|", ">"]))
def test_formatting_changes_no_value_and_is_idempotent(
    made: list[dict[str, object]], flow: bool, style: str | None
) -> None:
    data = {"label": "x", "axis": "example", "descriptors": made}
    text = yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, allow_unicode=True, default_style=style)
    formatted = format_text(text, "descriptors")
    assert yaml.safe_load(formatted) == data
    assert format_text(formatted, "descriptors") == formatted


@pytest.mark.parametrize(("nouns", "one_line"), [(3, True), (10, True), (14, False)])
def test_an_earlier_wording_that_is_too_long_is_folded(nouns: int, one_line: bool) -> None:
    listed = ", ".join(["noun.kid"] * nouns)
    wording = f"      - {{until: 2.0.0, not_with: [{listed}], reason: some nouns contradict it}}"
    entry = "  - id: a.b\n    text: b\n    sources: [x]\n    since: 1.0.0\n    history:\n"
    text = f"axis: a\nlabel: A\ndescriptors:\n{entry}{wording}\n"
    formatted = format_text(text, "descriptors")
    assert (wording in formatted) == one_line
    assert max(map(len, formatted.split("\n"))) <= LONGEST_LINE
    assert yaml.safe_load(formatted) == yaml.safe_load(text)


def test_fmt_check_and_write(terms_copy: Path, invoke: Invoke) -> None:
    path = terms_copy / "descriptors" / "nonce.yaml"
    for other in {*term_files(terms_copy)} - {path, terms_copy / "nouns" / "male.yaml"}:
        other.unlink()
    canonical = path.read_text("utf-8")
    path.write_text(canonical.replace("\n\n", "\n\n\n"), "utf-8")
    assert invoke("fmt", "--check", "--source", terms_copy) == (
        1,
        f"{path} is not in canonical layout: run holisticbias fmt\n",
        "",
    )
    assert invoke("fmt", path)[0] == 0
    assert path.read_text("utf-8") == canonical
    path.write_bytes(b"a: [\n")
    assert invoke("fmt", path)[0] == 2
    assert path.read_bytes() == b"a: [\n"


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old", "utf-8")
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OutputError, match="cannot write"):
        write_files({tmp_path / "a": "new", tmp_path / "file" / "b": "new"})
    assert (tmp_path / "a").read_text("utf-8") == "old"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "file"}
    write_files({tmp_path / "a": "new", tmp_path / "folder" / "b": "new"})
    assert (tmp_path / "folder" / "b").read_text("utf-8") == "new"


# add, assess, from-issue


def test_add_with_options(terms_copy: Path, invoke: Invoke) -> None:
    version = next_version(load_catalog(terms_copy))
    code, out, _ = invoke(
        "add", "--text", "with a tracheostomy", "--axis", "ability", "--yes", "--source", terms_copy
    )  # fmt: skip
    assert code == 0
    assert "a person with a tracheostomy / people with tracheostomies" in out
    assert validate_paths([terms_copy]) == ()
    assert stale_files(changed_files(terms_copy)) == ()
    added = next(d for a in load_catalog(terms_copy).axes for d in a.descriptors if d.text == "with a tracheostomy")
    assert added.model_dump(exclude_defaults=True) == {
        "id": "ability.with-a-tracheostomy",
        "text": "with a tracheostomy",
        "bucket": "after_the_noun",
        "position": "after",
        "plural": "with tracheostomies",
        "sources": ("contributors",),
        "since": version,
    }
    assert load_catalog(terms_copy).release(version).digest is None


TERM = ["ability", "before", "unspecific", "any", "y", "", ""]


@pytest.mark.parametrize(
    ("arguments", "answers", "code", "said"),
    [
        ([], ["", "kind-hearted", "abilty", *TERM, "yes"], 0, "'abilty' is not one of"),
        ([], ["ki@nd", "kind", *TERM, "yes"], 0, "'@' cannot be part of a term"),
        (
            [],
            ["kind", *TERM[:5], "Kind", "", *[""] * 6, "ability.kind", "", "yes"],
            0,
            "Try again; your answers are now",
        ),
        ([], ["Deafblind", "y", "ability", "", "age", "", "old", *[""] * 4, "yes"], 0, "has this axis and position"),
        ([], ["cruel", *TERM, "change", "kind", *TERM, "yes"], 0, "wrote"),
        ([], ["kind", *TERM, "no"], 0, "Nothing was written."),
        ([], ["kind", "ability"], 130, "interrupted"),
        (
            [],
            ["an LGBTQIA elder", "sexual_orientation", "", "quer", "queer", "an", "", "", "", "yes"],
            0,
            "near it: queer",
        ),
        (["noun"], ["an elder", "neutral", "", "", "", "yes"], 0, "I'm an elder."),
        (["noun"], ["an MC", "male", "", "", "", "", "yes"], 0, "I'm an MC."),
        (["template"], ["Meet {noun_phrase}.", "", "n", "", "", "yes"], 0, "Meet an amputee."),
    ],
)
def test_add_in_a_session(
    terms_copy: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    answers: list[str],
    code: int,
    said: str,
) -> None:
    """After any answers, either a valid entry or nothing is written."""
    before = {p: p.read_bytes() for p in terms_copy.rglob("*") if p.is_file()}
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
    assert main(["add", *arguments, "--source", str(terms_copy)]) == code
    captured = capfd.readouterr()
    assert said in captured.out + captured.err
    assert [f for f in validate_paths([terms_copy]) if f.level == "error"] == []
    written = {p: p.read_bytes() for p in terms_copy.rglob("*") if p.is_file()} != before
    assert written == (answers[-1] == "yes")


def test_answers_after_a_changed_one_are_not_proposed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Questions({}, yes=False)
    proposed: list[object] = []
    answers = iter(["ability", "kind", "", "ability", "kin", ""])

    def prompt(question: str, default: str | None = None, **kwargs: object) -> str:
        proposed.append(default)
        return next(answers) or str(default)

    monkeypatch.setattr("click.prompt", prompt)
    for _ in range(2):
        ask.choice("axis", "Which axis?", ["ability", "age"])
        text = ask.text("text", "The term")
        ask.text("id", "Its id", f"ability.{text}")
    assert proposed == [None, None, "ability.kind", "ability", "kind", "ability.kin"]


@pytest.mark.parametrize(
    ("text", "article"),
    [
        *(("Deaf", "a"), ("honest", "an"), ("LGBTQ", "an"), ("GLBT", "a"), ("XYZ", "an"), ("BIPOC", "a"), ("US", "a")),
        *(("FEMA", None), ("NIMBY", None), ("SAHM", None), ("HSP", "an"), ("UNHCR", "a")),
    ],
)
def test_article_that_is_proposed(text: str, article: str | None) -> None:
    assert propose_article(text) == article


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--text", "NIMBA", "--axis", "cultural", "--bucket", "regional"], 2, "--article is needed"),
        (["--text", "an ostomate", "--axis", "ability", "--position", "before"], 2, "is a standalone phrase"),
        (
            ["--text", "deafblind", "--axis", "ability"],
            2,
            "'deafblind' is in the data already, as ability.deafblind at ",
        ),
        (["--text", "a<b", "--axis", "ability"], 2, "'<' cannot be part of a term"),
        (
            ["--text", "kind", "--axis", "ability", "--bucket", "speech", "--from", "nobody-1999"],
            2,
            "--from: 'nobody-1999' is not one of",
        ),
        (["--text", "kind", "--axis", "../x"], 2, "is not one of"),
        (["--text", "blicketer", "--axis", "nonce"], 2, "--axis: 'nonce' is not one of ability, age,"),
        (["--axis", "ability"], 2, "--text is needed"),
        (["template", "--text", "Hi {noun_phrase.x}.", "--axis", "dialogue"], 2, "slot"),
        (["noun", "--text", "no", "--axis", "neutral"], 0, ""),
    ],
)
def test_add_refuses(terms_copy: Path, invoke: Invoke, arguments: list[str], code: int, message: str) -> None:
    before = {p: p.read_bytes() for p in terms_copy.rglob("*") if p.is_file()}
    found, _, err = invoke("add", *arguments, "--yes", "--source", terms_copy)
    assert found == code
    assert message in err
    if code:
        assert {p: p.read_bytes() for p in terms_copy.rglob("*") if p.is_file()} == before
    else:
        assert validate_paths([terms_copy]) == ()


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "--text", "kind", "--axis", "ability", "--yes"],
        ["assess", "ability.deaf", "--judgement", "accepted", "--reviewer", "rv-1"],
        ["fmt"],
        ["releases", "--freeze", "1.0.0"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_terms_shipped_with_the_package_are_not_written_to(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = invoke(*arguments)
    assert (code, "name one with --source" in err) == (2, True)


def test_judgement_of_another_day(terms_copy: Path, invoke: Invoke) -> None:
    judged = ["--judgement", "accepted", "--reviewer", "rv-1", "--date", "9999-01-01", "--source", terms_copy]
    code, _, err = invoke("assess", "ability.deaf", *judged)
    assert (code, "9999-01-01 is in the future" in err) == (2, True)


def test_assess(terms_copy: Path, invoke: Invoke) -> None:
    version = next_version(load_catalog(terms_copy))
    judged = ["--judgement", "dispreferred", "--reviewer", "rv-0001", "--date", "2026-09-01", "--source", terms_copy]
    assert invoke("assess", "ability.deaf", *judged)[0] == 0
    assert validate_paths([terms_copy]) == ()
    catalog = load_catalog(terms_copy)
    preference = {
        v: next(d.preference for a in catalog.at(v).axes for d in a.descriptors if d.id == "ability.deaf")
        for v in ("2.0.0", version)
    }
    assert preference == {"2.0.0": "reviewed", version: "polarizing"}
    assert invoke("assess", "ability.nobody", *judged)[0] == 2
    assert "counts when 2 reviewers" in invoke("assess", "age.young", *judged)[1]
    assert "no_data (one reviewer of 2 so far): dispreferred" in invoke("show", "young", "--source", terms_copy)[1]
    again = ["--judgement", "accepted", "--reviewer", "rv-0002", "--source", terms_copy]
    assert "counts when" not in invoke("assess", "age.young", *again)[1]
    assert "\n  polarizing: dispreferred" in invoke("show", "young", "--source", terms_copy)[1]


@pytest.mark.parametrize(
    ("judged", "preference"),
    [
        ([], "no_data"),
        ([("accepted", None)], "reviewed"),
        ([("accepted", "rv-1")], "no_data"),  # a single person
        ([("accepted", "rv-1"), ("accepted", "rv-1")], "no_data"),
        ([("accepted", "rv-1"), ("accepted", "rv-2")], "reviewed"),
        ([("dispreferred", "rv-1"), ("dispreferred", "rv-2")], "dispreferred"),
        ([("accepted", None), ("dispreferred", "rv-1")], "polarizing"),
        ([("dispreferred", "rv-1"), ("dispreferred", None)], "dispreferred"),
        (
            [("accepted", "rv-1"), ("dispreferred", "rv-2"), ("dispreferred", "rv-1")],
            "dispreferred",
        ),  # a change of mind
        ([("accepted", "rv-1"), ("polarizing", "rv-2")], "polarizing"),
    ],
)
def test_preference(judged: list[tuple[str, str | None]], preference: str) -> None:
    assessments = [{"judgement": j, "reviewer": r, "source": None if r else "x", "date": "2026"} for j, r in judged]
    entry = {"id": "a.b", "text": "b", "sources": ["x"], "since": "1.0.0", "assessments": assessments}
    assert Descriptor.model_validate(entry).preference == preference


ISSUE = """### Term

an ostomate

### Axis

ability

### Bucket

Unspecific

### Position

on its own (an amputee)

### Plural

_No response_

### Why

It is what we say.
"""


def test_filled_form_becomes_an_entry(terms_copy: Path, invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "issue.md").write_text(ISSUE, "utf-8")
    path = terms_copy / "descriptors" / "new" / "ability.an-ostomate.yaml"
    assert invoke("from-issue", tmp_path / "issue.md", "--dry-run", "--source", terms_copy)[0] == 0
    assert not path.exists()
    assert invoke("from-issue", tmp_path / "issue.md", "--source", terms_copy)[0] == 0
    text = path.read_text("utf-8")
    assert "- id: ability.an-ostomate\n" in text
    assert "    plural: ostomates\n" in text


@pytest.mark.parametrize(
    "issue",
    [
        "",
        "no heading",
        "### Entry\n\nability.deaf\n",
        "### Term\n\na\n\n### Term\n\nb\n",
        "### Term\n\n\n\n### Axis\n\nability\n",
        "### Term\n\n" + "x" * 30_000,
        ISSUE.replace("an ostomate", "<!-- x -->"),
        ISSUE.replace("an ostomate", "a\u202eb"),
        ISSUE.replace("ability", "../../ability"),
        ISSUE.replace("ability", "_No response_"),
        ISSUE.replace("an ostomate", "_No response_"),
        ISSUE.replace("on its own", "before the noun"),
        ISSUE.replace("Unspecific", "Nothing"),
        ISSUE.replace("Unspecific", "_No response_"),
        ISSUE.replace("It is what we say.", "### Term\n\nsomething else"),
        "### Kind\n\nnoun\n\n### Text\n\n_No response_\n",
    ],
)
def test_form_that_proposes_nothing(terms_copy: Path, invoke: Invoke, tmp_path: Path, issue: str) -> None:
    (tmp_path / "issue.md").write_text(issue, "utf-8")
    before = {p: p.read_bytes() for p in terms_copy.rglob("*") if p.is_file()}
    code, _, err = invoke("from-issue", tmp_path / "issue.md", "--source", terms_copy)
    assert code == 2
    assert "--yes" not in err  # the user did not give this option
    assert err.isprintable() or "\n" in err
    assert "\u202e" not in err
    assert {p: p.read_bytes() for p in terms_copy.rglob("*") if p.is_file()} == before


@given(st.text(max_size=200))
def test_any_text_is_a_filled_form_or_an_error(text: str) -> None:
    try:
        answers = read_issue(text)
    except SourceError:
        return
    assert answers


# sync


def test_generated_files_are_up_to_date(root: Path, invoke: Invoke) -> None:
    assert invoke("sync", "--check") == (0, "", "")
    assert {path.stem for path in (root / "docs" / "rules").iterdir()} == {"README", *RULES}


def test_nobody_is_asked_to_review_made_up_words(root: Path) -> None:
    owned = [line.split()[0] for line in (root / ".github" / "CODEOWNERS").read_text("utf-8").splitlines()]
    assert "/descriptors/ability.yaml" in owned
    assert "/descriptors/nonce.yaml" not in owned


def test_forms_list_the_axes(catalog: Catalog) -> None:
    for name, text in issue_forms(catalog).items():
        form = yaml.safe_load(text)
        ids = [field["id"] for field in form["body"]]
        assert len(ids) == len(set(ids)), name
        for field in form["body"]:
            if field["id"] == "axis":
                assert field["attributes"]["options"] == [a.axis for a in catalog.axes if a.axis != "nonce"]


def test_a_new_issue_offers_private_reports_questions_and_a_blank_issue() -> None:
    chooser = yaml.safe_load(issue_chooser())
    assert chooser["blank_issues_enabled"] is True
    for link in chooser["contact_links"]:
        assert set(link) == {"name", "url", "about"}
    assert [link["url"].removeprefix(REPOSITORY) for link in chooser["contact_links"]] == [
        "/security/advisories/new",
        "/blob/main/docs/reviewing.md",
        "/discussions",
    ]


def test_stale_page_is_found(root: Path, terms_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("docs/rules", ".github", "tests/data"):
        shutil.copytree(root / name, terms_copy / name)
    (terms_copy / "docs" / "rules" / "slot.md").unlink()
    (terms_copy / ".github" / "CODEOWNERS").write_text("* @octocat\n", "utf-8")
    monkeypatch.chdir(terms_copy)
    assert main(["sync", "--check"]) == 1
    assert main(["sync"]) == 0
    assert main(["sync", "--check"]) == 0
