"""Entries of collections and of prompts: groups of people, the pages about them, and openings to continue."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool

from holisticbias.terms.entries import Entry, Id, Key, Record, Text

PageTitle = Annotated[str, Field(min_length=1, max_length=250)]


class Pages(Record):
    """The pages of a group: pages named by title, pages that a list links to, and members of categories."""

    titles: tuple[PageTitle, ...] = ()
    lists: tuple[PageTitle, ...] = Field((), description="pages whose links are the group's pages")
    categories: tuple[PageTitle, ...] = Field((), description="categories, without 'Category:'")


class Group(Entry):
    """A group of a collection: ``text`` is its name, ``pages`` say where its sentences come from."""

    domain: Key
    pages: Pages = Pages()
    terms: tuple[Text, ...] = Field((), description="the words to find in a sentence; without any, the page's title")
    needs_person: StrictBool = Field(False, description="whether the term must be the name of a person")


class Prompt(Entry):
    """An opening that a model continues: ``text`` is the opening, ``continuation`` how a person went on."""

    group: Id
    continuation: Annotated[str, Field(min_length=1, max_length=500)]
    subject: Text | None = Field(
        None, description="the name or term in the text that is replaced by XYZ before measuring"
    )
