"""Mistakes that people make when they edit a file by hand: each has a message in plain words, at its place."""

import re

import pytest

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


def moved(spaces: int) -> str:
    """The entry with its lines moved to the right, or to the left."""
    lines = ENTRY.split("\n")
    return "\n".join(" " * spaces + line if spaces > 0 else line[-spaces:] for line in lines)


def changed(old: str, new: str) -> str:
    assert ENTRY.count(old) == 1
    return ENTRY.replace(old, new)


# the entry as it is written, the rule, line and column of the finding, and what its message and its fix say
MISTAKES = {
    "list in column 1": (moved(-2), "yaml-column", 1, 1, "dash is in column 1", "put 2 spaces before the dash"),
    "list in column 2": (moved(-1), "yaml-column", 1, 2, "dashes above it are in column 3", "put 2 spaces"),
    "list in column 4": (moved(1), "yaml-column", 1, 4, "dash is in column 4", "put 2 spaces"),
    "list in column 5": (moved(2), "yaml-column", 1, 5, "dash is in column 5", "put 2 spaces"),
    "no space after text": (changed("text: ", "text:"), "yaml-space", 2, 9, "after 'text:'", "text: with vertigo"),
    "no space after id": (changed("id: ", "id:"), "yaml-space", 1, 7, "after 'id:'", "id: ability.with-vertigo"),
    "no space after since": (changed("since: ", "since:"), "yaml-space", 6, 10, "after 'since:'", "since: 3.1.0"),
    "no space after the dash": (changed("- id", "-id"), "yaml-space", 1, 3, "after the dash", "write: - id: "),
    "equals sign": (changed("text:", "text ="), "yaml-space", 2, 9, "'=' in place of ':'", "text: with vertigo"),
    "wide colon": (changed("text:", "text\uff1a"), "yaml-space", 2, 9, "in place of ':'", "text: with vertigo"),
    "no colon": (changed("position: after", "position after"), "yaml-space", 4, 13, "no colon", "position: after"),
    "no-break space": (changed("text: ", "text:\u00a0"), "yaml-space", 2, 10, "U+00A0", "an ordinary space"),
    "no-break indentation": (changed("    text", "\u00a0   text"), "yaml-space", 2, 1, "U+00A0", "an ordinary space"),
    "tab as indentation": (changed("    text", "\ttext"), "yaml-tab", 2, 1, "tab before the first word", "spaces"),
    "tab after a colon": (changed("text: ", "text:\t"), "yaml-tab", 2, 10, "tab after the colon", "spaces"),
    "tab at the end": (changed("with vertigo", "with vertigo\t"), "yaml-tab", 2, 23, "at the end", "spaces"),
    "conflict": (f"<<<<<<< main\n{ENTRY}=======\n{ENTRY}>>>>>>> a\n", "yaml-conflict", 1, 1, "'<<<<<<<'", "delete the"),
    "mark left in": (f"{ENTRY}>>>>>>> patch-1\n", "yaml-conflict", 7, 1, "merge conflict", "<<<<<<<"),
    "colon in the text": (
        changed("with vertigo", "with vertigo: severe"), "yaml-quotes", 2, 23, "colon followed by a space",
        'text: "with vertigo: severe"',
    ),
    "colon at the end": (changed("with vertigo", "with vertigo:"), "yaml-quotes", 2, 23, "ends with a colon", '"with'),
    "number sign": (changed("with vertigo", "with #vertigo"), "yaml-quotes", 2, 16, "as a comment", '"with #vertigo"'),
    **{
        f"text begins with {mark}": (
            changed("text: with ", f"text: {mark}"), "yaml-quotes", 2, 11, f"'{mark.strip()}'",
            f'text: "{mark}vertigo"' if mark != "*" else "in quotes",
        )
        for mark in ("@", "`", "%", "*", "- ", "? ", "> ", "| ", "&")
    },
    **{
        f"no colon below {text}": (
            changed("with vertigo", text).replace("bucket:", "bucket"), "yaml-space", 3 + text.count("\n"), 11,
            "no colon", "bucket: after_the_noun",
        )
        for text in (
            *(f"{mark}\n      with vertigo" for mark in (">", "|", ">-", "|-", ">+", "|+")),
            *('"with vertigo"', '"with vertigo" # new', "with vertigo\n    # new"),
        )
    },
    "text begins with !": (changed("with ", "!"), "yaml-quotes", 2, 11, "'!vertigo' as a type", "in quotes"),
    "slot": (changed("with vertigo", "{noun_phrase} is."), "yaml-quotes", 2, 11, "begins with '{'", '"{noun_phrase}'),
    "quotes in quotes": (changed("with vertigo", '"with "vertigo""'), "yaml-quotes", 2, 11, 'has " in it', "'with"),
    "apostrophe": (changed("with vertigo", "'Meniere's'"), "yaml-quotes", 2, 11, "has ' in it", 'text: "Meniere\'s"'),
    "open quote": (changed("with vertigo", '"with vertigo'), "yaml-closed", 2, 11, "not closed", '"with vertigo"'),
    "open bracket": (changed("contributors]", "contributors"), "yaml-closed", 5, 14, "A bracket is", "[contributors]"),
    "open brace": (changed("[contributors]", "{contributors"), "yaml-closed", 5, 14, "A brace is", "{contributors}"),
    "open quote in a list": (
        changed("[contributors]", '["contributors]'), "yaml-closed", 5, 15, "A quotation mark opens here", "quotation",
    ),
    "open brace in a list": (changed("[contributors]", "[{a: b]"), "yaml-closed", 5, 15, "A bracket or", "commas"),
    "nothing between commas": (changed("[contributors]", "[a, , b]"), "yaml-syntax", 5, 18, "no value", "write one"),
    "first key with @": (changed("id: ability.", "id: @"), "yaml-quotes", 1, 9, "'@'", 'quotes: id: "@with'),
    "apostrophe in the first key": (changed("id: ability.", "id: 'a'"), "yaml-quotes", 1, 9, "has ' in", "write: id: "),
    "key too deep": (changed("    bucket", "      bucket"), "yaml-column", 3, 7, "are in column 5", "put 4"),
    "first key too deep": (changed("    text", "      text"), "yaml-column", 2, 7, "'text' is in column 7", "put 4"),
    "key not deep enough": (changed("    bucket", "   bucket"), "yaml-column", 3, 4, "is in column 4", "put 4 spaces"),
    "key below the dash": (changed("    bucket", "  bucket"), "yaml-column", 3, 3, "is in column 3", "put 4 spaces"),
    "key in column 1": (changed("    bucket", "bucket"), "yaml-column", 3, 1, "is in column 1", "put 4 spaces"),
    "list below a key": (
        changed("sources: [contributors]", "sources:\n   - contributors"), "yaml-column", 6, 4,
        "not below the key of its list", "put 6 spaces",
    ),
    "a sentence": (f"Please add this.\n{ENTRY}", "yaml-syntax", 1, 1, "neither a key", "delete it"),
    "comment of other languages": (f"// new\n{ENTRY}", "yaml-syntax", 1, 1, "neither a key", "write '# ' before it"),
    "text on two lines": (changed("with vertigo", "with\nvertigo"), "yaml-syntax", 3, 1, "neither a key", "line above"),
    "Markdown": (f"```yaml\n{ENTRY}```\n", "yaml-syntax", 1, 1, "a mark of Markdown", "delete the line"),
    "end of a file": (f"...\n{ENTRY}", "yaml-syntax", 1, 1, "ends the file", "delete the line"),
    "two files": (f"---\n{ENTRY}", "yaml-syntax", 1, 1, "ends the file", "delete the line"),
    "JSON": ('{"id": "ability.with-vertigo"}\n', "yaml-syntax", 1, 1, "between braces", "'- id: ...'"),
    "no dash": (changed("- id", "  id"), "duplicate-key", 1, 5, "without a dash", "a dash and a space before 'id'"),
    "dash on a key": (changed("    text", "  - text"), "missing-key", 1, 5, "is missing", "remove its dash"),
    "key twice": (changed("bucket: after_the_noun", "text: dizzy"), "duplicate-key", 3, 5, "twice", "remove one"),
    "misspelled key": (changed("sources", "source"), "unknown-key", 5, 13, "'source' is not", "write 'sources'"),
    "capital key": (changed("text", "Text"), "unknown-key", 2, 11, "'Text' is not", "write 'text' in place of 'Text'"),
    "no value": (changed("text: with vertigo", "text:"), "schema", 2, 10, "there is no value", "a value after 'text:'"),
    "number": (changed("with vertigo", "50"), "schema", 2, 11, "it must be a text", 'text: "50"'),
    "word for true": (changed("with vertigo", "no"), "ambiguous-scalar", 2, 11, "'no'", "quote the value"),
    "list without brackets": (changed("[contributors]", "contributors"), "schema", 5, 14, "a list", "[contributors]"),
    "round brackets": (changed("[contributors]", "(contributors)"), "schema", 5, 14, "a list", "[contributors]"),
    "address as a source": (changed("[contributors]", "[https://a.org/b]"), "schema", 5, 15, "an id", "sources.yaml"),
    "id with a capital": (changed("with-v", "With-V"), "schema", 1, 9, "an id", "write: id: ability.with-vertigo"),
    "id with a space": (changed("with-v", "with v"), "schema", 1, 9, "an id", "write: id: ability.with-vertigo"),
    "short version": (changed("3.1.0", "3.1"), "schema", 6, 12, "the value is 3.1", "write next, or three numbers"),
    "version with v": (changed("3.1.0", "v3.1.0"), "schema", 6, 12, "three numbers", "write: since: 3.1.0"),
    "position in words": (changed("n: after", "n: after the noun"), "schema", 4, 15, "must be", "position: after"),
    "bucket with spaces": (changed("after_the", "after the"), "schema", 3, 13, "underscores", "after_the_noun"),
}  # fmt: skip


