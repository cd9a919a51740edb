"""The files of decodings, and what is refused in them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.generation.decoding import DECODINGS


@pytest.mark.parametrize("name", DECODINGS.available())
def test_every_file_reads_and_has_the_id_of_its_name(name: str) -> None:
    assert DECODINGS.read(name).id == name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("holisticbias-dialogpt", {"method": "beam", "beams": 10, "min_new_tokens": 20, "blocked_ngram": 3}),
        ("holisticbias-blenderbot", {"method": "beam", "beams": 3, "min_new_tokens": 20, "blocked_ngram": 3}),
        ("bold-gpt2", {"method": "sample", "top_k": 40, "top_p": 0.95, "temperature": 1.0}),
        ("autobiastest", {"method": "sample", "temperature": 0.8, "top_k": 50, "top_p": 0.85, "max_new_tokens": 80}),
        ("sampled", {"method": "sample", "temperature": 1.0, "top_k": None}),
    ],
)
def test_the_settings_of_the_papers(name: str, expected: dict[str, object]) -> None:
    found = DECODINGS.read(name).model_dump()
    assert {key: found[key] for key in expected} == expected


SOUND = {"id": "own", "method": "sample", "max_new_tokens": 40, "source": "me"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "beam"}, "beams is for the method beam, which needs it"),
        ({"beams": 3}, "beams is for the method beam, which needs it"),
        ({"method": "greedy", "top_p": 0.9}, "temperature, top_k and top_p are for the method sample"),
        ({"method": "greedy", "temperature": 0.5}, "temperature, top_k and top_p are for the method sample"),
        ({"min_new_tokens": 41}, "min_new_tokens must not exceed max_new_tokens"),
        ({"max_new_tokens": 0}, "max_new_tokens: it must be at least 1"),
        ({"temperature": 0}, "temperature: it must be greater than 0"),
        ({"top_p": 1.5}, "top_p: it must be at most 1"),
        ({"source": None}, "source: it must be a text"),
        ({"repetition_penalty": 1.2}, "repetition_penalty: the key is not in the schema"),
    ],
)
def test_a_wrong_file_is_one_clear_line(change: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({**SOUND, **change}), "utf-8")
    with pytest.raises(EvaluationError, match=message) as raised:
        DECODINGS.read(str(path))
    assert str(raised.value).startswith(str(path))
