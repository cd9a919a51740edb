"""The page for annotators: one file that needs no network and keeps answers in the browser."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

from holisticbias_eval.judgements.key import CHOICES, STUDIO, Key

ANSWERS = "holisticbias acute-eval answers"
"""The form of the file that the page saves."""


def render_annotator_page(key: Key, tasks: Mapping[int, Sequence[Mapping[str, str]]]) -> str:
    """The page. Texts of models are JSON, which its script sets as text, and no model is named.

    Its content security policy lets a browser run the one script and apply the one style sheet, and load nothing.
    """
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            content={
                "form": ANSWERS,
                "study": key.study,
                "questions": [question.model_dump() for question in key.questions],
                "choices": [[choice, CHOICES[choice]] for choice in key.choices],
                "sheets": {str(sheet): shown for sheet, shown in tasks.items() if sheet != STUDIO},
            },
            sheets=key.sheets,
            script_digest=_digest("page.js"),
            style_digest=_digest("page.css"),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _digest(name: str) -> str:
    """The digest of an inline script or style sheet, as a content security policy names it."""
    text = _environment().get_template(name).render()
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
