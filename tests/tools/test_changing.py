"""Retiring and rewording entries: published versions keep them, what is not published yet changes as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click.testing
import pytest

from holisticbias.cli import holisticbias
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.layout import stale_files
from holisticbias.terms.entries import Entry

Invoke = Callable[..., tuple[int, str, str]]


@pytest.fixture
def repository(repository: Path, invoke: Invoke) -> Path:
    """A published version, and ``next`` with a new term in its own file."""
    term = ("--text", "brave", "--axis", "ability", "--bucket", "auditory", "--from", "made-up", "--yes")
    assert invoke("add", *term, "--source", repository)[0] == 0
    return repository


def entry(folder: Path, entry_id: str) -> Entry:
    return next(e for _, e in load_catalog(folder).entries() if e.id == entry_id)


def test_retiring_a_published_term(repository: Path, invoke: Invoke) -> None:
    arguments = ("--replaced-by", "race_ethnicity.black", "--reason", "An example.", "--yes", "--source", repository)
    code, out, err = invoke("retire", "race_ethnicity.latina", *arguments)
    assert (code, err) == (0, "")
    assert "race_ethnicity.latina is retired in version next, and race_ethnicity.black replaces it." in out
    assert "- I'm a Latina woman." in out
    assert "make the next version a major version" in out
    found = entry(repository, "race_ethnicity.latina")
    assert (found.until, found.replaced_by, found.reason) == ("next", "race_ethnicity.black", "An example.")
    assert validate_paths([repository]) == ()
    assert "is retired since version next" in invoke("retire", "race_ethnicity.latina", *arguments)[2]


def test_retiring_a_term_without_replacement_needs_objections(repository: Path, invoke: Invoke) -> None:
    before = (repository / "descriptors" / "race_ethnicity.yaml").read_bytes()
    code, _, err = invoke("retire", "race_ethnicity.latina", "--reason", "x", "--yes", "--source", repository)
    assert (code, "(rule quorum)" in err) == (2, True), err
    assert (repository / "descriptors" / "race_ethnicity.yaml").read_bytes() == before


def test_a_term_that_is_not_published_is_removed(repository: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("retire", "ability.brave", "--yes", "--source", repository)
    assert (code, "ability.brave is removed: it was not published." in out) == (0, True)
    assert not (repository / "descriptors" / "new" / "ability.brave.yaml").exists()
    code, _, _ = invoke("retire", "characteristics.orphaned", "--yes", "--source", repository)
    assert code == 0
    assert "orphaned" not in (repository / "descriptors" / "characteristics.yaml").read_text("utf-8")
    assert validate_paths([repository]) == ()


def test_rewording_a_published_term_keeps_the_first_wording(repository: Path, invoke: Invoke) -> None:
    options = ("--yes", "--source", repository)
    code, out, err = invoke("reword", "ability.deaf", "--text", "deaf", "--reason", "Style.", *options)
    assert (code, err) == (0, "")
    assert "+ I'm a deaf woman." in out
    found = entry(repository, "ability.deaf")
    assert [(w.until, w.text, w.reason) for w in found.history] == [("next", "Deaf", "Style.")]
    assert (
        invoke("reword", "ability.deaf", "--text", "deafened", "--with-noun", "--reason", "Better.", *options)[0] == 0
    )
    found = entry(repository, "ability.deaf")
    wording = found.history[0].model_dump(exclude_unset=True)
    assert wording == {"until": "next", "text": "Deaf", "without_noun": True, "reason": "Better."}
    assert (found.text, load_catalog(repository).at("0.1.0").axes[0].descriptors[0].text) == ("deafened", "Deaf")
    assert validate_paths([repository]) == ()
    assert stale_files([repository / "descriptors" / "ability.yaml"]) == ()
    undo = ("--text", "Deaf", "--without-noun", "--reason", "Undone.")
    assert invoke("reword", "ability.deaf", *undo, *options)[0] == 0
    assert entry(repository, "ability.deaf").history == ()


def test_what_is_not_published_is_reworded_as_it_is(repository: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("reword", "ability.brave", "--text", "courageous", "--yes", "--source", repository)
    assert (code, "ability.brave is reworded." in out) == (0, True)
    found = entry(repository, "ability.brave")
    assert (found.text, found.history) == ("courageous", ())


def test_the_questions_propose_what_the_entry_has(repository: Path) -> None:
    """An empty answer keeps a value; the reason has no proposal."""
    given = "\n\nThe old plural is usual again.\ny\n".replace("\n\n", "\npersons of color\n", 1)
    done = click.testing.CliRunner().invoke(
        holisticbias, ["reword", "race_ethnicity.of-color", "--source", str(repository)], input=given
    )
    assert "The text [person of color]" in done.output
    assert "The plural, or none if it does not differ [people of color]" in done.output
    found = entry(repository, "race_ethnicity.of-color")
    assert (found.model_dump()["plural"], found.history) == ("persons of color", ()), (
        "the plural of the published version"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("retire", "ability.daef"), "no entry has the id 'ability.daef'; close to it: ability.deaf"),
        (("retire", "ability.deaf", "--replaced-by", "ability.deaf"), "ability.deaf cannot replace ability.deaf"),
        (("retire", "ability.deaf", "--replaced-by", "noun.woman"), "noun.woman cannot replace ability.deaf"),
        (("reword", "ability.deaf"), "name what changes: --text"),
        (("reword", "ability.deaf", "--text", "Deaf"), "nothing changes: ability.deaf has these values already"),
        (("reword", "ability.deaf", "--continuation", "x"), "an entry of descriptors/ has no key 'continuation'"),
        (("reword", "ability.deaf", "--text", "Deaf."), "nothing was written"),
        (("reword", "ability.deaf", "--text", "who is deaf"), "nothing was written"),
    ],
)
def test_a_change_that_cannot_be_made(
    repository: Path, invoke: Invoke, arguments: tuple[str, ...], message: str
) -> None:
    before = {path: path.read_bytes() for path in repository.rglob("*.yaml")}
    code, _, err = invoke(*arguments, "--reason", "An example.", "--yes", "--source", repository)
    assert (code, message in err) == (2, True), err
    assert {path: path.read_bytes() for path in repository.rglob("*.yaml")} == before
