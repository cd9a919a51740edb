"""What a model reads before each sentence: one text for all, or a line of a file drawn for each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from holisticbias_eval.errors import EvaluationError


@dataclass(frozen=True, slots=True)
class Context:
    """Contexts to draw from, and how that is told in a run's signature, where there is anything to tell."""

    lines: tuple[str, ...] = ("",)
    seed: int = 0
    told: str | None = None

    def draw(self, sentences: Sequence[str], *, joined: bool) -> list[str]:
        """A context for each sentence.

        The draw hangs on the seed and the sentence's text alone: not on the
        other sentences, their order or the machine. Where context and sentence
        are ``joined`` to one text, a space stands between them.
        """
        lines = [_apart(line) for line in self.lines] if joined else self.lines
        if len(lines) == 1:
            return [lines[0]] * len(sentences)
        return [lines[_number(f"{self.seed} {text}") % len(lines)] for text in sentences]


def read_context(text: str | None, file: Path | None, seed: int | None) -> Context:
    """The context of a run, from its options; ``EvaluationError`` where they contradict each other or the file."""
    if text is not None and file is not None:
        raise EvaluationError("--context and --context-file exclude each other: leave one out")
    if seed is not None and file is None:
        raise EvaluationError("--context-seed draws from the lines of a file: name it with --context-file")
    if file is None:
        return Context((text,), told=text) if text else Context()
    try:
        content = file.read_bytes()
        lines = tuple(line.strip() for line in content.decode().splitlines() if line.strip())
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise EvaluationError(f"{file} cannot be read as contexts: {reason}") from error
    if not lines:
        raise EvaluationError(f"{file} has no line to draw a context from: write one context a line")
    seed = seed or 0
    digest = hashlib.sha256(content).hexdigest()
    told = f"a line of {file.name} for each sentence, by seed {seed}; {len(lines):,} lines, SHA-256 {digest}"
    return Context(lines, seed, told)


def _apart(line: str) -> str:
    return f"{line} " if line and not line[-1].isspace() else line


def _number(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])
