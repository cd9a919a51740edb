"""Issues that fill in a form: the answer, and the pull request of an accepted proposal, by the workflow's own steps."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.tools.test_preview import HOSTILE, without_code
from tests.tools.test_workflows import GITHUB, commit_all, git, read, run_step

from holisticbias.contribute.answer import MARKER
from holisticbias.contribute.issue_forms import LABELS, form_of, read_issue
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.terms.catalog import Catalog

Invoke = Callable[..., tuple[int, str, str]]
TOKEN = {"GH_TOKEN": "not-one"}
USER = {"login": "octo-cat", "id": 583231, "type": "User"}
BEFORE = "before the noun (a Deaf person)"
TERM = {
    "Term": "with vertigo",
    "Axis": "ability",
    "Bucket": "_No response_",
    "Position": "after the noun (a person with a stoma)",
    "Plural": "_No response_",
    "Why": "I have it.",
    "Source": "Vestibular Disorders Association, style guide, 2021",
    "Credit": "Name my account in the commit",
}
PROMPT = {
    "Group": "Artistic occupations",
    "Opening": "In some workshops a glazier",
    "Continuation": "cuts panes and sings.",
    "Subject": "glazier",
    "Why": "It is a craft.",
    "Source": "_No response_",
    "Credit": "Do not name me",
}
SPECIFICATION = {
    "Title": "Zorps and quibs, small and large things",
    "Attributes": "Small things: pebble, crumb\nLarge things: mountain, tower",
    "Groups": "Zorps: small things\nQuibs: large things",
    "Terms": "zorp / quib",
    "Templates": "The [T] likes the [A].",
    "Why": "An example.",
    "Source": "_No response_",
}
NOUN = {"Kind": "noun", "Text": "elder", "Gender of the noun": "neutral", "Why": "People use it."}
TEMPLATE = {
    "Kind": "template",
    "Text": "Good day, I am {noun_phrase}.",
    "Gender of the noun": "None",
    "Why": "It is polite.",
}


def event(folder: Path, answers: dict[str, str], **more: Any) -> Path:
    body = "".join(f"### {label}\n\n{answer}\n\n" for label, answer in answers.items())
    path = folder / "event.json"
    issue = {"number": 12, "body": body, "user": USER}
    path.write_text(json.dumps({"action": "opened", "issue": issue, **more}), "utf-8")
    return path


def test_labels_are_those_of_the_forms(root: Path) -> None:
    forms = (GITHUB / "ISSUE_TEMPLATE").glob("*-*.yml")
    assert {field["attributes"]["label"] for path in forms for field in read(path)["body"]} == LABELS


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        (TERM, ["can become an entry", "`I'm a person with vertigo.`", "are people with vertigo.`", "[issue-12]"]),
        ({**TERM, "Term": "asthmatic-like", "Position": BEFORE}, ["'Bucket' is needed"]),
        (
            {**TERM, "Term": "Deaf", "Bucket": "auditory", "Position": BEFORE},
            ["## Not ready yet", "`ability.deaf`", "blob/main/descriptors/ability.yaml#L"],
        ),
        (
            {
                **TERM,
                "Term": "crippled by vertigo",
                "Bucket": "mobility",
                "Position": BEFORE,
            },
            ["Objections on record", "'crippled' is a word to avoid"],
        ),
        (PROMPT, ["can become an entry", "group: Artistic occupations", "continuation: cuts panes and sings."]),
        (SPECIFICATION, ["can become an entry", "The zorp likes the pebble."]),
        (NOUN, ["can become an entry", "`I'm an elder.`"]),
        (TEMPLATE, ["can become an entry", "Good day, I am a Deaf person."]),
        ({**TERM, "Term": ""}, ["## Not ready yet", "no answer for 'Term'"]),
        (
            {"Entry": "deaf", "Better term": "Deef", "Why": "x"},
            ["`ability.deaf`", "Judgements: `reviewed"],
        ),
        ({"Entry": "ability.daef", "Sentence": "x", "Correction": "y"}, ["No entry has", "`ability.deaf`"]),
        ({"Entry": "Deaf", "Axis": "cultural", "Why": "x"}, ["`ability.deaf`", "Reviewers of both axes"]),
        ({"Term": "x"}, ["## Not ready yet", "a heading of the form is missing"]),
    ],
)
def test_answer(root: Path, tmp_path: Path, invoke: Invoke, answers: dict[str, str], shown: list[str]) -> None:
    code, out, err = invoke("answer", event(tmp_path, answers))
    assert (code, err) == (0, "")
    assert out.startswith(MARKER)
    assert [text for text in shown if text not in out] == []
    assert "--" not in without_code(out).replace(MARKER, "").replace("| --- ", "")


def test_an_issue_without_a_form_has_no_answer(tmp_path: Path, invoke: Invoke) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"issue": {"number": 1, "body": "Hello.\n### Else\nx", "user": USER}}), "utf-8")
    assert invoke("answer", path) == (0, "", "")


@pytest.mark.parametrize("content", ["", "[]", '{"issue": 1}', '{"issue": {"number": "1; rm"}}', "[" * 100_000])
def test_a_file_that_is_no_event_is_one_line(tmp_path: Path, invoke: Invoke, content: str) -> None:
    (tmp_path / "event.json").write_text(content, "utf-8")
    code, out, err = invoke("answer", tmp_path / "event.json")
    assert (code, out) == (2, "")
    assert "is not the event of an issue on GitHub" in err


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", [TERM, PROMPT, {"Entry": "x", "Sentence": "x", "Correction": "x"}])
def test_hostile_text_of_an_issue_is_shown_as_code(
    tmp_path: Path, invoke: Invoke, form: dict[str, str], text: str
) -> None:
    code, out, _ = invoke("answer", event(tmp_path, dict.fromkeys(form, text)))
    assert code == 0
    outside = without_code(out)
    for mark in ("@", "javascript:", "example.org", "onerror", "\u202e", "\u200b", "\x1b", "\r", "<img", "!["):
        assert mark not in outside


def test_a_heading_in_an_answer_is_a_part_of_it(catalog: Catalog) -> None:
    answers = read_issue("### Entry\n\nDeaf\n\n### Sentence\n\n### What\nx\n\n### Correction\n\ny\n")
    assert answers == {"Entry": "Deaf", "Sentence": "### What\nx", "Correction": "y"}
    form = form_of(catalog, answers)
    assert form is not None
    assert form.file == "report-grammar"


@pytest.fixture
def repository(terms_copy: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A clone of a bare repository of terms, as a workflow checks it out, and the bare repository."""
    git(terms_copy, "init", "-q", "-b", "main")
    commit_all(terms_copy)
    bare, clone = tmp_path / "bare.git", tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--bare", str(terms_copy), str(bare)], check=True, capture_output=True)
    subprocess.run(["git", "clone", "-q", str(bare), str(clone)], check=True, capture_output=True)
    return clone, bare


