"""Facts about a tokenizer and what a model reads: special tokens, the chat template, the longest text."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np

from holisticbias.errors import in_one_line
from holisticbias_eval.errors import ModelError

_TRIAL = "The quick brown fox jumps over the lazy dog's 12 é, \u2603 and \u6f22.\n"
_MOST_TOKENS = 20  # per character of a text; the bytes of one make four
_DAY = datetime(2026, 1, 1, tzinfo=UTC)  # a template that shows today's date would change answers every day
_FIXED_DAY = "{%- macro strftime_now(form) -%}{{ form"
_FIXED_DAY += "".join(f" | replace('%{code}', '{_DAY.strftime('%' + code)}')" for code in "aAbBdHIjmMpSyY")
_FIXED_DAY += " }}{%- endmacro +%}"
_PANIC = "PanicException"
"""What Rust raises for a tokenizer that it cannot use; no subclass of ``Exception``."""


@contextmanager
def tokenizer_errors() -> Iterator[None]:
    """Turn any error of a tokenizer into a ``ModelError``: its file may come from anybody."""
    try:
        yield
    except BaseException as error:
        if not is_failure(error):
            raise
        raise ModelError(f"the tokenizer cannot be used: {in_one_line(error)}") from error


def is_failure(error: BaseException) -> bool:
    """Whether an exception is an error of a library, not a wish to stop."""
    return isinstance(error, Exception) or type(error).__name__ == _PANIC


def tried(tokenizer: Any) -> Any:
    """The tokenizer, after it has read a text with rare characters: some fail only then.

    Raises ``ValueError`` if it makes a long list of tokens of a short text.
    """
    if len(tokenizer(_TRIAL)["input_ids"]) > _MOST_TOKENS * len(_TRIAL):
        raise ValueError("it makes a text much longer")
    return tokenizer


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of everything that a tokenizer's ids depend on; of its vocabulary if transformers runs it in Python."""
    if getattr(tokenizer, "is_fast", False):
        content = tokenizer.backend_tokenizer.to_str()
    else:
        content = json.dumps(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(content.encode()).hexdigest()


def special_tokens(tokenizer: Any, argument: str = "text") -> tuple[list[int], list[int]]:
    """The tokens that a tokenizer puts before and after a text; ``argument`` may be ``text_target``, for a label."""
    with tokenizer_errors():
        bare = tokenizer(**{argument: "a"}, add_special_tokens=False)["input_ids"]
        full = tokenizer(**{argument: "a"})["input_ids"]
    for i in range(len(full) - len(bare) + 1):
        if full[i : i + len(bare)] == bare:
            return list(full[:i]), list(full[i + len(bare) :])
    return [], []


CONTENT = "Content of this turn"
"""The content of a turn, to find its place in the text of a chat template."""


def rendered_chat(tokenizer: Any, messages: Sequence[Mapping[str, str]], **options: bool) -> str:
    """The text of the chat template on a fixed day, in transformers' sandbox; a template may raise any error."""
    template = _FIXED_DAY + tokenizer.get_chat_template()
    return str(tokenizer.apply_chat_template(list(messages), chat_template=template, tokenize=False, **options))


def mask_of(tokenizer: Any, name: str) -> int:
    """The id of the mask token; raises ``ModelError`` if the tokenizer of the model ``name`` has none."""
    if tokenizer.mask_token_id is None:
        raise ModelError(f"{name}: its tokenizer has no mask token, so it is not a masked model")
    return int(tokenizer.mask_token_id)


def context_length(model: Any) -> int:
    """The number of tokens a model can read; models like RoBERTa lose the positions up to their padding index.

    A configuration without a number, or with XLNet's -1, means no limit.
    """
    stated = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None) or 0
    limit = stated if stated > 0 else np.iinfo(np.int32).max
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    shifted = getattr(table, "padding_idx", None)
    return int(limit) - (0 if shifted is None else shifted + 1)


def decoder_start(model: Any) -> int | None:
    """The token that a decoder reads first; None if the model names none."""
    name = "decoder_start_token_id"
    config = model.config.get_text_config(decoder=True)
    named = (model.generation_config.decoder_start_token_id, getattr(config, name, None))
    return next((token for value in named for token in tokens_named(model, name, value)), None)


def tokens_named(model: Any, name: str, value: Any) -> list[int]:
    """The tokens that a setting of a model names, except numbers that it has no token for, such as -1.

    Raises ``ModelError`` for a value that does not name tokens.
    """
    if value is None:
        return []
    ids = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(token, int) for token in ids):
        raise ModelError(
            f"{model.name_or_path}: its {name} is {in_one_line(value)!r}, not the number of a token, or a list of "
            "numbers: correct generation_config.json"
        )
    return [token for token in ids if 0 <= token < model.get_input_embeddings().num_embeddings]
