"""Find the prompts that a user names: a file, a folder of BOLD's files, or a dataset on the Hugging Face Hub."""

import re
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa

from holisticbias.inputs import file_sha256
from holisticbias.release.hub import hub_errors, hub_library
from holisticbias.terms.prompt_entries import joined
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import SelectionError, TableError
from holisticbias_eval.models.generation.requests import Responses
from holisticbias_eval.prompts import bold_files
from holisticbias_eval.prompts.collections import (
    CALIBRATION,
    GROUPED,
    TYPES,
    CollectionPrompts,
    calibration_prompts,
    prompt_table,
    refuse_names,
    repeat_prompts,
)
from holisticbias_eval.settings import listed
from holisticbias_eval.tables.content import text_lines
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import OpenedTable, is_table_name, table_stem, table_suffix
from holisticbias_eval.tables.forms import Form, columns

COLLECTED = "prompts.parquet"
"""The table in a folder that ``holisticbias corpus collect`` wrote."""
_TEXT = pa.large_string()
MADE = ("response_id", "sample", *(name for name, _ in Responses.FIELDS))


PROMPT_FILE = Form("prompts", (Field("prompt", "text", need=True, filled=True), Field("persona", "text")), others=True)


def read_prompts(path: Path, samples: int, limit: int | None = None) -> pa.Table:
    """Read prompts, at most ``limit``: a text file with one prompt per line, or a table with a column ``prompt``.

    A prompt may be an object with a ``text``. Each prompt stands ``samples`` times, with ``sample`` counting equal
    prompts. Other columns are kept; a column ``persona`` is read before the prompt. Raises ``EvaluationError`` if the
    file is unusable.
    """
    path = prompts_file(path)
    if table_suffix(path) == ".txt":
        table = pa.table({"prompt": pa.array([line.strip() for line in text_lines(path) if line.strip()], _TEXT)})
    else:
        table = PROMPT_FILE.read(path)
    taken = [name for name in MADE if name in table.column_names]
    if taken:
        raise SelectionError(f"{path} has a column {taken[0]}, which the responses have: rename it")
    if not table.num_rows:
        raise SelectionError(f"{path} has no prompts")
    table = table[:limit]
    return repeat_prompts(table, [str(row) for row in range(1, table.num_rows + 1)], samples)


def prompts_file(path: Path) -> Path:
    """The table of prompts in a folder that ``holisticbias corpus collect`` wrote, or the file itself."""
    return path / COLLECTED if (path / COLLECTED).is_file() else path


_ON_HUB = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(@(?P<revision>[\w./-]+))?", re.ASCII)
_DATA = ("*.json", "*.jsonl", "*.parquet")


HUMAN = Form("people's continuations", columns("text", "prompt", "continuation", need=True))


FORM = Form(
    "prompts about groups",
    (*columns("text", "prompt", need=True, filled=True), *GROUPED, Field("continuation", "text")),
    (refuse_names,),
    blank_is_missing=True,
)


def is_named(name: str) -> bool:
    """Whether a name is of prompts of no release: of a file, a folder, a dataset on the Hub, or the calibration."""
    path = Path(name)
    is_file = path.exists() or is_table_name(path) or table_suffix(path) == ".txt"
    return is_file or "/" in name or name == CALIBRATION


def is_bold(name: str) -> bool:
    """Whether a name is of prompts in BOLD's form: of a folder, a table, or a dataset on the Hub."""
    path = Path(name)
    if path.is_file():
        return bold_files.is_bold_table(path)
    return "/" in name if not path.is_dir() else prompts_file(path) == path


def read_source(name: str, *, keep_faulty: bool) -> CollectionPrompts:
    """Read prompts from a file, a folder, ``organisation/name[@REVISION]`` on the Hub, or those of the calibration.

    A folder has BOLD's files, or the files of `holisticbias corpus collect`.
    ``keep_faulty`` is for BOLD's prompts; see ``bold_files``. Raises ``EvaluationError`` if they are unusable.
    """
    if name == CALIBRATION:
        return calibration_prompts()
    path, file = Path(name), prompts_file(Path(name))
    if file.is_dir():
        return bold_files.read_bold_folder(file, keep_faulty=keep_faulty)
    if file.is_file():
        opened, name = FORM.open(file), path.resolve().name if path.is_dir() else table_stem(path)
        if {*bold_files.ROW_COLUMNS} <= {*opened.names}:
            return bold_files.read_bold_tables([file], name, keep_faulty=keep_faulty)
        return _table_prompts(name, file, opened)
    address = _ON_HUB.fullmatch(name)
    if address is None or name.startswith("."):
        raise SelectionError(f"{name}: there is no such file or folder of prompts")
    return _hub_prompts(address["repo"], address["revision"], keep_faulty=keep_faulty)


