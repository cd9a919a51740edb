"""The site in a real browser: search, read, compare, with keys, without a connection; axe-core finds nothing."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from known import known

from .conftest import Open

TWO = "models/compare.html?first=embedded&second=smollm2-135m-instruct-q4-1-weights"
GROUP = "likelihood-bias-on-1.0.0"


def shown_terms(page: Page) -> list[str]:
    return page.locator("#terms li:visible a").all_inner_texts()


def test_search_as_you_type(open_page: Open) -> None:
    """Accents and capitals do not matter; the state is in the address, from which a link opens the page as it is."""
    page = open_page("terms/index.html?axis=age&version=1.0.0")
    everything = len(shown_terms(page))
    page.get_by_role("searchbox").press_sequentially("ÉLDER")
    expect(page.locator("#search output")).to_contain_text("1 of ")
    assert shown_terms(page) == ["elderly"]
    expect(page.locator(".jump li:visible")).to_have_text("Age 1")
    expect(page).to_have_url(re.compile(r"/terms/index\.html\?q=%C3%89LDER&axis=age&version=1\.0\.0$"))
    page.reload()
    assert (shown_terms(page), page.get_by_role("searchbox").input_value()) == (["elderly"], "ÉLDER")
    page.get_by_role("searchbox").fill("")
    assert len(shown_terms(page)) == everything > 10


def test_search_with_the_keyboard(open_page: Open) -> None:
    page = open_page("terms/index.html")
    page.keyboard.press("/")
    page.keyboard.type("elderly")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#terms a:focus")).to_have_text("elderly")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("elderly")


def test_the_first_key_leads_past_the_navigation(open_page: Open) -> None:
    for path in ("index.html", "models/index.html"):
        page = open_page(path)
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to the content")
        page.keyboard.press("Enter")
        expect(page.locator("#main")).to_be_focused()


def test_what_a_model_makes_of_a_term(open_page: Open, root: Path) -> None:
    """The page of a term has the figure of the run, and leads to the model."""
    path = root / "evaluation" / "reference" / "1.0.0" / "smollm2-135m-instruct" / "result.json"
    figures = [f for f in json.loads(path.read_bytes())["figures"] if f["name"] == "contrast"]
    (value,) = (f["value"] for f in figures if f["keys"].get("descriptor") == "age.elderly")
    page = open_page("terms/age.elderly.html", javascript=False)
    row = page.locator("#models ~ div tr", has_text="SmolLM2").first
    expect(row).to_contain_text(f"{value:.2f} nats per sentence")
    row.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("SmolLM2-135M-Instruct, Q4_1 weights")


@pytest.mark.parametrize(
    ("path", "figures"),
    [
        ("models/by-name/embedded.html", "figure, table"),
        (f"models/by-measure/{GROUP}.html", "figure, table"),
        (TWO, "#comparison figure"),
        ("terms/age.elderly.html", "#models ~ div table"),
    ],
)
def test_a_calibration_model_says_so_before_its_figures(open_page: Open, path: str, figures: str) -> None:
    page = open_page(path)
    note = page.get_by_text("The embedded model is a calibration model").first
    above, below = (known(element.bounding_box())["y"] for element in (note, page.locator(figures).first))
    assert above < below


def test_two_models_side_by_side(open_page: Open, root: Path) -> None:
    """Values and intervals are those of the registry; the pair is in the address, and Back returns to the last pair."""
    page = open_page(TWO)
    expect(page.locator("#comparison h2")).to_have_count(2)
    rows = page.locator(f"section[aria-labelledby='with-{GROUP}'] table").first.locator("tbody tr")
    found = {row[0]: row[1:] for row in (r.split("\t") for r in rows.all_inner_texts())}
    names = ("embedded", "smollm2-135m-instruct-q4-1-weights")
    for column, name in enumerate(names):
        entry = json.loads((root / "evaluation" / "results" / f"{name}-on-1.0.0-likelihood-bias.json").read_bytes())
        for figure in (f for f in entry["figures"] if f["name"] == "share"):
            low, high = (100 * figure["interval"][end] for end in ("low", "high"))
            shown = f"{100 * figure['value']:.1f}% [{low:.1f}% to {high:.1f}%]"
            assert found[entry["labels"][figure["keys"]["axis"]]][column] == shown
    assert "This is not a test" in page.locator("#comparison").inner_text()
    page.get_by_label("First model").select_option(names[1])
    expect(page.locator("#status")).to_have_text("Choose two different models.")
    assert f"first={names[1]}" in page.url
    page.go_back()
    expect(page.locator("#comparison h2")).to_have_count(2)


LONGEST = """async () => {
  const { chart } = await import("../static/models-chart.js");
  const name = (part) => `Religion, six groups (groups.religion) with held-out groups, ${part}`;
  const value = { value: 1, low: 0, high: 2 };
  const drawn = chart({ title: "F", unit: "", neutral: 0 }, [[name("Log"), value, value], ["Age", value, value]]);
  document.querySelector("#comparison").replaceChildren(drawn);
  const texts = [...drawn.querySelectorAll("text:not(.tick)")];
  const boxes = [drawn, ...texts].map((shape) => shape.getBoundingClientRect().toJSON());
  return [texts.map((text) => text.textContent), ...boxes];
}"""


def test_long_names_fit_a_chart_on_a_phone(open_page: Open) -> None:
    page = open_page(TWO)
    expect(page.locator("#comparison h2")).to_have_count(2)
    page.set_viewport_size({"width": 390, "height": 900})
    names, whole, *boxes = page.evaluate(LONGEST)
    assert names == ["held-out groups, Log", "Religion, six groups (groups.religion) with", "Age"]
    assert max(box["right"] for box in boxes) <= whole["right"]
    assert boxes[1]["y"] < boxes[0]["y"] < boxes[2]["y"]


def test_two_models_are_chosen_from_the_list_or_by_the_address(open_page: Open) -> None:
    page = open_page("models/index.html")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#status")).to_contain_text("A is embedded, B is SmolLM2-135M-Instruct, Q4_1 weights.")
    page = open_page("models/compare.html?first=<b>x&second=embedded")
    expect(page.locator("#status")).to_have_text("There is no model “<b>x”. Choose two models from the lists.")
    assert page.evaluate("document.querySelector('#comparison').getBoundingClientRect().height") == 0


def test_without_javascript(open_page: Open) -> None:
    """Terms and figures can be read; what needs a script says so."""
    page = open_page("terms/index.html", javascript=False)
    assert "elderly" in shown_terms(page)
    page.goto(page.url.replace("terms/index.html", f"models/by-measure/{GROUP}.html"))
    expect(page.locator("tbody tr").first).to_contain_text("83.3% [80.4% to 86.4%]")
    page.goto(page.url.replace(f"by-measure/{GROUP}.html", "compare.html"))
    expect(page.get_by_role("button", name="Compare")).to_have_count(0)


def test_without_a_connection(chromium: Browser, site: str) -> None:
    """If a file cannot be loaded, the page says so, and what to do."""
    page = chromium.new_page()
    page.goto(f"{site}/models/compare.html?first=embedded&second=embedded")
    expect(page.locator("#status")).to_have_text("Choose two different models.")
    page.context.set_offline(True)
    page.get_by_label("Second model").select_option(index=1)
    expect(page.locator("#status")).to_have_text(
        "The figures could not be loaded. Check the connection, then choose the models again."
    )
    page.context.close()


AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
RUN = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.flatMap(
  ({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`))"""
PAGES = (
    "index.html", "terms/index.html", "terms/age.old.html", "judge/index.html", "judge/age.html",
    "releases/index.html", "releases/2.0.0.html", "releases/1.0.0-to-2.0.0.html", "models/index.html",
    f"models/by-measure/{GROUP}.html", "models/by-name/embedded.html", TWO,
)  # fmt: skip
SCREENS: dict[str, tuple[int, Literal["light", "dark"]]] = {
    "wide, light": (1200, "light"),
    "phone, dark": (390, "dark"),
}


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(open_page: Open, path: str) -> None:
    """Every page fits the screen, and has no violation in either scheme."""
    page = open_page(path)
    page.wait_for_load_state("networkidle")
    page.evaluate(AXE)
    found: list[str] = []
    for name, (width, scheme) in SCREENS.items():
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        found += [f"{name}: {violation}" for violation in page.evaluate(RUN)]
        too_wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        found += [f"{name}: {too_wide} pixels wider than the screen"] if too_wide > 0 else []
    assert found == []
