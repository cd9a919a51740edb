"""Issues that fill in a form: the answer, and the pull request of an accepted proposal, by the workflow's own steps."""

import io
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.tools.test_preview import HOSTILE, without_code
from tests.tools.test_workflows import GITHUB, read, run_step

from folders import ROOT, contents
from holisticbias.contribute.issue_forms import form_of, read_issue
from holisticbias.questions.answering import MARKER
from holisticbias.rules.validate import load_catalog, validate_paths
from invoking import Invoke
from repositories import commit_all, git

TOKEN = {"GH_TOKEN": "not-one"}
USER = {"login": "octo-cat", "id": 583231, "type": "User"}
ISSUES = yaml.safe_load((ROOT / "tests" / "data" / "issues.yaml").read_text("utf-8"))
TERM, PROMPT = ISSUES["term"], ISSUES["prompt"]


def form(answers: dict[str, str]) -> str:
    return "".join(f"### {label}\n\n{answer}\n\n" for label, answer in answers.items())


def event(folder: Path, answers: dict[str, str], **more: Any) -> Path:
    path = folder / "event.json"
    issue = {"number": 12, "body": form(answers), "user": USER}
    path.write_text(json.dumps({"action": "opened", "issue": issue, **more}), "utf-8")
    return path


@pytest.mark.parametrize("case", ISSUES["answered"], ids=lambda case: case["shown"][-1])
def test_answer(shared_terms: Path, tmp_path: Path, invoke: Invoke, case: dict[str, Any]) -> None:
    code, out, err = invoke("answer", event(tmp_path, case["form"]), "--source", shared_terms)
    assert (code, err) == (0, "")
    assert out.startswith(MARKER)
    assert [text for text in case["shown"] if text not in out] == []
    assert "--" not in without_code(out).replace(MARKER, "").replace("| --- ", "")


TRIED = [
    *((form(case["form"]), case.get("options", ()), 0, case["said"]) for case in ISSUES["accepted"]),
    *((form(case["form"]), case.get("options", ()), 2, case["said"]) for case in ISSUES["refused"]),
    (form({"Term": "a"}) * 2, (), 2, "answers 'Term' twice"),
    (form({"Term": "x" * 30_000}), (), 2, "more than 20,000 characters"),
]


@pytest.mark.parametrize(("issue", "options", "code", "said"), TRIED)
def test_a_form_that_is_tried(
    shared_terms: Path, tmp_path: Path, invoke: Invoke, issue: str, options: Sequence[str], code: int, said: str
) -> None:
    (tmp_path / "issue.md").write_text(issue, "utf-8")
    before = contents(shared_terms)
    ended, out, err = invoke("from-issue", tmp_path / "issue.md", *options, "--dry-run", "--source", shared_terms)
    assert (ended, said in out + err) == (code, True), out + err
    assert not [text for text in ("--yes", "\u202e", "Traceback") if text in err]
    assert contents(shared_terms) == before


class Terminal(io.StringIO):
    """A terminal, on which the text of an issue is typed."""

    def isatty(self) -> bool:
        return True


def test_a_form_that_is_typed_becomes_an_entry(
    terms_copy: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    ostomate = next(case["form"] for case in ISSUES["accepted"] if case["said"] == "an ostomate / ostomates")
    monkeypatch.setattr("sys.stdin", Terminal(form({**ostomate, "Source": "Smith-2022"})))
    code, _, err = invoke("from-issue", "-", "--source", terms_copy)
    assert (code, err.startswith("Paste the text of the issue, and end it with ")) == (0, True), err
    text = (terms_copy / "descriptors" / "new" / "ability.an-ostomate.yaml").read_text("utf-8")
    assert "    text: ostomate\n    bucket: unspecific\n    position: standalone\n    plural: ostomates\n" in text
    assert "    sources: [smith-2022]\n" in text


@pytest.mark.usefixtures("read_once")
def test_an_issue_without_a_form_has_no_answer(tmp_path: Path, invoke: Invoke) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"issue": {"number": 1, "body": "Hello.\n### Else\nx", "user": USER}}), "utf-8")
    assert invoke("answer", path) == (0, "", "")


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("content", ["", "[]", '{"issue": 1}', '{"issue": {"number": "1; rm"}}', "[" * 100_000])
def test_a_file_that_is_no_event_is_one_line(tmp_path: Path, invoke: Invoke, content: str) -> None:
    (tmp_path / "event.json").write_text(content, "utf-8")
    assert "is not the event of an issue on GitHub" in invoke.refused("answer", tmp_path / "event.json")


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_of_an_issue_is_shown_as_code(tmp_path: Path, invoke: Invoke, text: str) -> None:
    report = {"Entry": "x", "Sentence": "x", "Correction": "x"}
    for answers in (dict.fromkeys(TERM, text), dict.fromkeys(PROMPT, text), dict.fromkeys(report, text)):
        outside = without_code(invoke.printed("answer", event(tmp_path, answers)))
        marks = ("@", "javascript:", "example.org", "onerror", "\u202e", "\u200b", "\x1b", "\r", "<img", "![")
        assert [mark for mark in marks if mark in outside] == []


def test_a_heading_in_an_answer_is_a_part_of_it() -> None:
    answers = read_issue("### Entry\n\nDeaf\n\n### Sentence\n\n### What\nx\n\n### Correction\n\ny\n")
    assert answers == {"Entry": "Deaf", "Sentence": "### What\nx", "Correction": "y"}
    assert form_of(answers).file == "report-grammar"


