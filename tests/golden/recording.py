"""Record each case as lines of text, and compare them.

    PYTHONPATH=tests/support python -m tests.golden.recording

writes them.
"""

import hashlib
import json
import math
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import yaml

from holisticbias.cli import BUILT_IN, GROUP, holisticbias, main
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.results.registry import kept_figures
from holisticbias_eval.results.run import read_run
from tests.golden import drawn, shown
from tests.golden.bad_tables import BAD
from tests.golden.inputs import write_inputs


def read_cases() -> dict[str, dict[str, Any]]:
    """The recorded cases by kind and name, with the shared words written out."""
    text = Path(__file__).with_name("cases.yaml").read_text("utf-8")
    for name, words in yaml.safe_load(text)["words"].items():
        text = text.replace(f"{{{name}}}", words)
    cases: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return cases


RECORDED = Path(__file__).parent / "recorded"
CASES = read_cases()
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
CHANGING = ("versions", "machine", "probe", "duration")
"""Parts of a signature that depend on the machine."""
ROW = re.compile(r"Row #\d+: ")
"""Arrow names the row or not, as its threads come."""
SAID_OF_MACHINES = ("torch", "Python", "measured on", "seconds", "- Machine:", "- Exactness:")
"""Words of lines of a report that depend on the machine."""
TOLERANCE = 1e-5


def record(name: str, folder: Path) -> list[str]:
    """The lines of a case; ``folder`` has ``in`` and ``out``."""
    kind, _, rest = name.partition("/")
    return [line.replace("\n", "\\n") for line in _KINDS[kind][0](rest, folder)]


def names() -> tuple[str, ...]:
    """All cases, runs first, because comparing needs them."""
    return tuple(f"{kind}/{name}" for kind, (_, found) in _KINDS.items() for name in found)


