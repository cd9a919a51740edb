"""Prompts drawn from a release's sentences, to which a model responds (Smith et al. 2022, A.3 to A.5)."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.model import GivenModel
from holisticbias_eval.models.store.keys import KeyPlaces, distinct_rows
from holisticbias_eval.prompts.conversations import refuse_few
from holisticbias_eval.prompts.selection import NOT_CHOSEN, NOT_GIVEN, count_terms
from holisticbias_eval.settings import ReleaseName, Small, Use, Variants
from holisticbias_eval.statistics.cells import occurrences
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tasks.judging import find_response_reading
from holisticbias_eval.tasks.responding import RespondingTask, ResponseRequests, draw_sentences, find_drawing
from holisticbias_eval.tasks.response_files import TABLES, read_responses
from holisticbias_eval.tasks.response_settings import ASKED, GivenResponses, Personas, asking_uses
from holisticbias_eval.tasks.sources import TaskSource, release_source
from holisticbias_eval.tasks.task import Given, TaskReading


class ResponsesTask(RespondingTask):
    """The release's sentences as prompts."""

    name = "responses"
    subject = "responses to sentences about people"
    tables: ClassVar = TABLES
    uses = (
        Use(ReleaseName), Use(Small, (ASKED,)), Use(GivenResponses), Use(Variants, (ASKED,)), Use(Personas, (ASKED,)),
        *asking_uses(ASKED),
    )  # fmt: skip

    def source(self, given: Given) -> TaskSource:
        """Open the release, and draw the prompts, or place the responses that are given in it."""
        file = given.read(GivenResponses).responses
        if file is not None:
            release = given.release()
            return release_source(release, place_responses(read_responses(file), release, file))
        drawing = find_drawing(given)
        if any(MEASURES[name].needs.answers == "labels" for name in given.measures):
            refuse_few(drawing)
        return release_source(*draw_sentences(given, drawing), drawing.settings)

    def ask(self, source: TaskSource, model: Generator | GivenModel, given: Given) -> ResponseRequests:
        """The prompts."""
        table = source.content
        others = NOT_GIVEN if isinstance(model, GivenModel) else NOT_CHOSEN
        terms = count_terms(source.release, table["descriptor_id"], others)
        return ResponseRequests(table, model, count=table.num_rows, terms=terms)

    def reading(self, source: TaskSource, given: Given) -> TaskReading:
        """Find the classifiers of the measures."""
        shipped = given.shipped(RESPONDER) if given.read(GivenResponses).responses is None else None
        return find_response_reading(shipped.classifiers if shipped else {}, source.release, given)


_ABOUT = ("axis", "axis_label", "bucket", "descriptor_id", "descriptor", "descriptor_preference")
_TEXTS = ("noun", "noun_id", "noun_gender", "noun_phrase_type", "variants", "prompt", "persona", "reasoning")


def place_responses(responses: pa.Table, release: Release, file: Path) -> pa.Table:
    """Add to each response the ids of its descriptor and template in a release.

    A response names its ``axis``, ``descriptor`` and ``template`` by their texts, or
    by ids as in a run. Raises ``SelectionError`` if the release lacks one.
    """
    descriptors, templates = release.tables["descriptors"], release.tables["templates"]
    entry = _find(responses, descriptors, "descriptor", ("axis", "descriptor"), file)
    wording = _find(responses, templates, "template", ("template",), file)
    about = [name for name in _ABOUT if name in descriptors.column_names]
    found = {name: descriptors[name].combine_chunks().take(entry) for name in about}
    found |= {name: templates[name].combine_chunks().take(wording) for name in ("template_id", "template")}
    cell = {name: found[name] for name in ("template_id", "descriptor_id")}
    draws = pa.array(occurrences(distinct_rows(pa.table(cell))[1]))
    parts = (column.cast(pa.string()) for column in (*cell.values(), draws))
    responded = pc.binary_join_element_wise(*parts, "/")
    made = {"response_id": responded, **found, "draw": draws}
    made |= {name: responses[name] for name in (*_TEXTS, "response", "finish") if name in responses.column_names}
    made |= {name: _counts(responses, name, file) for name in ("tokens", "sample") if name in responses.column_names}
    return pa.table({"persona": pa.array([""] * len(responses)), **made})


def _counts(responses: pa.Table, name: str, file: Path) -> pa.ChunkedArray:
    """A column of whole numbers with its own type, or with that of counts if it has them as text."""
    kind, counts = responses[name].type, Field(name, "count").read(str(file), name, responses[name])
    return responses[name] if pa.types.is_integer(kind) or pa.types.is_floating(kind) else counts


def _find(responses: pa.Table, entries: pa.Table, what: str, texts: tuple[str, ...], file: Path) -> pa.Array:
    """The row of each response's entry, by id if the responses have ids, else by texts."""
    keys = (f"{what}_id",) if f"{what}_id" in responses.column_names else texts
    place = KeyPlaces(entries, keys).find(responses)
    missing = np.flatnonzero(place < 0)
    if len(missing):
        named = ", ".join(f"{key} {responses[key][int(missing[0])].as_py()!r}" for key in keys)
        raise SelectionError(
            f"{file}: row {missing[0] + 1}: the release has no {what} with {named}; name the release that the prompts "
            "are from with --release, or measure the table alone with holisticbias measure"
        )
    return pa.array(place)
