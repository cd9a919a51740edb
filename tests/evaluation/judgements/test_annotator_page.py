"""The page for annotators: what it contains, and what its script does in a real browser."""

import base64
import hashlib
import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from pydantic import ValidationError

from browser import CHROMIUM, browse
from holisticbias_eval.judgements.answers import AnnotatorAnswer, SavedAnswers
from holisticbias_eval.judgements.key import STUDIO, Key
from holisticbias_eval.judgements.settings import StudySettings
from holisticbias_eval.judgements.study import make_key, render_annotator_page, shown_tasks

from .made_studies import NAMES, saved_answers, source, study

browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">\u202ereversed\nsecond'

START = """
  const at = (id) => inner.getElementById(id);
  const texts = () => [inner.querySelector(".prompt p"), at("left"), at("right")].map((e) => e.textContent);
  const begin = (name, sheet) => {
    at("annotator").value = name;
    at("sheet").value = sheet;
    at("start").requestSubmit();
  };
  const fields = () => [...at("questions").children];
  const choose = (field, place) => fields()[field].querySelectorAll("input")[place].click();
  const press = (key) => inner.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const saved = () => JSON.parse(at("text").value);
  const found = {};
"""


def page_of(key: Key) -> str:
    return render_annotator_page(key, shown_tasks(key))


def hostile_study() -> Key:
    rows = [{"prompt": f"wug {i} {HOSTILE}", "response": f"{i} {HOSTILE}"} for i in range(2)]
    others = [{**row, "response": f"other {row['response']}"} for row in rows]
    return made(rows, others)


def made(rows: list[dict[str, str]], others: list[dict[str, str]]) -> Key:
    """A study with one sheet of the pairs of these rows."""
    settings = StudySettings(pairs=len(rows), per_pair=1, sheets=1, catch=0)
    return make_key((source("a", rows), source("b", others)), settings)


def test_the_policy_names_the_script_and_the_style_and_nothing_else() -> None:
    page = page_of(study())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy
    assert len(scripts) == len(styles) == 1
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (*styles, *scripts)]
    assert policy[1] == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not re.search(r"\sstyle=|\son\w+=|https?:|\ssrc=", page.replace(styles[0], ""))


def test_models_sides_and_catch_questions_are_not_on_the_page() -> None:
    key = study(4, StudySettings(pairs=4, catch=2))
    page = page_of(key)
    for hidden in ("dax/one", "dax/two", "pair-1", "catch-1", "good", "calibration"):
        assert hidden not in page
    for sheet, tasks in shown_tasks(key).items():
        assert (tasks[0]["id"] in page) == (sheet != STUDIO)


def test_texts_cannot_leave_the_data() -> None:
    """Long texts are cut."""
    page = page_of(hostile_study())
    assert page.count("</script>") == 2
    assert "onerror" in page
    assert "<img" not in page
    assert "\u202e" not in page
    data = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert data
    tasks = json.loads(data[1])["sheets"]["1"]
    assert {task["left"].splitlines()[1] for task in tasks} == {"second"}
    one, two = ([{"prompt": "wug", "response": letter * 9000}] for letter in "xy")
    assert {len(task[side]) for task in shown_tasks(made(one, two))[1] for side in ("left", "right")} == {4000}


@browser
def test_an_annotator_answers_a_sheet(tmp_path: Path) -> None:
    """Answer with the mouse and with keys, be asked for what is missing, go back, and save."""
    key = study(2, StudySettings(pairs=2, catch=0))
    script = """
      begin("sam", "2");
      found.hidden = at("task").hidden;
      found.first = texts();
      at("task").requestSubmit();
      found.problem = at("problem").textContent;
      choose(0, 0); choose(1, 1); choose(2, 2);
      at("task").requestSubmit();
      found.second = texts();
      found.progress = at("progress").textContent;
      press("2"); press("1"); press("1"); press("Enter");
      found.count = at("count").textContent;
      found.saved = saved();
      at("return").click(); at("back").click();
      found.kept = fields().map((field) => field.querySelector(":checked").value);
      const { scrollWidth, clientWidth } = inner.documentElement;
      found.fits = scrollWidth <= clientWidth;
    """
    found = browse(page_of(key), START + script, tmp_path)
    tasks = shown_tasks(key)[2]
    assert [found["first"], found["second"]] == [[task["prompt"], task["left"], task["right"]] for task in tasks]
    assert found["problem"] == "Answer every question, or choose “Rather not answer”."
    assert (found["hidden"], found["progress"], found["fits"]) == (False, "Pair 2 of 2", True)
    assert found["count"] == "You have answered 2 of 2 pairs."
    saved = found["saved"]
    assert (saved["study"], saved["annotator"], saved["sheet"]) == (key.study, "sam", 2)
    expected = [("left", "right", "refused"), ("right", "left", "left")]
    assert [(one["task"], one["question"], one["choice"]) for one in saved["answers"]] == [
        (task["id"], name, choice)
        for task, choices in zip(tasks, expected, strict=True)
        for name, choice in zip(NAMES, choices, strict=True)
    ]
    assert found["kept"] == ["left", "right", "refused"]


@browser
def test_hostile_texts_and_names(tmp_path: Path) -> None:
    """Texts are shown as text; the name is a pseudonym that can name a file, and that `analyse` reads."""
    names = dict.fromkeys(("sam", "émile-2", "हिन्दी"), True) | dict.fromkeys(("../x", "a b", "<b>", "x²", ""), False)
    script = f"""
      found.valid = {json.dumps(list(names))}.map((name) => {{
        at("annotator").value = name;
        return at("annotator").checkValidity();
      }});
    """
    script += """
      begin("sam", "1"); found.texts = texts(); found.title = inner.title; found.images = inner.images.length;
    """
    found = browse(page_of(hostile_study()), START + script, tmp_path)
    assert found["valid"] == list(names.values())
    for name, valid in names.items():
        with nullcontext() if valid else pytest.raises(ValidationError):
            SavedAnswers.model_validate(saved_answers(study(), [AnnotatorAnswer(name, "t", "q", "tie")]))
    assert (found["title"], found["images"]) == ("Compare two speakers", 0)
    assert all('</script><script>document.title="taken"' in text for text in found["texts"])


@browser
def test_answers_are_kept_in_the_browser_by_annotator_and_sheet(tmp_path: Path) -> None:
    """A damaged memory is not read."""
    key = study(2, StudySettings(pairs=2, catch=0))
    task = shown_tasks(key)[1][0]["id"]
    damaged = ["", "{", "null", "[]", '{"x": 1}', json.dumps({task: {"preference": {"choice": "<b>"}}})]
    browse(page_of(key), f"{START} begin('sam', '1'); choose(0, 1); found.ok = 1;", tmp_path)
    script = f"""
      const kept = (name, sheet) => {{ begin(name, sheet); at("pause").click(); return saved().answers.length; }};
      found.kept = [["sam", "1"], ["sam", "2"], ["kim", "1"]].map(([name, sheet]) => kept(name, sheet));
      found.damaged = {json.dumps(damaged)}.map((text, i) => {{
        page.contentWindow.localStorage.setItem(`holisticbias-acute-eval/{key.study}/1/ann-${{i}}`, text);
        return kept(`ann-${{i}}`, "1");
      }});
    """
    assert browse(page_of(key), START + script, tmp_path) == {"kept": [1, 0, 0], "damaged": [0] * 6}