def _called(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Run a command; its exit code, its output and its messages."""
    out, errors = TextIOWrapper(BytesIO(), "utf-8"), TextIOWrapper(BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(errors):
        code = main(list(arguments))
    for stream in (out, errors):
        stream.seek(0)
    return code, out.read(), errors.read()


def _succeeds(arguments: Sequence[str]) -> str:
    code, out, errors = _called(arguments)
    assert code == 0, f"{' '.join(arguments)} ended with {code}: {errors[-500:]}"
    return out


def differences(recorded: Sequence[str], lines: Sequence[str]) -> list[str]:
    """The lines that differ, where numbers may differ by rounding."""
    first, second = (dict(map(_split, enumerate(found))) for found in (recorded, lines))
    changed = [key for key in first.keys() & second.keys() if not _equal(first[key], second[key])]
    gone = [f"- {key} {first[key]}" for key in first if key not in second]
    added = [f"+ {key} {second[key]}" for key in second if key not in first]
    return [*gone, *added, *(f"! {key}: {first[key]} -> {second[key]}" for key in changed)]


def _split(numbered: tuple[int, str]) -> tuple[str, str]:
    index, line = numbered
    key, tab, rest = line.partition("\t")
    return (key, rest) if tab else (f"line {index}", line)


def _equal(first: str, second: str) -> bool:
    one, other = NUMBER.findall(first), NUMBER.findall(second)
    if NUMBER.sub("#", first) != NUMBER.sub("#", second) or len(one) != len(other):
        return False
    pairs = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in zip(one, other, strict=True)]
    return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in pairs)


def _arguments(command: str, folder: Path, out: Path) -> list[str]:
    return [*command.replace("{in}", str(folder / "in")).split(), "--out", str(out)]


def _run(name: str, folder: Path) -> Iterator[str]:
    out, store = folder / "out" / name, folder / "store" / name
    os.environ["HOLISTICBIAS_CACHE"] = str(store)
    _succeeds(_arguments(CASES["runs"][name], folder, out))
    result = json.loads((out / "result.json").read_text("utf-8"))
    yield from _signature("signature", {k: v for k, v in result["signature"].items() if k not in CHANGING}, folder)
    yield from map(_figure, result["figures"])
    for path in sorted(out.glob("*.parquet")):
        yield from _table(path)
    for path in sorted(store.rglob("*.parquet")):
        yield f"stored {path.parent.relative_to(store)}\t"
    yield from _report(out, folder)
    figures = Figures(read_run(out).result.figures)
    for measure in dict.fromkeys(figure.measure for figure in figures):
        kept = Counter(figure.name for figure in kept_figures(figures, measure))
        yield f"registry {measure}\t{dict(kept)}"


def _measured(name: str, folder: Path) -> Iterator[str]:
    out = folder / "out" / name
    _succeeds(_arguments(CASES["tables"][name], folder, out))
    for path in sorted(out.iterdir()):
        if path.suffix == ".parquet":
            yield from _table(path)
        elif path.suffix == ".json":
            content = json.loads(path.read_text("utf-8"))
            figures = content if isinstance(content, list) else content.get("figures", [])
            yield from map(_figure, figures)


def _compared(name: str, folder: Path) -> Iterator[str]:
    first, second = (folder / "out" / run for run in CASES["compared"][name])
    out = folder / "out" / f"{name}.md"
    _succeeds(["compare", str(first), str(second), "--format", "md", "--out", str(out)])
    yield from _lines(out.read_text("utf-8"), folder)


def _report(run: Path, folder: Path) -> Iterator[str]:
    out = run.with_suffix(".md")
    _succeeds(["report", str(run), "--format", "md", "--out", str(out)])
    yield from _lines(out.read_text("utf-8"), folder)


def _lines(text: str, folder: Path) -> Iterator[str]:
    seen: dict[str, int] = {}
    for line in text.splitlines():
        if not line.strip() or any(word in line for word in SAID_OF_MACHINES):
            continue
        plain = line.replace(str(folder), "FOLDER").replace(str(folder).replace("_", "\\_"), "FOLDER")
        key = NUMBER.sub("#", plain)
        seen[key] = seen.get(key, 0) + 1
        yield f"report {hashlib.sha256(key.encode()).hexdigest()[:8]} {seen[key]}\t{plain}"


def _signature(path: str, value: Any, folder: Path) -> Iterator[str]:
    if isinstance(value, dict):
        for key in sorted(value):
            if key not in CHANGING and "precision" not in key and "error" not in key:
                yield from _signature(f"{path}.{key}", value[key], folder)
    else:
        yield f"{path}\t{str(value).replace(str(folder), 'FOLDER')}"


def _figure(figure: dict[str, Any]) -> str:
    keys = ",".join(f"{key}={value}" for key, value in sorted(figure.get("keys", {}).items()))
    rest = {k: v for k, v in figure.items() if k not in ("measure", "name", "keys") and v is not None}
    values = " ".join(f"{key}={_number(value)}" for key, value in sorted(rest.items()))
    return f"figure {figure['measure']} {figure['name']} {keys}\t{values}"


def _number(value: Any) -> str:
    if isinstance(value, dict):
        return "[" + " ".join(_number(value[key]) for key in sorted(value)) + "]"
    return repr(value)


def _table(path: Path) -> Iterator[str]:
    table = pq.ParquetFile(path).read()
    yield f"table {path.name}\t{table.num_rows} rows"
    for name in table.column_names:
        column = table[name]
        if pa.types.is_floating(column.type):
            total = pc.sum(column).as_py()
            yield f"column {path.name} {name}\t{column.type} nulls {column.null_count} sum {total!r}"
        else:
            digest = hashlib.sha256(repr(column.to_pylist()).encode()).hexdigest()[:16]
            yield f"column {path.name} {name}\tnulls {column.null_count} {digest}"


def _output(name: str, folder: Path) -> Iterator[str]:
    yield from _succeeds(CASES["commands"][name].split()).splitlines()


def _help(name: str, folder: Path) -> Iterator[str]:
    command = holisticbias.get_command(click.Context(holisticbias), name)
    commands = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    for one in commands:
        one._help_option = None  # click keeps it, as another test made it
    yield from _succeeds([name, "--help"]).splitlines()
    for verb in sorted(command.commands) if isinstance(command, click.Group) else ():
        yield from _succeeds([name, verb, "--help"]).splitlines()


def _bad(name: str, folder: Path) -> Iterator[str]:
    """Read a bad table: the exit code and the message; a table that is accepted is not resampled."""
    options = ["--format", "json", *(["--no-trust"] if MEASURES[name].resamples else [])]
    for kind, file_name, content in BAD[name]:
        path = folder / "in" / file_name
        path.write_bytes(content)
        out = folder / "out" / "bad" / name
        try:
            with patch("holisticbias_eval.statistics.groups.pairs.permutations_for", lambda items: 1):
                code, _, errors = _called(["measure", name, str(path), *options, "--out", str(out)])
        except Exception as error:  # noqa: BLE001 - a fault that is recorded
            code, errors = 3, f"traceback {type(error).__name__}"
        errors = ROW.sub("", errors)
        yield f"{kind}\t{code} {errors.replace(str(folder), 'FOLDER').strip() if code else ''}"


def _refused(name: str, folder: Path) -> Iterator[str]:
    """Make each mistake: what is said of it, in one line, and nothing is written."""
    out = folder / "out" / "refused"
    for command in CASES["refused"][name]:
        options = [] if "--out" in command or command.startswith("measures") else ["--out", str(out)]
        code, said, errors = _called([*shlex.split(command.replace("{in}", str(folder / "in"))), *options])
        assert (code, said) == (2, ""), command
        assert not out.exists(), command
        yield f"{command}\t{errors.rstrip().splitlines()[-1].replace(str(folder), 'FOLDER')}"


def _printed(name: str, folder: Path) -> Iterator[str]:
    """Measure a table in a narrow terminal: what is printed, without the blanks that fill a line."""
    command = CASES["tables"][name].replace("{in}", str(folder / "in"))
    os.environ["COLUMNS"] = "60"
    try:
        printed = _succeeds(command.split())
    finally:
        del os.environ["COLUMNS"]
    yield from (line.rstrip() for line in printed.splitlines())


_KINDS: Mapping[str, tuple[Callable[[str, Path], Iterator[str]], Iterable[str]]] = {
    "run": (_run, CASES["runs"]),
    "table": (_measured, CASES["tables"]),
    "compare": (_compared, CASES["compared"]),
    "output": (_output, CASES["commands"]),
    "help": (_help, sorted({*BUILT_IN, *entry_points(group=GROUP).names})),
    "bad": (_bad, BAD),
    "refused": (_refused, CASES["refused"]),
    "printed": (_printed, CASES["tables"]),
    "shown": (lambda name, _: shown.lines_of(name), shown.SHOWN),
    "drawn": (lambda name, folder: drawn.DRAWN[name](folder), drawn.DRAWN),
}
"""Each kind of case: its lines, and the names of its cases."""


def write(chosen: Sequence[str]) -> None:
    """Record cases, by default all."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "in").mkdir()
        write_inputs(folder / "in")
        for name in names():
            is_chosen = not chosen or any(name.startswith(word) for word in chosen)
            if is_chosen or name.startswith("run/"):  # others need the runs
                lines = record(name, folder)
            if is_chosen:
                path = RECORDED / f"{name}.txt"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
