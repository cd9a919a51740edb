"""Adding entries, by questions and by options: after either, a valid entry or nothing."""

from pathlib import Path

import pytest
import yaml

from folders import ROOT, contents, is_clean
from holisticbias.contribute.entry_text import Field
from holisticbias.errors import SourceError
from holisticbias.questions.questions import Questions
from holisticbias.questions.specifications import (
    pronoun_gender,
    read_attributes,
    read_group,
    read_opposite,
    read_slot,
    read_template,
)
from holisticbias.questions.texts import ask_text
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


def test_a_term_with_options(terms_copy: Path, invoke: Invoke) -> None:
    given = ("--text", "with a tracheostomy", "--axis", "ability", "--yes")
    said = invoke.printed("add", *given, "--source", terms_copy)
    assert "a person with a tracheostomy / people with tracheostomies" in said
    assert is_clean(terms_copy)
    assert entry_of(terms_copy, "ability.with-a-tracheostomy").model_dump(exclude_defaults=True) == {
        "id": "ability.with-a-tracheostomy",
        "text": "with a tracheostomy",
        "bucket": "after_the_noun",
        "position": "after",
        "plural": "with tracheostomies",
        "sources": ("contributors",),
        "since": "next",
    }


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


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted; no partial output remains"),
        (EOFError(), 2, "--text is needed: standard input ended before an answer."),
        (UnicodeDecodeError("utf-8", b"\xe9", 0, 1, ""), 2, "--text is needed: standard input is not UTF-8."),
    ],
)
def test_a_question_without_an_answer(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    def fail(_: str) -> str:
        raise error

    monkeypatch.setattr("click.termui.visible_prompt_func", fail)
    ended, shown, errors = invoke("add")
    assert (ended, shown, said in errors) == (code, "\n", True), errors


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


def test_the_first_question_does_not_wait_for_the_data(terms_copy: Path, invoke: Invoke) -> None:
    (terms_copy / "descriptors" / "age.yaml").write_text("axis: [", "utf-8")
    code, said = invoke.answered(["kind"], "add", "--source", terms_copy)
    assert (code, said.startswith("The term, as written in a sentence: ")) == (2, True)
    assert "the terms are not valid" in said


def test_answers_after_a_changed_one_are_not_proposed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = Questions({}, yes=False)
    proposed = prompted(monkeypatch, ["ability", "kind", "", "ability", "kin", ""])
    for _ in range(2):
        ask.choice("axis", "Which axis?", ["ability", "age"])
        text = ask.text("text", "The term")
        ask.text("id", "Its id", f"ability.{text}")
    assert proposed == [None, None, "ability.kind", "ability", "kind", "ability.kin"]


def test_a_refused_text_is_proposed_again_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    proposed = prompted(monkeypatch, ["stupid!!!", "the deaf", "a hourly worker", ""])
    assert ask_text(Questions({}, yes=False), "The term") == ("hourly worker", "an")
    assert proposed == [None, "stupid", None, "an hourly worker"]


def prompted(monkeypatch: pytest.MonkeyPatch, answers: list[str]) -> list[str | None]:
    """Collect the proposal of each question that gets these answers; an empty one takes the proposal."""
    proposed: list[str | None] = []
    left = iter(answers)

    def prompt(question: str, default: str | None = None, **kwargs: object) -> str:
        proposed.append(default)
        return next(left) or str(default)

    monkeypatch.setattr("click.prompt", prompt)
    return proposed


# lines of a specification


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
        ("stad / - / wug / null", {"form": "noun", "terms": ["stad", None, "wug", None]}),
    ],
)
def test_slot_of_a_line(line: str, slot: dict[str, object]) -> None:
    assert read_slot(line, line.count("/") + 1, {"age.old", "age.young"}) == slot


def test_attributes_groups_and_opposites_of_lines() -> None:
    made = read_attributes(" Small things : pebble,  grain of sand, ")
    assert made == {"name": "small_things", "label": "Small things", "terms": ["pebble", "grain of sand"]}
    for line in ("", ":", "Small", "Small:", ": pebble", "Small: , ,"):
        with pytest.raises(SourceError, match="write a name, a colon and the words"):
            read_attributes(line)
    sets = [read_attributes("Slow things (negative): snail, mud"), read_attributes("Quick things (positive): hare")]
    assert [(made["name"], made["label"], made["valence"]) for made in sets] == [
        ("slow_things", "Slow things", "negative"),
        ("quick_things", "Quick things", "positive"),
    ]
    stads = {"name": "stads", "label": "Stads"}
    assert read_group("Stads", sets) == stads
    assert read_group("Stads: QUICK things", sets) == stads | {"stereotype": "quick_things"}
    held_out = stads | {"held_out": True}
    assert read_group("Stads: slow things (held out)", sets) == held_out | {"stereotype": "slow_things"}
    assert read_group("Stads (held out)", sets) == held_out
    with pytest.raises(SourceError, match="write one of: Slow things, Quick things"):
        read_group("Stads: larger things", sets)
    assert read_opposite("snail / hare", sets) == ["snail", "hare"]
    for line in ("hare / snail", "snail", "snail / hare / mud", "snail / bird"):
        with pytest.raises(SourceError, match="write a negative attribute"):
            read_opposite(line, sets)


def test_templates_and_pronouns_of_slots() -> None:
    slots: list[dict[str, Field]] = [{"form": "noun", "terms": ["stad", "blicket", None]}]
    assert read_template("The [T:noun] likes [A].", slots) == "The [T:noun] likes [A]."
    with pytest.raises(SourceError, match=r"one of \[T:noun\], once .* are: \[T:subject\] and \[A\]"):
        read_template("[T:subject] likes [A].", slots)
    slots += [{"terms": ["His", "their", "hers"]}, {"descriptors": ["age.old"]}]
    assert [pronoun_gender(slots, position) for position in range(3)] == ["male", None, "female"]
