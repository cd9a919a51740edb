"""Values that break the schema are described in plain words."""

import re
from collections.abc import Mapping

import pytest
from pydantic import ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.entries import Descriptor, Record
from holisticbias.terms.file_kinds import CollectionFile, Source
from holisticbias.terms.version_files import ReleaseFile

ENTRY: Mapping[str, object] = {"id": "a.b", "text": "kind", "sources": ["x"], "since": "1.0.0"}
JUDGED = {"judgement": "accepted", "date": "2026"}
WORDING = {"until": "2.0.0", "reason": "x", "text": None}
JARGON = re.compile(r"Input|String|Field required|Value error|should|valid |pydantic|Tuple")


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (Descriptor, {"id": "a.B"}, "it must be an id, AXIS.NAME, in lower-case letters, digits and hyphens"),
        (Descriptor, {"text": 1}, "it must be a text"),
        (Descriptor, {"text": ""}, "it must not be empty"),
        (Descriptor, {"text": "x" * 201}, "it must have at most 200 characters"),
        (Descriptor, {"since": "3"}, "it must be three numbers such as 3.1.0, or next"),
        (Descriptor, {"bucket": "A b"}, "it must be a name in lower-case letters, digits and underscores"),
        (Descriptor, {"sources": ["A"]}, "it must be an id in lower-case letters, digits and hyphens"),
        (Descriptor, {"sources": []}, "it must have at least 1 part"),
        (Descriptor, {"sources": "x"}, "it must be a list"),
        (Descriptor, {"history": ["x"]}, "it must have keys and values"),
        (Descriptor, {"without_noun": 1}, "it must be true or false"),
        (Descriptor, {"article": "the"}, "it must be 'a' or 'an'"),
        (Descriptor, {"colour": "red"}, "the key is not in the schema"),
        (
            Descriptor,
            {"assessments": [JUDGED | {"date": "May"}]},
            "it must be a date such as 2026-01-31, 2026-01 or 2026",
        ),
        (Descriptor, {"assessments": [JUDGED | {"locale": "EN"}]}, "it must be a language and region such as en-US"),
        (Descriptor, {"history": [WORDING]}, "an entry always has this key; leave it out if it did not change"),
        (ReleaseFile, {"digest": "x"}, "it must be 64 hexadecimal digits"),
        (CollectionFile, {"prompt_words": 0}, "it must be at least 1"),
        (CollectionFile, {"prompt_words": "x"}, "it must be a whole number"),
        (Source, {"url": "http://x"}, "it must be an https:// address"),
    ],
)
def test_value_that_breaks_the_schema(model: type[Record], values: Mapping[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**(ENTRY if model is Descriptor else {}), **values})
    found = [schema_message(e) for e in caught.value.errors() if e["loc"][0] in values]
    assert found[0] == message
    assert not any(JARGON.search(schema_message(e)) for e in caught.value.errors())
