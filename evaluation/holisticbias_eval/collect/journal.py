"""The findings of a run so far, in an SQLite file that survives a killed process."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holisticbias.errors import OutputError
from holisticbias_eval.collect.titles import title_key

_TABLES = """
create table if not exists state (name text primary key, value text) without rowid;
create table if not exists redirect (source text primary key, target text) without rowid;
create table if not exists link (list text, title text, primary key (list, title)) without rowid;
create table if not exists row (number integer primary key, content text);
create table if not exists counted (what text, detail text, number integer, primary key (what, detail)) without rowid;
create table if not exists failed (number integer primary key, page text, why text);
"""
FILE = "journal.sqlite"
_CHAIN = 5  # redirects of redirects


class Journal:
    """Rows and states; changes are kept together by ``commit``, or not at all."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / FILE, isolation_level="DEFERRED")
        self._database.executescript(_TABLES)

    def close(self) -> None:
        """Close the file; changes since the last commit are lost."""
        self._database.close()

    def state(self, name: str) -> Any:
        """A state, null if it was never set."""
        found = self._database.execute("select value from state where name = ?", (name,)).fetchone()
        return None if found is None else json.loads(found[0])

    def commit(self, **states: Any) -> None:
        """Keep the states and all changes since the last commit."""
        for name, value in states.items():
            self._database.execute("replace into state values (?, ?)", (name, json.dumps(value)))
        self._database.commit()

    def add_redirect(self, source: str, target: str) -> None:
        """Keep that the page of one key leads to a title; the first of several holds."""
        self._database.execute("insert or ignore into redirect values (?, ?)", (source, target))

    def add_links(self, list_key: str, titles: Iterable[str]) -> None:
        """Keep the titles that a list links to."""
        rows = ((list_key, title) for title in titles)
        self._database.executemany("insert or ignore into link values (?, ?)", rows)

    def links(self, list_key: str) -> list[str]:
        """The titles that a list links to, in alphabetical order."""
        found = self._database.execute("select title from link where list = ? order by title", (list_key,))
        return [title for (title,) in found]

    def redirect(self, key: str) -> str | None:
        """The title that a page leads to, null if it is not a redirect."""
        found = self._database.execute("select target from redirect where source = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def target(self, title: str) -> str | None:
        """The title at the end of a chain of at most five redirects, null if the page is not a redirect."""
        last = None
        for _ in range(_CHAIN):
            target = self.redirect(title_key(title))
            if target is None:
                break
            last = title = target
        return last

    def add_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep rows."""
        self._database.executemany("insert into row (content) values (?)", ((json.dumps(row),) for row in rows))

    def add_failed(self, page: str, why: str) -> None:
        """Keep a page that could not be read."""
        self._database.execute("insert into failed (page, why) values (?, ?)", (page, why))

    def count(self, what: str, detail: str, number: int = 1) -> None:
        """Add to a count."""
        statement = "insert into counted values (?, ?, ?) on conflict (what, detail) do update set number = number + ?"
        self._database.execute(statement, (what, detail, number, number))

    def counts(self, what: str) -> dict[str, int]:
        """The counts of a kind, by detail in alphabetical order."""
        found = self._database.execute("select detail, number from counted where what = ? order by detail", (what,))
        return dict(found.fetchall())

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, in the order in which they were added."""
        return (json.loads(content) for (content,) in self._database.execute("select content from row order by number"))

    def failed(self, most: int) -> list[tuple[str, str]]:
        """The first pages that could not be read, with why."""
        found = self._database.execute("select page, why from failed order by number limit ?", (most,))
        return [(str(page), str(why)) for page, why in found]


@contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """Open the journal of a folder. Raises ``OutputError`` if it cannot be written to."""
    try:
        journal = Journal(folder)
        try:
            yield journal
        finally:
            journal.close()
    except sqlite3.Error as error:
        raise OutputError(
            f"cannot write {folder / FILE}: {error}: make room and run the same command again, or remove the "
            "folder to start over"
        ) from error
