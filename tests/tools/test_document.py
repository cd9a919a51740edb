"""Reading of documents: any bytes become data or findings, with their places, without an exception."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holisticbias.source.document import parse_document, read_document
from holisticbias.source.findings import offset_place
from holisticbias.source.reading_rules import MAX_BYTES, MAX_DEPTH
from holisticbias.source.text_findings import MAX_ALIKE
from holisticbias.source.yaml_columns import lines_of_texts
from processes import python

DEEP = 10_000
BOMB = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(20)
)

# the content of a file, and the rule, line and column of each finding
HOSTILE = {
    "bomb of aliases": (BOMB, [("too-many-values", 1, 10)]),
    "list in itself": (b"&a [*a, *a]", [("too-deep", 1, 1)]),
    "mapping in itself": (b"&a {x: *a, y: *a}", [("too-deep", 1, 1)]),
    "deep lists": (b"[" * DEEP, [("too-deep", 1, MAX_DEPTH + 1)]),
    "deep lists, closed": (b"[" * DEEP + b"]" * DEEP, [("too-deep", 1, MAX_DEPTH + 1)]),
    "a million lists": (b"[" * 1_000_000, [("too-deep", 1, MAX_DEPTH + 1)]),
    "deep mappings": (b"{a: " * DEEP, [("too-deep", 1, 4 * MAX_DEPTH + 1)]),
    "deep blocks on one line": (b"- " * DEEP + b"a", [("too-deep", 1, 2 * MAX_DEPTH + 1)]),
    "deep blocks": (b"".join(b" " * i + b"a:\n" for i in range(3_000)), [("too-deep", MAX_DEPTH + 1, MAX_DEPTH + 1)]),
    "deep keys": (b"? " * DEEP, [("too-deep", 1, 2 * MAX_DEPTH + 1)]),
    "two million values": (b"[" + b"a," * 2_000_000 + b"]", [("too-many-values", 1, 400_000)]),
    "byte order mark": (b"\xef\xbb\xbfa: yes\n", [("byte-order-mark", 1, 1), ("ambiguous-scalar", 1, 4)]),
    "carriage returns": (b"a: b\r\nc: no\r\n", [("line-endings", 1, 5), ("ambiguous-scalar", 2, 4)]),
    "next line in quotes": ('a: "b\x85c"\nd: no\n'.encode(), [("line-endings", 1, 6), ("ambiguous-scalar", 3, 4)]),
    "line separator in quotes": ('a: b\nc: "d\u2028e"\n'.encode(), [("line-endings", 2, 6)]),
    "paragraph separator in a comment": ("a: b # c\u2029d: e\n".encode(), [("line-endings", 1, 9)]),
    "reversed comment": (
        "a: é # b\u202ec\n# d\u200b\n".encode(),
        [("hidden-in-comment", 1, 9), ("hidden-in-comment", 2, 4)],
    ),
    "accents in a comment": ("a: b # née\t\u02bb\n".encode(), []),
    "not UTF-8": ("a: b\nc: é".encode() + b"\xff", [("not-utf8", 2, 5)]),
    "UTF-16": ("a: b\n".encode("utf-16"), [("not-utf8", 1, 1)]),
    "half a character": ("é".encode()[:1], [("not-utf8", 1, 1)]),
    "NFD": ("a: b\nc: née e\u0301\n".encode(), [("not-nfc", 2, 8)]),
    "NUL": ("a: éé\0".encode(), [("yaml-syntax", 1, 6)]),
    "tab": (b"a:\n\tb: c\n", [("yaml-tab", 2, 1)]),
    "duplicate keys": (b"a: 1\nb: 2\na: 3\n", [("duplicate-key", 3, 1)]),
    "duplicate key in a list": (b"- {a: 1, 'a': 2}\n", [("duplicate-key", 1, 10)]),
    "object": (b"a: !!python/object:os.system {b: c}\n", [("yaml-syntax", 1, 4)]),
    "set": (b"a: !!set {b, c}\n", [("yaml-syntax", 1, 4)]),
    "binary": (b"a: !!binary aGk=\n", [("yaml-syntax", 1, 4)]),
    "open bracket below many comments": (b"#\n" * 60_000 + b"a: [b\n", [("yaml-closed", 60_001, 4)]),
    "deep blocks below many comments": (b"#\n" * 60_000 + b"- " * 1_100 + b"a\n", [("too-deep", 60_001, 81)]),
    "not a number": (b"a: !!float b\n", [("ambiguous-scalar", 1, 4)]),
    "text as nothing": (b"a: !!null b\n", [("ambiguous-scalar", 1, 4)]),
    "two documents": (b"a: 1\n---\nb: 2\n", [("yaml-syntax", 2, 1)]),
    "nothing": (b"", [("yaml-syntax", 1, 1)]),
    "only comments": (b"# a\n\n", [("yaml-syntax", 1, 1)]),
    "alias to nothing": (b"a: *b\n", [("yaml-quotes", 1, 4)]),
    "unclosed quote": (b'a: "b\nc: d\n', [("yaml-closed", 1, 4)]),
}

READ = {
    "text": (b"a: b", "b"),
    "quoted": (b"a: 'no'", "no"),
    "true": (b"a: true", True),
    "false": (b"a: false", False),
    "nothing": (b"a:", None),
    "tilde": (b"a: ~", None),
    "null": (b"a: null", None),
    "number": (b"a: 12", 12),
    "negative": (b"a: -3", -3),
    "fraction": (b"a: 1.5", 1.5),
    "version": (b"a: 1.0.0", "1.0.0"),
    "date": (b"a: 2022-12-01", "2022-12-01"),
    "time": (b"a: 2022-12-01T10:00:00Z", "2022-12-01T10:00:00Z"),
    "month": (b"a: 2022-12", "2022-12"),
    "marked as text": (b"a: !!str 017", "017"),
    "letter n": (b"a: n", "n"),
    "slot": (b'a: "{noun_phrase}"', "{noun_phrase}"),
    "folded": (b"a: >-\n  b\n  c\n", "b c"),
    "accents": ("a: Māori".encode(), "Māori"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_become_findings_at_their_place(name: str) -> None:
    content, expected = HOSTILE[name]
    assert [(f.rule, f.line, f.column) for f in parse_document(content, "x.yaml").findings] == expected


@pytest.mark.parametrize("name", READ)
def test_value_is_read_as_written(name: str) -> None:
    content, expected = READ[name]
    document = parse_document(content, "x.yaml")
    assert document.findings == ()
    assert document.data == {"a": expected}
    assert type(document.data["a"]) is type(expected)


@pytest.mark.parametrize(
    "scalar",
    [
        *("yes", "Yes", "NO", "on", "OFF", "True", "FALSE", "Null", "NULL", "="),
        *("017", "0x1F", "0b11", "1_000", "190:20:30", "1:30", "1234567890123456789"),
        *("1_0.0", ".inf", "-.INF", ".nan", "190:20:30.15"),
    ],
)
def test_scalar_that_yaml_reads_in_its_own_way_is_refused_and_kept_as_text(scalar: str) -> None:
    document = parse_document(f"a: {scalar}".encode(), "x.yaml")
    assert [(f.rule, f.line, f.column) for f in document.findings] == [("ambiguous-scalar", 1, 4)]
    assert document.data == {"a": scalar}


def test_long_key_is_not_repeated_in_full() -> None:
    key = b"k" * 1_000
    (finding,) = parse_document(b"? %s\n: 1\n? %s\n: 2\n" % (key, key), "x.yaml").findings
    assert finding.rule == "duplicate-key"
    assert len(finding.message) < 200


def test_hostile_file_takes_little_memory() -> None:
    """A process limited to 600 MB reads the worst file, although composing it would take more than 1 GB."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (600_000_000, 600_000_000)); "
        "from holisticbias.source.document import parse_document; "
        "print(parse_document(b'[' + b'a,' * 2_400_000 + b']', 'x').findings[0].rule)"
    )
    assert python("-c", code).stdout == "too-many-values\n"


