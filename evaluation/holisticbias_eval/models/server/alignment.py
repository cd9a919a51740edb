"""Find the tokens of a server's answer in the text of the prompt."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from holisticbias_eval.arrays import Int32s

_REPLACED = "\ufffd"
_MOST_LEADING = 4  # tokens before a prompt; some tokenizers put two there
_MOST_PLACES = 256  # places at which a token may end; real prompts have a few
_BYTES = re.compile(r"bytes:((?:\\x[0-9a-fA-F]{2})+)")
_LARGEST = 4  # bytes of a character


def find_leading(prompt: str, tokens: Sequence[str], most: int) -> int | None:
    """How many of the first tokens are not in the prompt, such as ``<s>``; None if the others do not make it up.

    At most ``most`` tokens may follow the prompt.
    """
    blank = next((i for i, token in enumerate(tokens[:_MOST_LEADING]) if token), 0)
    for leading in range(blank, min(_MOST_LEADING, len(tokens)) + 1):
        if align(prompt, tokens[leading:], most) is not None:
            return leading
    return None


def align(prompt: str, tokens: Sequence[str], most: int) -> Int32s | None:
    """The character at which each token of a prompt begins, without the tokens after its end: shape ``[tokens]``.

    None if the tokens do not make up the prompt, and after it at most ``most`` others. A token may be shown without
    the spaces before it, which then belong to it. A part of a character may be shown as U+FFFD, as its bytes
    or as nothing; it begins where the character does.
    """
    text = prompt.encode("utf-8", "surrogatepass")
    begins = _begins(text, tokens, most, gaps=False)
    if begins is None and not text.isascii():
        begins = _begins(text, tokens, most, gaps=True)
    if begins is None:
        return None
    characters = np.cumsum((np.frombuffer(text, np.uint8) & 0xC0) != 0x80) - 1
    return np.append(characters, len(prompt))[begins].astype(np.int32)


def _begins(text: bytes, tokens: Sequence[str], most: int, *, gaps: bool) -> list[int] | None:
    """The byte at which each token begins; with ``gaps`` a token may lack a part of a character before it."""
    before: list[dict[int, int]] = []  # of each token: where it may end, and where it then begins
    places = {0}
    reached = None
    for number, token in enumerate(tokens):
        if len(text) in places and len(tokens) - number <= most:
            reached = number
            break
        begin_of: dict[int, int] = {}
        for place in sorted(places):
            for end in _ends(text, place, token, gaps=gaps):
                begin_of.setdefault(end, place)
        if not begin_of or len(begin_of) > _MOST_PLACES:
            return None
        before.append(begin_of)
        places = set(begin_of)
    if reached is None and len(text) not in places:
        return None
    begins, place = [], len(text)
    for begin_of in reversed(before):
        place = begin_of[place]
        begins.append(place)
    return begins[::-1]


def _ends(text: bytes, place: int, token: str, *, gaps: bool) -> Iterator[int]:
    """The places at which a token that begins at a place may end."""
    spaced = place
    while text[spaced : spaced + 1].isspace():
        spaced += 1
    starts = [place, spaced] if spaced > place else [place]
    starts += _partial(text, place) if gaps else ()
    if not token:
        yield from starts
        yield from _partial(text, place)
        return
    shown = _shown_bytes(token)
    for start in starts:
        if shown and text.startswith(shown, start):
            yield start + len(shown)
        yield from _matches(text, start, token)
    if place == 0 and token[0].isspace():  # some tokenizers put a space before a text
        yield from _matches(text, place, token.lstrip())


def _shown_bytes(token: str) -> bytes:
    r"""The bytes of a part of a character that is shown as ``bytes:\xf0\x9f``; empty for every other token."""
    shown = _BYTES.fullmatch(token)
    return bytes.fromhex(shown[1].replace("\\x", "")) if shown else b""


def _matches(text: bytes, start: int, token: str) -> Iterator[int]:
    """The possible ends of a token's characters; each U+FFFD is one to four bytes of a character that is not ASCII."""
    ends = {start}
    first, *others = token.split(_REPLACED)
    ends = _literal(text, ends, first)
    for part in others:
        ends = _literal(text, {end for place in ends for end in _partial(text, place)}, part)
        if len(ends) > _MOST_PLACES:
            return
    yield from ends


def _literal(text: bytes, starts: set[int], part: str) -> set[int]:
    wanted = part.encode("utf-8", "surrogatepass")
    return {start + len(wanted) for start in starts if text.startswith(wanted, start)}


def _partial(text: bytes, place: int) -> Iterator[int]:
    """The ends of one to four bytes that are not ASCII."""
    for end in range(place + 1, min(place + _LARGEST, len(text)) + 1):
        if text[end - 1] < 0x80:
            return
        yield end
