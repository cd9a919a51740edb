"""Retiring, rewording and moving entries: published versions keep them, what is not published yet changes as it is."""

import re
import shutil
from pathlib import Path

import pytest

from folders import contents, is_clean, replaced, stale_files
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.layout import format_file
from invoking import Invoke
from small_terms import add_term, entry_of

COMMENTED = """
  # said by the people themselves
  - id: ability.with-a-test # a comment
    text: with a test
    bucket: auditory
    position: after
    plural: with tests
    assessments: # one so far
      - {judgement: dispreferred, locale: en-US, reviewer: rv-0001, date: 2026-01-02}
    sources: [made-up]
    since: next
"""


@pytest.fixture
def repository(with_brave: Path, tmp_path: Path) -> Path:
    return shutil.copytree(with_brave, tmp_path / "repository")


def test_retiring_a_published_term(repository: Path, invoke: Invoke) -> None:
    arguments = ("--replaced-by", "race_ethnicity.black", "--reason", "An example.", "--yes", "--source", repository)
    said = invoke.printed("retire", "race_ethnicity.latina", *arguments)
    assert "race_ethnicity.latina is retired in version next, and race_ethnicity.black replaces it." in said
    assert "- I'm a Latina woman." in said
    assert "make the next version a major version" in said
    found = entry_of(repository, "race_ethnicity.latina")
    assert (found.until, found.replaced_by, found.reason) == ("next", "race_ethnicity.black", "An example.")
    assert validate_paths([repository]) == ()
    assert "is retired since version next" in invoke.refused("retire", "race_ethnicity.latina", *arguments)
    moved = invoke.refused("move", "race_ethnicity.latina", "ability", "--source", repository)
    assert "is retired since version next" in moved


def test_a_file_that_changes_while_a_command_asks_keeps_the_change(
    repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository / "descriptors" / "race_ethnicity.yaml"
    mine = path.read_text("utf-8") + "# mine\n"

    def edit_and_agree(*_: object, **__: object) -> bool:
        path.write_text(mine, "utf-8")
        return True

    monkeypatch.setattr("click.confirm", edit_and_agree)
    reason = ("--replaced-by", "race_ethnicity.black", "--reason", "An example.")
    said = invoke.refused("retire", "race_ethnicity.latina", *reason, "--source", repository)
    assert "race_ethnicity.yaml has changed meanwhile: run the same command again" in said
    assert path.read_text("utf-8") == mine


def test_what_is_not_published_changes_as_it_is(repository: Path, invoke: Invoke) -> None:
    options = ("--yes", "--source", repository)
    before = contents(repository)
    tried = invoke.printed("retire", "ability.brave", "--dry-run", *options)
    assert ("was a dry run" in tried, "gone." in tried, "major" in tried) == (True, True, False)
    assert contents(repository) == before
    said = invoke.printed("reword", "ability.brave", "--text", "courageous", *options)
    assert "ability.brave is reworded." in said
    found = entry_of(repository, "ability.brave")
    assert (found.text, found.history) == ("courageous", ())
    assert "ability.brave is removed: it was not published." in invoke.printed("retire", "ability.brave", *options)
    assert not (repository / "descriptors" / "new" / "ability.brave.yaml").exists()
    invoke.printed("retire", "characteristics.orphaned", *options)
    assert "orphaned" not in (repository / "descriptors" / "characteristics.yaml").read_text("utf-8")
    invoke.printed("retire", "seat.this-is", *options)
    assert "templates: []\n" in (repository / "templates" / "seat.yaml").read_text("utf-8"), "its only entry"
    assert validate_paths([repository]) == ()


def test_a_killed_move_is_finished_by_the_same_command(
    repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    arguments = ("move", "ability.brave", "characteristics", "--yes", "--source", repository)
    new, unlink = repository / "descriptors" / "new", Path.unlink
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda self, **more: kill() if self.parent == new else unlink(self, **more))
        code, _, error = invoke(*arguments)
    assert (code, error.strip()) == (130, "holisticbias: interrupted; run the same command again to finish")
    assert {path.stem for path in new.iterdir()} == {"ability.brave", "characteristics.brave"}
    invoke.printed(*arguments)
    assert {path.stem for path in new.iterdir()} == {"characteristics.brave"}
    assert validate_paths([repository]) == ()


def test_rewording_a_published_term_keeps_the_first_wording(repository: Path, invoke: Invoke) -> None:
    options = ("--yes", "--source", repository)
    ability = repository / "descriptors" / "ability.yaml"
    ability.write_text(re.sub("^  ", "", ability.read_text("utf-8"), flags=re.MULTILINE), "utf-8")  # lists not indented
    said = invoke.printed("reword", "ability.deaf", "--text", "deaf", "--reason", "Style.", *options)
    assert "+ I'm a deaf woman." in said
    found = entry_of(repository, "ability.deaf")
    assert [(w.until, w.text, w.reason) for w in found.history] == [("next", "Deaf", "Style.")]
    again = ("--text", "deafened", "--with-noun", "--reason", "Better.")
    invoke.printed("reword", "ability.deaf", *again, *options)
    found = entry_of(repository, "ability.deaf")
    wording = found.history[0].model_dump(exclude_unset=True)
    assert wording == {"until": "next", "text": "Deaf", "without_noun": True, "reason": "Better."}
    assert (found.text, load_catalog(repository).at("0.1.0").axes[0].descriptors[0].text) == ("deafened", "Deaf")
    assert validate_paths([repository]) == ()
    assert stale_files([ability]) == set()
    invoke.printed("reword", "ability.deaf", "--text", "Deaf", "--without-noun", "--reason", "Undone.", *options)
    assert entry_of(repository, "ability.deaf").history == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("kindd", "Warning: The dictionary does not have 'kindd'. Fix: correct the spelling"),
        ("latina", "Warning: race_ethnicity.latina on the axis Race and ethnicity has the text 'latina' too."),
    ],
)
def test_a_new_text_of_a_published_term_is_checked_as_that_of_a_new_term(
    repository: Path, invoke: Invoke, text: str, warning: str
) -> None:
    options = ("--reason", "An example.", "--dry-run", "--yes", "--source", repository)
    code, _, said = invoke("reword", "ability.deaf", "--text", text, *options)
    assert (code, warning in said) == (0, True), said