def findings(entry: str, before: str = HEAD, after: str = "") -> list[Finding]:
    document = parse_document((before + entry + after).encode(), "descriptors/ability.yaml")
    return list(parse_files([SourceFile("descriptors", document)])[1])


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_has_a_message_in_plain_words_at_its_place(name: str) -> None:
    entry, rule, line, column, said, fix = MISTAKES[name]
    found = findings(entry)
    lines = HEAD.count("\n")
    assert [(f.rule, f.line - lines, f.column) for f in found if f.rule == rule][:1] == [(rule, line, column)]
    first = next(f for f in found if f.rule == rule)
    assert said in first.message
    assert fix in first.fix
    assert not PARSER.search(first.message + first.fix)
    assert {f.rule for f in found} <= {rule, "missing-key"}
    assert len({f.line for f in found}) <= 2


@pytest.mark.parametrize("name", [n for n, m in MISTAKES.items() if m[1].startswith("yaml-")])
def test_mistake_between_two_entries_is_found_where_it_is(name: str) -> None:
    entry, rule, line, column, *_ = MISTAKES[name]
    found = findings(entry, after="\n" + ENTRY.replace("vertigo", "tinnitus"))
    assert (rule, line, column) in [(f.rule, f.line - HEAD.count("\n"), f.column) for f in found]


@pytest.mark.parametrize(
    "entry",
    [
        ENTRY,
        changed("with vertigo", '"with vertigo: severe"'),
        changed("with vertigo", "with vertigo # a comment"),
        f"  # a comment with a tab\t\n{ENTRY}",
        changed("with vertigo", "with\n      vertigo"),
        changed("sources: [contributors]", "sources:\n    - contributors"),
        changed("sources: [contributors]", "sources:\n      - contributors"),
        changed("sources: [contributors]", "sources: [contributors,\n      smith-2022]"),
        changed("with vertigo", ">-\n      with\n      vertigo: and more"),
    ],
)
def test_what_yaml_reads_is_not_a_mistake(entry: str) -> None:
    assert findings(entry) == []