def add_human(prompts: CollectionPrompts, file: Path) -> CollectionPrompts:
    """Add people's continuations from a table with ``prompt`` and ``continuation``; a prompt may have several.

    Raises ``SelectionError`` if no prompt of the table is among the prompts.
    """
    table = HUMAN.read(file)
    known: dict[str, list[str]] = {}
    for prompt, more in zip(table["prompt"].to_pylist(), table["continuation"].to_pylist(), strict=True):
        if prompt and _has_words(more):
            known.setdefault(_key(prompt), []).append(more)
    asked = prompts.table["prompt"].to_pylist()
    human = [[joined(prompt, more) for more in known.get(_key(prompt), ())] for prompt in asked]
    with_text = sum(map(bool, human))
    if not with_text:
        raise SelectionError(
            f"{file}: none of its prompts with a continuation is among the prompts of {prompts.name}: they must be the "
            "same text"
        )
    made = with_columns(prompts.table, {"human": pa.array(human, pa.list_(_TEXT))})
    settings = {**prompts.settings, "human_file": file.name, "human_file_sha256": file_sha256(file)}
    note = f"{file}: people's continuations of {with_text:,} of {len(asked):,} prompts"
    written, own = sum(map(len, known.values())), {*map(_key, asked)}
    unused = {
        "of other prompts": sum(len(found) for prompt, found in known.items() if prompt not in own),
        "without a prompt or a text": table.num_rows - written,
    }
    reasons = [f"{count:,} {why}" for why, count in unused.items() if count]
    note += f"; rows that are not used: {listed(reasons)}" if reasons else ""
    before = sum(map(len, prompts.table["human"].to_pylist()))
    note += f"; continuations of the prompts themselves that are not used: {before:,}" if before else ""
    return CollectionPrompts(prompts.name, made, settings, (*prompts.notes, note), prompts.release)


def _has_words(text: str | None) -> TypeGuard[str]:
    return bool(text and text.strip())


def _key(prompt: str) -> str:
    return " ".join(prompt.split())


def _table_prompts(name: str, path: Path, opened: OpenedTable) -> CollectionPrompts:
    """Prompts of a table with ``prompt, group`` and what else ``FORM`` has."""
    table = FORM.read(opened)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    numbers = [str(row) for row in range(1, table.num_rows + 1)]
    prompts = [text.rstrip() for text in columns["prompt"]]
    given = columns.get("continuation", [None] * len(prompts))
    human = [[joined(prompt, more)] if _has_words(more) else [] for prompt, more in zip(prompts, given, strict=True)]
    items = [item or number for item, number in zip(columns.get("item", numbers), numbers, strict=True)]
    kept: dict[str, Any] = {name: columns[name] for name in ("domain", "subject") if name in columns}
    made = prompt_table(
        {"prompt_id": numbers, "item": items, "group": columns["group"], "prompt": prompts, "human": human, **kept}
    )
    made = with_columns(made, table.select([name for name in TYPES if name in columns]))
    about = {"prompts_files": path.name, "prompts_files_sha256": file_sha256(path)}
    return CollectionPrompts(name, made, about)


def _hub_prompts(repo: str, revision: str | None, *, keep_faulty: bool) -> CollectionPrompts:
    """Prompts of a dataset on the Hub in the form of BOLD's, at a commit that the signature names."""
    hub = hub_library()
    with hub_errors(repo):
        try:
            folder = hub.snapshot_download(repo, repo_type="dataset", revision=revision, allow_patterns=list(_DATA))
        except hub.errors.RevisionNotFoundError as error:
            raise SelectionError(
                f"{repo} on the Hub has no revision {revision}: name a commit, a branch or a tag"
            ) from error
        except hub.errors.LocalEntryNotFoundError as error:
            message = f"{repo} is not complete in the cache, and the Hub cannot be reached to download it"
            raise SelectionError(message) from error
    files = sorted(file for pattern in _DATA for file in Path(folder).rglob(pattern))
    if not files:
        raise SelectionError(f"{repo} on the Hub has no {', '.join(_DATA)}: it is not a dataset of prompts")
    try:
        rows = [row for file in files for row in bold_files.bold_rows(file, f"{repo}, {file.name}")]
    except TableError as error:
        raise SelectionError(f"{repo} on the Hub: {str(error).replace(f'{folder}/', '')}") from error
    about = {"prompts_hub": repo, "prompts_revision": Path(folder).name}
    return bold_files.bold_prompts(rows, repo.rpartition("/")[2], about, keep_faulty=keep_faulty)
