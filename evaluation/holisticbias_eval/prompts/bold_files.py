"""Read BOLD's own files of prompts and of Wikipedia's sentences (Dhamala et al. 2021)."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from holisticbias.inputs import file_sha256, files_sha256
from holisticbias.terminal import cut
from holisticbias_eval.errors import SelectionError, TableError
from holisticbias_eval.models.store.keys import counted
from holisticbias_eval.prompts.collections import CollectionPrompts, newest_words, prompt_table
from holisticbias_eval.tables.files import is_table_name, open_table
from holisticbias_eval.tables.rows import read_json

PROMPTS, SENTENCES = "_prompt.json", "_wiki.json"
SHORT = 3
"""Prompts of this many words or fewer are faulty: the rule is five words and the term (section 3 of the paper)."""
EMPTY = "empty"
FAULTS = ("short", EMPTY, "repeated")
FORM = "{group: {page: [prompt, ...]}}"
ROW_COLUMNS = ("domain", "name", "category", "prompts")
"""The columns of BOLD's tables on the Hub; a row is a page."""
_PAGES = TypeAdapter(dict[str, dict[str, list[str]]])
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_SHOWN = 80  # characters of a group or a page in a message
_READ = 64 * 1024 * 1024  # bytes: the largest file of BOLD has three million


@dataclass(frozen=True, slots=True)
class BoldPrompt:
    """One prompt with the page that it is from, and the sentence of the page, null if it is not known."""

    domain: str
    group: str
    page: str
    prompt: str
    sentence: str | None


def read_bold_folder(folder: Path, *, keep_faulty: bool) -> CollectionPrompts:
    """The prompts in BOLD's files ``DOMAIN_prompt.json``, with the sentences of ``wikipedia/DOMAIN_wiki.json``.

    The files may be in a folder ``prompts``, and a folder with BOLD's tables is read as well. The folder ``wikipedia``
    stands beside the files or beside their folder; without it there are no sentences.
    Raises ``SelectionError`` for a file that is not in BOLD's form, and for a folder without prompts.
    """
    files = sorted(folder.glob(f"*{PROMPTS}")) or sorted((folder / "prompts").glob(f"*{PROMPTS}"))
    tables = files if files and is_bold_table(files[0]) else () if files else _tables(folder)
    if tables:
        return read_bold_tables(tables, folder.resolve().name, keep_faulty=keep_faulty)
    if not files:
        raise SelectionError(
            f"{folder} holds no prompts: it needs BOLD's files DOMAIN{PROMPTS} or its tables; name your own table"
        )
    rows = [row for file in files for row in _read_domain(file)]
    return bold_prompts(rows, folder.resolve().name, _about(files), keep_faulty=keep_faulty)


def read_bold_tables(files: Sequence[Path], name: str, *, keep_faulty: bool) -> CollectionPrompts:
    """The prompts in tables of BOLD's form on the Hub; raises ``SelectionError`` and ``TableError``."""
    rows = [row for file in files for row in bold_rows(file, str(file))]
    return bold_prompts(rows, name, _about(files), keep_faulty=keep_faulty)


def _about(files: Sequence[Path]) -> Mapping[str, str]:
    digest = file_sha256(files[0]) if len(files) == 1 else files_sha256(files)
    return {"prompts_files": ", ".join(file.name for file in files), "prompts_files_sha256": digest}


def bold_rows(file: Path, where: str) -> list[BoldPrompt]:
    """The prompts in a table of BOLD's form on the Hub: ``domain, name, category, prompts`` and maybe ``wikipedia``.

    ``where`` names the rows in errors. Raises ``SelectionError`` for rows of another form, and ``TableError``.
    """
    opened = open_table(file)
    if not {*ROW_COLUMNS} <= {*opened.names}:
        raise SelectionError(f"{where} is not in BOLD's form: its columns are {', '.join(ROW_COLUMNS)}")
    rows = opened.read((), [name for name in (*ROW_COLUMNS, "wikipedia") if name in opened.names]).to_pylist()
    return [prompt for number, row in enumerate(rows, 1) for prompt in _row_prompts(row, f"{where}: row {number}")]


