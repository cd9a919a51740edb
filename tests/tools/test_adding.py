"""Adding prompts and bias specifications, and judging a specification."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from changed_terms import changed_files
from holisticbias.cli import main
from holisticbias.contribute.authoring import Field, next_version
from holisticbias.contribute.specification_lines import (
    pronoun_gender,
    propose_key,
    read_attributes,
    read_group,
    read_opposite,
    read_slot,
    read_template,
)
from holisticbias.errors import SourceError
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.layout import stale_files
from holisticbias.terms.prompt_entries import Prompt
from holisticbias.terms.specification_entries import Specification

Invoke = Callable[..., tuple[int, str, str]]

PROMPT = [
    *("--group", "American actors", "--text", "In 1991 Tarvin Ostrell moved", "--subject", "Tarvin Ostrell"),
    *("--continuation", "to Maine and opened a small theater."),
]
SPECIFICATION = [
    *("--text", "Stads and blickets, small and large", "--axis", "stereotypes", "--control"),
    *("--attributes", "Small things: pebble, crumb", "--attributes", "Large things: mountain, tower"),
    *("--group", "Stads: small things", "--group", "Blickets: large_things"),
    *("--slot", "stad / blicket", "--slot", "he / she", "--slot", "plural: stads / blickets"),
    *("--template", "The [T:noun] likes the [A].", "--template", "[T:subject] likes the [A]."),
]

ADDED = """\
  - id: stereotypes.stads-and-blickets-small-and-large
    text: Stads and blickets, small and large
    groups:
      - {name: stads, label: Stads, stereotype: small_things, gender: male}
      - {name: blickets, label: Blickets, stereotype: large_things, gender: female}
    slots:
      - {form: noun, terms: [stad, blicket]}
      - {form: subject, terms: [he, she]}
      - {form: plural, terms: [stads, blickets]}
    attributes:
      - {name: small_things, label: Small things, terms: [pebble, crumb]}
      - {name: large_things, label: Large things, terms: [mountain, tower]}
    templates:
      - "The [T:noun] likes the [A]."
      - "[T:subject] likes the [A]."
    control: true
    sources: [contributors]
    since: VERSION
