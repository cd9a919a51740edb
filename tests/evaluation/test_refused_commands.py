"""What no command can do is refused in one line, which says what to change, and nothing is written."""

import shlex
from pathlib import Path

import pytest
from tests.evaluation.conftest import mini_catalog
from tests.evaluation.retention.small_multiwoz import write_multiwoz

from holisticbias import build_release, write_release
from invoking import Invoke
from row_files import write_table

PAIR = {"specification": "invented.one", "attribute": "calm", "stereotyped": "sentence"}
EVALUATE = {
    "sentiment --prompts sentences --human texts.csv --release mini": (
        "--human is for prompts to continue: nobody's responses to sentences are compared"
    ),
    "sentiment --responses texts.csv --measured whole": (
        "--measured is for responses with prompts: texts.csv has texts, which are measured whole"
    ),
    "sentiment --model embedded-writer --prompts bold": "bold has no prompts",
    "dialogue_state --retain multiwoz:dialogues --engine ray": (
        "dialogue_state fine-tunes the model, which the ray engine cannot: use local"
    ),
    "dialogue_state --retain multiwoz:dialogues": (
        "dialogues/data.json: no slot has two values in the training dialogues: is it complete?"
    ),
    "generation_bias --model embedded --release mini --per-cell 2": (
        "the embedded model gives scores alone; the one for responses is --model embedded-responder"
    ),
    "generation_bias --release empty": "no sentence with a descriptor and a noun is left to ask about",
    "retained": "retained needs a command that reports numbers: give it with --retain-command",
    "stereotype_score --pairs pairs.csv --mode choice --engine ray --model {model}": (
        "--mode choice needs the local or the api engine, not ray"
    ),
    "medians --release mini --model {model} --device nothing": (
        "the model cannot be moved to the device 'nothing': Expected one of cpu, cuda,"
    ),
    "medians --release mini --model {model} --kind masked": (
        "the model cannot be loaded: it is another kind of model; if --kind is given, leave it out"
    ),
}
OTHERS = {
    "classify --responses responses.csv --classifier vader --no-censor": (
        "--censor/--no-censor is for tables with a column descriptor: responses.csv has none"
    ),
    "classify --responses responses.csv --classifier vader,toxicity": "name one classifier with --classifier: see",
    "corpus collect --dump none.xml": "none.xml does not exist or is not a file: name the dump of a wiki, as .xml",
    "corpus collect --dump texts.csv --site ftp://wiki": "--site: must begin with http:// or https://",
    "mitigate ,": "no method is named; available: lmd, add, ctda, cada, style_equality, self_chat",
    "mitigate lmd,self_chat --measures medians": (
        "methods of sentences and of responses have two calibration models: name one --model for both, or run each"
    ),
    "mitigate lmd --groups dorrin,blicket": (
        "--groups: dorrin is held out: leave it out of --groups, or do not hold it out"
    ),
    "mitigate lmd --retain-command half": "the command does not name the model: write {model} where its folder belongs",
    "stereotypes sentences --generator embedded-writer": "--generator needs --specification: `holisticbias",
    "stereotypes sentences --import sentences.csv --specification mathematics-or-arts": (
        "sentences.csv has no sentences of stereotypes.mathematics-or-arts; it has those of groups.race"
    ),
    "stereotypes sentences --generator '' --specification stereotypes.mathematics-or-arts": (
        "the model has no name: give a folder, a GGUF file or a Hub repository"
    ),
}


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


@pytest.mark.parametrize("words", [*(f"evaluate --measures {words}" for words in EVALUATE), *OTHERS])
def test_one_line_says_what_to_change(words: str, folder: Path, tiny_gpt2: Path, invoke: Invoke) -> None:
    asked = shlex.split(words.replace("{model}", str(tiny_gpt2)))
    said = invoke.refused(*asked, "--out", "made.csv", keeps=folder)
    message = {**EVALUATE, **OTHERS}[words.removeprefix("evaluate --measures ")]
    last = said.splitlines()[-1]
    assert last.startswith(("holisticbias: ", "Error: "))
    assert message in last
