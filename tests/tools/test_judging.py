"""Judgements of reviewers: of one entry, or a file of many; corrections, near ids, pseudonyms."""

import itertools
import json
from pathlib import Path

import pytest
import yaml

from folders import is_clean
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.entries import Assessment, Descriptor
from invoking import Invoke
from small_terms import entry_of

JUDGEMENTS = [
    {"id": "ability.legally-blind", "judgement": "accepted", "date": "2026-11-01"},
    {"id": "ability.deaf", "judgement": "polarizing", "date": "2026-11-01", "comment": 'It depends: "who" asks, é.'},
    {"id": "age.elderly", "judgement": "dispreferred", "date": "2026-11-02"},
]


def write_file(folder: Path, judgements: list[dict[str, str]], **more: object) -> Path:
    path = folder / "judgements.json"
    content = {"holisticbias_judgements": 1, "reviewer": "rv-0042", "judgements": judgements} | more
    path.write_text(json.dumps(content, indent=2), "utf-8")
    return path


def of_reviewers(folder: Path, entry_id: str) -> list[Assessment]:
    return [a for a in entry_of(folder, entry_id).assessments if a.reviewer is not None]


def test_one_judgement_after_another(repository: Path, invoke: Invoke) -> None:
    """Published versions keep their label, one reviewer alone gives none, and a judgement of ``next`` is corrected.

    One by another reviewer, or for another locale, stays.
    """

    def judge(judgement: str, reviewer: str, *more: str) -> str:
        judged = ("--judgement", judgement, "--reviewer", reviewer, *more)
        return invoke.printed("assess", "ability.deaf", *judged, "--source", repository)

    assert "counts when 2 reviewers" in judge("accepted", "rv-1", "--date", "2026-11-01")
    assert is_clean(repository)
    assert "no_data (one reviewer of 2 so far): accepted" in invoke.printed("show", "Deaf", "--source", repository)
    assert "counts when" not in judge("accepted", "rv-2")
    judge("accepted", "rv-1", "--locale", "en-GB")
    out = judge("dispreferred", "rv-1", "--comment", "I changed my mind")
    assert "ability.deaf: replaces 'accepted' of 2026-11-01, which no published version has." in out
    assert [(a.reviewer, a.locale, a.judgement) for a in of_reviewers(repository, "ability.deaf")] == [
        ("rv-2", "en-US", "accepted"),
        ("rv-1", "en-GB", "accepted"),
        ("rv-1", "en-US", "dispreferred"),
    ]
    catalog = load_catalog(repository)
    labels = {version: entry_of(catalog.at(version), "ability.deaf").preference for version in catalog.versions}
    assert labels == {"0.1.0": "no_data", "next": "polarizing"}
    assert is_clean(repository)
    invoke.printed("releases", "--freeze", "--source", repository)
    judge("polarizing", "rv-2")
    found = [a.judgement for a in of_reviewers(repository, "ability.deaf") if a.reviewer == "rv-2"]
    assert found == ["accepted", "polarizing"], "a published judgement stays"


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
        # a change of mind
        ([("accepted", "rv-1"), ("dispreferred", "rv-2"), ("dispreferred", "rv-1")], "dispreferred"),
        ([("accepted", "rv-1"), ("polarizing", "rv-2")], "polarizing"),
    ],
)
def test_preference(judged: list[tuple[str, str | None]], preference: str) -> None:
    assessments = [{"judgement": j, "reviewer": r, "source": None if r else "x", "date": "2026"} for j, r in judged]
    entry = {"id": "a.b", "text": "b", "sources": ["x"], "since": "1.0.0", "assessments": assessments}
    assert Descriptor.model_validate(entry).preference == preference


def test_the_newest_judgement_of_a_reviewer_counts_wherever_it_stands() -> None:
    newer = {"judgement": "accepted", "reviewer": "rv-1", "date": "2026", "since": "1.10.0"}
    older = {"judgement": "dispreferred", "reviewer": "rv-1", "date": "2025", "since": "1.9.0"}
    other = {"judgement": "accepted", "reviewer": "rv-2", "date": "2025"}
    entry = {"id": "a.b", "text": "b", "sources": ["x"], "since": "1.0.0"}
    for assessments in itertools.permutations((newer, older, other)):
        term = Descriptor.model_validate(entry | {"assessments": assessments})
        assert (term.at("1.9.0").preference, term.at("1.10.0").preference) == ("polarizing", "reviewed")


