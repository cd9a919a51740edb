"""Rules that are checked while a file is read: its bytes, its YAML and its schema."""

import re

from holisticbias.source.findings import Rule

MAX_BYTES = 5_000_000
MAX_VALUES = 100_000
MAX_DEPTH = 40

# printable according to Unicode, but invisible: fillers, variation selectors, the blank Braille pattern
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")

UNREADABLE = Rule(
    "unreadable",
    asks="Every file can be read, and lies in the folder of terms.",
    fix="give the file read permission, or put a file in place of the link, or remove it",
)
FILE_TOO_LARGE = Rule(
    "file-too-large",
    asks=f"A file has at most {MAX_BYTES // 1_000_000} MB.",
    fix="split the file",
)
NEW_ENTRY_NAME = Rule(
    "new-entry-name",
    asks="A file of new entries lies in the folder new itself, and its name ends in .yaml.",
    fix="rename the file for its entry, as in new/ability.with-a-stoma.yaml, without a slash in the name; move a "
    "version or a subset out of new",
)
NEW_ENTRY_GROUP = Rule(
    "new-entry-group",
    asks="A file of new entries names the axis, gender, family, collection or domain of a file that exists.",
    fix="correct the name; a new axis, family or collection first gets a file, as CONTRIBUTING.md describes",
)
NOT_UTF8 = Rule(
    "not-utf8",
    asks="Files are encoded in UTF-8.",
    fix="save the file as UTF-8",
)
BYTE_ORDER_MARK = Rule(
    "byte-order-mark",
    asks="A file has no byte order mark.",
    fix="save the file as UTF-8 without a byte order mark",
)
LINE_ENDINGS = Rule(
    "line-endings",
    asks="Lines end with a line feed (LF).",
    fix="save the file with Unix line endings (LF)",
    why="YAML 1.1 and YAML 1.2 disagree on which other characters end a line, so programs would read different texts.",
)
NOT_NFC = Rule(
    "not-nfc",
    asks="Text is in Unicode normal form C.",
    fix="write the letter and its accent as one character",
    why="A letter followed by a separate accent looks like the accented letter, but a model reads it as another text.",
)
HIDDEN_IN_COMMENT = Rule(
    "hidden-in-comment",
    asks="Comments have no invisible characters.",
    fix="remove the character",
    why="An invisible character in a comment can reverse the line that a reviewer sees, or hide a part of it.",
)
YAML_SYNTAX = Rule(
    "yaml-syntax",
    asks="Files are plain YAML, without tags.",
    fix="compare the line and the one above it with the other entries: columns, dashes, colons, quotes",
)
YAML_CONFLICT = Rule(
    "yaml-conflict",
    asks="A file has no marks of a merge conflict.",
    fix="keep the lines that belong in the file, and delete the lines with <<<<<<<, ======= and >>>>>>>",
    why="Git writes both versions of a place that two people changed between these marks. If both added an entry, "
    "keep both.",
)
YAML_TAB = Rule(
    "yaml-tab",
    asks="Spaces indent lines and separate a key from its value; tabs do not.",
    fix="write spaces in place of the tab",
    why="Programs disagree on how wide a tab is, and some refuse it after a colon.",
)
YAML_SPACE = Rule(
    "yaml-space",
    asks="A key is followed by a colon and a space, and a dash by a space.",
    fix="write an ordinary space after the colon or the dash",
    why="Without the space, YAML reads `text:kind` as one text and not as a key with a value.",
)
YAML_QUOTES = Rule(
    "yaml-quotes",
    asks="A value that has `: ` or ` #` in it, or begins with a mark that means something in YAML, is in quotes.",
    fix="put the value in double quotes",
    why="Marks with a meaning at the start of a value are `@`, `%`, `&`, `*`, `!`, `[`, `{`, `>` and `|`. In a text "
    "between double quotes, write `'` as it is; a text that has a double quotation mark goes between single quotes.",
)
YAML_COLUMN = Rule(
    "yaml-column",
    asks="The dashes of a list are in one column, and so are the keys of an entry.",
    fix="put as many spaces before the line as before the lines like it",
    why="The column says what belongs together: an entry begins with two spaces and a dash, and its keys are below its "
    "first key, after four spaces.",
)
YAML_CLOSED = Rule(
    "yaml-closed",
    asks="Every quotation mark and bracket that opens is closed.",
    fix="close the quotation mark or the bracket",
)
DUPLICATE_KEY = Rule(
    "duplicate-key",
    asks="A mapping has each key once.",
    fix="remove one of the two",
    why="Most YAML parsers keep the last of two equal keys and drop the first without a message.",
)
AMBIGUOUS_SCALAR = Rule(
    "ambiguous-scalar",
    asks="A value means the same in YAML 1.1 and YAML 1.2.",
    fix="quote the value",
    why="YAML 1.1 reads `no` as false, `017` as 15 and `1:30` as 90.",
)
TOO_MANY_VALUES = Rule(
    "too-many-values",
    asks=f"Aliases expand to at most {MAX_VALUES:,} values.",
    fix="write the values out, without aliases",
    why="A file of a few lines can expand to more values than fit in memory.",
)
TOO_DEEP = Rule(
    "too-deep",
    asks=f"Values are nested at most {MAX_DEPTH} levels deep.",
    fix="remove the nesting",
)
LOCK_SYNTAX = Rule(
    "lock-syntax",
    asks="A lock is JSON.",
    fix="restore the lock from the main branch",
)
SCHEMA = Rule(
    "schema",
    asks="Files follow the schema.",
    fix="write the value as in the other entries of the file",
)
UNKNOWN_KEY = Rule(
    "unknown-key",
    asks="Every key is in the schema.",
    fix="correct or remove the key",
)
MISSING_KEY = Rule(
    "missing-key",
    asks="Every required key is present.",
    fix="add the key, as in the other entries; if the line belongs to the entry above, remove its dash",
)