@pytest.mark.parametrize(
    "arguments",
    [
        ("ability.deaf", "--article", "a"),
        ("ability.deaf", "--plural", "Deaf"),
        ("noun.woman", "--article", "a"),
    ],
    ids=lambda arguments: arguments[1],
)
def test_a_value_that_follows_from_the_text_changes_nothing(
    repository: Path, invoke: Invoke, arguments: tuple[str, ...]
) -> None:
    """An article by sound, and a plural that is the text of a term before or after the noun."""
    said = invoke.refused("reword", *arguments, "--reason", "x", "--yes", "--source", repository, keeps=repository)
    assert f"nothing changes: {arguments[0]} has these values already, or they follow from its text" in said


def test_an_article_by_sound_is_not_written(repository: Path, invoke: Invoke) -> None:
    options = ("--yes", "--source", repository)
    place = ("--axis", "ability", "--bucket", "mobility", "--from", "made-up")
    invoke.printed("add", "--text", "curly", *place, "--article", "a", *options)
    assert entry_of(repository, "ability.curly").model_dump()["article"] is None
    invoke.printed("reword", "ability.brave", "--text", "unilaterally brave", "--article", "a", *options)
    assert entry_of(repository, "ability.brave").model_dump()["article"] == "a"
    invoke.printed("reword", "ability.brave", "--text", "able", "--article", "an", *options)
    assert entry_of(repository, "ability.brave").model_dump()["article"] is None


def test_the_questions_propose_what_the_entry_has(repository: Path, invoke: Invoke) -> None:
    """An empty answer keeps a value; the reason has no proposal."""
    answers = ["", "persons of color", "The old plural is usual again.", "y"]
    code, said = invoke.answered(answers, "reword", "race_ethnicity.of-color", "--source", repository)
    assert (code, "The text [person of color]" in said) == (0, True), said
    assert "The plural, or none if it does not differ [people of color]" in said
    found = entry_of(repository, "race_ethnicity.of-color")
    assert (found.model_dump()["plural"], found.history) == ("persons of color", ()), "that of the published version"
    answers = ["none", "Hurtful.", "n"]
    code, said = invoke.answered(answers, "retire", "race_ethnicity.of-color", "--source", repository)
    assert code == 2, "a term needs a replacement or objections"
    answers = ["race_ethnicity.black", "Hurtful.", "n"]
    code, said = invoke.answered(answers, "retire", "race_ethnicity.of-color", "--source", repository)
    assert (code, "Nothing was written." in said) == (0, True), said
    add_term(repository, "disable")
    code, said = invoke.answered(["none", "Hurtful.", "n"], "retire", "ability.disabled", "--source", repository)
    assert (code, "Similar: ability.disable\n" in said) == (2, True), said


