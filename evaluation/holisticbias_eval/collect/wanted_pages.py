"""Find which pages a collection wants: the first reading of a dump, which takes links and redirects alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holisticbias.terms.prompt_entries import Group
from holisticbias_eval.collect.dump import BytesRead, DumpFile, read_pages
from holisticbias_eval.collect.journal import Journal
from holisticbias_eval.collect.page_sentences import WantedGroup
from holisticbias_eval.collect.titles import category_key, category_keys, list_links, title_key
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.bold_files import subject_of

_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class WantedPages:
    """The pages that groups want, by title and by category; values are the group's number and the title it names."""

    groups: Sequence[Group]
    titles: Mapping[str, Sequence[tuple[int, str]]]
    categories: Mapping[str, Sequence[int]]

    def of(self, title: str, wikitext: str | None, namespaces: Mapping[str, int]) -> tuple[WantedGroup, ...]:
        """The groups that want a page, each with the terms to find on it, in the order of the collection."""
        named: dict[int, list[str]] = {}
        for group, name in self.titles.get(title_key(title), ()):
            named.setdefault(group, []).append(name)
        if self.categories and wikitext is not None:
            for key in category_keys(wikitext, namespaces):
                for group in self.categories.get(key, ()):
                    named.setdefault(group, [])
        return tuple(self._wanted(group, [*named[group], title]) for group in sorted(named))

    def _wanted(self, number: int, names: Iterable[str]) -> WantedGroup:
        group = self.groups[number]
        terms = group.terms or tuple(dict.fromkeys(subject_of(name) for name in names))
        return WantedGroup(number, terms, group.needs_person)

    @property
    def by_terms(self) -> tuple[WantedGroup, ...]:
        """The groups that have terms and no pages."""
        return tuple(
            WantedGroup(number, group.terms, group.needs_person)
            for number, group in enumerate(self.groups)
            if group.terms and not group.has_pages
        )


def read_links(dump: DumpFile, groups: Sequence[Group], journal: Journal, display: Display, *, every: bool) -> None:
    """Keep the dump's redirects and the links of the groups' lists in the journal.

    A dump is read again if a list turns out to be a redirect to a page that came before.
    """
    names = dict.fromkeys(name for group in groups for name in group.pages.lists)
    for number in range(int(journal.state("round") or 0), _ROUNDS):
        known = set(journal.state("lists_read") or ())
        keys = {key for name in names for key in _keys(name, journal)} - known
        if number and not keys:
            break
        _read_round(dump, keys, journal, display, number, every=every)
        journal.commit(round=number + 1, links_offset=0, lists_read=sorted(known | keys))
    journal.commit(round=_ROUNDS)


def _keys(name: str, journal: Journal) -> tuple[str, ...]:
    """The key of a title, and that of the page that it leads to if it is a redirect."""
    target = journal.target(name)
    return tuple(dict.fromkeys(title_key(title) for title in (name, target) if title is not None))


def _read_round(
    dump: DumpFile, keys: set[str], journal: Journal, display: Display, number: int, *, every: bool
) -> None:
    what = "Reading links of lists that are redirects" if number else "Reading links and redirects"
    progress = BytesRead(dump.size)
    reader = dump.reader(progress, int(journal.state("links_offset") or 0))
    for page in read_pages(reader, progress, what, display, lambda page: journal.commit(links_offset=page.offset)):
        key = title_key(page.title)
        if page.redirect is not None:
            if not number:
                journal.add_redirect(key, page.redirect)
        elif key in keys and page.text is not None:
            journal.add_links(key, list_links(page.text, reader.namespaces, every=every))


def resolve(groups: Sequence[Group], journal: Journal) -> WantedPages:
    """The pages that groups want, after ``read_links``: their titles, their lists' links, and where these lead."""
    titles: dict[str, list[tuple[int, str]]] = {}
    categories: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        listed = (title for name in group.pages.lists for key in _keys(name, journal) for title in journal.links(key))
        for name in (*group.pages.titles, *listed):
            for key in _keys(name, journal):
                if (number, name) not in titles.setdefault(key, []):
                    titles[key].append((number, name))
        for name in group.pages.categories:
            categories.setdefault(category_key(name, {}) or title_key(name), []).append(number)
    return WantedPages(groups, titles, categories)
