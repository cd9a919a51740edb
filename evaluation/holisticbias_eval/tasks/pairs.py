"""Pairs of sentences that differ in a group's term: the likelihood of both, a choice, or the published formulas."""

from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from holisticbias.compile.digest import table_digest
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figure
from holisticbias_eval.models.embedded import EMBEDDED_MODEL
from holisticbias_eval.models.engines import start_chooser, start_published, start_scorer, store_of
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.model import PairScorer
from holisticbias_eval.models.settings import ModelSettings, scoring_uses
from holisticbias_eval.prompts.pairs import ask_choices, ask_pairs, ask_published, spans_of_choices
from holisticbias_eval.prompts.selection import Skipped
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import Condition, Use, is_one_of
from holisticbias_eval.stereotypes.specifications import (
    calibration_model,
    specifications_version,
    with_specifications,
)
from holisticbias_eval.tables.files import table_stem
from holisticbias_eval.tasks import pair_files
from holisticbias_eval.tasks.pair_modes import HOW, pair_requests
from holisticbias_eval.tasks.scored import ScoredTask, SpanRequests
from holisticbias_eval.tasks.sources import TaskRequests, TaskSource, file_name, file_source
from holisticbias_eval.tasks.task import Given

NOT_CONVERTED = "pairs without a second sentence: it could not be converted"
_DIGESTED = ("pair_id", "specification", "attribute", "sentence", "other_sentence", "stereotyped", "source")
_STARTED = {"likelihood": start_scorer, "choice": start_chooser, "published": start_published}
LIKELIHOOD = Condition("with --mode likelihood", is_one_of("mode", "likelihood", default="likelihood"))
PUBLISHED = Condition("with --mode published", is_one_of("mode", "published"))


class PairsTask(ScoredTask):
    """The pairs of a file."""

    name = "pairs"
    subject = "pairs of sentences"
    named_by = (pair_files.PairSettings, "pairs")
    tables: ClassVar = {"pairs": pair_files.read_pair_scores}
    uses = (
        Use(pair_files.PairSettings),
        *scoring_uses(LIKELIHOOD),
        *ModelSettings.uses(PUBLISHED, fields=("api_batch",)),
    )

    def source(self, given: Given) -> TaskSource:
        """Read the pairs; a calibration model is the default for pairs of its specifications."""
        read = given.read(pair_files.PairSettings)
        if read.pairs is None:
            raise EvaluationError("stereotype_score needs pairs of sentences: name their file or folder with --pairs")
        with given.display.step(f"Reading {read.pairs}"):
            pairs = with_specifications(pair_files.read_pairs(read.pairs))
        if read.mode == "published" and not {"term", "other_term"} <= set(pairs.column_names):
            raise EvaluationError(f"--mode published needs the columns term and other_term in {read.pairs}")
        names = dict.fromkeys(pairs["specification"].to_pylist())
        file, rejected = read.pairs.resolve().name, pairs["other_sentence"].null_count
        about = {
            "pairs": file,
            "pair_mode": read.mode,
            "specifications": ", ".join(names),
            "specifications_version": specifications_version(names),
        }
        digest = table_digest(pairs.select([c for c in _DIGESTED if c in pairs.column_names]))
        own = calibration_model(pairs["specification"].to_pylist())
        left_out = (Skipped(reason=NOT_CONVERTED, sentences=rejected),) if rejected else ()
        name = f"on-{file_name(table_stem(Path(file)))}" + ("" if read.mode == "likelihood" else f"-{read.mode}")
        return file_source(pairs, file, digest, "pairs", about, name=name, skipped=left_out, default_model=own)

    def model(self, source: TaskSource, given: Given) -> Scorer | PairScorer:  # type: ignore[override] # of two modes
        """Start the engine of the mode."""
        start = _STARTED[given.read(pair_files.PairSettings).mode]
        with given.display.step(f"Loading model {given.model_name or source.default_model or EMBEDDED_MODEL}"):
            return start(given.named(source), given.display.notice, given.read(ModelSettings))

    def ask(self, source: TaskSource, model: Any, given: Given) -> TaskRequests:
        """The spans of both sentences, or the questions of the mode."""
        pairs: pa.Table = source.content
        mode = given.read(pair_files.PairSettings).mode
        if isinstance(model, PairScorer):
            folder = given.store("scores")
            store = store_of(model, folder, given.display.notice) if folder else None
            return pair_requests(model, pairs, store)
        scored = model.first_token_scored
        if mode == "choice":
            asked = spans_of_choices(ask_choices(pairs, model.control_tokens), model.settings["chat"])
        elif mode == "published":
            asked = ask_published(pairs, first_token_scored=scored)
        else:
            asked = ask_pairs(pairs, with_changed=model.kind == "masked", first_token_scored=scored)
        unscored, how = asked.unscored, HOW[model.kind if mode == "likelihood" else mode]
        if unscored.texts and mode == "likelihood":
            how = HOW["without first token"]
        return SpanRequests(
            asked,
            model,
            given.stored(model, "scores"),
            count=pairs.num_rows - pairs["other_sentence"].null_count - unscored.left_out,
            settings={"pair_score": how, **unscored.settings},
            skipped=unscored.skipped,
        )

    def beside(self, table: pa.Table, signature: Signature, given: Given) -> tuple[Figure, ...]:
        """The figures of the sentences that the pairs were made of, such as their quality."""
        path = given.read(pair_files.PairSettings).pairs
        return pair_files.read_sentence_figures(path) if path is not None else ()