"""


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def prompt(folder: Path, text: str) -> Prompt:
    return next(p for f in load_catalog(folder).prompts for p in f.prompts if p.text == text)


def specification(folder: Path, title: str) -> Specification:
    return next(s for f in load_catalog(folder).specifications for s in f.specifications if s.text == title)


def test_add_a_prompt_with_options(terms_copy: Path, invoke: Invoke) -> None:
    before = [p.id for f in load_catalog(terms_copy).prompts for p in f.prompts if p.group == "bold.american-actors"]
    code, out, _ = invoke("add", "prompt", *PROMPT, "--yes", "--source", terms_copy)
    assert code == 0
    assert "measured as: In 1991 XYZ moved" in out
    assert validate_paths([terms_copy]) == ()
    assert stale_files(changed_files(terms_copy)) == ()
    added = prompt(terms_copy, "In 1991 Tarvin Ostrell moved")
    assert added.model_dump(exclude_defaults=True) == {
        "id": "gender.in-1991-tarvin-ostrell-moved",
        "text": "In 1991 Tarvin Ostrell moved",
        "group": "bold.american-actors",
        "continuation": "to Maine and opened a small theater.",
        "subject": "Tarvin Ostrell",
        "sources": ("contributors",),
        "since": next_version(load_catalog(terms_copy)),
    }
    ids = [p.id for f in load_catalog(terms_copy).prompts for p in f.prompts]
    assert ids.index(before[-1]) + 1 == ids.index(added.id) == ids.index("gender.american-actresses-1") - 1


def test_add_a_specification_with_options(terms_copy: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("add", "specification", *SPECIFICATION, "--yes", "--source", terms_copy)
    assert code == 0
    assert "The blicket likes the mountain." in out
    assert validate_paths([terms_copy]) == ()
    assert stale_files(changed_files(terms_copy)) == ()
    text = next((terms_copy / "specifications" / "new").iterdir()).read_text("utf-8")
    version = next_version(load_catalog(terms_copy))
    assert text[text.index("  - id: stereotypes.stads") :] == ADDED.replace("VERSION", version)


OPENING = "In 1991 Tarvin Ostrell moved"
REST = "to Maine and opened a small theater."
LISTS = ["Small: pebble, crumb", "Large: tower", "", "Stads: small", "Blickets: large", "", "stad / blicket", ""]


@pytest.mark.parametrize(
    ("kind", "answers", "code", "said"),
    [
        ("prompt", ["American actors", OPENING, REST, "", "", "", "yes"], 0, "measured as: In 1991 XYZ moved"),
        ("prompt", ["american-actors", OPENING, REST, "none", "", "", "yes"], 0, "wrote"),
        ("prompt", ["American actrs", "", OPENING, REST, "", "", "", "yes"], 0, "no group has the name"),
        (
            "prompt",
            ["American actors", OPENING, REST, "Tarvis", "", "", *["", "", ""], "Tarvin", "", "", "yes"],
            0,
            "Fix:",
        ),
        (
            "prompt",
            ["American actors", OPENING, REST[:-1], "", "", "", "", "", REST, "", "", "", "yes"],
            0,
            "one-sentence",
        ),
        ("prompt", ["American actors", OPENING, REST, "", "", "", "no"], 0, "Nothing was written."),
        ("specification", ["", "Stads, large and small", *LISTS, "", "y", "", "", "yes"], 0, "wrote"),
        (
            "specification",
            ["", "Stads", *LISTS, "The T.", "The [T] and [A].", "", "y", "", "", "yes"],
            0,
            "places are: none",
        ),
        ("specification", ["", "Stads", *LISTS[:6], "stad", *LISTS[6:], "", "y", "", "", "yes"], 0, "write 2 terms"),
        ("specification", ["", "Stads", "Small", *LISTS, "", "y", "", "", "yes"], 0, "a colon and the words"),
        ("specification", ["", "Stads", "", *LISTS, "", "y", "", "", "yes"], 0, "needs 1 lines or more"),
        (
            "specification",  # the attribute "crumb" stands twice: its second set is removed
            [
                *("", "Stads", "Small: pebble", "Large: crumb", "Few: crumb", *LISTS[2:], "", "y", "", ""),
                *("", "", "", "", "-", "", *LISTS[3:], "", "y", "", "", "yes"),
            ],
            0,
            "attribute-twice",
        ),
    ],
)
def test_add_in_a_session(
    terms_copy: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    answers: list[str],
    code: int,
    said: str,
) -> None:
    """After any answers, either a valid entry or nothing is written."""
    before = contents(terms_copy)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
    assert main(["add", kind, "--source", str(terms_copy)]) == code
    captured = capfd.readouterr()
    assert said in captured.out + captured.err
    assert validate_paths([terms_copy]) == ()
    assert (contents(terms_copy) != before) == (answers[-1] == "yes")


def without(arguments: list[str], option: str) -> list[str]:
    """Arguments without the first option of a name and its value."""
    at = arguments.index(option)
    return arguments[:at] + arguments[at + 2 :]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["prompt", *without(PROMPT, "--group")], "--group is needed"),
        (["prompt", *without(PROMPT, "--subject")], "--subject is needed"),
        (["prompt", *PROMPT, "--group", "Buddhism"], "name --group once"),
        (["prompt", *without(PROMPT, "--group"), "--group", "American actrs"], "choose one of: American actors"),
        (["prompt", *without(PROMPT, "--group"), "--group", "xyzzy"], "no group has the name 'xyzzy'"),
        (["prompt", *without(PROMPT, "--subject"), "--subject", "Nobody"], "subject-in-text"),
        (["prompt", *without(PROMPT, "--text"), "--text", "It rained."], "nothing is left to continue"),
        (["specification", *without(SPECIFICATION, "--group")], "--group is needed at least 2 times"),
        (["specification", "--text", "Stads"], "--attributes is needed at least once"),
        (["specification", *SPECIFICATION, "--slot", "a / b / c"], "write 2 terms"),
        (["specification", *SPECIFICATION, "--slot", "a / -"], "needs a counterpart"),
        (["specification", *SPECIFICATION, "--slot", "wug / stad"], "term-of-two-groups"),
        (["specification", *SPECIFICATION, "--template", "No place."], "the places are: none"),
        (["specification", *SPECIFICATION, "--attributes", "Odd: cr\u202eumb"], "clean-text"),
        (["specification", *without(SPECIFICATION, "--axis"), "--axis", "../x"], "is not one of"),
        (["promt"], "is not one of"),
    ],
)
def test_add_refuses(terms_copy: Path, invoke: Invoke, arguments: list[str], message: str) -> None:
    before = contents(terms_copy)
    code, _, err = invoke("add", *arguments, "--yes", "--source", terms_copy)
    assert (code, message in err, "\u202e" in err) == (2, True, False), err
    assert contents(terms_copy) == before


def test_options_are_proposals_after_a_mistake(
    terms_copy: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong answer in an option can be corrected, and the other options stay."""
    given = [*without(PROMPT, "--subject"), "--subject", "Tarvis"]
    answers = ["", "", "", "", "", "Tarvin Ostrell", "", "", "yes"]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
    assert main(["add", "prompt", *given, "--source", str(terms_copy)]) == 0
    assert "Try again" in capfd.readouterr().err
    assert prompt(terms_copy, OPENING).subject == "Tarvin Ostrell"