@pytest.mark.parametrize(("size", "rules"), [(MAX_BYTES, []), (2 * MAX_BYTES, ["file-too-large"])])
def test_a_file_of_more_than_five_megabytes_is_refused_unread(tmp_path: Path, size: int, rules: list[str]) -> None:
    (tmp_path / "x.yaml").write_bytes(b"a: ".ljust(size, b"b"))
    assert [f.rule for f in read_document(tmp_path / "x.yaml", "x.yaml").findings] == rules


@pytest.mark.parametrize(("line", "rule"), [("#e\u0301\n", "not-nfc"), ("#\u2028", "line-endings")])
def test_file_full_of_one_mistake_is_not_reported_a_million_times(line: str, rule: str) -> None:
    content = (line * 900_000 + "\na: b").encode()[:MAX_BYTES]
    assert [f.rule for f in parse_document(content, "x.yaml").findings if f.rule == rule] == [rule] * MAX_ALIKE


def test_folder_pipe_device_and_what_is_missing_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "device.yaml").symlink_to("/dev/zero")
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    for name in ("folder.yaml", "pipe.yaml", "device.yaml", "dangling.yaml", "missing.yaml"):
        assert [f.rule for f in read_document(tmp_path / name, name).findings] == ["unreadable"]


YAMLISH = st.text(st.sampled_from(list("ab01:-?[]{},&*!|>'\"%@`#\n \t~=<._\u00e9\u0301\u2028\ufeff\0")), max_size=60)


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=60), YAMLISH.map(lambda text: text.encode("utf-8"))))
@example(b"? ? a")
@example(b"!<tag:yaml.org,2002:float> a")
@example(b"\xef\xbb\xbf\xef\xbb\xbf")
def test_any_bytes_become_data_or_findings(content: bytes) -> None:
    document = parse_document(content, "x.yaml")
    json.dumps(document.data, allow_nan=False)  # plain values only
    lines = content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").splitlines() or [""]
    for finding in document.findings:
        assert 1 <= finding.line <= len(lines) + 1
        assert finding.column >= 1


