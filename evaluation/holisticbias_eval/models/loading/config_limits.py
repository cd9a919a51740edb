"""Limits of the configuration of a model repository, checked before anything is made from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from holisticbias_eval.errors import ModelError

MOST_LAYERS = 10_000
MOST_LABELS = 1_000_000
LARGEST_SIZE = 100_000_000
ATTENTION = frozenset({None, "eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3"})
"""The attention that transformers itself implements; another name is a repository whose code would be run."""

_ATTENTION_KEY = re.compile(r"_?attn_implementation(_internal)?")
_LIMITS = (
    (re.compile(r"^layers?$"), MOST_LAYERS),
    (re.compile(r"^labels$"), MOST_LABELS),
    (re.compile(r"size|dim|d_model|d_ff|d_kv|embd|inner|heads?|experts"), LARGEST_SIZE),
)


def check_config(name: str, config: object) -> None:
    """Raise ``ModelError`` if a configuration, as read from its file, is absurdly large or names code to download."""
    if not isinstance(config, Mapping):
        raise ModelError(f"{name}: its configuration is not a JSON object")
    _check_architectures(name, config.get("architectures"))
    for key, value in _nested(config):
        if _ATTENTION_KEY.fullmatch(key):
            _check_attention(name, key, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            words = key.rpartition("_")[2] if key not in ("d_model", "d_ff", "d_kv") else key
            limits = (number for form, number in _LIMITS if form.search(words))
            limit = next(limits, None)
            if limit is not None and value > limit:
                raise ModelError(f"{name}: its configuration has {key} {value:,}; at most {limit:,} is accepted")


def _check_architectures(name: str, architectures: object) -> None:
    names = architectures if isinstance(architectures, list) else [] if architectures is None else [None]
    if not all(isinstance(one, str) for one in names):
        raise ModelError(f"{name}: its configuration has architectures that are not a list of names")


def _check_attention(name: str, key: str, value: object) -> None:
    for part in value.values() if isinstance(value, Mapping) else (value,):
        if not isinstance(part, str | None) or part not in ATTENTION:
            raise ModelError(
                f"{name}: its configuration names the attention {str(part)[:80]!r} in {key}, whose code is never run "
                "here: remove the key, or write sdpa or eager"
            )


def _nested(config: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in config.items():
        yield str(key), value
        if isinstance(value, Mapping) and not _ATTENTION_KEY.fullmatch(str(key)):
            yield from _nested(value)
