"""Proposing a term or a noun: its wording, its bucket, entries that are the same, the criteria."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias.cli import main
from holisticbias.commands.questions import Questions
from holisticbias.commands.texts import as_written, ask_text
from holisticbias.contribute.proposals import (
    CRITERIA,
    find_bucket,
    find_place,
    likely_buckets,
    objections,
    only_bucket,
    same_entries,
    same_phrase,
)
from holisticbias.errors import SourceError
from holisticbias.rules.characters import foreign_letter, typed_instead
from holisticbias.rules.dictionary import misspelled, other_language
from holisticbias.rules.language import wrong_position
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.rules.wording import article_by_sound, begins_clause, capital_in, corrected, mark_in
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Position

Invoke = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("text", "mark", "clause", "capital", "better"),
    [
        ("with asthma", None, None, None, "with asthma"),
        ("stupid!!!", "!", None, None, "stupid"),
        ("with endometriosis.", ".", None, None, "with endometriosis"),
        ("with a Ph.D.", None, None, None, "with a Ph.D."),
        ("St. Lucian", None, None, None, "St. Lucian"),
        ("deaf. I sign", ".", None, None, "deaf. I sign"),
        ("I have endometriosis", None, "I", None, "with endometriosis"),
        ("I'm deaf", None, "I'm", None, "deaf"),
        ("She is a nurse.", ".", "She", None, "nurse"),
        ("has autism", None, "has", None, "with autism"),
        ("Is deaf", None, "Is", None, "deaf"),
        ("people are strange", None, "are", None, "people are strange"),
        ("who is deaf", None, None, None, "who is deaf"),
        ("IT worker", None, None, None, "IT worker"),
        ("DO student", None, None, None, "DO student"),
        ("she/her", None, None, None, "she/her"),
        ("With Endometriosis", None, None, "With", "with Endometriosis"),
        ("person Of color", None, None, "Of", "person of color"),
        ("Deaf", None, None, None, "Deaf"),
    ],
)
def test_wording(text: str, mark: str | None, clause: str | None, capital: str | None, better: str) -> None:
    assert (mark_in(text), begins_clause(text), capital_in(text), corrected(text)) == (mark, clause, capital, better)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("endometriosis", []),
        ("asdfgh qwerty", ["The dictionary does not have 'asdfgh'"]),
        ("Endometriosis", ["The dictionary has 'endometriosis', not 'Endometriosis'"]),
        ("canadian-born", ["The dictionary has 'Canadian', not 'canadian'"]),
        ("nurse's", []),
        ("LGBTQIA", []),
        ("Québécois", []),
        ("blicket", []),
        ("Blicket", ["The dictionary has 'blicket', not 'Blicket'"]),
    ],
)
def test_words_that_the_dictionary_lacks(text: str, messages: list[str]) -> None:
    assert list(misspelled(text, frozenset({"blicket"}))) == messages


@pytest.mark.parametrize(
    ("text", "article"),
    [
        *(("hourly worker", "an"), ("nurse", "a"), ("elder", "an"), ("heir", "an"), ("hoarder", "a")),
        ("80-year-old", "an"),
        *(("one-percenter", "a"), ("European", "a"), ("young", "a"), ("unhoused", "an"), ("M\u00e9tis", "a")),
        *(("outspoken", "an"), ("university student", "a"), ("upper-class", "an"), ("ultra", "an"), ("Tsonga", "a")),
        *(("Uyghur", None), ("NIMBY", None), ("herbalist", None), ("unilaterally deaf", None), ("unisex", None)),
        *(("ftm", None), ("lgbtq", None), ("x-ray", None), ("Ulysses", None), ("honoured", None), ("1800s", None)),
        *(("\u00c9lite", None), ("urban", None), ("used", None), ("euler", None), ("oaxacan", None), ("hp", None)),
    ],
)  # fmt: skip
def test_article_that_the_sound_leaves_no_doubt_about(text: str, article: str | None) -> None:
    assert article_by_sound(text) == article


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("persona con discapacidad", True),
        ("Menschen mit Behinderung", True),
        ("sans domicile fixe", True),
        ("Ich bin .", True),
        ("personnes handicap\u00e9es", True),
        ("with a stoma", False),
        ("con artist", False),
        ("de facto stateless", False),
        ("Qu\u00e9b\u00e9cois", False),
        ("LGBTQIA asdfgh", False),
        ("who has asdfgh", False),
        ("I have a friend who is .", False),
    ],
)
def test_text_in_another_language(text: str, other: bool) -> None:
    assert other_language(text) == other


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("Parkinson\u2019s", "write an apostrophe (') in its place"),
        ("hard\u2013of\u2013hearing", "write a hyphen (-) in its place"),
        ("hard\u00a0of hearing", "write a plain space in its place"),
        ("wait\u2026", "write three full stops (...) in its place"),
        ("<b>", None),
    ],
)
def test_typographic_characters_have_a_plain_one(terms_copy: Path, text: str, fix: str | None) -> None:
    assert typed_instead(text) == fix
    path = terms_copy / "descriptors" / "nonce.yaml"
    path.write_text(path.read_text("utf-8").replace("text: stad\n", f'text: "{text}"\n'), "utf-8")
    found = [f.fix for f in validate_paths([terms_copy]) if f.rule == "clean-text"]
    assert found == [f"{fix or 'write the text without this character'}."]


@pytest.mark.parametrize(
    ("text", "position", "wrong"),
    [
        ("With asthma", "before", True),
        ("born in Peru", "before", True),
        ("with asthma", "standalone", True),
        ("living donor", "standalone", False),
        ("born-again", "before", False),
        ("with asthma", "after", False),
    ],
)
def test_position_that_contradicts_the_wording(text: str, position: Position, wrong: bool) -> None:
    assert (wrong_position(text, position) is not None) == wrong


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("québécois", None), ("Māori", None), ("Hōkūle\u02bba", None), ("Fɔn", None), ("Diyarbak\u0131r", None)),
        ("k\u0251nd", "U+0251, LATIN SMALL LETTER ALPHA"),
        ("kin\u0501", "U+0501, CYRILLIC SMALL LETTER KOMI DE"),
        ("o\ufb03cer", "U+FB03, LATIN SMALL LIGATURE FFI"),
        ("\u1d05eaf", "U+1D05, LATIN LETTER SMALL CAPITAL D"),
    ],
)
def test_letters_of_latin_spellings(text: str, found: str | None) -> None:
    assert foreign_letter(text) == found


def test_text_as_it_is_typed_or_pasted() -> None:
    assert as_written(" Ho\u0304ku\u0304le\u2019a\u00a0 born\u2011again ") == "Hōkūle'a born-again"


def test_buckets(catalog: Catalog) -> None:
    axes = {axis.axis: axis for axis in catalog.axes}
    nations = axes["nationality"]
    assert only_bucket(axes["ability"], "after") == "after_the_noun"
    assert only_bucket(axes["ability"], "before") is None
    assert likely_buckets(nations, "Canadian-American", "before")[0] == "canada"
    assert likely_buckets(nations, "québécois", "before") == ()
    assert likely_buckets(axes["ability"], "colour-blind", "before")[0] == "visual"
    names = {n: find_bucket("nationality", nations.buckets, n) for n in ("canada", "United States", "cana", "zealand")}
    assert list(names.values()) == ["canada", "united_states", "canada", "new_zealand"]
    for name, said in (
        ("ca", "several buckets"),
        ("canda", "near it: canada"),
        ("zz", "has no bucket 'zz'; a new one is first added to descriptors/nationality.yaml$"),
    ):
        with pytest.raises(SourceError, match=said):
            find_bucket("nationality", nations.buckets, name)


def test_a_refused_text_is_proposed_again_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    proposed: list[str | None] = []
    answers = iter(["stupid!!!", "the deaf", "a hourly worker", ""])

    def prompt(question: str, default: str | None = None) -> str:
        proposed.append(default)
        return next(answers) or str(default)

    monkeypatch.setattr("click.prompt", prompt)
    assert ask_text(Questions({}, yes=False), "The term") == ("hourly worker", "an")
    assert proposed == [None, "stupid", None, "an hourly worker"]


@pytest.mark.parametrize("text", ["Deaf", "dea f", "non binary", "PERSON", "with a stoma"])
def test_place_of_an_entry_with_the_same_text(root: Path, catalog: Catalog, text: str) -> None:
    found = same_entries(root, catalog, text)
    assert found
    for existing in found:
        file, line = existing.place.split(":")
        assert f"id: {existing.entry.id}" in (root / file).read_text("utf-8").split("\n")[int(line) - 1]


def test_every_entry_has_a_place(root: Path, catalog: Catalog) -> None:
    ids = [d.id for axis in catalog.axes[:2] for d in axis.descriptors[:5]]
    assert all(re.fullmatch(r"descriptors/\w+\.yaml:\d+", find_place(root, "descriptors", i)) for i in ids)
    assert find_place(root, "descriptors", "ability.nobody") == "descriptors"


def test_phrase_that_a_term_and_a_noun_make(catalog: Catalog) -> None:
    assert same_phrase(catalog, "person with a stoma") == "ability.with-a-stoma with the noun 'person'"
    assert same_phrase(catalog, "deaf Woman") == "ability.deaf with the noun 'woman'"
    assert same_phrase(catalog, "hard-of-hearing kid") == "ability.hard-of-hearing with the noun 'kid'"
    assert same_phrase(catalog, "blind kid") == "ability.blind with the noun 'kid'"
    assert same_phrase(catalog, "wheelchair user") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind", ""),
        ("trannies-only", ""),  # only plurals in s are found
        ("trannys", "'tranny' is a word to avoid according to the GLAAD Media Reference Guide"),
        ("CRIPPLED", "the Disability Language Style Guide"),
        ("homosexual-affirming", "'homosexual' is on record as dispreferred: "),
        ("homo sapiens", "'homo' is a word"),
    ],
)
def test_objections_on_record(catalog: Catalog, text: str, said: str) -> None:
    found = objections(catalog, text)
    assert bool(found) == bool(said)
    assert said in " ".join(found)


def test_criteria_are_those_of_the_guide(root: Path) -> None:
    guide = " ".join((root / "CONTRIBUTING.md").read_text("utf-8").split())
    assert [line for line in CRITERIA if line not in guide] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--text", "québécois", "--axis", "nationality"], "--bucket is needed"),
        (["--text", "québécois", "--axis", "nationality", "--bucket", "ca"], "several buckets have 'ca'"),
        (["--text", "Canadian-American", "--axis", "nationality"], "likely: canada"),
        (["--text", "stupid!!!", "--axis", "ability"], "'!' is a mark of sentences"),
        (["--text", "I have asthma", "--axis", "ability"], "'I' begins a clause"),
        (["--text", "With Endometriosis", "--axis", "ability"], "'With' has a capital"),
        (["--text", "a hourly worker", "--axis", "ability"], "write 'an hourly worker'"),
        (["--text", "the Deaf", "--axis", "ability"], "write the term without 'the'"),
        (["--text", "k\u0251nd", "--axis", "ability"], "U+0251"),
        (["--text", "x" * 201, "--axis", "ability"], "more than 200 characters"),
        (["--text", "with asthma attacks", "--axis", "ability", "--position", "before"], "would come before the noun"),
        (["--text", "blind kid", "--axis", "ability"], "as ability.blind with the noun 'kid'"),
        (["--text", "crippled", "--axis", "age", "--bucket", "old"], "say so with --meets-criteria"),
        (["noun", "--text", "persons!", "--axis", "neutral"], "'!' is a mark of sentences"),
        (["noun", "--text", "Person", "--axis", "neutral"], "is in the data already, as noun.person at "),
        (
            ["--text", "cruel", "--axis", "age", "--bucket", "old", "--entry-id", "Age!"],
            "id: it must be an id, AXIS.NAME",
        ),
    ],
)
def test_add_without_questions_refuses(terms_copy: Path, invoke: Invoke, arguments: list[str], said: str) -> None:
    code, out, err = invoke("add", *arguments, "--yes", "--source", terms_copy)
    assert (code, said in err) == (2, True), err
    assert "should" not in err
    assert "pydantic" not in out + err


def test_term_on_record_is_added_if_it_meets_the_criteria(terms_copy: Path, invoke: Invoke) -> None:
    given = ["--text", "crippled-by-debt", "--axis", "age", "--bucket", "old", "--meets-criteria"]
    code, _, err = invoke("add", *given, "--yes", "--source", terms_copy)
    assert (code, "'crippled' is a word to avoid" in err) == (0, True)


@pytest.mark.parametrize(
    ("answers", "said", "text"),
    [
        (["I have vertigo.", "", "ability", "", "", "", "", "", "", "yes"], "[with vertigo]", "with vertigo"),
        (["with cramps", "ability", "before", "after", "", "", "", "", "", "yes"], "would come before", "with cramps"),
        (["Québécois", "nationality", "", "ca", "canada", "", "", "", "", "yes"], "several buckets", "Québécois"),
        (["asdfgh", "ability", "", "speech", "", "", "", "", "yes"], "The dictionary does not have 'asdfgh'", "asdfgh"),
        (["homo", "y", "sexual_orientation", "", "gay", "", "", "", "", "yes"], "Two reviewers agree", "homo"),
        (["homo", "n"], "Nothing was written.", ""),
        (["Deaf", "n"], "judge it:   holisticbias assess ability.deaf", ""),
    ],
)  # fmt: skip
def test_add_in_a_session(
    terms_copy: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answers: list[str],
    said: str,
    text: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
    assert main(["add", "--source", str(terms_copy)]) == 0
    captured = capfd.readouterr()
    assert said in captured.out + captured.err
    assert [f for f in validate_paths([terms_copy]) if f.level == "error"] == []
    added = [d.text for axis in load_catalog(terms_copy).axes for d in axis.descriptors if d.text == text]
    assert added == ([text] if text else [])


def test_first_question_does_not_wait_for_the_data(
    terms_copy: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (terms_copy / "descriptors" / "age.yaml").write_text("axis: [", "utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("kind\n"))
    assert main(["add", "--source", str(terms_copy)]) == 2
    captured = capfd.readouterr()
    assert captured.out.startswith("The term, as written in a sentence: ")
    assert "the terms are not valid" in captured.err


def test_warning_does_not_prevent_an_entry(terms_copy: Path, invoke: Invoke) -> None:
    given = ["--text", "asdfgh", "--axis", "religion", "--yes", "--source", terms_copy]
    assert invoke("add", *given)[0] == 0
    code, out, err = invoke("validate", terms_copy)
    assert (code, err.splitlines()[0]) == (0, "1 warning.")
    assert "warning unknown-word [religion.asdfgh] The dictionary does not have 'asdfgh'." in out


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        (["Deaf", "--reviewer", "rv-1"], "did you mean ability.deaf"),
        (["ability.deaf", "--reviewer", "Jane Doe"], "reviewer: it must be a pseudonym such as rv-0042"),
        (["ability.deaf", "--reviewer", "rv-1", "--locale", "English"], "locale: it must be a language and region"),
    ],
)
def test_assess_refuses(terms_copy: Path, invoke: Invoke, judged: list[str], said: str) -> None:
    code, _, err = invoke("assess", *judged, "--judgement", "accepted", "--source", terms_copy)
    assert (code, said in err) == (2, True), err


FORM = """### Term

