"""Read MultiWOZ 2.0 and 2.1 in their published form, and draw candidates of dialogue state tracking.

A turn has the state of the user's wishes; a candidate asks whether a slot has a value after the turn.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias.inputs import files_sha256
from holisticbias_eval.errors import DialoguesError
from holisticbias_eval.tables.content import text_lines
from holisticbias_eval.tables.rows import read_json

DATA = "data.json"
LISTS = {"validation": "valListFile", "test": "testListFile"}
COLUMNS = ("candidate_id", "dialogue", "turn", "slot", "value", "history", "label")
_SCHEMA = pa.schema([(name, pa.int64() if name in ("turn", "label") else pa.string()) for name in COLUMNS])
_ENDINGS = (".json", ".txt")
_UNSET = ("", "not mentioned", "none", "not given")


@dataclass(frozen=True, slots=True)
class Turn:
    """A user's turn: what was said so far, the turn included, and the state after it, values by ``domain-slot``."""

    dialogue: str
    number: int
    history: str
    state: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Dialogues:
    """The turns of the training part and of the test part, and the digest of the files.

    Validation dialogues are in neither; ``held_out`` counts them.
    """

    train: tuple[Turn, ...]
    test: tuple[Turn, ...]
    held_out: int
    sha256: str


def read_multiwoz(folder: Path) -> Dialogues:
    """Read ``data.json``, ``valListFile`` and ``testListFile`` (``.json`` or ``.txt``) of a folder.

    Raises ``DialoguesError`` with what is missing or not in the published form, and ``TableError`` for a list that
    cannot be read.
    """
    path = folder / DATA
    content = _read(path)
    files = {part: _list_file(folder, name) for part, name in LISTS.items()}
    lists = {part: dict.fromkeys(filter(None, map(str.strip, text_lines(file)))) for part, file in files.items()}
    parts: dict[str, list[Turn]] = {"train": [], "test": []}
    held_out = 0
    for name, dialogue in content.items():
        part = next((part for part, names in lists.items() if name in names), "train")
        held_out += part == "validation"
        parts.get(part, []).extend(_turns(path, name, dialogue))
    for part, turns in parts.items():
        if not any(turn.state for turn in turns):
            raise DialoguesError(f"{path}: no {part} dialogue has a state with a value: is the folder complete?")
    for part, names in lists.items():
        last = next(reversed(names), None)
        if last is not None and last not in content:
            raise DialoguesError(f"{files[part]} ends with {last[:80]!r}, which is not in {DATA}: the list is cut")
    return Dialogues(tuple(parts["train"]), tuple(parts["test"]), held_out, files_sha256([path, *files.values()]))


def _read(path: Path) -> dict[str, Any]:
    content = read_json(path, DialoguesError, "unpack MultiWOZ 2.0 or 2.1 there")
    if not isinstance(content, dict):
        raise DialoguesError(f"{path} is not an object of dialogues by name, as in MultiWOZ 2.0 and 2.1")
    return content


def _list_file(folder: Path, name: str) -> Path:
    paths = [folder / f"{name}{ending}" for ending in _ENDINGS]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise DialoguesError(f"{folder} has no {' and no '.join(p.name for p in paths)}: it lists the dialogues")
    return path


def _turns(path: Path, name: str, dialogue: Any) -> Iterator[Turn]:
    """The user's turns: entries at even places, each with the state in the entry that follows."""
    log = dialogue.get("log") if isinstance(dialogue, dict) else None
    if not isinstance(log, list) or not all(isinstance(entry, dict) and "text" in entry for entry in log):
        raise DialoguesError(f"{path}: {name[:80]!r} has no log of turns with text, as in MultiWOZ 2.0 and 2.1")
    said = [" ".join(str(entry["text"]).split()) for entry in log]
    for number in range(0, len(log) - 1, 2):
        spoken = (f"{'user' if i % 2 == 0 else 'system'}: {text}" for i, text in enumerate(said[: number + 1]))
        yield Turn(name, number, "\n".join(spoken), _state(log[number + 1].get("metadata")))


def _state(metadata: Any) -> dict[str, str]:
    """The values that are set, by domain and slot; bookings that were made are not wishes."""
    found = {}
    for domain, parts in metadata.items() if isinstance(metadata, dict) else ():
        for part in ("book", "semi"):
            slots = parts.get(part) if isinstance(parts, dict) else None
            for slot, value in (slots or {}).items() if isinstance(slots, dict) else ():
                text = _value(value)
                if text.lower() not in _UNSET:
                    found[f"{domain}-{slot.strip().lower()}"] = text
    return found


def _value(value: Any) -> str:
    """A value as text; of alternatives the first."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value and isinstance(value[0], str) else ""
    return " ".join(value.split("|")[0].split()) if isinstance(value, str) else ""


def slot_values(turns: Sequence[Turn]) -> dict[str, tuple[str, ...]]:
    """The values of each slot in these turns, sorted."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for turn in turns:
        for slot, value in turn.state.items():
            found[slot].add(value)
    return {slot: tuple(sorted(values)) for slot, values in sorted(found.items())}


def make_candidates(turns: Sequence[Turn], known: Mapping[str, Sequence[str]], most: int, seed: int) -> pa.Table:
    """Draw at most ``most`` candidates: values of the state with label 1, and for each another value with label 0.

    The other value is of the same slot, drawn from ``known`` with equal chances. A slot with one known value gives no
    candidate. The columns are ``COLUMNS``; the draw depends on ``seed`` and the turns alone.
    """
    rng = np.random.default_rng(seed)
    places = [(turn, slot, value) for turn in turns for slot, value in turn.state.items()]
    rows: list[tuple[object, ...]] = []
    for place in rng.permutation(len(places)).tolist():
        turn, slot, value = places[place]
        others = [other for other in known.get(slot, ()) if other.lower() != value.lower()]
        if others and len(rows) + 2 <= most:
            other = others[int(rng.integers(len(others)))]
            rows += _rows(turn, slot, ((value, 1), (other, 0)))
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    return pa.table(dict(zip(COLUMNS, map(list, columns), strict=True)), schema=_SCHEMA)


def _rows(turn: Turn, slot: str, values: Sequence[tuple[str, int]]) -> Iterator[tuple[object, ...]]:
    for value, label in values:
        name = f"{turn.dialogue}/{turn.number}/{slot}={value}"
        yield name, turn.dialogue, turn.number, slot, value, turn.history, label


def candidate_text(history: str, slot: str, value: str) -> str:
    """The text of a candidate for a model: the dialogue so far, then the slot and its value."""
    return f"{history}\n{slot.replace('-', ' ')}: {value}"
