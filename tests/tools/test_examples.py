"""Examples of rules: valid files have no findings, and invalid files break exactly the rules they name."""

import json
import pkgutil
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

import holisticbias.rules
import holisticbias.source
from holisticbias.rules import MODULES, RULES
from holisticbias.rules.pages import rule_example
from holisticbias.rules.validate import validate_paths
from holisticbias.source.document import read_document
from holisticbias.source.findings import Finding, Rule
from holisticbias.source.folder import kind_of, read_source
from holisticbias.source.schema import json_schemas
from holisticbias.terms.file_kinds import MODELS

PACKAGES = (holisticbias.rules, holisticbias.source)
DATA = Path(__file__).resolve().parent.parent / "data"
VALID = sorted((DATA / "valid").glob("*.yaml"))
INVALID = sorted((DATA / "invalid").glob("*.yaml"))


def named(paths: Sequence[Path]) -> list[str]:
    return [path.stem for path in paths]


def says(path: Path) -> list[tuple[str, int, int]]:
    """The findings that the second line of an invalid example announces."""
    header = path.read_text("utf-8").split("\n")[1]
    assert header.startswith("# breaks: "), f"{path} does not say what it breaks"
    return sorted(
        (rule, int(line), int(column)) for rule, line, column in re.findall(r"([a-z0-9-]+) (\d+):(\d+)", header)
    )


@pytest.fixture(scope="module")
def findings(root: Path, unchanged: Path) -> dict[str, list[Finding]]:
    """The findings of all examples, by folder and name of the file; the terms around them are read once."""
    found: dict[str, list[Finding]] = {folder_and_name(path): [] for path in [*VALID, *INVALID]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holisticbias.rules.validate.read_source", cache(read_source))
        for path in (*VALID, *INVALID):
            terms = root if path.stem.startswith("waiver") else unchanged
            patch.setattr("holisticbias.rules.validate.find_source", {path.parent: terms}.get)
            for finding in validate_paths([path]):
                if finding.rule != "text-elsewhere" or path.stem == "text_elsewhere":  # they have terms of other axes
                    found[folder_and_name(Path(finding.path))].append(finding)
    return found


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    """The JSON Schema of each kind of file."""
    made = json_schemas()
    return {kind: json.loads(made[f"{kind}.schema.json"]) for kind in MODELS}


def folder_and_name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", VALID, ids=named(VALID))
def test_valid_example_has_no_findings(path: Path, findings: dict[str, list[Finding]]) -> None:
    assert findings[folder_and_name(path)] == []


@pytest.mark.parametrize("path", INVALID, ids=named(INVALID))
def test_invalid_example_breaks_what_it_says(path: Path, findings: dict[str, list[Finding]]) -> None:
    assert sorted((f.rule, f.line, f.column) for f in findings[folder_and_name(path)]) == says(path)


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=named([*VALID, *INVALID]))
def test_json_schema_and_models_agree(path: Path, schemas: Mapping[str, Any]) -> None:
    document = read_document(path, path.name)
    kind = kind_of(path, document)
    try:
        MODELS[kind].model_validate(document.data)
        accepted = True
    except ValidationError:
        accepted = False
    assert jsonschema.Draft202012Validator(schemas[kind]).is_valid(document.data) == accepted


def test_every_rule_has_an_example_or_another_test() -> None:
    """One small text file cannot break some of the rules, or breaks others with them."""
    shown = {rule for path in INVALID for rule, _, _ in says(path)}
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert [rule for rule in RULES if rule not in shown and f'"{rule}"' not in tests] == []
    for rule in RULES:
        example = rule_example(rule, DATA)
        assert (example is not None) == (rule in shown)
        if example is not None:
            assert 1 <= example.line <= len(example.broken.split("\n")), rule
            assert example.broken != example.fixed


def test_every_rule_is_listed_and_has_a_unique_id() -> None:
    modules = [import_module(m.name) for p in PACKAGES for m in pkgutil.iter_modules(p.__path__, f"{p.__name__}.")]
    found = {id(v): v for module in (*modules, *MODULES) for v in vars(module).values() if isinstance(v, Rule)}
    assert sorted(rule.id for rule in found.values()) == sorted(RULES)


def test_texts_of_a_rule_are_sentences() -> None:
    """The fix comes after "Fix:", and a full stop is added to it."""
    for rule in RULES.values():
        assert re.fullmatch(r"[A-Z\"].*\.", rule.asks)
        assert re.fullmatch(r"[a-z].*[^.]", rule.fix)
        assert rule.why == "" or rule.why.endswith(".")


def test_every_kind_of_file_has_a_valid_example() -> None:
    assert {kind_of(path, read_document(path, path.name)) for path in VALID} == set(MODELS)


def test_schemas_of_a_package_that_cannot_be_imported_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = EntryPoint("absent", "no_such_package:Record", "holisticbias.schemas")
    monkeypatch.setattr("holisticbias.source.schema.entry_points", lambda group: [absent])
    assert set(json_schemas()) == {f"{kind}.schema.json" for kind in MODELS}


def test_schemas_are_schemas(root: Path) -> None:
    for path in (root / "schema").iterdir():
        jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))


def test_schemas_are_what_the_models_say(root: Path) -> None:
    assert {path.name for path in (root / "schema").iterdir()} == set(json_schemas())
