"""Commands that are refused: `refused.yaml` has them, with a part of the message; nothing is written."""

import shlex
from pathlib import Path

import pytest
import yaml
from tests.evaluation.conftest import mini_catalog
from tests.evaluation.retention.small_multiwoz import write_multiwoz

from holisticbias import build_release, write_release
from invoking import Invoke
from row_files import write_table

PAIR = {"specification": "invented.one", "attribute": "calm", "stereotyped": "sentence"}
CASES = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8"))
REFUSED = {**{f"evaluate --measures {words}": said for words, said in CASES["evaluate"].items()}, **CASES["others"]}


@pytest.fixture
def folder(tmp_path: Path, mini_release_folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with small files; after ``invoke``, in another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mini").symlink_to(mini_release_folder)
    write_release(build_release(mini_catalog(nouns=())), tmp_path / "empty")
    path = write_multiwoz(tmp_path / "dialogues") / "data.json"
    path.write_text(path.read_text("utf-8").replace("stad", "blick").replace("mell", "blick"), "utf-8")
    (tmp_path / "bold").mkdir()
    (tmp_path / "bold" / "craft_prompt.json").write_text('{"Blickets": {"Mel_Rowe": ["", " "]}}')
    write_table(tmp_path / "texts.csv", [{"text": "They are kind.", "group": "blicket"}])
    write_table(tmp_path / "responses.csv", [{"response": "Hello."}])
    sentence = {
        "specification": "groups.race",
        "attribute": "calm",
        "term": "Black",
        "sentence": "A Black boy is calm.",
    }
    write_table(tmp_path / "sentences.csv", [sentence])
    write_table(tmp_path / "pairs.csv", [{**PAIR, "sentence": "A wug is calm.", "other_sentence": "A dax is calm."}])
    return tmp_path


@pytest.mark.parametrize(("words", "message"), REFUSED.items())
def test_one_line_says_what_to_change(words: str, message: str, folder: Path, tiny_gpt2: Path, invoke: Invoke) -> None:
    asked = shlex.split(words.replace("{model}", str(tiny_gpt2)))
    last = invoke.refused(*asked, "--out", "made.csv", keeps=folder).splitlines()[-1]
    assert last.startswith(("holisticbias: ", "Error: "))
    assert message in last