def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "terms", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.yaml").write_text("secret: 1\n", "utf-8")
    (root / "own.yaml").write_text("own: 1\n", "utf-8")
    (root / "inside.yaml").symlink_to(root / "own.yaml")
    (root / "link.yaml").symlink_to(outside / "secret.yaml")
    (root / "folder").symlink_to(outside)
    for name in ("link.yaml", "folder/secret.yaml"):
        document = read_document(root / name, name, root)
        assert [f.rule for f in document.findings] == ["unreadable"]
        assert document.data is None
    assert read_document(root / "inside.yaml", "inside.yaml", root).data == {"own": 1}


def test_an_empty_file_needs_keys() -> None:
    (finding,) = parse_document(b"# a comment\n", "a.yaml").findings
    assert (finding.message, finding.fix) == ("The file is empty.", "write its keys and values, or remove the file.")


@given(st.text("ab\n", min_size=1), st.data())
def test_the_place_of_an_offset_is_its_line_and_column(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text) - 1))
    line, column = offset_place(text, offset)
    lines = text.splitlines(keepends=True)
    assert len("".join(lines[: line - 1])) + column - 1 == offset
    assert 1 <= column <= len(lines[line - 1])


def test_lines_of_texts_are_those_below_their_key() -> None:
    text = "one: |\n  text\n\n  more\ntwo: 1\n  - key: >-\n      deep\n    other: 1\nthree: |\nfour: 1"
    assert lines_of_texts(text.split("\n")) == {2, 3, 4, 7}


def test_place_of_a_value_and_of_what_is_missing() -> None:
    document = parse_document(b"a:\n  - b: 1\n    c: 2\n  - {b: 3}\n", "x.yaml")
    assert document.place(("a", 0, "c")) == (3, 8)
    assert document.place(("a", 1, "b")) == (4, 9)
    assert document.place(("a", 1, "missing")) == (4, 5)
    assert document.place(("missing",)) == (1, 1)
