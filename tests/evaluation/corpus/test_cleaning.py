"""Texts are cleaned, and rows become documents."""

from datetime import date, datetime

import pytest

from holisticbias_eval.corpus.documents import TextDocument, bare_identifier, clean, read_date, row_document
from holisticbias_eval.corpus.settings import RetrievalSettings
from holisticbias_eval.errors import CorpusError


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("  A Blicket\n\tCAME ", "a blicket came"),
        ("see https://a.b/c?d=(e) now", "see now"),
        ("www.a.b/c and HTTP://A.B", "and"),
        ("read [The Blickets](https://a.b/c_(d)) here", "read the blickets here"),
        ("a [note] (stays)", "a [note] (stays)"),
        ("so 😀 good 👩🏽‍🚀! 1️⃣ 🇫🇷", "so good !"),
        ("stads&amp;mells &lt;b&gt; &amp;gt; &#39;x&#39;&nbsp;y&#x200B;z", "stads&mells <b> > 'x' y z"),
        ("> quoted\n>> twice\nmine > yours", "quoted twice mine > yours"),
        ("/u/Some_One and u/other, me@my.org", "and ,"),
        ("co2u/x stays", "co2u/x stays"),
        ("zero\u200bwidth \x00nul\ufeff", "zero width nul"),
        ("naïve Ünïcode — dash", "naïve ünïcode — dash"),
        ("", ""),
    ],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned
    assert clean(cleaned) == cleaned


DATES: dict[date | None, tuple[object, ...]] = {
    date(2022, 3, 9): (1646870399.9,),
    date(2022, 3, 10): (
        1646870400, 1646870400000, "1646870400", "2022-03-10", "2022-03-10T00:00:00Z", "20220310", date(2022, 3, 10),
        datetime(2022, 3, 10, 12),  # noqa: DTZ001 - as datasets give it
    ),
    date(2022, 3, 11): ("2022-03-10T23:30:00-02:00",),
    date(2286, 11, 20): ("9999999999999",),
    None: ("yesterday", "", None, True, 0, -5, 1e300, float("nan"), [2022]),
}  # fmt: skip


@pytest.mark.parametrize("day", DATES)
def test_dates(day: date | None) -> None:
    assert {read_date(value) for value in DATES[day]} == {day}


@pytest.mark.parametrize(
    ("row", "field", "expected"),
    [
        ({"body": "x", "text": "y"}, None, TextDocument("x", "f:1")),
        ({"body": None, "text": "y"}, None, TextDocument("y", "f:1")),
        ({"comment": "z", "id": 7, "author": 3}, None, TextDocument("z", "f:1", "7")),
        ({"body": "x", "said": "s"}, "said", TextDocument("s", "f:1")),
        ({"body": "x"}, "said", None),
        ({"body": 5}, None, None),
        (
            {"text": "a\ud800b", "id": " t1_x\udfff", "date": "no", "timestamp": "2022-03-10", "author": "me"},
            None,
            TextDocument("a\ufffdb", "f:1", "t1_x\ufffd", date(2022, 3, 10), "me"),
        ),
        ({"body": "x", "id": ""}, None, TextDocument("x", "f:1")),
        ({"body": "x", "id": True}, None, TextDocument("x", "f:1")),
    ],
)
def test_rows(row: dict[str, object], field: str | None, expected: TextDocument | None) -> None:
    assert row_document(row, "f:1", field) == expected


def test_deleted() -> None:
    texts = ("[deleted]", " [Removed] \n", "[ Removed by Reddit ]", "[deleted] his post", "[deletedness]")
    assert [TextDocument(text, "f:1").is_deleted for text in texts] == [True] * 3 + [False] * 2


def test_bots() -> None:
    authors = ("AutoModerator", "sum_bot", "RemindMeBot", "talbot", "bot-lover")
    assert [TextDocument("x", "f:1", author=name).is_by_bot for name in authors] == [True] * 3 + [False] * 2
    texts = ("Beep. I am a bot, and this ...", "i’m a bot", "am I a bot?")  # noqa: RUF001
    assert [TextDocument(text, "f:1").is_by_bot for text in texts] == [True, True, False]


def test_sources() -> None:
    assert (TextDocument("x", "f:1").source, TextDocument("x", "f:1", "a").source) == ("f:1", "a")
    assert {bare_identifier(one) for one in ("t1_a", "t3_a", "a")} == {"a"}


def test_years_before() -> None:
    assert RetrievalSettings(until=date(2022, 3, 10)).since == date(2019, 3, 10)
    assert RetrievalSettings(until=date(2024, 2, 29), years=1).since == date(2023, 2, 28)
    with pytest.raises(CorpusError, match="year"):
        _ = RetrievalSettings(until=date(900, 3, 10), years=1000).since
