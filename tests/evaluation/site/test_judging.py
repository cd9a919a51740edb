"""The queue of terms to judge, in a browser: judge, correct, keep, download, record."""

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from holisticbias.rules.validate import load_catalog
from invoking import Invoke

from .conftest import Open

AXIS = "judge/age.html"


def download(page: Page, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename.startswith("judgements-")
    path = folder / "judgements.json"
    waiting.value.save_as(path)
    return path


def shown(page: Page) -> str:
    term = page.locator("#queue > li:visible h2")
    expect(term).to_have_count(1)
    return term.inner_text()


def test_judgements_are_kept_and_recorded(open_page: Open, terms_copy: Path, tmp_path: Path, invoke: Invoke) -> None:
    """By mouse and by keys; after a reload the queue goes on; the file is what ``assess --from`` reads."""
    page = open_page(AXIS)
    expect(page.get_by_role("button", name="Download")).to_be_disabled()
    first = shown(page)
    page.get_by_label("Comment").fill('Said with "care", <b>é</b>.')
    page.get_by_role("button", name="Accepted").click()
    second = shown(page)
    assert second != first
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("button", name="Polarizing")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("3")  # taken back
    page.get_by_label("Pseudonym").fill("rv-0042")
    page.reload()
    assert shown(page) not in (first, second)
    path = download(page, tmp_path)
    content = json.loads(path.read_text("utf-8"))
    made = content["judgements"]
    assert (content["reviewer"], [m["judgement"] for m in made]) == ("rv-0042", ["accepted", "dispreferred"])
    assert "2 judgements recorded" in invoke.printed("assess", "--from", path, "--source", terms_copy)
    recorded = {e.id: e for e in load_catalog(terms_copy).judged}
    assert recorded[made[0]["id"]].assessments[-1].comment == 'Said with "care", <b>é</b>.'


def test_the_list_of_axes_counts_and_deletes(open_page: Open) -> None:
    page = open_page(AXIS)
    page.keyboard.press("1")
    page.goto(page.url.replace("age.html", "index.html"))
    expect(page.locator("#axes li", has_text="Age")).to_contain_text("judged by you")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    expect(page.locator("#axes li", has_text="Age")).to_contain_text("wait")


def test_two_tabs_keep_the_judgements_of_both(open_page: Open, tmp_path: Path) -> None:
    first = open_page(AXIS)
    second = first.context.new_page()
    second.goto(first.url)
    second.keyboard.press("ArrowRight")
    first.keyboard.press("1")
    # a browser tells its tabs of a change one after the other
    expect(second.get_by_role("button", name="Download")).to_have_text("Download 1 judgement")
    second.keyboard.press("2")
    expect(first.get_by_role("button", name="Download")).to_have_text("Download 2 judgements")
    made = json.loads(download(first, tmp_path).read_text("utf-8"))["judgements"]
    assert [m["judgement"] for m in made] == ["accepted", "dispreferred"]


def test_a_browser_that_keeps_nothing_still_gives_the_file(open_page: Open, tmp_path: Path) -> None:
    page = open_page("judge/index.html")
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('no room') }")
    page.goto(page.url.replace("index.html", "age.html"))
    page.keyboard.press("1")
    page.keyboard.press("2")
    expect(page.locator("#said")).to_contain_text("This browser keeps nothing")
    made = json.loads(download(page, tmp_path).read_text("utf-8"))["judgements"]
    assert [m["judgement"] for m in made] == ["accepted", "dispreferred"]


def test_a_link_leads_to_a_term(open_page: Open) -> None:
    page = open_page("terms/age.elderly.html")
    page.get_by_role("link", name="judge it").click()
    assert shown(page) == "elderly"


def test_terms_are_listed_without_javascript(open_page: Open) -> None:
    page = open_page(AXIS, javascript=False)
    assert page.locator("#queue > li").count() > 10
    expect(page.get_by_role("button", name="Download")).to_be_hidden()


def test_made_up_words_and_judged_terms_are_not_in_the_queue(site_folder: Path) -> None:
    folder = site_folder / "holisticbias" / "judge"
    assert sorted(path.name for path in folder.iterdir()) == ["age.html", "index.html"]
