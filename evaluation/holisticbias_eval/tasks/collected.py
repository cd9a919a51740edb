"""Find the prompts of a run about groups of people: of a release, of a user's files, or the release's own sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias import build_release
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.collections import (
    CALIBRATION,
    TABLE,
    CollectionPrompts,
    ask,
    calibration_prompts,
    release_prompts,
    select_prompts,
)
from holisticbias_eval.prompts.conversations import PromptDrawing, draw_prompts
from holisticbias_eval.prompts.prompt_sources import add_human, is_named, read_source
from holisticbias_eval.prompts.texts import Part, human_texts
from holisticbias_eval.results.signature import ReleaseSignature
from holisticbias_eval.tasks.sources import ReleaseSource, find_release, sign_release

SENTENCES = "sentences"
"""The name of the release's own sentences as prompts."""
CONTINUED_AS = "continuation"
"""The default style in which a chat model is asked to continue."""
_LAYOUT = 4  # the first layout with prompts


@dataclass(frozen=True, slots=True)
class PromptsAsked:
    """The requests of a run, people's texts, the part of a text to measure, and what they are signed with.

    ``release`` is the release of the prompts, None for prompts of no release; ``name`` is that of the run's folder.
    ``is_continued`` says whether a model continues the prompts, not answers them.
    """

    requests: pa.Table
    human: pa.Table
    part: Part
    name: str
    signature: ReleaseSignature
    settings: Mapping[str, str] = field(default_factory=dict)
    release: Release | None = None
    is_continued: bool = True


def find_asked(
    prompts: str | None,
    release: ReleaseSource,
    drawing: PromptDrawing,
    display: Display,
    *,
    human: Path | None = None,
    part: Part | None = None,
    keep_faulty: bool = True,
    samples: int = 1,
) -> PromptsAsked:
    """Find the prompts that a user names, and select some of them; ``release`` is as in ``find_release``.

    ``prompts`` names a collection of the release, a file, a folder, a data set on the Hub, the release's own
    sentences, or the prompts of the embedded writer; None means all prompts of the release. ``human`` is a table of
    people's continuations. ``part`` is what is measured, by default the whole text, and of sentences the response
    alone. ``keep_faulty`` is for BOLD's prompts. Each prompt is asked ``samples`` times.
    """
    if prompts == SENTENCES:
        if human is not None:
            raise SelectionError("--human is for prompts to continue: nobody's responses to sentences are compared")
        return _sentences(release, part or "continuation", drawing, display)
    with display.step("Reading prompts"):
        found = _find_prompts(prompts, release, display, keep_faulty=keep_faulty)
        found = found if human is None else add_human(found, human)
        chosen = select_prompts(found, drawing.where, drawing.limit, drawing.seed)
    for note in found.notes:
        display.notice(note)
    own = part or "whole"
    settings = {
        **found.settings,
        "prompts": found.name,
        "prompts_sha256": chosen.digest,
        "prompts_where": "; ".join(drawing.where) or "all",
        "prompts_limit": "none" if drawing.limit is None else f"{drawing.limit}, seed {drawing.seed}",
        "samples": str(samples),
        "measured_part": own,
    }
    signed = ReleaseSignature(version="none", subset=None, digest=found.digest, prompts=found.name)
    signature = signed if found.release is None else sign_release(found.release)
    requests, texts = ask(chosen, samples), human_texts(chosen.table, own, found.written)
    return PromptsAsked(requests, texts, own, found.name, signature, settings, found.release)


def _find_prompts(
    name: str | None, release: ReleaseSource, display: Display, *, keep_faulty: bool
) -> CollectionPrompts:
    if name is not None and (name == CALIBRATION or is_named(name)):
        if release is not None:
            raise SelectionError(f"--prompts {name} and --release exclude each other: leave one out")
        return calibration_prompts() if name == CALIBRATION else read_source(name, keep_faulty=keep_faulty)
    opened = find_release(release) if release else _newest_with_prompts()
    found = release_prompts(opened, name)
    display.notice(f"{found.table.num_rows:,} prompts of release {opened.version}")
    return found


def _newest_with_prompts() -> Release:
    """The newest version with prompts, also one in preparation, compiled from the terms."""
    catalog = load_catalog()
    for version in reversed(catalog.versions):
        if catalog.release(version).layout >= _LAYOUT:
            release = build_release(catalog, version)
            if TABLE in release.tables:
                return release
    raise SelectionError("no version of the dataset has prompts: give prompts of your own with --prompts")


def _sentences(release: ReleaseSource, part: Part, drawing: PromptDrawing, display: Display) -> PromptsAsked:
    """A release's sentences: the domain is the axis, the group the descriptor, the item the template and the noun."""
    with display.step("Drawing prompts"):
        opened = find_release(release)
        drawn = draw_prompts(opened, drawing)
    text = {name: drawn[name].cast(pa.large_string()) for name in ("axis", "descriptor", "template_id", "noun_id")}
    item = pc.binary_join_element_wise(text["template_id"], text["noun_id"], pa.scalar("/", pa.large_string()))
    added = {"domain": text["axis"], "group": text["descriptor"], "subject": text["descriptor"], "item": item}
    for name, column in added.items():
        drawn = drawn.append_column(name, column)
    settings = {**drawing.settings, "prompts": SENTENCES, "measured_part": part}
    name = f"{opened.version}-{SENTENCES}"
    return PromptsAsked(drawn, drawn.slice(0, 0), part, name, sign_release(opened), settings, opened, False)