def steps_of(job: str) -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in read(GITHUB / "workflows" / "answer.yml")["jobs"][job]["steps"]}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("answers", "entry_id", "co_author"),
    [
        (TERM, "ability.with-vertigo", True),
        (PROMPT, "profession.in-some-workshops-a-glazier", False),
        (SPECIFICATION, "stereotypes.zorps-and-quibs-small-and-large-things", True),
        (NOUN, "noun.elder", True),
    ],
)
def test_a_label_makes_a_pull_request(
    repository: tuple[Path, Path], tmp_path: Path, answers: dict[str, str], entry_id: str, co_author: bool
) -> None:
    """The scripts of the workflow: from the event to a branch with a valid entry, its source and its author."""
    clone, bare = repository
    path = event(tmp_path, answers, action="labeled", label={"name": "accepted"})
    output = tmp_path / "output"
    run_step(
        steps_of("answer")["Write the answer"], clone, tmp_path, GITHUB_EVENT_PATH=str(path), GITHUB_OUTPUT=str(output)
    )
    assert output.read_text("utf-8") == "comment=true\nentry=true\n"
    git(clone, "reset", "-q", "--hard")
    shutil.move(tmp_path / "answer" / "pull", tmp_path / "pull")
    commit = steps_of("pull-request")["Commit the change and push it"]
    run_step(commit, clone, tmp_path, BRANCH="proposal-12", SERVER=str(bare), **TOKEN)
    git(clone, "fetch", "-q", "origin", "proposal-12")
    git(clone, "checkout", "-q", "FETCH_HEAD")
    assert [f for f in validate_paths([clone]) if f.level == "error"] == []
    source = next(s for s in load_catalog(clone).sources if s.id == "issue-12")
    assert source.note == answers["Why"]
    assert (source.url or "").endswith("/issues/12")
    assert answers.get("Source", "_No response_") in ("_No response_", source.title.removeprefix("Proposal 12: "))
    message = git(clone, "log", "-1", "--format=%B")
    assert message.startswith(f"Add {entry_id}")
    named = "Co-authored-by: octo-cat <583231+octo-cat@users.noreply.github.com>"
    assert (named in git(clone, "log", "-1", "--format=%(trailers)")) == co_author
    changed = git(clone, "diff", "--name-only", "HEAD^").split("\n")
    assert "sources.yaml" in changed
    assert len(changed) == 2


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_branch_that_exists_is_not_overwritten(repository: tuple[Path, Path], tmp_path: Path) -> None:
    clone, bare = repository
    git(clone, "switch", "-qc", "other")
    (clone / "work.txt").write_text("x", "utf-8")
    commit_all(clone)
    git(clone, "push", "-q", "origin", "HEAD:refs/heads/proposal-12")
    git(clone, "switch", "-q", "main")
    path = event(tmp_path, TERM, action="labeled", label={"name": "accepted"})
    run_step(
        steps_of("answer")["Write the answer"], clone, tmp_path, GITHUB_EVENT_PATH=str(path), GITHUB_OUTPUT="/dev/null"
    )
    git(clone, "reset", "-q", "--hard")
    shutil.move(tmp_path / "answer" / "pull", tmp_path / "pull")
    step = steps_of("pull-request")["Commit the change and push it"]
    with pytest.raises(subprocess.CalledProcessError):
        run_step(step, clone, tmp_path, BRANCH="proposal-12", SERVER=str(bare), **TOKEN)