{0}

### Axis

{1}

### Bucket

{2}

### Position

{3}
"""


@pytest.mark.parametrize(
    ("answers", "options", "code", "said"),
    [
        (["Québécois", "nationality", "Canada", "before the noun"], [], 0, "nationality.quebecois"),
        (["Hōkūle\u2019a", "cultural", "regional", "before the noun"], [], 0, "cultural.hokulea"),
        (["with vertigo", "ability", "_No response_", "after the noun"], [], 0, "people with vertigo"),
        (["an ostomate", "ability", "unspecific", "on its own"], [], 0, "an ostomate / ostomates"),
        (["Québécois", "nationality", "_No response_", "before the noun"], [], 2, "--bucket is needed"),
        (["Québécois", "nationality", "_No response_", "before the noun"], ["--bucket", "canada"], 0, "quebecois"),
        (["homo", "sexual_orientation", "gay", "before the noun"], [], 2, "--meets-criteria"),
        (["homo", "sexual_orientation", "gay", "before the noun"], ["--meets-criteria"], 0, "orientation.homo"),
        (["with vertigo", "ability", "speech", "before the noun"], [], 2, "Invalid value for --position"),
        (["with vertigo", "ability", "speech", "before the noun"], ["--position", "after"], 0, "people with vertigo"),
        (["Deaf", "ability", "auditory", "before the noun"], [], 2, "is in the data already, as ability.deaf at "),
    ],
)
def test_form_with_a_term(
    terms_copy: Path, tmp_path: Path, invoke: Invoke, answers: list[str], options: list[str], code: int, said: str
) -> None:
    (tmp_path / "issue.md").write_text(FORM.format(*answers), "utf-8")
    found, out, err = invoke("from-issue", tmp_path / "issue.md", *options, "--dry-run", "--source", terms_copy)
    assert (found, said in out + err) == (code, True), out + err
