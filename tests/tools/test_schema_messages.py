"""Values that break the schema are described in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from holisticbias.rules.validate import validate_files
from holisticbias.source.document import parse_document
from holisticbias.source.folder import SourceFile
from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.entries import Descriptor, Record
from holisticbias.terms.file_kinds import CollectionFile, ReleaseFile, Source

ENTRY: Mapping[str, object] = {"id": "a.b", "text": "kind", "sources": ["x"], "since": "1.0.0"}
JARGON = re.compile(r"Input|String|Field required|Value error|should|valid |pydantic|Tuple")


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (
            Descriptor,
            {"id": "a.B"},
            "it needs the axis or group, a dot, and small letters, digits and hyphens, as in 'ability.deaf'",
        ),
        (Descriptor, {"text": 1}, "it needs a text"),
        (Descriptor, {"text": ""}, "it is empty"),
        (Descriptor, {"text": "x" * 201}, "it has more than 200 characters"),
        (Descriptor, {"since": "3"}, "it needs three numbers, as in 3.0.0"),
        (
            Descriptor,
            {"bucket": "A b"},
            "it needs small letters, digits and _, and begins with a letter, as in 'after_the_noun'",
        ),
        (Descriptor, {"sources": ["A"]}, "it needs small letters, digits and hyphens, as in 'rv-0042'"),
        (Descriptor, {"sources": []}, "it needs at least 1"),
        (Descriptor, {"sources": "x"}, "it needs a list"),
        (Descriptor, {"history": ["x"]}, "it needs keys and values"),
        (Descriptor, {"without_noun": 1}, "it needs true or false"),
        (Descriptor, {"article": "the"}, "it needs 'a' or 'an'"),
        (Descriptor, {"colour": "red"}, "the key is not in the schema"),
        (
            Descriptor,
            {"assessments": [{"judgement": "accepted", "date": "May"}]},
            "it needs a date, as in 2026-03-31, 2026-03 or 2026",
        ),
        (
            Descriptor,
            {"assessments": [{"judgement": "accepted", "date": "2026", "locale": "English"}]},
            "it needs a language, and a region if wanted, as in 'en-US'",
        ),
        (
            Descriptor,
            {"history": [{"until": "2.0.0", "reason": "x", "text": None}]},
            "an entry always has this key; leave it out if it did not change",
        ),
        (ReleaseFile, {"digest": "x"}, "it needs 64 hexadecimal digits"),
        (CollectionFile, {"prompt_words": 0}, "it needs 1 or more"),
        (CollectionFile, {"prompt_words": "x"}, "it needs a whole number"),
        (Source, {"url": "http://x"}, "it needs an address that begins with https://"),
    ],
)
def test_value_that_breaks_the_schema(model: type[Record], values: Mapping[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**(ENTRY if model is Descriptor else {}), **values})
    found = [schema_message(e) for e in caught.value.errors() if e["loc"][0] in values]
    assert found[0] == message
    assert not any(JARGON.search(schema_message(e)) for e in caught.value.errors())


def test_finding_says_what_the_value_must_be_and_is() -> None:
    content = b"axis: a\nlabel: A\ndescriptors:\n  - {id: a.b, text: 1, sources: [X], since: 1.0.0}\n"
    files = [SourceFile("descriptors", parse_document(content, "descriptors/a.yaml"))]
    assert [f.message for f in validate_files(files)[1] if f.rule == "schema"] == [
        "text: it needs a text; it is 1.",
        "it needs small letters, digits and hyphens, as in 'rv-0042'; it is 'X'.",
    ]