def test_a_file_of_judgements_is_recorded(repository: Path, tmp_path: Path, invoke: Invoke) -> None:
    judged = [{**JUDGEMENTS[1], "id": name} for name in ("ability.hard-of-hearing", "ability.deaf")]
    said = invoke.printed("assess", "--from", write_file(tmp_path, judged), "--source", repository)
    assert "2 judgements recorded; a second reviewer is needed for 1 entry." in said
    path = write_file(tmp_path, judged[1:], reviewer=None, locale="de-AT")
    said = invoke.printed("assess", "--from", path, "--reviewer", "rv-7", "--source", repository)
    assert said.endswith("1 judgement recorded.\n")
    found = of_reviewers(repository, "ability.deaf")
    assert [(a.judgement, a.reviewer, a.locale, a.comment) for a in found] == [
        ("polarizing", "rv-0042", "en-US", 'It depends: "who" asks, é.'),
        ("polarizing", "rv-7", "de-AT", 'It depends: "who" asks, é.'),
    ]
    assert is_clean(repository)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "ability.legaly-blind"}, "did you mean ability.legally-blind?"),
        ({"id": "ability.deaf"}, "ability.deaf is judged twice"),
        ({"date": "2999-01-01"}, "2999-01-01 is in the future"),
        ({"judgement": "fine"}, "judgement: it must be 'accepted', 'dispreferred' or 'polarizing'"),
        ({"comment": "x" * 2001}, "comment: it must have at most 2000 characters"),
        ({"reason": "x"}, "reason: the key is not in the schema"),
    ],
)
def test_one_wrong_judgement_refuses_the_file(
    shared_terms: Path, tmp_path: Path, invoke: Invoke, change: dict[str, str], said: str
) -> None:
    """The line is named, and nothing is written."""
    path = write_file(tmp_path, [JUDGEMENTS[1], JUDGEMENTS[2], {**JUDGEMENTS[0], **change}])
    (key,) = change
    line = max(i for i, text in enumerate(path.read_text("utf-8").split("\n"), 1) if f'"{key}": ' in text)
    errors = invoke.refused("assess", "--from", path, "--source", shared_terms, keeps=shared_terms)
    assert [text for text in (said, "nothing was recorded", f": line {line}: ") if text not in errors] == [], errors


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", [], "The file is empty"),
        ("[1, 2]", [], "is not a file of judgements"),
        ('{"judgements": []}', [], "is not a file of judgements"),
        ('{"holisticbias_judgements": 1, "judgements": []}', [], "judgements: it must have at least 1 part"),
        ('{"holisticbias_judgements": 2, "judgements": []}', [], "holisticbias_judgements: it must be 1"),
        ("{", [], "line "),
        ('{\n  "a": 1,\n  "rev', [], "line 3: A quotation mark opens here and is not closed."),
        ('{\n  "a": 1,\n  "judgements": [\n    {', [], " If the file is cut off, ask for it again."),
        ("\xff", [], "nothing was recorded"),
        (None, [], "names no reviewer: give the pseudonym with --reviewer"),
        (None, ["--reviewer", "Jane Doe"], "reviewer: it must be a pseudonym such as rv-0042"),
        ("rv-0042", ["--reviewer", "rv-1"], "is of rv-0042, and --reviewer says rv-1"),
    ],
)
def test_a_file_that_cannot_be_recorded(
    shared_terms: Path, tmp_path: Path, invoke: Invoke, content: str | None, options: list[str], said: str
) -> None:
    """A text, or judgements of a reviewer or of none."""
    path = write_file(tmp_path, JUDGEMENTS, reviewer=content)
    if content not in (None, "rv-0042"):
        path.write_bytes(content.encode("latin-1"))
    errors = invoke.refused("assess", "--from", path, *options, "--source", shared_terms)
    assert (said in errors, errors.count("\n")) == (True, 1), errors


def test_any_comment_is_kept_as_it_is(root: Path, repository: Path, tmp_path: Path, invoke: Invoke) -> None:
    """In canonical layout, with no line longer than yamllint allows, and as a text also to other readers of YAML."""
    comments = ["First line.\nSecond: with [brackets].", f"It {'really ' * 60}depends.", "yes", "2026-11-01", "# 'no'"]
    comments += [":)", "?!", "12:30"]
    for comment in comments:
        path = write_file(tmp_path, [{**JUDGEMENTS[1], "comment": comment}], reviewer=f"rv-{comments.index(comment)}")
        invoke.printed("assess", "--from", path, "--source", repository)
    assert [a.comment for a in of_reviewers(repository, "ability.deaf")] == comments
    written = (repository / "descriptors" / "ability.yaml").read_text("utf-8")
    (entry,) = (e for e in yaml.safe_load(written)["descriptors"] if e["id"] == "ability.deaf")
    assert [judgement["comment"] for judgement in entry["assessments"]] == comments
    longest = yaml.safe_load((root / ".yamllint").read_text("utf-8"))["rules"]["line-length"]["max"]
    assert max(map(len, written.split("\n"))) <= longest
    assert is_clean(repository)


def test_pseudonyms_are_new(repository: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([23, 23, 42])
    monkeypatch.setattr("secrets.randbelow", lambda _: next(drawn))
    assert invoke.printed("pseudonym", "--source", repository) == "rv-100023\n"
    judged = ["--judgement", "accepted", "--reviewer", "rv-100023", "--source", repository]
    invoke.printed("assess", "ability.deaf", *judged)
    assert invoke.printed("pseudonym", "--source", repository) == "rv-100042\n"
