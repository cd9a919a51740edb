"""The control of a model: text at the end of the context by which its responses are steered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from holisticbias_eval.errors import ModelError
from holisticbias_eval.generation.frame import Frame
from holisticbias_eval.progress import Notice

MITIGATION = "mitigation.json"
"""The record in the folder of a model that a mitigation has trained."""
LONGEST = 200


def with_control(frame: Frame, control: str) -> Frame:
    """A frame with a control after the prompt; see ``close_with``."""
    return replace(frame, close=close_with(frame.close, control))


def close_with(close: str, control: str) -> str:
    """The text from the end of a prompt to the response: a blank, the control, and ``close``.

    An empty control leaves ``close`` as it is.
    """
    return f" {control}{close}" if control else close


def choose_control(name: str, asked: str | None, notice: Notice) -> str:
    """The control to use with a model: the one asked for, or else the one that the model's folder names, or none.

    Raises ``ModelError`` for a control of several lines or of more than 200 characters, and for a record that cannot
    be read.
    """
    if asked is not None:
        return check_control(asked, "--control")
    own = _own_control(Path(name))
    if own:
        notice(f"{name} was trained to read {own!r} at the end of the context, and does; --control '' leaves it out")
    return own


def _own_control(folder: Path) -> str:
    """The control that a folder names; empty if it names none."""
    file = folder / MITIGATION
    if not file.is_file():
        return ""
    try:
        record = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{file} cannot be read: give --control, or '' for none") from error
    control = record.get("control") if isinstance(record, dict) else False
    if control is None:
        return ""
    if not isinstance(control, str):
        raise ModelError(f"{file}: control is not a text: give --control, or '' for none")
    return check_control(control, f"{file}: control")


def check_control(text: str, where: str) -> str:
    """The text without blanks around it; raises ``ModelError`` if it has several lines or is too long."""
    control = text.strip()
    if len(control) > LONGEST or not control.isprintable():
        raise ModelError(f"{where}: write one line of at most {LONGEST} printable characters")
    return control
