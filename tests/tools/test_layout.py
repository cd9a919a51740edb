"""Canonical layout of the files of terms."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from folders import replaced
from holisticbias.source.folder import term_files
from holisticbias.source.layout import format_text
from holisticbias.terms.file_kinds import place_among
from invoking import Invoke

LONGEST_LINE = 200  # of .yamllint
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=30)
nouns = st.lists(st.just("noun.kid"), max_size=30)
wordings = st.fixed_dictionaries({"until": st.just("2.0.0"), "reason": words}, optional={"not_with": nouns})
history, summary = st.lists(wordings, max_size=2), st.text("ab \n", max_size=40)
entries = st.fixed_dictionaries(
    {"text": words, "id": st.from_regex(r"example\.[a-z]{1,8}", fullmatch=True)},
    optional={"not_with": nouns, "since": st.just("1.0.0"), "history": history, "summary": summary},
)


@settings(deadline=None)
@given(st.lists(entries, max_size=3), st.booleans(), st.sampled_from([None, "'", '"', "|", ">"]))
def test_formatting_changes_no_value_and_is_idempotent(
    made: list[dict[str, object]], flow: bool, style: str | None
) -> None:
    data = {"label": "x", "axis": "example", "descriptors": made}
    text = yaml.safe_dump(data, default_flow_style=flow, sort_keys=False, allow_unicode=True, default_style=style)
    formatted = format_text(text, "descriptors")
    assert yaml.safe_load(formatted) == data
    assert format_text(formatted, "descriptors") == formatted


@pytest.mark.parametrize(("nouns", "one_line"), [(3, True), (10, True), (14, False)])
def test_an_earlier_wording_that_is_too_long_is_folded(nouns: int, one_line: bool) -> None:
    listed = ", ".join(["noun.kid"] * nouns)
    wording = f"      - {{until: 2.0.0, not_with: [{listed}], reason: some nouns contradict it}}"
    entry = "  - id: a.b\n    text: b\n    sources: [x]\n    since: 1.0.0\n    history:\n"
    text = f"axis: a\nlabel: A\ndescriptors:\n{entry}{wording}\n"
    formatted = format_text(text, "descriptors")
    assert (wording in formatted) == one_line
    assert max(map(len, formatted.split("\n"))) <= LONGEST_LINE
    assert yaml.safe_load(formatted) == yaml.safe_load(text)


@pytest.mark.parametrize("name", ["releases/1.0.0.lock.json", "descriptors", "docs/x.yaml", "descriptors/x.txt"])
def test_fmt_refuses_what_is_not_a_file_of_terms(terms_copy: Path, invoke: Invoke, name: str) -> None:
    path = terms_copy / name
    if path.suffix in (".yaml", ".txt"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("version: 3\na: b\n", "utf-8")
    said = "is not a YAML file in a folder of terms, such as descriptors/ability.yaml"
    assert invoke.refused("fmt", path, keeps=terms_copy) == f"holisticbias: {path} {said}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "the file is not a mapping of keys to values"),
        ("axis: age\ndate: 2026-02-30\n", "the file cannot be formatted: day "),
        ("<<: a\n", "the file cannot be formatted: while constructing a mapping in "),
    ],
)
def test_fmt_names_the_file_that_it_cannot_read(terms_copy: Path, invoke: Invoke, text: str, said: str) -> None:
    path = terms_copy / "descriptors" / "age.yaml"
    path.write_text(text, "utf-8")
    assert f"age.yaml: {said}" in invoke.refused("fmt", path, keeps=terms_copy)


def test_a_day_that_no_month_has_is_a_finding(terms_copy: Path, invoke: Invoke) -> None:
    replaced(terms_copy / "releases" / "next.yaml", "version: next\n", "version: next\ndate: 2026-02-30\n")
    assert "next.yaml:3:7 error schema date: day " in invoke("validate", terms_copy)[1]


def test_fmt_check_and_write(terms_copy: Path, invoke: Invoke) -> None:
    path = terms_copy / "descriptors" / "nonce.yaml"
    for other in {*term_files(terms_copy)} - {path, terms_copy / "nouns" / "male.yaml"}:
        other.unlink()
    canonical = path.read_text("utf-8")
    path.write_text(canonical.replace("\n\n", "\n\n\n"), "utf-8")
    said = f"{path} is not in canonical layout: run holisticbias fmt\n"
    assert invoke("fmt", "--check", "--source", terms_copy) == (1, said, "")
    assert "--source has no effect with PATHS" in invoke.refused("fmt", path, "--source", terms_copy)
    assert invoke("fmt", path)[0] == 0
    assert path.read_text("utf-8") == canonical
    killed = path.with_name(f".{path.name}.holisticbias-{'0' * 16}")
    killed.mkdir()
    (killed / "lock").touch()
    assert invoke("fmt", path) == (0, "", "")
    assert not killed.exists(), "it would be committed"
    path.write_bytes(b"a: [\n")
    assert invoke("fmt", path)[0] == 2
    assert path.read_bytes() == b"a: [\n"


@pytest.mark.parametrize(
    ("buckets", "bucket", "place"), [("", "a", 0), ("aab", "a", 2), ("abab", "a", 3), ("ab", "b", 2), ("ab", "c", 2)]
)
def test_a_new_entry_comes_after_the_last_one_of_its_bucket(buckets: str, bucket: str, place: int) -> None:
    entries = [{"bucket": other} for other in buckets]
    assert place_among(entries, {"bucket": bucket}, dict.get) == place
