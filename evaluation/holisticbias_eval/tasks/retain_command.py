"""Run a user's command for a model, and read the numbers that it reports."""

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from holisticbias_eval.errors import RetainError
from holisticbias_eval.tables.rows import parse_json

MODEL, OUT = "{model}", "{out}"
_LINES, _WIDTH = 5, 300
_LARGEST = 64 << 20
_MOST, _LONGEST = 10_000, 200
_ERROR, _ALL = "_stderr", "none"


@dataclass(frozen=True, slots=True)
class Reported:
    """A number that a command reports: its task and metric, its standard error, and the number of items."""

    task: str
    metric: str
    value: float
    error: float | None = None
    items: int | None = None


def run_retain_command(command: str, model: str) -> tuple[Reported, ...]:
    """Run a command and return the numbers that it reports.

    ``{model}`` in the command becomes the model's folder or name, ``{out}`` a path that the command may write a file
    or folder to; no shell is used. The numbers are a JSON object: that of ``{out}`` (the newest ``.json`` file with
    numbers, if it is a folder), else the last line that the command prints. The object has numbers, or objects of
    numbers by task, or is a results file of lm-evaluation-harness. Raises ``RetainError`` with the exit code and the
    last lines if the command fails, and if it reports no number.
    """
    words = split_command(command)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        words = [word.replace(MODEL, model).replace(OUT, str(out)) for word in words]
        with (Path(folder) / "printed").open("w+b") as printed, (Path(folder) / "errors").open("w+b") as errors:
            code = _run(words, printed, errors)
            if code:
                last = "; ".join(_last_lines(errors) or _last_lines(printed)) or "it printed nothing"
                raise RetainError(f"the command {words[0]} ended with exit code {code}: {last}")
            found = _read_out(out)
            line = "" if found is not None else "".join(_last_lines(printed, 1, _LARGEST))
    if found is None:
        found = _as_object(line)
    numbers = tuple(reported(found)) if found is not None else ()
    if not numbers:
        raise RetainError(
            f"the command {words[0]} reports no number: its last line, or the file {OUT}, must be JSON with numbers"
        )
    return numbers[:_MOST]


def split_command(command: str) -> list[str]:
    """The words of a command, quoted as in a shell; raises ``RetainError`` if that fails or ``{model}`` is missing."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise RetainError(f"the command cannot be split into words: {error}") from error
    if not any(MODEL in word for word in words):
        raise RetainError(f"the command does not name the model: write {MODEL} where its folder belongs")
    return words


def _run(words: list[str], printed: IO[bytes], errors: IO[bytes]) -> int:
    try:
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=printed, stderr=errors, check=False)  # noqa: S603 - asked for
    except (OSError, ValueError) as error:
        raise RetainError(f"the command {words[0]} cannot be started: {error}") from error
    return ended.returncode


def _last_lines(file: IO[bytes], count: int = _LINES, width: int = _WIDTH) -> list[str]:
    """The last lines that are not empty, each cut to ``width`` characters."""
    size = file.seek(0, 2)
    file.seek(max(0, size - count * max(width, 4096)))
    lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    return [line[:width] for line in lines if line][-count:]


def _read_out(out: Path) -> Mapping[str, Any] | None:
    """The object in a file, or in the newest JSON file of a folder that has numbers."""
    paths = [out] if out.is_file() else sorted(out.rglob("*.json"), key=lambda p: p.stat().st_mtime, reverse=True)
    for path in paths:
        if path.is_file() and path.stat().st_size <= _LARGEST:
            found = _as_object(path.read_text("utf-8-sig", "replace"))
            if found is not None and any(True for _ in reported(found)):
                return found
    return None


def _as_object(text: str) -> Mapping[str, Any] | None:
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def reported(content: Mapping[str, Any]) -> Iterator[Reported]:
    """The numbers of an object: of ``results`` by task and metric, of objects by task, or by metric alone."""
    results = content.get("results")
    by_task = results if isinstance(results, dict) else content
    counts = content.get("n-samples") if isinstance(results, dict) else None
    yield from _of_task("", by_task, None)
    for task, values in by_task.items():
        if isinstance(values, dict):
            counted = counts.get(task) if isinstance(counts, dict) else None
            items = counted.get("effective") if isinstance(counted, dict) else None
            yield from _of_task(task, values, items if isinstance(items, int) else None)


def _of_task(task: str, values: Mapping[str, Any], items: int | None) -> Iterator[Reported]:
    """Metrics ``NAME`` or ``NAME,FILTER``, each with its standard error ``NAME_stderr`` or ``NAME_stderr,FILTER``."""
    for key, value in values.items():
        metric, _, chosen = key.partition(",")
        if metric.endswith(_ERROR) or not _is_number(value) or metric in ("", "sample_len"):
            continue
        error = values.get(f"{metric}{_ERROR},{chosen}" if chosen else f"{metric}{_ERROR}")
        named = f"{metric} ({chosen})" if chosen and (chosen != _ALL or metric in values) else metric
        known = float(error) if error is not None and _is_number(error) else None
        yield Reported(task[:_LONGEST], named[:_LONGEST], float(value), known, items)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