def bold_prompts(
    rows: Sequence[BoldPrompt], name: str, about: Mapping[str, str], *, keep_faulty: bool
) -> CollectionPrompts:
    """BOLD's prompts as a collection: the item is the page, the subject its title.

    The words for the groups are those of the newest data's collection ``bold``.
    Empty prompts are always left out, because a model can continue none; without ``keep_faulty`` so are
    prompts of at most ``SHORT`` words and repeated prompts of a domain.
    """
    faults, pages = [*_faults(rows)], [f"{row.domain}/{row.group}/{row.page}" for row in rows]
    numbers = counted(pages)
    kept = [i for i, found in enumerate(faults) if EMPTY not in found and (keep_faulty or not found)]
    if not kept:
        raise SelectionError(f"{name} has no prompts")
    chosen = [rows[i] for i in kept]
    table = prompt_table(
        {
            "prompt_id": [f"{pages[i]}/{numbers[i] + 1}" for i in kept],
            "item": [pages[i] for i in kept],
            "domain": [row.domain for row in chosen],
            "group": [row.group for row in chosen],
            "subject": [subject_of(row.page) for row in chosen],
            "prompt": [row.prompt.rstrip() for row in chosen],
            "human": [[row.sentence] if row.sentence else [] for row in chosen],
            "fault": [", ".join(faults[i]) or None for i in kept],
        }
    )
    counts = Counter(fault for found in faults for fault in found)
    words = newest_words()
    known = [_group_id(row.group, words.forms) for row in chosen]
    settings = {
        **about,
        **(words.settings if any(known) else {}),
        "prompts_faulty": "kept, except empty ones" if keep_faulty else "left out",
        **{f"prompts_{fault}": str(counts[fault]) for fault in FAULTS},
    }
    left = "the empty ones are left out" if keep_faulty else "all of these are left out"
    note = (
        f"{name}: {len(rows):,} prompts, of which {counts['short']:,} have at most {SHORT} words ({counts[EMPTY]:,} of "
        f"them none) and {counts['repeated']:,} repeat a prompt of their domain; {left}"
    )
    return CollectionPrompts(name, words.add_to(table, known) if any(known) else table, settings, (note,))


def _group_id(group: str, known: Mapping[str, object]) -> str | None:
    """The id of a group of the collection ``bold`` by BOLD's name for it: ``Asian_Americans``, ``left-wing``."""
    name = f"bold.{group.lower().replace('_', '-')}"
    return name if name in known else None


def subject_of(page: str) -> str:
    """The name or term that a page is about: its title without underscores and brackets."""
    return _BRACKETS.sub("", page.replace("_", " ")).strip() or page


def _faults(rows: Sequence[BoldPrompt]) -> Iterator[tuple[str, ...]]:
    """The faults of each prompt, in the order of ``FAULTS``; the first of equal prompts is not a repetition."""
    before = counted((row.domain, row.prompt) for row in rows)
    for row, equal in zip(rows, before, strict=True):
        words = len(row.prompt.split())
        found = {"short": words <= SHORT, EMPTY: not words, "repeated": equal > 0}
        yield tuple(name for name in FAULTS if found[name])


def _tables(folder: Path) -> list[Path]:
    """The tables of BOLD's form on the Hub in a folder and in the folders in it."""
    found = sorted(file for pattern in ("*", "*/*") for file in folder.glob(pattern) if is_table_name(file))
    return [file for file in found if is_bold_table(file)]


def is_bold_table(file: Path) -> bool:
    """Whether a file is a table of BOLD's form on the Hub."""
    try:
        return {*ROW_COLUMNS} <= {*open_table(file).names}
    except TableError:
        return False


def _read_domain(file: Path) -> Iterator[BoldPrompt]:
    domain = file.name.removesuffix(PROMPTS)
    places = (file.parent / "wikipedia", file.parent.parent / "wikipedia")
    beside = next((p / f"{domain}{SENTENCES}" for p in places if (p / f"{domain}{SENTENCES}").is_file()), None)
    sentences = _read_file(beside) if beside else {}
    for group, pages in _read_file(file).items():
        for page, prompts in pages.items():
            known = sentences.get(group, {}).get(page, [])
            if beside and len(known) != len(prompts):
                where = f"{beside}: {cut(group, _SHOWN)}, {cut(page, _SHOWN)}"
                raise SelectionError(
                    f"{where}: {len(known):,} sentences for {len(prompts):,} prompts of {file.name}: take both from "
                    "the same copy of BOLD"
                )
            for number, prompt in enumerate(prompts):
                yield BoldPrompt(domain, group, page, prompt, known[number] if beside else None)


def _read_file(file: Path) -> dict[str, dict[str, list[str]]]:
    content = read_json(file, SelectionError, "take it from a copy of BOLD", _READ)
    try:
        return _PAGES.validate_python(content)
    except ValidationError as error:
        raise SelectionError(f"{file} is not in BOLD's form, {FORM}") from error


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _row_prompts(row: Mapping[str, Any], where: str) -> Iterator[BoldPrompt]:
    named = [row.get(key) for key in ("domain", "category", "name")]
    prompts, sentences = row.get("prompts"), row.get("wikipedia")
    if not all(isinstance(value, str) and value for value in named) or not _is_texts(prompts):
        raise SelectionError(
            f"{where} is not in BOLD's form: it needs the texts domain, name, category and a list prompts"
        )
    if sentences is not None and (not _is_texts(sentences) or len(sentences) != len(prompts or ())):
        raise SelectionError(f"{where}: wikipedia is not a list with one text for each prompt")
    domain, group, page = (str(value) for value in named)
    for number, prompt in enumerate(prompts or ()):
        yield BoldPrompt(domain, group, page, prompt, sentences[number] if sentences else None)
