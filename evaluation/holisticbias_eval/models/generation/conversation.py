"""The text that a model reads around a persona and a prompt: a chat template, turns, or a continuation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from holisticbias.errors import in_one_line
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.decoding import THINK, Thinking
from holisticbias_eval.models.generation.frame import PROMPT, Frame, FrameEncoder, Style
from holisticbias_eval.models.loading.tokenizers import CONTENT, rendered_chat, special_tokens
from holisticbias_eval.models.model import Kind
from holisticbias_eval.settings import Settings, setting

CONTINUATION = "{persona}\nA: {prompt}\nB:"
PLAIN = "the prompt as plain text, continued up to a line break"
UTTERANCES = "   "  # BlenderBot's separator is two spaces, and an utterance begins with one; T5 reads all as one
LONGEST_FRAME = 20_000
_ANSWER = "Content of the answer"


class ConversationSettings(Settings):
    """The text around persona and prompt: a chat template, turns with a separator, or a continuation."""

    group = "Responses"
    empties = frozenset({"system", "control"})

    system: str | None = setting(None, "System prompt in the chat template. Default: the template's.", metavar="TEXT")
    separator: str | None = setting(
        None,
        "Text that ends every turn, for models of dialogues without a chat template; <|endoftext|> for DialoGPT.",
        metavar="TEXT",
    )
    continuation: str | None = setting(
        None,
        "For base models: a text with {prompt}, and optionally {persona}, that the response continues up to the next "
        "line break.",
        metavar="PATTERN",
    )
    control: str | None = setting(
        None,
        "Text at the end of the context, after the prompt, that steers the responses, such as no_bias. Default: what "
        "the mitigation.json in the model's folder names; '' leaves it out.",
        metavar="TEXT",
    )
    chat: Literal["auto", "on", "off"] = setting(
        "auto", "For responses, whether prompts are put into the model's chat template; auto: if it has one."
    )


class ConversationOptions(ConversationSettings):
    """The same, and the ``style`` in which a chat model is asked to continue the prompt.

    A model without a chat template continues the prompt itself.
    """

    style: Style | None = None


@dataclass(frozen=True)
class ConversationForm:
    """One form of the text around persona and prompt, by name.

    A response ends before the first of the texts ``stops``, and at any of the tokens ``ends``, besides those of the
    model's own configuration. ``keeps_blank`` is whether the blank before a response is a part of it, because it goes
    on in the middle of a text.
    """

    named: str
    frame: Frame
    stops: tuple[str, ...] = ()
    ends: tuple[int, ...] = ()
    keeps_blank: bool = False
    thinking: Thinking = "none"


@dataclass(frozen=True, kw_only=True)
class Conversation(ConversationForm):
    """The text of requests, and the ``encoder`` that writes them as token ids for the model, or for its encoder.

    ``settings`` has the whole text around persona and prompt, for a signature.
    """

    settings: Mapping[str, str]
    encoder: FrameEncoder


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
    before, after = special_tokens(tokenizer)
    form = _form(tokenizer, options, kind)
    frame = form.frame.with_control(options.control or "")
    encoder = FrameEncoder(tokenizer, frame, before=before, after=after if kind == "seq2seq" else [])
    settings = {
        "conversation": form.named,
        "conversation_text": frame.with_persona,
        "conversation_text_without_persona": frame.without_persona,
        "first_tokens": " ".join(tokenizer.convert_ids_to_tokens(before)),
    }
    if form.thinking != "none":
        settings["reasoning"] = "kept apart from the response"
    if options.control:
        settings["control"] = options.control
    return Conversation(**{**vars(form), "frame": frame}, settings=settings, encoder=encoder)


def text_form(options: ConversationOptions, kind: Kind = "causal") -> ConversationForm:
    """The form without chat template; raises ``ModelError`` if options do not fit."""
    if options.system is not None:
        raise ModelError("--system is for chat templates: leave it out")
    if options.separator is not None and options.continuation is not None:
        raise ModelError("--separator and --continuation exclude each other: leave one out")
    separator = options.separator
    if separator is not None:
        close = "" if kind == "seq2seq" else separator
        return ConversationForm(
            f"turns that end with {separator!r}", Frame("", separator, "", close, separator), (separator,)
        )
    if options.style is not None and options.continuation is None:
        return ConversationForm(PLAIN, Frame.of(PROMPT), ("\n",), keeps_blank=True)
    if kind == "seq2seq" and options.continuation is None:
        return ConversationForm(f"utterances joined with {UTTERANCES!r}", Frame("", UTTERANCES, "", "", UTTERANCES))
    pattern = CONTINUATION if options.continuation is None else options.continuation
    return ConversationForm("continuation up to a line break", Frame.of(pattern), ("\n",))


def _form(tokenizer: Any, options: ConversationOptions, kind: Kind) -> ConversationForm:
    """The form of the text, and the tokens at which a response ends."""
    has_template = bool(getattr(tokenizer, "chat_template", None))
    forms = [f"--{name}" for name in ("separator", "continuation") if getattr(options, name) is not None]
    if forms and options.chat == "on":
        raise ModelError(f"{forms[0]} and --chat on exclude each other: leave one out")
    if options.chat == "on" and not has_template:
        raise ModelError("the tokenizer has no chat template: leave out --chat on, or --ask chat")
    if options.chat != "off" and has_template and not forms:
        return (
            _continuing_chat(tokenizer, options.style, options.system)
            if options.style
            else _chat(tokenizer, options.system)
        )
    form = text_form(options, kind)
    token = tokenizer.get_vocab().get(options.separator)
    if token is not None and token in tokenizer.added_tokens_decoder:
        return replace(form, stops=(), ends=(int(token),))
    return form


def _continuing_chat(tokenizer: Any, style: Style, given: str | None) -> ConversationForm:
    """The chat template with the texts of a style; without a place for a system prompt, that is in the user's turn."""
    system = style.system if given is None else given
    try:
        return _chat(tokenizer, system, style.turn)
    except ModelError:
        if not system:
            raise
        return _chat(tokenizer, None, f"{system}\n\n{style.turn}")


