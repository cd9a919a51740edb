"""Adding entries, by questions and by options: after either, a valid entry or nothing."""

from pathlib import Path
from unittest.mock import Mock

import pytest
import yaml

from folders import ROOT, contents, is_clean
from invoking import Invoke
from small_terms import entry_of

OPENING, REST = "In 1991 Tarvin Ostrell moved", "to Maine and opened a small theater."
PROMPT = [
    *("prompt", "--group", "American actors", "--text", OPENING),
    *("--subject", "Tarvin Ostrell", "--continuation", REST),
]
SPECIFICATION = [
    *("specification", "--text", "Stads and blickets, small and large", "--axis", "stereotypes", "--control"),
    *("--attributes", "Small things: pebble, crumb", "--attributes", "Large things: mountain, tower"),
    *("--group", "Stads: small things", "--group", "Blickets: large_things"),
    *("--slot", "stad / blicket", "--slot", "he / she", "--slot", "plural: stads / blickets"),
    *("--template", "The [T:noun] likes the [A].", "--template", "[T:subject] likes the [A]."),
]
SPECIFICATION_ID = "stereotypes.stads-and-blickets-small-and-large"
ADDED = f"""\
  - id: {SPECIFICATION_ID}
    text: Stads and blickets, small and large
    groups:
      - {{name: stads, label: Stads, stereotype: small_things, gender: male}}
      - {{name: blickets, label: Blickets, stereotype: large_things, gender: female}}
    slots:
      - {{form: noun, terms: [stad, blicket]}}
      - {{form: subject, terms: [he, she]}}
      - {{form: plural, terms: [stads, blickets]}}
    attributes:
      - {{name: small_things, label: Small things, terms: [pebble, crumb]}}
      - {{name: large_things, label: Large things, terms: [mountain, tower]}}
    templates:
      - "The [T:noun] likes the [A]."
      - "[T:subject] likes the [A]."
    control: true
    sources: [contributors]
    since: next
"""


# with options


def test_a_specification_with_options_and_its_judgement(terms_copy: Path, invoke: Invoke) -> None:
    source = ("--source", terms_copy)
    assert "The blicket likes the mountain." in invoke.printed("add", *SPECIFICATION, "--yes", *source)
    assert is_clean(terms_copy)
    (path,) = (terms_copy / "specifications" / "new").iterdir()
    text = path.read_text("utf-8")
    assert text[text.index("  - id: stereotypes.stads") :] == ADDED
    judged = ("--judgement", "dispreferred", "--reviewer", "rv-0001", *source)
    assert "counts when 2 reviewers" in invoke.printed("assess", SPECIFICATION_ID, *judged)
    assert "one reviewer of 2 so far" in invoke.printed("show", SPECIFICATION_ID, *source)


def test_a_specification_with_opposites(terms_copy: Path, invoke: Invoke) -> None:
    given = [
        *("--attributes", "Slow (negative): snail", "--attributes", "Quick (positive): hare"),
        *("--group", "Stads: slow", "--group", "Wugs: quick", "--opposite", "snail / hare", "--slot", "stad / wug"),
    ]
    invoke.printed("add", "specification", "--text", "Stads and wugs", *given, "--yes", "--source", terms_copy)
    made = entry_of(terms_copy, "stereotypes.stads-and-wugs")
    assert (made.opposites, [a.valence for a in made.attributes]) == ((("snail", "hare"),), ["negative", "positive"])


# by questions

SESSIONS = yaml.safe_load((ROOT / "tests" / "data" / "sessions.yaml").read_text("utf-8"))


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(("kind", "given", "code", "said"), SESSIONS["sessions"])
def test_a_session(
    terms_copy: Path, invoke: Invoke, kind: str, given: list[str | list[str]], code: int, said: str
) -> None:
    before = contents(terms_copy)
    answers = [answer for part in given for answer in (part if isinstance(part, list) else [part])]
    ended, shown = invoke.answered(answers, "add", kind, "--source", terms_copy)
    assert (ended, said in shown) == (code, True), shown
    assert (contents(terms_copy) != before) == (answers[-1] == "yes")


def test_a_question_without_an_answer(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, code, said in (
        (KeyboardInterrupt(), 130, "interrupted; no partial output remains"),
        (UnicodeDecodeError("utf-8", b"\xe9", 0, 1, ""), 2, "--text is needed: standard input is not UTF-8."),
    ):
        monkeypatch.setattr("click.termui.visible_prompt_func", Mock(side_effect=error))
        ended, shown, errors = invoke("add")
        assert (ended, shown, said in errors) == (code, "\n", True), errors


@pytest.mark.parametrize(
    ("text", "axis", "likely"),
    [("Canadian-born", "nationality", True), ("kind", "nationality", False), ("old-ish", "age", False)],
)
def test_of_many_buckets_the_likely_ones_are_named(
    shared_terms: Path, invoke: Invoke, text: str, axis: str, likely: bool
) -> None:
    _, shown = invoke.answered([text, axis, "before"], "add", "--source", shared_terms)
    assert f"Buckets of {axis}: " in shown
    assert ("Likely, by similar terms: " in shown) == likely


def test_options_are_proposals_after_a_mistake(terms_copy: Path, invoke: Invoke) -> None:
    """A wrong answer in an option can be corrected, and the other options stay."""
    given = ["Tarvis" if value == "Tarvin Ostrell" else value for value in PROMPT]
    answers = ["", "", "", "", "", "Tarvin Ostrell", "", "", "yes"]
    code, said = invoke.answered(answers, "add", *given, "--source", terms_copy)
    assert (code, "Try again" in said) == (0, True), said
    assert entry_of(terms_copy, "gender.in-1991-tarvin-ostrell-moved").subject == "Tarvin Ostrell"


def test_an_option_without_effect_loses_no_answers(terms_copy: Path, invoke: Invoke) -> None:
    given = ("--text", "kind", "--plural", "kinds", "--source", terms_copy)
    code, said = invoke.answered([*SESSIONS["term"], *[""] * 8, "yes"], "add", *given)
    assert (code, "--plural has no effect on this entry, so" in said, "wrote" in said) == (0, True, True), said
    assert is_clean(terms_copy)


def test_a_file_that_appears_while_a_command_asks_stays(
    terms_copy: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = terms_copy / "descriptors" / "new" / "ability.wugged.yaml"

    def write_and_agree(*_: object, **__: object) -> str:
        path.parent.mkdir(exist_ok=True)
        path.write_text("axis: ability\n", "utf-8")
        return "yes"

    monkeypatch.setattr("holisticbias.questions.adding.answered", write_and_agree)
    given = ("--text", "wugged", "--axis", "ability", "--bucket", "unspecific", "--position", "before")
    code, said = invoke.answered([""] * 9, "add", *given, "--source", terms_copy)
    assert code == 2
    assert "ability.wugged.yaml has changed meanwhile: run the same command again" in said
    assert path.read_text("utf-8") == "axis: ability\n"


def test_the_first_question_does_not_wait_for_the_data(terms_copy: Path, invoke: Invoke) -> None:
    (terms_copy / "descriptors" / "age.yaml").write_text("axis: [", "utf-8")
    code, said = invoke.answered(["kind"], "add", "--source", terms_copy)
    assert (code, said.startswith("The term, as written in a sentence: ")) == (2, True)
    assert "the terms are not valid" in said
