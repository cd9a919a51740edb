"""Values that break the schema are described in plain words."""

import re
from collections.abc import Mapping

import pytest
import yaml
from pydantic import ValidationError

from folders import ROOT
from holisticbias.source.schema_messages import schema_message
from holisticbias.terms.entries import Descriptor, Noun, Record
from holisticbias.terms.file_kinds import CollectionFile, Source
from holisticbias.terms.specification_entries import Specification
from holisticbias.terms.version_files import ReleaseFile

ENTRY = {"id": "a.b", "text": "kind", "sources": ["x"], "since": "1.0.0"}
JARGON = re.compile(r"Input|String|Field required|Value error|should|valid |pydantic|Tuple")
MODELS: dict[str, type[Record]] = {
    m.__name__: m for m in (Descriptor, Noun, Specification, ReleaseFile, CollectionFile, Source)
}
LONG = ("Descriptor", {"text": "x" * 201}, "it must have at most 200 characters")
BROKEN = yaml.safe_load((ROOT / "tests" / "data" / "schema-messages.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("model", "values", "message"), [*BROKEN, LONG])
def test_value_that_breaks_the_schema(model: str, values: Mapping[str, object], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        MODELS[model].model_validate({**(ENTRY if model == "Descriptor" else {}), **values})
    found = [schema_message(e) for e in caught.value.errors() if e["loc"][0] in values]
    assert found[0] == message
    assert not any(JARGON.search(schema_message(e)) for e in caught.value.errors())