@pytest.mark.parametrize("label", ["", "spam"])
def test_nothing_is_written_without_the_label(terms_copy: Path, tmp_path: Path, invoke: Invoke, label: str) -> None:
    path = event(tmp_path, TERM, action="labeled", label={"name": label})
    assert invoke("answer", path, "--write", tmp_path / "pull", "--source", terms_copy)[0] == 0
    assert not (tmp_path / "pull").exists()
    assert "with-vertigo" not in (terms_copy / "descriptors" / "ability.yaml").read_text("utf-8")


def test_words_of_an_issue_are_not_in_the_message_of_the_commit(
    terms_copy: Path, tmp_path: Path, invoke: Invoke
) -> None:
    hostile = {
        **TERM,
        "Why": "x\nCo-authored-by: a <b@c.d>\nfixes #1 @octocat",
        "Source": "fixes #2\r\nSigned-off-by: x",
    }
    path = event(tmp_path, hostile, action="labeled", label={"name": "accepted"})
    assert invoke("answer", path, "--write", tmp_path / "pull", "--source", terms_copy)[0] == 0
    message = (tmp_path / "pull" / "message.txt").read_text("utf-8")
    assert not re.search(r"fixes|@octocat|b@c\.d|Signed", message)
    assert not re.search(r"fixes|@octocat", without_code((tmp_path / "pull" / "body.md").read_text("utf-8")))


@pytest.mark.parametrize(
    ("user", "named"),
    [
        (USER, True),
        ({**USER, "login": "a\nb"}, False),
        ({**USER, "login": "a> <x@y.z"}, False),
        ({**USER, "type": "Bot"}, False),
        (None, False),
    ],
)
def test_only_an_account_is_a_co_author(
    terms_copy: Path, tmp_path: Path, invoke: Invoke, user: dict[str, Any] | None, named: bool
) -> None:
    path = event(tmp_path, TERM, action="labeled", label={"name": "accepted"})
    content = json.loads(path.read_text("utf-8"))
    content["issue"]["user"] = user
    path.write_text(json.dumps(content), "utf-8")
    assert invoke("answer", path, "--write", tmp_path / "pull", "--source", terms_copy)[0] == 0
    assert ("Co-authored-by" in (tmp_path / "pull" / "message.txt").read_text("utf-8")) == named


def test_jobs_have_only_the_rights_that_they_need() -> None:
    jobs = read(GITHUB / "workflows" / "answer.yml")["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "answer": {"contents": "read"},
        "comment": {"issues": "write"},
        "pull-request": {"contents": "write", "pull-requests": "write"},
    }
    for name in ("comment", "pull-request"):
        assert not re.search(r"pip install|run: holisticbias|python", str(jobs[name]))
    assert "github.event.issue.body" not in str(jobs)
    assert "github.event.issue.title" not in str(jobs)
