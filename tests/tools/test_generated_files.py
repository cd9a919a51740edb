"""Files generated from the terms, and links that fill in fields of the issue forms."""

import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from folders import is_clean
from holisticbias.contribute.issue_forms import LABELS, issue_forms, issue_link
from holisticbias.contribute.proposals import axes_for_proposals
from holisticbias.source.addresses import REPOSITORY
from holisticbias.terms.catalog import Catalog
from invoking import Invoke


def test_a_stale_page_is_found(root: Path, terms_copy: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tests/data/valid", "tests/data/invalid"):
        shutil.copytree(root / name, terms_copy / name)
    monkeypatch.chdir(terms_copy)
    assert invoke("sync")[0] == 0
    (terms_copy / "docs" / "rules" / "slot.md").unlink()
    (terms_copy / ".github" / "CODEOWNERS").write_text("* @octocat\n", "utf-8")
    stale = [f"{path} is out of date: run holisticbias sync\n" for path in (".github/CODEOWNERS", "docs/rules/slot.md")]
    assert invoke("sync", "--check") == (1, "".join(stale), "")
    assert invoke("sync")[0] == 0
    assert invoke("sync", "--check") == (0, "", "")


def test_forms_ask_for_what_the_data_has(catalog: Catalog) -> None:
    fields = [field for text in issue_forms(catalog).values() for field in yaml.safe_load(text)["body"]]
    for name, text in issue_forms(catalog).items():
        ids = [field["id"] for field in yaml.safe_load(text)["body"]]
        assert len(ids) == len(set(ids)), name
    axes = [field["attributes"]["options"] for field in fields if field["id"] == "axis"]
    assert axes == [[a.axis for a in catalog.axes if a.axis != "nonce"]] * 2
    assert {field["attributes"]["label"] for field in fields} == LABELS


@pytest.mark.parametrize(
    ("form", "answers"),
    [
        ("report-term", {"entry": "ability.deaf"}),
        ("report-grammar", {"entry": "ability.deaf"}),
        ("dispute-placement", {"entry": "ability.deaf", "axis": "ability"}),
        ("propose-term", {"term": "with a stoma & more", "axis": "ability"}),
    ],
)
def test_a_link_fills_in_fields_of_the_form(root: Path, form: str, answers: dict[str, str]) -> None:
    query = parse_qs(urlsplit(issue_link(form, **answers)).query)
    content = yaml.safe_load((root / ".github" / "ISSUE_TEMPLATE" / query.pop("template")[0]).read_text("utf-8"))
    fields = {field["id"]: field["attributes"].get("options") for field in content["body"]}
    assert {name: values[0] for name, values in query.items()} == answers
    assert set(answers) <= set(fields)
    assert all(fields[name] is None or value in fields[name] for name, value in answers.items())


def test_the_guide_links_to_every_form_and_every_axis(root: Path, catalog: Catalog) -> None:
    guide = (root / "CONTRIBUTING.md").read_text("utf-8")
    forms = {path.name for path in (root / ".github" / "ISSUE_TEMPLATE").glob("*-*.yml")}
    assert set(re.findall(rf"{REPOSITORY}/issues/new\?template=([\w-]+\.yml)\)", guide)) == forms
    files = set(re.findall(rf"{REPOSITORY}/blob/main/descriptors/(\w+)\.yaml\)", guide))
    assert files == set(axes_for_proposals(catalog))
    for path in re.findall(rf"{REPOSITORY}/(?:blob|tree)/main/([\w/.]+)\)", guide):
        assert (root / path).exists()
    assert guide.index("## In the browser") == guide.index("## ")


def test_the_new_file_of_the_guide_is_valid_when_it_is_filled_in(root: Path, terms_copy: Path) -> None:
    guide = (root / "CONTRIBUTING.md").read_text("utf-8")
    (link,) = re.findall(rf"{REPOSITORY}/new/main/(descriptors/new\?[^)]+)\)", guide)
    folder, _, query = link.partition("?")
    answers = {name: values[0] for name, values in parse_qs(query).items()}

    def filled(text: str) -> str:
        return text.replace("AXIS.TERM", "ability.tone-deaf").replace("AXIS", "ability").replace("BUCKET", "auditory")

    path = terms_copy / folder / filled(answers["filename"])
    path.parent.mkdir(exist_ok=True)
    path.write_text(filled(answers["value"]).replace("TERM", "tone-deaf"), "utf-8")
    assert is_clean(terms_copy)
