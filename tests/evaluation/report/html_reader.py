"""The elements of a page, for tests to look at."""

from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "input", "rect", "line", "circle", "path", "br", "link", "img"}
KNOWN = {
    "a", "aside", "bdi", "body", "button", "caption", "circle", "dd", "desc", "details", "div", "dl", "dt",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "head", "header", "html", "input", "label", "li",
    "line", "main", "mark", "meta", "nav", "ol", "output", "p", "path", "rect", "script", "section", "span", "strong",
    "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "tspan", "ul",
}  # fmt: skip


class HtmlReader(HTMLParser):
    """The elements of a page with their attributes and the words inside, in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[int] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID - {"circle"}:
            self.open.append(len(self.elements) - 1)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        assert self.elements[self.open[-1]][0] == tag, (tag, self.elements[self.open[-1]])
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for i in self.open:
            self.elements[i][2].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attrs, " ".join("".join(words).split())) for name, attrs, words in self.elements if name == tag]

    def classed(self, name: str) -> list[tuple[dict[str, str | None], str]]:
        """The elements of a class."""
        return [
            (attrs, " ".join("".join(words).split()))
            for _, attrs, words in self.elements
            if name in (attrs.get("class") or "").split()
        ]


def sound_page(source: str) -> HtmlReader:
    """The elements of a page whose elements, ids and references are sound."""
    page = HtmlReader(source)
    assert not page.open, "every element is closed"
    assert {tag for tag, _, _ in page.elements} <= KNOWN
    assert page.all("html")[0][0]["lang"] == "en"
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("script")) == 1
    ids = Counter(attrs["id"] for _, attrs, _ in page.elements if "id" in attrs)
    assert max(ids.values()) == 1, "ids are unique"
    for _, attrs, _ in page.elements:
        for name in ("aria-labelledby", "for", "data-table"):
            assert set((attrs.get(name) or "").split()) <= set(ids)
        assert not any(name.startswith("on") for name in attrs)
    return page
