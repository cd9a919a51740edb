"""Runs that are interrupted, pages that cannot be read, and any wikitext at all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias_eval.collect import dump as dumps
from holisticbias_eval.collect.collecting import collect, prompts_of
from holisticbias_eval.collect.dump import Chunks, DumpReader
from holisticbias_eval.collect.page_sentences import PageReader, WantedGroup
from holisticbias_eval.collect.rule import PromptRule
from holisticbias_eval.collect.settings import CollectSettings
from holisticbias_eval.collect.titles import category_keys, list_links
from holisticbias_eval.collect.worker import Worker, _serve
from known import known
from processes import python
from quiet import QUIET

from .small_wiki import LISTED, SENTENCE, dump, page, rows, run

RULE = PromptRule(prompt_words=5, term_within=8, least_words=8)
READER = PageReader(RULE, {}, (), None)
JOB = (SENTENCE, (WantedGroup(0, ("Glorbist",), needs_person=False),))
MARKS = st.sampled_from(["{{", "}}", "[[", "]]", "<ref>", "</ref>", "<!--", "-->", "{|", "|}", "\n", "'''", "|", "* "])
WIKITEXT = st.lists(
    MARKS | st.sampled_from([SENTENCE, "glorbist", "[[Category:A]]"]) | st.text(max_size=5), max_size=30
)


def chunks_of(content: bytes, size: int) -> Chunks:
    return lambda start: (content[place : place + size] for place in range(start, len(content), size))


def many_pages(count: int) -> str:
    """Pages of an alphabet of trades, half of which the collection wants, and a list at the end."""
    pages = [page(f"Trade {n}", f"A trade {n} is a work that folds maps of cloth.", n + 1) for n in range(count)]
    listed = "".join(f"* [[Trade {n}]]\n" for n in range(0, count, 2))
    return dump(*pages, page("List of trades", listed, count + 1))


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("stop", [3, 33])
def test_an_interrupted_run_goes_on_and_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(dumps, "EVERY", 4)
    whole = tmp_path / "whole"
    whole.mkdir()
    expected, found = run(whole, many_pages(20), LISTED)
    calls = 0
    step = dumps.BytesRead.step

    def interrupted(self: dumps.BytesRead) -> int:
        nonlocal calls
        calls += 1
        if calls == stop:
            raise KeyboardInterrupt
        return step(self)

    monkeypatch.setattr(dumps.BytesRead, "step", interrupted)
    with pytest.raises(KeyboardInterrupt, match="run the same command again"):
        run(tmp_path, many_pages(20), LISTED)
    assert not (tmp_path / "out").exists()
    made, again = run(tmp_path, many_pages(20), LISTED)
    assert calls < 2 * 22 + 8  # an interrupted run reads at most a few pages twice
    assert again == found
    assert len(found) == 10
    assert made == expected


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "dump.xml").write_text(many_pages(400))
    (tmp_path / "groups.yaml").write_text(LISTED)
    arguments = ["--dump", "dump.xml", "--collection", "groups.yaml", "--out", "out"]
    code = f"from holisticbias_eval.commands.collect import command; command({arguments})"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.DEVNULL)
    journal = tmp_path / ".out.part" / "journal.sqlite"
    while process.poll() is None and not journal.exists():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    made = collect(tmp_path / "dump.xml", str(tmp_path / "groups.yaml"), tmp_path / "out", CollectSettings(), QUIET)
    assert prompts_of(made) == 200
    assert len({row["page"] for row in rows(tmp_path / "out")}) == 200


def test_pages_that_take_too_long_cost_themselves_alone(tmp_path: Path) -> None:
    hostile = ("<b>" * 500_000, "{{a|" * 400_000, "<!--" * 500_000)
    between = ("", "Later, ", "Then, ", "At last, ")
    texts = [
        text for pair in zip([before + SENTENCE for before in between], (*hostile, ""), strict=True) for text in pair
    ]
    content = dump(*(page("Glorbist", text, n) for n, text in enumerate(texts[:-1], 1)))
    made, found = run(tmp_path, content, seconds=1.0)
    assert [row["page_id"] for row in found] == [1, 3, 5, 7]
    why = "its wikitext took more than 1 s to read"
    assert made["pages_left_out"] == {"why": {why: 3}, "pages": [{"page": "Glorbist", "why": why}] * 3}


def test_the_time_of_the_first_page_is_its_own() -> None:
    """The child loads all that reading needs when it starts."""
    code = (
        "import sys; from holisticbias_eval.collect.page_sentences import PageReader; "
        "from holisticbias_eval.collect.rule import PromptRule; reader = PageReader(PromptRule(5, 8, 8), {}, (), None);"
        " reader.start(); before = {*sys.modules}; reader.read(('A {{circa|1900}} glorbist.', ())); "
        "print({*sys.modules} - before)"
    )
    assert python("-c", code).stdout == "set()\n"


@pytest.mark.usefixtures("in_process")
def test_a_page_that_is_too_long_is_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "LONGEST", 1000)
    made, found = run(tmp_path, dump(page("Glorbist", "a" * 1001), page("Glorbist", SENTENCE, 2)))
    assert [row["page_id"] for row in found] == [2]
    assert made["pages_left_out"]["why"] == {"its text has more than 1,000 characters": 1}


def test_a_child_whose_parent_is_killed_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("signal.signal", "_limit_memory"):  # of a child's own process
        monkeypatch.setattr(f"holisticbias_eval.collect.worker.{name}", lambda *_: None)
    ours, theirs = Pipe()
    ours.close()
    _serve(theirs, READER, 20.0)
    with pytest.raises(BrokenPipeError):
        theirs.send(None)  # as within the child, where nothing was raised


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(READER, 20.0)
    yield made
    made.stop()


def test_a_child_that_is_starting_does_not_see_an_interruption(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    start = SpawnProcess.start

    def start_and_interrupt(process: SpawnProcess) -> None:
        start(process)
        assert process.pid
        os.kill(process.pid, signal.SIGINT)

    monkeypatch.setattr(SpawnProcess, "start", start_and_interrupt)
    assert not isinstance(worker.read(JOB), str)


def test_a_child_that_ends_is_replaced(worker: Worker) -> None:
    assert not isinstance(worker.read(JOB), str)
    process = known(worker._process)
    process.kill()
    process.join()
    assert worker.read(JOB) == "its wikitext ended the parser"
    result = worker.read(JOB)
    assert not isinstance(result, str)
    assert [found.term for found in result.found] == ["Glorbist"]


@given(WIKITEXT)
@settings(deadline=None, max_examples=60)
def test_any_wikitext_gives_prompts_that_begin_their_sentence(parts: list[str]) -> None:
    text = "".join(parts)
    result = READER.read((text, JOB[1]))
    for found in result.found:
        words = found.sentence.split(" ")
        assert len(words) >= RULE.least_words
        assert "glorbist" in " ".join(words[: found.length]).lower()
        assert 0 < found.length < len(words)
        assert found.sentence.isprintable()
    assert all(links for links in list_links(text, {}, every=True))
    assert category_keys(text, {}) <= {"a"} or "Category:" in text


def revision(number: int, text: str, more: str = "") -> str:
    return (
        f"<revision><id>{number}</id><timestamp>T{number}</timestamp><contributor><id>9</id></contributor>{more}"
        f"<text>{text}</text></revision>"
    )


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_last_revision_of_a_page_counts(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A revision that is too large is not kept, a page of too many tags is broken, and marks are cut anywhere."""
    monkeypatch.setattr(dumps, "_LARGEST", 4000)
    monkeypatch.setattr(dumps, "_MOST_TAGS", 100)
    pages = {
        "Two": revision(1, "one") + revision(2, "two &lt;page> &amp; more"),
        "Large": revision(3, "a" * 5000),
        "Large once": revision(4, "b" * 5000) + revision(5, "small"),
        "Withheld": revision(6, "x").replace("<text>", '<text deleted="deleted">'),
        "Style": revision(7, "x", "<model>css</model>"),
        "Tags": revision(8, "<b/>" * 200),
        "Empty": revision(9, ""),
        "": revision(10, "no title"),
        "Head": "<x>" + "c" * 5000 + "</x>" + revision(11, "x"),
    }
    content = dump(
        *(f"<page><title>{title}</title><ns>0</ns><id>3</id>{text}</page>\n" for title, text in pages.items())
    )
    reader = DumpReader(chunks_of(content.encode(), chunk))
    found = {page.title: (page.revision, page.timestamp, page.text, page.why) for page in reader}
    assert found == {
        "Two": (2, "T2", "two <page> & more", None),
        "Large": (None, None, None, "its text has more than 2,097,152 characters"),
        "Large once": (5, "T5", "small", None),
        "Withheld": (6, "T6", None, "its text is withheld"),
        "Style": (7, "T7", None, "its text is not wikitext"),
        "Empty": (9, "T9", None, "its text is empty"),
    }
    assert (reader.broken, reader.end, reader.namespaces) == (2, None, {"category": 14})


@given(st.lists(st.integers(0, 2000), max_size=3), st.integers(1, 300), st.binary(max_size=4))
@settings(deadline=None)
def test_a_damaged_dump_never_breaks_the_reader(cuts: list[int], chunk: int, junk: bytes) -> None:
    content = bytearray(dump(*(page(f"Trade {n}", SENTENCE, n + 1) for n in range(5))).encode())
    for cut in cuts:
        content[cut : cut + len(junk)] = junk
    reader = DumpReader(chunks_of(bytes(content), chunk))
    pages = list(reader)
    intact = [p for p in pages if p.text == SENTENCE]
    assert len(pages) <= 5 + len(cuts)
    if not cuts:
        assert (len(intact), reader.broken, reader.end) == (5, 0, None)
    for place in (p.offset for p in pages):
        assert bytes(content)[place : place + 5] == b"<page"
