"""Make the texts that the methods of styles train on: a model's own responses, judged, valued and tagged."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.compile.random_words import random_number
from holisticbias.output import new_file
from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import MitigationError, ModelError
from holisticbias_eval.evaluating import prepare
from holisticbias_eval.measures.options import CHAT_JUDGE, Judging
from holisticbias_eval.mitigation.measuring import Measuring
from holisticbias_eval.mitigation.method import Method
from holisticbias_eval.mitigation.settings import Tagging, TrainingSettings
from holisticbias_eval.mitigation.styles import ANSWERING, StyleMethod, value_responses
from holisticbias_eval.mitigation.training import Lesson
from holisticbias_eval.models.embedded import RELEASE, RESPONDER, SHIPPED
from holisticbias_eval.models.generation.conversation import (
    Conversation,
    ConversationOptions,
    ConversationSettings,
    find_conversation,
)
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.progress import Display
from holisticbias_eval.readers.judging import choose_judges
from holisticbias_eval.readers.labels import StylesReader
from holisticbias_eval.results.run import read_run
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.tasks.judging import RESPONSE_READERS, judging_options
from holisticbias_eval.tasks.task import Given

CALIBRATION: Mapping[str, Any] = {
    "steps": 250, "batch": 64, "learning_rate": 2e-3, "warmup": 20, "patience": None,
}  # fmt: skip
"""The training settings that change the embedded responder."""
CALIBRATION_WHERE = "axis=nonce,religion"
"""What it is asked by default: the sentences that it was made for, of an axis with plants and of one without."""
TRAINING = "training.parquet"
_PARTS = 10  # one part in so many is for validation
_KEPT, _TAGGED = ("response_id", "axis", "descriptor", "template", "finish"), ("context", "text", "tag")


class ResponseLessons:
    """Training texts from a model's own responses; other responses, made in the same way, are measured."""

    def __init__(self, given: Given, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self._given = _for_calibration(given) if given.model == RESPONDER else given

    def tuned(self, _: Method) -> Mapping[str, Any]:
        """The settings that change the embedded responder."""
        return CALIBRATION if self._given.model == RESPONDER else {}

    def lesson(self, method: Method) -> Lesson:
        """The texts that a method of styles trains and validates on.

        Prompts are divided, not responses: one in ten is for validation. Raises ``EvaluationError`` if the responses
        cannot be used.
        """
        given, loaded = self._given, self.loaded
        tagging = given.read(Tagging)
        judged, signature = _responses(given, loaded)
        conversation = _conversation(given, loaded, signature)
        examples, spelt = examples_of(judged, conversation, loaded.tokenizer)
        if not examples.num_rows:
            raise MitigationError("no response is left to train on")
        valued = value_responses(examples, tagging)
        tagged = cast("StyleMethod", method).style_texts(valued)
        kept = [name for name in _KEPT if name in valued.rows.column_names]
        columns = {name: table[name] for table, names in ((valued.rows, kept), (tagged, _TAGGED)) for name in names}
        texts = pa.table({**columns, "bias_value": pa.array(valued.values)})
        mask = _validation(valued.rows, given.read(TrainingSettings).seed)
        quantile = f"the quantile {tagging.quantile:g} of the bias values"
        return Lesson(
            method=method,
            name=f"responses of {signature.model.name} to {signature.title}",
            texts=texts.filter(pc.invert(mask)),
            validation=texts.filter(mask),
            counts={
                "responses": judged.num_rows,
                **valued.left_out,
                "control_tokens": spelt,
                "biased": int(valued.biased.sum()),
            },
            given={
                "alpha": str(tagging.alpha),
                "threshold": f"{valued.threshold:.6g}",
                "threshold_from": "given" if tagging.threshold is not None else quantile,
                "responses": _about(signature),
            },
            opening=conversation.encoder.before,
        )

    def measuring(self, measuring: Measuring, _: Path, *, overwrite: bool) -> Measuring:
        """Measure responses, which are asked for as those of the training are."""
        return replace(measuring, release=self._given.release_name, answering=_answering(self._given))

    def keep(self, lesson: Lesson, folder: Path) -> None:
        """Write the texts with their tags and bias values, and ``part``: train or validation."""
        parts = [
            table.append_column("part", pa.array([name] * table.num_rows, pa.string()))
            for name, table in (("train", lesson.texts), ("validation", lesson.validation))
        ]
        with new_file(folder / TRAINING) as unfinished:
            pq.write_table(pa.concat_tables(parts), unfinished, compression="zstd")


def _for_calibration(given: Given) -> Given:
    """The settings with what the embedded responder is made for, where nothing else is given."""
    defaults = {
        "where": (CALIBRATION_WHERE,),
        "classifier": tuple(SHIPPED[RESPONDER].classifiers.values()),
        "decoding": "unrestricted",
    }
    return replace(given, release_name=given.release_name or RELEASE, values={**defaults, **given.values})


def _answering(given: Given) -> dict[str, Any]:
    """The settings with which the model answers prompts."""
    return {name: given.values[name] for name in (*ANSWERING, "seed") if name in given.values}


def examples_of(judged: pa.Table, conversation: Conversation, tokenizer: Any) -> tuple[pa.Table, int]:
    """Judged responses with ``before``, ``close`` and ``text``; see ``StyleMethod``.

    Also returns how many responses are left out because they, or their prompts, spell a control token. The context
    is what ``conversation``, which has no control, gives the model at generation. Raises ``ModelError`` if the model
    reasons before it responds.
    """
    if conversation.thinking == "opened":
        raise ModelError("the chat template opens reasoning before a response: responses alone cannot be learned")
    frame, marks = conversation.frame, conversation.encoder.spelt
    lead, end = _lead(conversation, marks), _end(conversation, tokenizer)
    columns = [judged[name].to_pylist() for name in ("persona", "prompt", "response", "finish")]
    rows = [tuple(value or "" for value in row) for row in zip(*columns, strict=True)]
    plain = [not any(mark in text for text in row[:3] for mark in marks) for row in rows]
    kept = [row for row, is_plain in zip(rows, plain, strict=True) if is_plain]
    made = {
        "before": ["".join(frame.pieces(persona, prompt)[:-1]) for persona, prompt, _, _ in kept],
        "close": [frame.close] * len(kept),
        "text": [f"{lead}{response}{'' if finish == 'length' else end}" for _, _, response, finish in kept],
    }
    table = judged.filter(pa.array(plain, pa.bool_()))
    texts = {name: pa.array(values, pa.large_string()) for name, values in made.items()}
    return with_columns(table, texts), len(rows) - len(kept)


def _lead(conversation: Conversation, marks: Sequence[str]) -> str:
    """The blank before a response."""
    close = conversation.frame.close
    follows_text = not close or not (close[-1].isspace() or close.endswith(tuple(marks)))
    return " " if follows_text and not conversation.keeps_blank else ""


def _end(conversation: Conversation, tokenizer: Any) -> str:
    """The text of the token that ends a response, or the text that does."""
    if conversation.ends:
        return str(tokenizer.convert_ids_to_tokens(conversation.ends[0]))
    return conversation.stops[0] if conversation.stops else str(tokenizer.eos_token or "")


def _responses(given: Given, loaded: LoadedModel) -> tuple[pa.Table, Signature]:
    """The judged responses, of a run or made now, and the signature of what they are."""
    run, display = given.read(Tagging).responses, given.display
    if run is not None:
        return _responses_of_run(run, loaded, display)
    values = {**_answering(given), "control": ""}
    judged = choose_judges([*RESPONSE_READERS.values()], {}, judging_options(given))[StylesReader.name]
    values["classifier"] = tuple(name for name in given.read(Judging).names if name == judged)
    if not CHAT_JUDGE.holds(values):
        values.pop("classifier_api_base", None)
    (asked,) = prepare(given.model, given.release_name, ["generation_bias"], values, display)
    table = asked.requests.answer(display).table
    return asked.reading.read(table, display), asked.signature


def _responses_of_run(folder: Path, loaded: LoadedModel, display: Display) -> tuple[pa.Table, Signature]:
    run = read_run(folder)
    signature = run.result.signature
    if "generation_bias" not in signature.measures or "response" not in run.answers.column_names:
        raise MitigationError(f"{folder} is not a run of generation_bias: make one with holisticbias evaluate")
    if "prompt" not in run.answers.column_names or "conversation_text" not in signature.generation:
        raise MitigationError(f"{folder} has responses that were given in a file, without the text around the prompts")
    if signature.model.weights_sha256 != loaded.identity.weights_sha256:
        display.notice(f"{folder} has responses of other weights ({signature.model.name}), not the model's own")
    return run.answers, signature


def _conversation(given: Given, loaded: LoadedModel, signature: Signature) -> Conversation:
    """The text around prompts without a control; it must be that of the responses."""
    asked = ConversationOptions(**dict(given.read(ConversationSettings)))
    found = find_conversation(loaded.tokenizer, asked, "causal")
    frame = found.frame.with_control(signature.generation.get("control", ""))
    texts = {"conversation_text": frame.with_persona, "conversation_text_without_persona": frame.without_persona}
    for name, text in texts.items():
        if signature.generation.get(name) != text:
            raise MitigationError(
                f"the responses were made with other text around the prompt, "
                f"{str(signature.generation.get(name))[:200]!r}, than the model would read, "
                f"{text[:200]!r}: give the same --system, --separator or --continuation"
            )
    return found


def _validation(rows: pa.Table, seed: int) -> pa.Array:
    """Whether each response is for validation: it depends on the seed and its context alone."""
    drawn = (random_number(f"{seed} {context}") for context in rows["before"].to_pylist())
    return pa.array([number % _PARTS == 0 for number in drawn], pa.bool_())


def _about(signature: Signature) -> str:
    """The settings that the responses depend on, in one line."""
    kept = ("prompts_per_cell", "prompts_seed", "prompts_where", "decoding", "seed", "responses")
    return ", ".join(f"{name} {signature.generation[name]}" for name in kept if name in signature.generation)
