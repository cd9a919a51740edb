"""Let a model answer prompts, and write its responses to a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from holisticbias.inputs import file_sha256
from holisticbias.output import new_folder, refuse_target
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.evaluating import kept_if_interrupted
from holisticbias_eval.models.generation.frame import Style
from holisticbias_eval.models.generation.requests import SamenessRecord, SampledRecord
from holisticbias_eval.models.loading.load import ModelSource
from holisticbias_eval.models.machine import machine, package_versions
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.prompt_sources import prompts_file, read_prompts
from holisticbias_eval.prompts.texts import mark_refusals
from holisticbias_eval.records import FolderRecord, named_paths, record_json
from holisticbias_eval.results.run import RESPONSES
from holisticbias_eval.results.signature import ReleaseSignature
from holisticbias_eval.settings import (
    Condition,
    ReleaseName,
    Settings,
    Small,
    Use,
    Uses,
    Values,
    Variants,
    is_one_of,
    refuse_unused,
    setting,
)
from holisticbias_eval.tables.files import is_table_name, table_stem, table_suffix
from holisticbias_eval.tasks.collected import find_asked
from holisticbias_eval.tasks.responding import ResponseRequests, draw_sentences, find_drawing, start_responding
from holisticbias_eval.tasks.response_files import count_responses
from holisticbias_eval.tasks.response_settings import SENTENCES, Personas, TextSettings, asking_uses
from holisticbias_eval.tasks.sources import ReleaseSource, file_name, release_source, sign_release
from holisticbias_eval.tasks.task import Given

GENERATION = "generation.json"


class Generation(FolderRecord):
    """``generation.json``: the counts of responses, and what they depend on.

    ``release`` is null if the prompts are a user's. ``prompts`` is the name of a file, a folder, a dataset on the Hub
    or a collection, and ``prompts_sha256`` its digest; both are null for a release's sentences.
    """

    schema_version: Literal[1] = 1
    model: ModelSignature
    release: ReleaseSignature | None
    prompts: str | None
    prompts_sha256: str | None
    generation: dict[str, str]
    counts: dict[str, int] = Field(default_factory=dict)
    sameness: SampledRecord | SamenessRecord | None = None
    versions: dict[str, str]
    machine: str

    @property
    def asked(self) -> dict[str, Any]:
        """The properties that are equal if two folders hold responses to the same prompts."""
        release, prompts = self.release and self.release.digest, self.prompts_sha256
        asked = {"model": self.model.content, "release": release, "prompts": prompts, "settings": self.generation}
        return {**asked, "dtype": self.model.dtype}


class Prompting(Settings):
    """Prompts instead of a release's sentences."""

    prompts: str | None = setting(
        None,
        "Prompts instead of a release's sentences. A file, .txt with one per line, or .csv, .jsonl or .parquet with a "
        "column prompt, is answered. Prompts to continue, as for evaluate: a collection of the release, the folder of "
        "BOLD's files, or a Hugging Face Hub dataset in BOLD's form. A folder that `holisticbias corpus collect` wrote "
        "is answered as its file.",
        metavar="FILE|NAME|FOLDER|ID",
    )


SAID = Condition("about a release's sentences", is_one_of("prompts", None, SENTENCES))
USES: Uses = {
    "generate": (
        Use(ReleaseName), Use(Small, (SAID,)), Use(Prompting), Use(Variants, (SAID,)), Use(Personas, (SAID,)),
        *asking_uses(),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answering:
    """Prompts before a model is asked; ``generation`` is complete but for the counts.

    ``name`` is the default name of the folder of their responses.
    """

    name: str
    requests: ResponseRequests
    generation: Generation

    def run(self, display: Display) -> tuple[pa.Table, Generation]:
        """Ask the model: the table of responses, and what they depend on, with their counts."""
        answered = self.requests.answer(display)
        counts = dict(count_responses(answered.table))
        return answered.table, self.generation.model_copy(update={"counts": counts, **answered.signed})


def prepare_answers(model: ModelSource, release: ReleaseSource, values: Values, display: Display) -> Answering:
    """Draw or read the prompts, and start the model.

    Raises ``EvaluationError`` for a setting that has no effect.
    """
    refuse_unused(values, USES, ["generate"], release)
    given = Given(model, release, values, (), display)
    place, requests, about, style = _ask(given)
    generator = start_responding(given, style)
    settings = {**about["generation"], **generator.settings}
    style = None if generator.keeps_blank else style
    settings |= style.settings if style else {}
    generation = Generation(
        model=generator.identity,
        **{**about, "generation": settings},
        versions=package_versions(),
        machine=machine(),
    )
    name = f"{file_name(generator.identity.name)}-{place}"
    return Answering(name, ResponseRequests(requests, generator, lambda table: mark_refusals(table, style)), generation)


def generate(
    model: str | None,
    release: ReleaseSource,
    values: Values,
    out: Path | None,
    *,
    display: Display,
    overwrite: bool = False,
) -> tuple[Path, pa.Table]:
    """Answer prompts, and write ``responses.parquet`` and ``generation.json``; returns the folder and the responses.

    The folder is written whole or not at all. A folder with other responses is refused before the model is asked,
    unless ``overwrite``. Raises ``EvaluationError`` for a setting that has no effect.
    """
    answering = prepare_answers(model, release, values, display)
    folder = out or Path("responses") / answering.name

    def may(old: Path) -> bool:
        return answering.generation.may_replace(old / GENERATION, "other responses", overwrite=overwrite)

    refuse_target(folder, may, named_paths(values))
    with new_folder(folder, may) as made, kept_if_interrupted(answering.requests):
        responses, found = answering.run(display)
        pq.write_table(responses, made / RESPONSES.file, compression="zstd")
        (made / GENERATION).write_text(record_json(found), "utf-8")
    return folder, responses


def _ask(given: Given) -> tuple[str, pa.Table, dict[str, Any], Style | None]:
    """The end of the folder's default name, the requests, ``Generation``'s fields about them, the continuing style."""
    prompts = given.read(Prompting).prompts
    is_said = prompts in (None, SENTENCES)
    drawing = find_drawing(given, several=is_said)
    about: dict[str, Any]
    if prompts is None or is_said:
        release, requests = draw_sentences(given, drawing)
        about = {"release": sign_release(release), "prompts": None, "prompts_sha256": None}
        return release_source(release).name, requests, {**about, "generation": drawing.settings}, None
    file = prompts_file(Path(prompts))
    if not is_table_name(file) and table_suffix(file) != ".txt":
        found = find_asked(TextSettings(prompts=prompts), given, drawing)
        name = found.about["prompts"]
        about = {"release": found.signature if found.release else None, "prompts": name}
        about |= {"prompts_sha256": found.about["prompts_sha256"], "generation": found.about}
        target = name if found.release else table_stem(Path(name))
        return f"on-{file_name(target)}", found.content.requests, about, found.content.style
    if given.release_name is not None:
        raise SelectionError(f"--prompts {file} and --release exclude each other: leave one out")
    if drawing.where:
        raise SelectionError(f"--where selects prompts of a release or a collection: leave it out with {file}")
    requests = read_prompts(file, drawing.per_cell, drawing.limit)
    path = Path(prompts).resolve()
    about = {"release": None, "prompts": path.name, "prompts_sha256": file_sha256(file)}
    settings = {name: drawing.settings[name] for name in ("prompts_per_cell", "prompts_limit")}
    name = file_name(path.name if path.is_dir() else table_stem(path))
    return f"on-{name}", requests, {**about, "generation": settings}, None