@pytest.mark.parametrize(
    ("answers", "text", "article", "asked"),
    [
        (["deaf.", "", "", "Style.", "y"], "deaf", None, "(rule sentence-mark)"),
        (["FEMA", "an", "", "Style.", "y"], "FEMA", "an", "'a FEMA' or 'an FEMA'?"),
    ],
)
def test_a_new_text_is_asked_for_as_that_of_a_new_term(
    repository: Path, invoke: Invoke, answers: list[str], text: str, article: str | None, asked: str
) -> None:
    code, said = invoke.answered(answers, "reword", "ability.deaf", "--source", repository)
    found = entry_of(repository, "ability.deaf").model_dump()
    assert (code, found["text"], found["article"], asked in said) == (0, text, article, True), said


# moving


@pytest.fixture
def commented(repository: Path) -> Path:
    """The file of ability, with a term that is not published yet at its end."""
    path = repository / "descriptors" / "ability.yaml"
    path.write_text(format_file(path) + COMMENTED, "utf-8")
    return path


def test_a_published_term_is_replaced_by_one_on_the_other_axis(terms_copy: Path, invoke: Invoke) -> None:
    before = entry_of(terms_copy, "ability.deaf")
    bucket = next(a.buckets for a in load_catalog(terms_copy).axes if a.axis == "cultural")[0]
    place = ("ability.deaf", "cultural", "--bucket", bucket, "--source", terms_copy)
    code, said = invoke.answered(["A culture.", "y"], "move", *place)
    assert (code, "cultural.deaf replaces it" in said, "+ I'm a Deaf woman." in said) == (0, True, True), said
    assert "make the next version a major version" in said
    assert is_clean(terms_copy)
    former, deaf = (entry_of(terms_copy, f"{axis}.deaf") for axis in ("ability", "cultural"))
    assert former == before.model_copy(update={"until": "next", "replaced_by": "cultural.deaf", "reason": "A culture."})
    differs = {"id", "bucket", "since", "history", "assessments"}
    assert deaf.model_dump(exclude=differs) == before.model_dump(exclude=differs)
    assert (deaf.since, deaf.history) == ("next", ())
    for name in ("subsets/small.yaml", "intersections.yaml"):
        text = (terms_copy / name).read_text("utf-8")
        assert text.count("ability.deaf\n") == text.count("cultural.deaf\n")


def test_a_term_that_is_not_published_moves_with_its_comments(
    repository: Path, commented: Path, invoke: Invoke
) -> None:
    before = commented.read_text("utf-8").replace(COMMENTED, "")
    source = ("--yes", "--source", repository)
    invoke.printed("move", "ability.with-a-test", "ability", "--bucket", "mobility", *source)
    term = entry_of(repository, "ability.with-a-test")
    assert (term.bucket, term.history, is_clean(repository)) == ("mobility", (), True)
    said = invoke.printed("move", "ability.with-a-test", "race_ethnicity", *source)
    assert "ability.with-a-test is now race_ethnicity.with-a-test." in said
    assert is_clean(repository)
    assert commented.read_text("utf-8") == before
    moved = COMMENTED.replace("ability.", "race_ethnicity.").replace("    bucket: auditory\n", "")
    moved = moved.replace("\n  # said by the people themselves\n", "")
    text = (repository / "descriptors" / "new" / "race_ethnicity.with-a-test.yaml").read_text("utf-8")
    assert re.sub("(?<=.) +#", " #", text).endswith(f"axis: race_ethnicity\ndescriptors:\n{moved}")
    brave = repository / "descriptors" / "new" / "ability.brave.yaml"
    head, entry = brave.read_text("utf-8").split("  - id: ability.brave\n    text: brave\n")
    second = f"  - id: ability.calm\n    text: calm\n{entry}"
    brave.write_text(f"{brave.read_text('utf-8')}\n{second}", "utf-8")
    said = invoke.printed("move", "ability.brave", "race_ethnicity", *source)
    assert f"removed {brave}\n" in said
    assert brave.with_stem("ability.calm").read_text("utf-8") == head + second, "named for the first that is left"