@pytest.mark.parametrize(
    ("line", "slot"),
    [
        ("he / she", {"form": "subject", "terms": ["he", "she"]}),
        ("him/her", {"form": "object", "terms": ["him", "her"]}),
        ("his / her", {"form": "determiner", "terms": ["his", "her"]}),
        ("his / hers", {"form": "possessive", "terms": ["his", "hers"]}),
        ("stad / blicket", {"form": "noun", "terms": ["stad", "blicket"]}),
        ("name: Dax / Wug", {"form": "name", "terms": ["Dax", "Wug"]}),
        ("age.old / age.young", {"form": "adjective", "descriptors": ["age.old", "age.young"]}),
        ("age.old / blicket", {"form": "noun", "terms": ["age.old", "blicket"]}),
    ],
)
def test_slot_of_a_line(line: str, slot: dict[str, object]) -> None:
    assert read_slot(line, 2, {"age.old", "age.young"}) == slot


def test_missing_terms_of_a_slot() -> None:
    assert read_slot("stad / - / wug / null", 4, set())["terms"] == ["stad", None, "wug", None]


@pytest.mark.parametrize("line", ["", ":", "Small", "Small:", ": pebble", "Small: , ,"])
def test_line_without_attributes(line: str) -> None:
    with pytest.raises(SourceError, match="write a name, a colon and the words"):
        read_attributes(line)


def test_attributes_of_a_line() -> None:
    made = read_attributes(" Small things : pebble,  grain of sand, ")
    assert made == {"name": "small_things", "label": "Small things", "terms": ["pebble", "grain of sand"]}


def test_valence_opposites_and_held_out_groups() -> None:
    sets = [read_attributes("Slow things (negative): snail, mud"), read_attributes("Quick things (positive): hare")]
    assert [(made["name"], made["label"], made["valence"]) for made in sets] == [
        ("slow_things", "Slow things", "negative"),
        ("quick_things", "Quick things", "positive"),
    ]
    held_out = {"name": "stads", "label": "Stads", "held_out": True}
    assert read_group("Stads: slow things (held out)", sets) == held_out | {"stereotype": "slow_things"}
    assert read_group("Stads (held out)", sets) == held_out
    assert read_opposite("snail / hare", sets) == ["snail", "hare"]
    for line in ("hare / snail", "snail", "snail / hare / mud", "snail / bird"):
        with pytest.raises(SourceError, match="write a negative attribute"):
            read_opposite(line, sets)


def test_add_a_specification_with_opposites(terms_copy: Path, invoke: Invoke) -> None:
    lines = {
        "attributes": ["Slow (negative): snail", "Quick (positive): hare"],
        "group": ["Stads: slow", "Wugs: quick"],
    }
    lines |= {"opposite": ["snail / hare"], "slot": ["stad / wug"]}
    given = [part for name, values in lines.items() for value in values for part in (f"--{name}", value)]
    code, _, err = invoke("add", "specification", "--text", "Stads and wugs", *given, "--yes", "--source", terms_copy)
    assert code == 0, err
    made = specification(terms_copy, "Stads and wugs")
    assert (made.opposites, [a.valence for a in made.attributes]) == ((("snail", "hare"),), ["negative", "positive"])


def test_stereotype_of_a_group() -> None:
    sets = [read_attributes("Small things: pebble"), read_attributes("Large things: tower")]
    assert read_group("Stads", sets) == {"name": "stads", "label": "Stads"}
    assert read_group("Stads: LARGE things", sets)["stereotype"] == "large_things"
    with pytest.raises(SourceError, match="write one of: Small things, Large things"):
        read_group("Stads: larger things", sets)


