"""An invented folder in the form of MultiWOZ 2.0 and 2.1."""

import json
from pathlib import Path
from typing import Any

AREAS = ("blick", "stad", "mell")


def turn(text: str, state: dict[str, Any] | None = None) -> dict[str, Any]:
    """An entry of the log; those of the system have the state."""
    return {"text": text, "metadata": state or {}, "dialog_act": {}, "span_info": []}


def state(area: str, day: str = "") -> dict[str, Any]:
    """A state as it is published: every domain has its bookings and its wishes."""
    return {
        "taxi": {"book": {"booked": []}, "semi": {"leaveAt": "", "destination": "not mentioned"}},
        "hotel": {
            "book": {"booked": [{"name": "dax house", "reference": "ABC"}], "day": day, "people": ""},
            "semi": {"area": area, "name": "none", "type": "hotel|inn"},
        },
    }


def dialogue(area: str) -> dict[str, Any]:
    """Two turns of the user, each followed by the system's."""
    log = [
        turn(f"I need a room in {area} ."),
        turn("Which day ?", state(area)),
        turn("On wugday ,  please ."),
        turn("It is booked .", state(area, "wugday")),
    ]
    return {"goal": {"hotel": {}}, "log": log}


def write_multiwoz(folder: Path, ending: str = "json") -> Path:
    """Write dialogues ``SNG0000.json`` and so on: thirty to train on, one to validate, and twelve to test."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"SNG{i:04}.json" for i in range(43)]
    content = {name: dialogue(AREAS[i % len(AREAS)]) for i, name in enumerate(names)}
    (folder / "data.json").write_text(json.dumps(content), "utf-8")
    (folder / f"valListFile.{ending}").write_text(names[30] + "\n", "utf-8")
    (folder / f"testListFile.{ending}").write_text("\n".join(names[31:]) + "\n", "utf-8")
    return folder