def test_comments_stay_beside_the_entries_that_they_are_about(
    repository: Path, commented: Path, invoke: Invoke
) -> None:
    source = ("--reason", "x", "--yes", "--source", repository)
    second = "  # about the second\n  - {id: ability.disabled,"
    replaced(commented, "  - {id: ability.disabled,", second)
    invoke.printed("reword", "ability.deaf", "--without-noun", "--text", "deaf", *source)
    assert second in commented.read_text("utf-8")
    invoke.printed("retire", "ability.hard-of-hearing", "--replaced-by", "ability.deaf", *source)
    kept = "  # said by the people themselves\n  - id: ability.with-a-test # a comment\n"
    assert kept in commented.read_text("utf-8")
    text = commented.read_text("utf-8")
    term = "  - id: ability.bold\n    text: bold\n    bucket: auditory\n    sources: [made-up]\n    since: next\n\n"
    replaced(commented, "  # said by the people", f"{term}  # said by the people")
    invoke.printed("retire", "ability.bold", *source[2:])
    assert commented.read_text("utf-8") == text, "an entry in the middle is removed alone"


def test_a_moved_term_moves_again(repository: Path, invoke: Invoke) -> None:
    """The published term names its replacement at its last place."""
    options = ("--yes", "--source", repository)
    invoke.printed("move", "ability.deaf", "race_ethnicity", "--reason", "x", *options)
    said = invoke.printed("move", "race_ethnicity.deaf", "characteristics", *options)
    assert "race_ethnicity.deaf is now characteristics.deaf." in said
    assert entry_of(repository, "ability.deaf").replaced_by == "characteristics.deaf"
    assert is_clean(repository)


def test_a_file_that_only_mentions_a_moved_term_is_not_written(repository: Path, invoke: Invoke) -> None:
    subset = repository / "subsets" / "small.yaml"
    subset.write_text(f"# without ability.brave\n{subset.read_text('utf-8')}", "utf-8")
    said = invoke.printed("move", "ability.brave", "race_ethnicity", "--yes", "--source", repository)
    assert "ability.brave is now race_ethnicity.brave." in said
    assert "small.yaml" not in said


def test_another_bucket_of_the_axis(repository: Path, invoke: Invoke) -> None:
    place = ("ability.deaf", "ability", "--bucket", "mobility", "--source", repository)
    before = contents(repository)
    assert "was a dry run" in invoke.printed("move", *place, "--reason", "Its place.", "--yes", "--dry-run")
    assert contents(repository) == before
    said = invoke.printed("move", *place, "--reason", "Its place.", "--yes")
    assert "ability.deaf is in the bucket mobility from version next on." in said
    assert is_clean(repository)
    found = entry_of(repository, "ability.deaf")
    wordings = [wording.model_dump(exclude_unset=True) for wording in found.history]
    assert wordings == [{"until": "next", "bucket": "auditory", "reason": "Its place."}]
    assert found.bucket == "mobility"


def test_the_bucket_of_the_same_name_on_another_axis(terms_copy: Path, invoke: Invoke) -> None:
    invoke.printed("move", "ability.who-stutters", "age", "--reason", "x", "--yes", "--source", terms_copy)
    assert entry_of(terms_copy, "age.who-stutters").bucket == "after_the_noun"


def test_a_term_before_the_noun_is_not_moved_to_the_bucket_of_terms_after_it(terms_copy: Path, invoke: Invoke) -> None:
    command = ("ability.deaf", "ability", "--bucket", "after_the_noun", "--source", terms_copy)
    assert "the axis ability has no bucket 'after_the_noun'" in invoke.refused("move", *command, keeps=terms_copy)
    bucket = ("--bucket", "after_the_noun", "--reason", "x", "--yes", "--source", terms_copy)
    assert "replaces it" in invoke.printed("move", "ability.with-a-stutter", "age", *bucket)


@pytest.mark.parametrize("retired", ["ability.non-disabled", "ability.nondisabled"])
def test_retiring_an_entry_leaves_the_waivers_alone(terms_copy: Path, retired: str) -> None:
    """A waiver of the retired entry, or of the entry that is like it."""
    (replacement,) = {"ability.non-disabled", "ability.nondisabled"} - {retired}
    path = terms_copy / "descriptors" / "ability.yaml"
    head, start, rest = path.read_text("utf-8").partition(f"  - id: {retired}\n")
    entry, end, others = rest.partition("\n\n")
    path.write_text(f"{head}{start}{entry}\n    until: next\n    replaced_by: {replacement}{end}{others}", "utf-8")
    assert validate_paths([terms_copy]) == ()
