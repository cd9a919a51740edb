"""Judgements of reviewers: a file of many, corrections, near ids, pseudonyms."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from holisticbias.contribute.judging import near_ids
from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.folder import term_files
from holisticbias.source.layout import stale_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Judged

Invoke = Callable[..., tuple[int, str, str]]
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
    entry: Judged = next(e for e in load_catalog(folder).judged if e.id == entry_id)
    return [a for a in entry.assessments if a.reviewer is not None]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_of_judgements_is_recorded(terms_copy: Path, tmp_path: Path, invoke: Invoke) -> None:
    path = write_file(tmp_path, JUDGEMENTS)
    code, out, err = invoke("assess", "--from", path, "--source", terms_copy)
    assert (code, err) == (0, "")
    assert "3 judgements recorded; 2 of these entries wait for a second reviewer." in out
    (judged,) = of_reviewers(terms_copy, "ability.deaf")
    assert (judged.judgement, judged.reviewer, judged.comment) == (
        "polarizing",
        "rv-0042",
        'It depends: "who" asks, é.',
    )
    assert (validate_paths([terms_copy]), stale_files(term_files(terms_copy))) == ((), ())


def test_a_file_without_a_pseudonym_gets_that_of_the_option(terms_copy: Path, tmp_path: Path, invoke: Invoke) -> None:
    path = write_file(tmp_path, JUDGEMENTS, reviewer=None, locale="de-AT")
    code, _, err = invoke("assess", "--from", path, "--source", terms_copy)
    assert (code, "names no reviewer: give the pseudonym with --reviewer" in err) == (2, True)
    assert invoke("assess", "--from", path, "--reviewer", "rv-7", "--source", terms_copy)[0] == 0
    assert [(a.reviewer, a.locale) for a in of_reviewers(terms_copy, "age.elderly")] == [("rv-7", "de-AT")]


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
    terms_copy: Path, tmp_path: Path, invoke: Invoke, change: dict[str, str], said: str
) -> None:
    """The line is named, and nothing is written."""
    before = contents(terms_copy)
    path = write_file(tmp_path, [JUDGEMENTS[1], JUDGEMENTS[2], {**JUDGEMENTS[0], **change}])
    (key,) = change
    line = max(i for i, text in enumerate(path.read_text("utf-8").split("\n"), 1) if f'"{key}": ' in text)
    code, _, err = invoke("assess", "--from", path, "--source", terms_copy)
    assert (code, said in err, "nothing was recorded" in err) == (2, True, True), err
    assert f": line {line}: " in err
    assert contents(terms_copy) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "The file is empty"),
        (b"[1, 2]", "is not a file of judgements"),
        (b'{"judgements": []}', "is not a file of judgements"),
        (b'{"holisticbias_judgements": 1, "judgements": []}', "judgements: it must have at least 1 part"),
        (b'{"holisticbias_judgements": 2, "judgements": []}', "holisticbias_judgements: it must be 1"),
        (b"{", "line "),
        (b"\xff\xfe", "nothing was recorded"),
    ],
)
def test_a_file_of_another_kind(terms_copy: Path, tmp_path: Path, invoke: Invoke, content: bytes, said: str) -> None:
    path = tmp_path / "judgements.json"
    path.write_bytes(content)
    code, _, err = invoke("assess", "--from", path, "--source", terms_copy)
    assert (code, said in err, err.count("\n")) == (2, True, 1), err


@pytest.mark.parametrize(
    "comment", ["First line.\nSecond: with [brackets].", f"It {'really ' * 60}depends.", "yes", "2026-11-01", "# 'no'"]
)
def test_any_comment_is_kept_as_it_is(
    root: Path, terms_copy: Path, tmp_path: Path, invoke: Invoke, comment: str
) -> None:
    """In canonical layout, with no line longer than yamllint allows, and as a text also to other readers of YAML."""
    path = write_file(tmp_path, [{**JUDGEMENTS[0], "comment": comment}])
    assert invoke("assess", "--from", path, "--source", terms_copy)[0] == 0
    assert [a.comment for a in of_reviewers(terms_copy, JUDGEMENTS[0]["id"])] == [comment]
    written = terms_copy / "descriptors" / "ability.yaml"
    (entry,) = (e for e in yaml.safe_load(written.read_text("utf-8"))["descriptors"] if e["id"] == JUDGEMENTS[0]["id"])
    assert [a["comment"] for a in entry["assessments"]] == [comment]
    longest = yaml.safe_load((root / ".yamllint").read_text("utf-8"))["rules"]["line-length"]["max"]
    assert max(map(len, written.read_text("utf-8").split("\n"))) <= longest
    assert (validate_paths([terms_copy]), stale_files(term_files(terms_copy))) == ((), ())


def test_a_judgement_that_is_not_published_yet_is_corrected(terms_copy: Path, invoke: Invoke) -> None:
    """One by another reviewer, or for another locale, stays."""

    def judge(judgement: str, reviewer: str, *more: str) -> str:
        code, out, err = invoke(
            "assess", "ability.deaf", "--judgement", judgement, "--reviewer", reviewer, *more, "--source", terms_copy
        )
        assert code == 0, err
        return out

    judge("accepted", "rv-1", "--date", "2026-11-01")
    judge("accepted", "rv-2")
    judge("accepted", "rv-1", "--locale", "en-GB")
    out = judge("dispreferred", "rv-1", "--comment", "I changed my mind")
    assert "ability.deaf: replaces 'accepted' of 2026-11-01, which no published version has." in out
    assert [(a.reviewer, a.locale, a.judgement) for a in of_reviewers(terms_copy, "ability.deaf")] == [
        ("rv-2", "en-US", "accepted"),
        ("rv-1", "en-GB", "accepted"),
        ("rv-1", "en-US", "dispreferred"),
    ]
    assert validate_paths([terms_copy]) == ()


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("ability.legaly-blind", "ability.legally-blind"),
        ("legally blind", "ability.legally-blind"),
        ("abilty.deaf", "ability.deaf"),
        ("age.deaf", "ability.deaf"),
    ],
)
def test_near_ids(catalog: Catalog, wanted: str, near: str) -> None:
    assert near_ids(catalog, wanted)[0] == near


def test_no_id_is_near(terms_copy: Path, invoke: Invoke) -> None:
    judged = ["--judgement", "accepted", "--reviewer", "rv-1", "--source", terms_copy]
    assert "holisticbias show TEXT prints the id of a term" in invoke("assess", "x.qqqqqqqq", *judged)[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name an entry by its ID, or a file of judgements with --from"),
        (["ability.deaf", "--from", "FILE"], "name an entry by its ID, or a file of judgements with --from"),
        (["--from", "FILE", "--judgement", "accepted"], "--judgement is for one entry"),
        (["--from", "FILE", "--reviewer", "rv-1"], "is of rv-0042, and --reviewer says rv-1"),
    ],
)
def test_options_that_do_not_go_together(
    terms_copy: Path, tmp_path: Path, invoke: Invoke, arguments: list[str], said: str
) -> None:
    path = write_file(tmp_path, JUDGEMENTS)
    code, _, err = invoke("assess", *[path if a == "FILE" else a for a in arguments], "--source", terms_copy)
    assert (code, said in err) == (2, True), err


def test_pseudonyms_are_new(terms_copy: Path, invoke: Invoke) -> None:
    code, out, _ = invoke("pseudonym", "--source", terms_copy)
    assert (code, bool(re.fullmatch(r"rv-[1-9]\d{5}\n", out))) == (0, True)
    judged = ["--judgement", "accepted", "--reviewer", out.strip(), "--source", terms_copy]
    assert invoke("assess", "ability.deaf", *judged)[0] == 0
    assert invoke("pseudonym", "--source", terms_copy)[1] != out
