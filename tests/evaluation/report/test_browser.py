"""The page in a real browser: no sideways scrolling on a phone, and what its script does."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holisticbias_eval.models.embedded import NOTE
from holisticbias_eval.report.comparison import render_comparison
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.summary import summarise
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run

from .conftest import MakeRun

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PROBE = """
const page = document.querySelector("iframe");
page.addEventListener("load", () => {
  const inner = page.contentDocument;
  for (const fold of inner.querySelectorAll("details")) fold.open = true;
  const form = inner.querySelector(".filter");
  const terms = () => [...inner.querySelectorAll("#terms tbody tr")].filter((row) => !row.hidden)
    .map((row) => row.querySelector("bdi").textContent);
  const choose = (name, value) => {
    form.elements[name].value = value;
    form.dispatchEvent(new Event("input"));
    return terms();
  };
  const { scrollWidth: width, clientWidth: room } = inner.documentElement;
  const found = { width, room, hidden: form.hidden, all: terms().length };
  found.searched = choose("text", "BLIND");
  choose("text", "");
  found.axis = choose("axis", "body_type");
  found.counted = form.querySelector("output").textContent;
  choose("axis", "");
  const headings = [...inner.querySelectorAll("#terms thead th")];
  headings[3].querySelector("button").click();
  found.ascending = terms();
  found.sort = headings[3].getAttribute("aria-sort");
  headings[3].querySelector("button").click();
  found.descending = terms();
  headings[6].querySelector("button").click();
  found.missing = terms().at(-1);
  document.body.dataset.found = JSON.stringify(found);
});
"""


WIDTHS = """
const page = document.querySelector("iframe");
page.addEventListener("load", () => {
  const inner = page.contentDocument;
  for (const fold of inner.querySelectorAll("details")) fold.open = true;
  const { scrollWidth: width, clientWidth: room } = inner.documentElement;
  document.body.dataset.found = JSON.stringify({ width, room });
});
"""


def browse(page: str, probe: str, folder: Path, width: int = 360, height: int = 700) -> dict[str, Any]:
    """What a script finds in a page of this width."""
    (folder / "phone.html").write_text(
        f'<!doctype html><meta charset="utf-8"><iframe style="width:{width}px;height:{height}px;border:0" '
        f'srcdoc="{html.escape(page)}"></iframe><script>{probe}</script>',
        "utf-8",
    )
    done = subprocess.run(
        [
            str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom",
            (folder / "phone.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    match = re.search(r'data-found="([^"]*)"', done.stdout)
    assert match, done.stderr
    found: dict[str, Any] = json.loads(html.unescape(match[1]))
    return found


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_a_comparison_and_a_report_of_phrases_are_as_narrow_as_a_phone(
    made_run: Run, phrase_run: Run, tmp_path: Path
) -> None:
    compared = compare_runs(made_run, made_run)
    for i, page in enumerate((render_comparison(compared, str), render_page(summarise(phrase_run)))):
        folder = tmp_path / str(i)
        folder.mkdir()
        found = browse(page, WIDTHS, folder)
        assert found["width"] == found["room"] <= 360


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_the_page_in_a_browser_as_wide_as_a_phone(made_run: Run, tmp_path: Path) -> None:
    summary = summarise(made_run)
    found = browse(render_page(summary), PROBE, tmp_path)
    by_perplexity = [t.text for t in sorted(summary.terms, key=lambda t: t.perplexity or 0)]
    assert found["width"] == found["room"] <= 360
    assert (found["hidden"], found["all"]) == (False, len(summary.terms))
    assert found["searched"] == ["blind"]
    assert found["axis"] == ["tall", "short", "fat", "thin", "bald"]
    assert found["counted"] == "5 of 10 descriptors"
    assert (found["sort"], found["ascending"]) == ("ascending", by_perplexity)
    assert found["descending"] == by_perplexity[::-1]
    assert found["missing"] == "blind"


FIRST_SCREEN = """
const page = document.querySelector("iframe");
page.addEventListener("load", () => {
  const inner = page.contentDocument;
  const ends = (query) => inner.querySelector(query).getBoundingClientRect();
  const boxes = [...inner.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth);
  document.body.dataset.found = JSON.stringify({
    title: ends("h1").bottom, finding: ends(".finding").bottom, chart: ends(".bars").top,
    wide: ends(".bars").width, text: ends(".finding").width, table: ends("#axes .scroll").width,
    scrolling: boxes.length,
    shadows: boxes.filter((box) => page.contentWindow.getComputedStyle(box).backgroundImage !== "none").length,
  });
});
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_first_screen_has_the_title_the_finding_and_the_chart(
    run_maker: MakeRun, tmp_path: Path, width: int, height: int
) -> None:
    """As many axes as a release has, a subset and a note; four bars of the chart are in sight."""
    axes = {name: [f"{name} {i}" for i in range(4)] for name in ("ability", "race_ethnicity", *"abcdefghij", "nonce")}
    run = run_maker(axes=axes, effect=8, note=NOTE, subset="small", name="HuggingFaceTB/SmolLM2-135M", trusted=True)
    found = browse(render_page(summarise(run)), FIRST_SCREEN, tmp_path, width, height)
    assert 0 < found["title"] < found["finding"] < found["chart"] < height - 120
    assert found["wide"] == found["text"], "the chart is as wide as the text"
    assert found["wide"] >= 0.75 * found["table"]
    assert found["shadows"] == found["scrolling"]
    assert (found["scrolling"] > 0) == (width < 500)
