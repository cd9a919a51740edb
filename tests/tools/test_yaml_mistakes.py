"""Mistakes that people make when they edit a file by hand: each has a message in plain words, at its place."""

import re

import pytest
import yaml

from folders import ROOT
from holisticbias.source.document import parse_document
from holisticbias.source.findings import Finding
from holisticbias.source.folder import SourceFile
from holisticbias.source.records import parse_files

HEAD = """axis: ability
label: Ability
buckets:
  - auditory
  - after_the_noun
descriptors:
  - id: ability.deaf
    text: Deaf
    bucket: auditory
    sources: [smith-2022]
    since: 1.0.0
    history:
      - {until: 3.0.0, text: deaf, reason: 'as people write it'}

"""
ENTRY = """  - id: ability.with-vertigo
    text: with vertigo
    bucket: after_the_noun
    position: after
    sources: [contributors]
    since: 3.1.0
"""
PARSER = re.compile(r"mapping|expected|indicator|token|Not YAML|scanning|block|scalar|tuple|string", re.IGNORECASE)


MISTAKES = yaml.safe_load((ROOT / "tests" / "data" / "mistakes.yaml").read_text("utf-8"))


def changed(old: str, new: str) -> str:
    assert ENTRY.count(old) == 1
    return ENTRY.replace(old, new)


def mistaken(move: int = 0, old: str = "", new: str = "", text: str = "") -> str:
    """The entry with its lines moved to the right, or to the left; with other words; or in another text."""
    if move:
        return "".join(" " * move + line if move > 0 else line[-move:] for line in ENTRY.splitlines(keepends=True))
    return text.replace("{ENTRY}", ENTRY) if text else changed(old, new)


def findings(entry: str, before: str = HEAD, after: str = "") -> list[Finding]:
    document = parse_document((before + entry + after).encode(), "descriptors/ability.yaml")
    return list(parse_files([SourceFile("descriptors", document)])[1])


def shown(finding: Finding) -> str:
    return f"{finding.rule} {finding.line - HEAD.count(chr(10))}:{finding.column}"


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_has_a_message_in_plain_words_at_its_place(name: str) -> None:
    change = dict(MISTAKES[name])
    place, said, fix = (change.pop(key) for key in ("at", "said", "fix"))
    entry, rule = mistaken(**change), place.split()[0]
    found = findings(entry)
    first = next(f for f in found if f.rule == rule)
    assert (shown(first), said in first.message, fix in first.fix) == (place, True, True)
    assert not PARSER.search(first.message + first.fix)
    assert {f.rule for f in found} <= {rule, "missing-key"}
    assert len({f.line for f in found}) <= 2
    if rule.startswith("yaml-"):  # between two entries it is found too
        found = findings(entry, after="\n" + ENTRY.replace("vertigo", "tinnitus"))
        assert place in map(shown, found)


def test_what_yaml_reads_is_not_a_mistake() -> None:
    for entry in (
        ENTRY,
        changed("with vertigo", '"with vertigo: severe"'),
        changed("with vertigo", "with vertigo # a comment"),
        f"  # a comment with a tab\t\n{ENTRY}",
        changed("with vertigo", "with\n      vertigo"),
        changed("sources: [contributors]", "sources:\n    - contributors"),
        changed("sources: [contributors]", "sources:\n      - contributors"),
        changed("sources: [contributors]", "sources: [contributors,\n      smith-2022]"),
        changed("with vertigo", ">-\n      with\n      vertigo: and more"),
    ):
        assert findings(entry) == [], entry
