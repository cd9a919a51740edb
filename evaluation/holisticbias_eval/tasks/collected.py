"""Find the prompts of a run about groups, of a release or a user's files, or read texts that were made elsewhere."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.inputs import file_sha256
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import SelectionError, TableError
from holisticbias_eval.measures.options import Censoring
from holisticbias_eval.models.generation.frame import STYLES, Style
from holisticbias_eval.prompts.collections import CollectionPrompts, release_prompts, repeat_prompts, select_prompts
from holisticbias_eval.prompts.conversations import PromptDrawing
from holisticbias_eval.prompts.prompt_sources import add_human, is_named, read_source
from holisticbias_eval.prompts.texts import MODEL, Part, human_texts, model_texts
from holisticbias_eval.readers.censor import censor_settings
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import table_stem
from holisticbias_eval.tables.forms import Form
from holisticbias_eval.tasks.responding import draw_sentences
from holisticbias_eval.tasks.response_files import RESPONSES, TEXTS
from holisticbias_eval.tasks.response_settings import CONTINUED_AS, SENTENCES, TextSettings
from holisticbias_eval.tasks.sources import TaskSource, file_name, file_source
from holisticbias_eval.tasks.task import Given

_RUN = ("response_id", "prompt", "persona", "response", "finish", "tokens", "reasoning")
_LONG = pa.large_string()
GIVEN = Form(
    "texts about groups",
    (*TEXTS.fields, *RESPONSES.fields),
    TEXTS.checks,
    instead={"text": (("response",),)},
    others=True,
    blank_is_missing=True,
)


@dataclass(frozen=True, slots=True)
class PromptsAsked:
    """The requests of a run, people's texts, and the part of a text to measure.

    A chat model continues the prompts in a ``style``; without one they are answered. ``is_censored`` says whether
    mentions of the subject are replaced in the responses, and ``each`` how often a prompt is asked.
    """

    requests: pa.Table
    human: pa.Table
    part: Part
    style: Style | None = None
    is_censored: bool = False
    each: int = 1


def find_asked(read: TextSettings, given: Given, drawing: PromptDrawing) -> TaskSource:
    """Find the prompts that a user names, and select some of them.

    The prompts are those of a collection of the release, a file, a folder, a dataset on the Hub, the release's own
    sentences, or the embedded writer; by default all prompts of the release. What is measured is by default the whole
    text, and of sentences the response alone. Each prompt is asked ``drawing.per_cell`` times.
    """
    if read.prompts == SENTENCES:
        if read.human is not None:
            raise SelectionError("--human is for prompts to continue: nobody's responses to sentences are compared")
        return _sentences(given, read.measured or "continuation", drawing)
    with given.display.step("Reading prompts"):
        found = _find_prompts(read, given)
        found = found if read.human is None else add_human(found, read.human)
        chosen = select_prompts(found, drawing.where, drawing.limit, drawing.seed)
    for note in found.notes:
        given.display.notice(note)
    part = read.measured or "whole"
    settings = {
        **found.settings,
        "prompts": found.name,
        "prompts_sha256": chosen.digest,
        "prompts_where": "; ".join(drawing.where) or "all",
        "prompts_limit": "none" if drawing.limit is None else f"{drawing.limit}, seed {drawing.seed}",
        "samples": str(drawing.per_cell),
        "measured_part": part,
    }
    human = human_texts(chosen.table, part, found.written)
    style, names = STYLES.read(read.style or CONTINUED_AS), chosen.table["prompt_id"].to_pylist()
    requests = repeat_prompts(chosen.table.drop_columns(["human"]), names, drawing.per_cell)
    asked = PromptsAsked(requests, human, part, style, each=drawing.per_cell)
    if found.release is None:
        return file_source(asked, found.name, found.digest, "prompts", settings, name=texts_name(found.name))
    return TaskSource(asked, found.release, texts_name(found.name), settings)


def texts_name(name: str) -> str:
    """The end of the name of a run of texts, by the name of its prompts."""
    return f"on-{file_name(name)}-texts"


def _find_prompts(read: TextSettings, given: Given) -> CollectionPrompts:
    name = read.prompts
    if name is not None and is_named(name):
        if given.release_name is not None:
            raise SelectionError(f"--prompts {name} and --release exclude each other: leave one out")
        return read_source(name, keep_faulty=read.faulty_prompts == "keep")
    return release_prompts(None if given.release_name is None else given.release(), name)


def _sentences(given: Given, part: Part, drawing: PromptDrawing) -> TaskSource:
    """A release's sentences: the domain is the axis, the group the descriptor, the item the template and the noun."""
    release, drawn = draw_sentences(given, drawing)
    text = {name: drawn[name].cast(pa.large_string()) for name in ("axis", "descriptor", "template_id", "noun_id")}
    item = pc.binary_join_element_wise(text["template_id"], text["noun_id"], pa.scalar("/", pa.large_string()))
    added = {"domain": text["axis"], "group": text["descriptor"], "subject": text["descriptor"], "item": item}
    drawn = with_columns(drawn, added)
    censored = given.read(Censoring).censor
    settings = {**drawing.settings, "prompts": SENTENCES, "measured_part": part, **censor_settings(censored=censored)}
    asked = PromptsAsked(drawn, drawn.slice(0, 0), part, is_censored=censored)
    return TaskSource(asked, release, texts_name(f"{release.version}-{SENTENCES}"), settings)


def read_given_texts(path: Path, part: Part | None) -> TaskSource:
    """Read texts from a table with ``group`` and either ``text``, or ``response`` and perhaps ``prompt`` to join.

    ``domain, subject, forms, person, item, source, finish`` are read if they are there; ``source`` is ``model`` or
    ``human``. Beside a column ``text`` other columns than these and those of responses are not read.
    Raises ``TableError`` with what to change.
    """
    table = GIVEN.read(path)
    given = "text" in table.column_names
    if given and part is not None:
        raise TableError(f"--measured is for responses with prompts: {path} has texts, which are measured whole")
    own = part or ("whole" if "prompt" in table.column_names else "continuation")
    if given:
        known = {*_RUN, *(field.name for field in TEXTS.fields)}
        made = _filled(table.select([name for name in table.column_names if name in known]))
    else:
        if "prompt" in table.column_names:
            Field("prompt").refuse_missing(str(path), "prompt", table["prompt"])
        table = _filled(table)
        made = with_columns(model_texts(table, own), table.select(["source"]))
    about = {"measured_part": "the column text" if given else own}
    asked, name = PromptsAsked(made, made.slice(0, 0), own), table_stem(path)
    return file_source(asked, name, file_sha256(path), "prompts", about, name=texts_name(name))


def _filled(table: pa.Table) -> pa.Table:
    """The table with the columns of a run: texts without a prompt have an empty one, and rows are numbered.

    A text without a ``source`` is a model's.
    """
    rows, names = table.num_rows, table.column_names
    numbers = [str(row) for row in range(1, rows + 1)]
    defaults = {"response_id": numbers, "prompt": [""] * rows, "persona": [""] * rows, "finish": ["stop"] * rows}
    made = {name: pa.array(values, _LONG) for name, values in defaults.items() if name not in names}
    if "text" in names and "response" not in names:
        made["response"] = table["text"]
    source = table["source"] if "source" in names else pa.chunked_array([pa.nulls(rows, pa.string())])
    made["source"] = pc.fill_null(source, MODEL)
    return with_columns(table, made)
