"""The text that a model reads around a persona and a prompt: a chat template, turns, or a continuation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal

from holisticbias_eval.errors import ModelError
from holisticbias_eval.generation.frame import Frame, FrameEncoder, continuation_frame
from holisticbias_eval.generation.requests import Requests
from holisticbias_eval.models.kinds import Kind
from holisticbias_eval.models.tokenizers import special_tokens, tokenizer_digest

CONTINUATION = "{persona}\nA: {prompt}\nB:"
UTTERANCES = "   "  # BlenderBot's separator is two spaces, and an utterance begins with one; T5 reads all as one
LONGEST_FRAME = 20_000
_DAY = datetime(2026, 1, 1, tzinfo=UTC)  # a template that shows today's date would change responses every day
_FIXED_DAY = "{%- macro strftime_now(form) -%}{{ form"
_FIXED_DAY += "".join(f" | replace('%{code}', '{_DAY.strftime('%' + code)}')" for code in "aAbBdHIjmMpSyY")
_FIXED_DAY += " }}{%- endmacro -%}"
_CONTENT, _ANSWER = "Content of this turn", "Content of the answer"


@dataclass(frozen=True, slots=True)
class ConversationOptions:
    """The text around persona and prompt, at most one of three forms.

    ``chat`` is whether to use the tokenizer's chat template (``auto``: if it has one and no other form is asked for),
    with the system prompt ``system``, which may be empty. ``separator`` ends every turn, the response too.
    ``continuation`` is a text with ``{prompt}`` and optionally ``{persona}`` that a response continues up to the
    next line break.
    """

    chat: Literal["auto", "on", "off"] = "auto"
    system: str | None = None
    separator: str | None = None
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Writes requests as token ids.

    ``settings`` has the whole text around persona and prompt, for a run's
    signature. A response ends before the first of the texts ``stops``, and at any
    of the tokens ``ends``, besides those of the model's own configuration.
    """

    settings: Mapping[str, str]
    stops: tuple[str, ...]
    ends: tuple[int, ...]
    _encoder: FrameEncoder

    def inputs(self, requests: Requests) -> list[list[int]]:
        """The token ids that the model (or its encoder) reads for each request.

        Text of a prompt or persona that spells a control token, as ``<|im_end|>``,
        is encoded as plain text.
        """
        return self._encoder.encode(requests.persona, requests.prompt)


def find_conversation(tokenizer: Any, options: ConversationOptions, kind: Kind) -> Conversation:
    """Find the text that a model reads around persona and prompt.

    The lines of a persona stand before the prompt, as the paper puts them (Smith
    et al. 2022, A.4): at the beginning of the user's turn in a chat template, as
    turns with a separator, and in place of ``{persona}`` in a continuation. By
    default a model with a chat template uses it, a causal model without one continues
    ``CONTINUATION``, and an encoder reads the lines and the prompt, joined by
    ``UTTERANCES``. What the tokenizer itself puts before a text is added if the text does not begin with it.
    Raises ``ModelError`` for options that do not fit the tokenizer.
    """
    if kind == "masked":
        raise ModelError("a masked model cannot answer prompts: choose a causal or an encoder-decoder model")
    before, after = special_tokens(tokenizer)
    encode = partial(FrameEncoder, tokenizer, before=before, after=after if kind == "seq2seq" else [])
    named, frame, stops, ends = _form(tokenizer, options, kind)
    settings = {
        "conversation": named,
        "conversation_text": frame.with_persona,
        "conversation_text_without_persona": frame.without_persona,
        "first_tokens": " ".join(tokenizer.convert_ids_to_tokens(before)),
        "tokenizer_sha256": tokenizer_digest(tokenizer),
    }
    return Conversation(settings, stops, ends, encode(frame))


_Form = tuple[str, Frame, tuple[str, ...], tuple[int, ...]]


def text_form(options: ConversationOptions, kind: Kind = "causal") -> tuple[str, Frame, tuple[str, ...]]:
    """The name, frame and stops of a form without chat template; raises ``ModelError`` if options do not fit."""
    if options.system is not None:
        raise ModelError("--system is for chat templates: leave it out")
    if options.separator is not None and options.continuation is not None:
        raise ModelError("--separator and --continuation exclude each other: leave one out")
    separator = options.separator
    if separator is not None:
        if not separator:
            raise ModelError("--separator is empty: give the text that ends a turn, for DialoGPT <|endoftext|>")
        close = "" if kind == "seq2seq" else separator
        return f"turns that end with {separator!r}", Frame("", separator, "", close, separator), (separator,)
    if kind == "seq2seq" and options.continuation is None:
        return f"utterances joined with {UTTERANCES!r}", Frame("", UTTERANCES, "", "", UTTERANCES), ()
    pattern = CONTINUATION if options.continuation is None else options.continuation
    return "continuation up to a line break", continuation_frame(pattern), ("\n",)


def _form(tokenizer: Any, options: ConversationOptions, kind: Kind) -> _Form:
    """The name of the form, its frame, and the texts and tokens at which a response ends."""
    has_template = bool(getattr(tokenizer, "chat_template", None))
    given = [f"--{name}" for name in ("separator", "continuation") if getattr(options, name) is not None]
    if given and options.chat == "on":
        raise ModelError(f"{given[0]} and --chat on exclude each other: leave one out")
    if options.chat == "on" and not has_template:
        raise ModelError("--chat on: the tokenizer has no chat template; leave it out, or give a --separator")
    if options.chat != "off" and has_template and not given:
        return _chat(tokenizer, options.system)
    named, frame, stops = text_form(options, kind)
    known = tokenizer.get_vocab().get(options.separator)
    if known is not None and known in tokenizer.added_tokens_decoder:
        return named, frame, (), (int(known),)
    return named, frame, stops, ()


def _chat(tokenizer: Any, system: str | None) -> _Form:
    first = [] if system is None else [{"role": "system", "content": system}]
    asked = [*first, {"role": "user", "content": _CONTENT}]
    text = _rendered(tokenizer, asked, add_generation_prompt=True)
    before, content, after = text.partition(_CONTENT)
    if not content or _CONTENT in after:
        raise ModelError("the chat template does not show the user's turn exactly once: use --chat off")
    if system and system.strip() not in before:
        raise ModelError("the chat template has no place for a system prompt: leave --system out")
    if len(text) > LONGEST_FRAME:
        raise ModelError(f"the chat template writes {len(text):,} characters around a prompt: use --chat off")
    named = "chat template, " + ("no system prompt given" if system is None else "system prompt given")
    return named, Frame(before, "\n", before, after, "\n"), (), _turn_end(tokenizer, asked)


def _turn_end(tokenizer: Any, asked: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
    """The token that ends the assistant's turn in the chat template; empty if it is text, or cannot be found."""
    try:
        text = _rendered(tokenizer, [*asked, {"role": "assistant", "content": _ANSWER}])
    except ModelError:
        return ()
    tokens = tokenizer(text.rpartition(_ANSWER)[2].lstrip(), add_special_tokens=False)["input_ids"]
    return tuple(tokens[:1]) if tokens and tokens[0] in tokenizer.added_tokens_decoder else ()


def _rendered(tokenizer: Any, messages: Sequence[Mapping[str, str]], **options: bool) -> str:
    """The text of the chat template; transformers renders it in a sandbox."""
    try:
        template = _FIXED_DAY + tokenizer.get_chat_template()
        return str(tokenizer.apply_chat_template(list(messages), chat_template=template, tokenize=False, **options))
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelError(
            f"the chat template cannot be used ({reason or type(error).__name__}): use --chat off"
        ) from error