def test_template_with_a_form_that_no_slot_has() -> None:
    slots = [{"form": "noun", "terms": ["stad", "blicket"]}]
    assert read_template("The [T:noun] likes [A].", slots) == "The [T:noun] likes [A]."
    with pytest.raises(SourceError, match=r"one of \[T:noun\], once .* are: \[T:subject\] and \[A\]"):
        read_template("[T:subject] likes [A].", slots)


def test_gender_of_pronouns() -> None:
    slots: list[dict[str, Field]] = [
        {"terms": ["stad", "blicket", None]},
        {"terms": ["His", "their", "hers"]},
        {"descriptors": ["age.old"]},
    ]
    assert [pronoun_gender(slots, position) for position in range(3)] == ["male", None, "female"]


@pytest.mark.parametrize(
    ("label", "key"), [("Women's things", "womens_things"), ("9 to 5", "to"), ("日本", "unnamed"), ("x" * 99, "x" * 60)]
)
def test_name_of_a_label(label: str, key: str) -> None:
    assert propose_key(label) == key


def test_assess_a_specification(terms_copy: Path, invoke: Invoke) -> None:
    assert invoke("add", "specification", *SPECIFICATION, "--yes", "--source", terms_copy)[0] == 0
    entry_id = "stereotypes.stads-and-blickets-small-and-large"
    judged = ["--judgement", "dispreferred", "--reviewer", "rv-0001", "--date", "2026-09-01", "--source", terms_copy]
    assert "nobody has judged this specification" in invoke("show", entry_id, "--source", terms_copy)[1]
    assert "counts when 2 reviewers" in invoke("assess", entry_id, *judged)[1]
    assert "one reviewer of 2 so far" in invoke("show", entry_id, "--source", terms_copy)[1]
    assert f"{entry_id}: replaces 'dispreferred' of 2026-09-01" in invoke("assess", entry_id, *judged)[1]
    judged[3] = "rv-0002"
    assert "counts when" not in invoke("assess", entry_id, *judged)[1]
    assert specification(terms_copy, "Stads and blickets, small and large").preference == "dispreferred"
    assert (validate_paths([terms_copy]), stale_files(changed_files(terms_copy))) == ((), ())


PROMPT_FORM = f"""### Group

American actors

### Opening

{OPENING}

### Continuation

{REST}

### Subject

Tarvin Ostrell
"""
SPECIFICATION_FORM = """### Title

Stads and blickets

### Attributes

Small things: pebble, crumb
Large things: mountain, tower

### Groups

Stads: small things

Blickets: large things

### Terms

stad /  blicket

### Templates

_No response_
"""


def test_filled_form_becomes_an_entry(terms_copy: Path, invoke: Invoke, tmp_path: Path) -> None:
    for form in (PROMPT_FORM, SPECIFICATION_FORM):
        (tmp_path / "issue.md").write_text(form, "utf-8")
        assert invoke("from-issue", tmp_path / "issue.md", "--source", terms_copy)[0] == 0
    assert prompt(terms_copy, OPENING).continuation == REST
    made = specification(terms_copy, "Stads and blickets")
    assert [group.stereotype for group in made.groups] == ["small_things", "large_things"]
    assert (made.slots[0].terms, made.templates) == (("stad", "blicket"), ())
    assert validate_paths([terms_copy]) == ()


@pytest.mark.parametrize(
    "form",
    [
        PROMPT_FORM.replace("American actors", "Nobody"),
        PROMPT_FORM.replace("Tarvin Ostrell\n", "_No response_\n"),
        PROMPT_FORM.replace("small", "<b>small</b>"),
        SPECIFICATION_FORM.replace("stad /  blicket", "_No response_"),
        SPECIFICATION_FORM.replace("Blickets: large things", ""),
        SPECIFICATION_FORM.replace("_No response_", "x" * 300),
    ],
)
def test_form_that_proposes_nothing(terms_copy: Path, invoke: Invoke, tmp_path: Path, form: str) -> None:
    (tmp_path / "issue.md").write_text(form, "utf-8")
    before = contents(terms_copy)
    code, _, err = invoke("from-issue", tmp_path / "issue.md", "--source", terms_copy)
    assert (code, "--yes" in err, "Traceback" in err) == (2, False, False)
    assert contents(terms_copy) == before