def _chat(tokenizer: Any, system: str | None, turn: str = PROMPT) -> ConversationForm:
    first = [] if system is None else [{"role": "system", "content": system}]
    messages = [*first, {"role": "user", "content": turn.replace(PROMPT, CONTENT)}]
    text = _rendered(tokenizer, messages, add_generation_prompt=True)
    before, content, after = text.partition(CONTENT)
    if not content or CONTENT in after:
        raise ModelError("the chat template does not show the user's turn exactly once: use --chat off")
    if system and system.strip() not in before:
        raise ModelError("the chat template has no place for a system prompt: leave --system out")
    if len(text) > LONGEST_FRAME:
        raise ModelError(f"the chat template writes {len(text):,} characters around a prompt: use --chat off")
    named = "chat template, " + ("no system prompt given" if system is None else "system prompt given")
    named += "" if turn == PROMPT else ", a turn around the prompt"
    frame = Frame(before, "\n", before, after, "\n")
    return ConversationForm(named, frame, ends=_turn_end(tokenizer, messages), thinking=_thinking(tokenizer, after))


def _thinking(tokenizer: Any, after: str) -> Thinking:
    """Whether the template, which writes ``after`` behind a prompt, knows reasoning."""
    if not any(mark in tokenizer.get_chat_template() for mark in THINK):
        return "none"
    return "opened" if after.rstrip().endswith(THINK) else "marked"


def _turn_end(tokenizer: Any, asked: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
    """The token that ends the assistant's turn in the chat template; empty if it is text, or cannot be found."""
    try:
        text = _rendered(tokenizer, [*asked, {"role": "assistant", "content": _ANSWER}])
    except ModelError:
        return ()
    tokens = tokenizer(text.rpartition(_ANSWER)[2].lstrip(), add_special_tokens=False)["input_ids"]
    return tuple(tokens[:1]) if tokens and tokens[0] in tokenizer.added_tokens_decoder else ()


def _rendered(tokenizer: Any, messages: Sequence[Mapping[str, str]], **options: bool) -> str:
    """The text of the chat template."""
    try:
        return rendered_chat(tokenizer, messages, **options)
    except Exception as error:
        raise ModelError(f"the chat template cannot be used ({in_one_line(error)}): use --chat off") from error