def steps_of(job: str) -> dict[str, dict[str, Any]]:
    return {step["name"]: step for step in read(GITHUB / "workflows" / "answer.yml")["jobs"][job]["steps"]}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_label_makes_a_pull_request(terms_copy: Path, tmp_path: Path) -> None:
    """The scripts of the workflow: from the event to a new branch with a valid entry, its source and its author."""
    commit_all(terms_copy)
    bare, clone = tmp_path / "bare.git", tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--bare", str(terms_copy), str(bare))
    git(tmp_path, "clone", "-q", str(bare), str(clone))
    path = event(tmp_path, TERM, action="labeled", label={"name": "accepted"})
    output = tmp_path / "output"
    step = steps_of("answer")["Write the answer"]
    run_step(step, clone, tmp_path, GITHUB_EVENT_PATH=str(path), GITHUB_OUTPUT=str(output))
    assert output.read_text("utf-8") == "comment=true\nentry=true\n"
    git(clone, "reset", "-q", "--hard")
    shutil.move(tmp_path / "answer" / "pull", tmp_path / "pull")  # where the next job finds it
    commit = steps_of("pull-request")["Commit the change and push it"]
    run_step(commit, clone, tmp_path, BRANCH="proposal-12", SERVER=str(bare), **TOKEN)
    git(clone, "fetch", "-q", "origin", "proposal-12")
    git(clone, "checkout", "-q", "FETCH_HEAD")
    assert [f for f in validate_paths([clone]) if f.level == "error"] == []
    source = next(s for s in load_catalog(clone).sources if s.id == "issue-12")
    assert (source.note, source.title) == (TERM["Why"], f"Proposal 12: {TERM['Source']}")
    assert (source.url or "").endswith("/issues/12")
    assert git(clone, "log", "-1", "--format=%B").startswith("Add ability.with-vertigo")
    named = "Co-authored-by: octo-cat <583231+octo-cat@users.noreply.github.com>"
    assert named in git(clone, "log", "-1", "--format=%(trailers)")
    changed = git(clone, "diff", "--name-only", "HEAD^").split("\n")
    assert changed == ["descriptors/new/ability.with-vertigo.yaml"], "no file that another proposal changes too"
    git(clone, "checkout", "-q", "main")
    git(clone, "branch", "-qD", "proposal-12")
    (tmp_path / "pull" / "message.txt").write_text("Another", "utf-8")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run_step(commit, clone, tmp_path, BRANCH="proposal-12", SERVER=str(bare), **TOKEN)
    assert "rejected" in refused.value.stderr, "a branch that exists is not overwritten"


FORGED = {"Why": "x\nCo-authored-by: a <b@c.d>\nfixes #1 @octocat", "Source": "fixes #2\r\nSigned-off-by: x"}


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    ("label", "user", "answers", "co_author"),
    [
        ("spam", USER, TERM, None),
        ("accepted", USER, TERM, True),
        ("accepted", {**USER, "login": "a> <x@y.z"}, TERM, False),
        ("accepted", {**USER, "type": "Bot"}, TERM, False),
        ("accepted", None, TERM, False),
        ("accepted", USER, {**TERM, **FORGED}, True),
        ("accepted", USER, {**TERM, "Credit": "Do not name me"}, False),
        ("accepted", USER, {**TERM, "Term": "Deaf"}, None),
        ("accepted", USER, {**TERM, "Source": "smith-2022", "Why": ""}, True),
        ("accepted", USER, {**TERM, "Source": "smith-2022"}, True),
        ("accepted", USER, {**TERM, "Source": "HTTPS://glaad.org/reference/", "Why": ""}, True),
        ("accepted", USER, {**TERM, "Source": "-"}, True),
    ],
)
def test_a_pull_request_of_an_accepted_proposal(
    terms_copy: Path,
    tmp_path: Path,
    invoke: Invoke,
    label: str,
    user: dict[str, Any] | None,
    answers: dict[str, str],
    co_author: bool | None,
) -> None:
    """Only with the label, and only an account is a co-author; words of the issue are not in the message."""
    path, pull = event(tmp_path, answers, action="labeled", label={"name": label}), tmp_path / "pull"
    content = json.loads(path.read_text("utf-8"))
    content["issue"]["user"] = user
    path.write_text(json.dumps(content), "utf-8")
    invoke.printed("answer", path, "--write", pull, "--source", terms_copy)
    added = [text for file, text in contents(terms_copy).items() if "/new/" in file]
    assert (pull.exists(), len(added)) == ((False, 0) if co_author is None else (True, 1))
    if co_author is not None:
        names = {"smith-2022": "smith-2022", "HTTPS://glaad.org/reference/": "glaad-media-reference-guide"}
        known = names.get(answers.get("Source", ""))
        sources = [*([known] if known else []), *(["issue-12"] if not known or answers["Why"] else [])]
        assert f"sources: [{', '.join(sources)}]".encode() in added[0]
        message = (pull / "message.txt").read_text("utf-8")
        assert ("Co-authored-by" in message) == co_author
        assert not re.search(r"fixes|@octocat|b@c\.d|Signed", message)
        assert not re.search(r"fixes|@octocat", without_code((pull / "body.md").read_text("utf-8")))


@pytest.mark.usefixtures("read_once")
def test_a_pull_request_that_cannot_be_written_adds_no_entry(terms_copy: Path, tmp_path: Path, invoke: Invoke) -> None:
    """Not even the folder for new entries."""
    path = event(tmp_path, TERM, action="labeled", label={"name": "accepted"})
    errors = invoke.refused("answer", path, "--write", path / "pull", "--source", terms_copy, keeps=terms_copy)
    assert errors == f"holisticbias: cannot write to {path}: it is not a folder\n"
    assert not (terms_copy / "descriptors" / "new").exists()


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
