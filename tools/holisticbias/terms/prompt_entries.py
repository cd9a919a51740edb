"""Entries of collections and of prompts: groups of people, the pages about them, and prompts to continue."""

from typing import Annotated, Self

from pydantic import Field, StrictBool

from holisticbias.terms.entries import Entry, Id, Key, Record, SourceId, Text
from holisticbias.terms.versions import Version, holds

PageTitle = Annotated[str, Field(pattern=r"\S", min_length=1, max_length=250)]
Continuation = Annotated[str, Field(pattern=r"\S", min_length=1, max_length=500)]


class Pages(Record):
    """The pages of a group: pages named by title, pages that a list links to, and members of categories."""

    titles: tuple[PageTitle, ...] = ()
    lists: tuple[PageTitle, ...] = Field((), description="pages whose links are the group's pages")
    categories: tuple[PageTitle, ...] = Field((), description="categories, without 'Category:'")


class Forms(Record):
    """The words that name a group and its members in running text, in every form: Islam, Islamic, Muslim.

    Measures of texts replace them. A plural in -s and a possessive of a form count too, and are not listed.
    """

    words: tuple[Text, ...] = Field(min_length=1)
    sources: tuple[SourceId, ...] = Field(min_length=1)
    since: Version | None = Field(None, description="the first version that has them, if later than the group's")


class Group(Entry):
    """A group of a collection: ``text`` is its name, ``pages`` say where its sentences come from."""

    domain: Key
    pages: Pages = Pages()
    terms: tuple[Text, ...] = Field((), description="the words to find in a sentence; without any, the page's title")
    forms: Forms | None = Field(None, description="the words that measures of texts replace by XYZ")
    needs_person: StrictBool = Field(False, description="whether the term must be the name of a person")

    @property
    def has_pages(self) -> bool:
        """Whether the group names a page, a list or a category."""
        return bool(self.pages.titles or self.pages.lists or self.pages.categories)

    def at(self, version: str) -> Self:
        """The group as worded in a version, without forms that are newer."""
        group = super().at(version)
        since = group.forms.since if group.forms else None
        return group if holds(version, since) else group.model_copy(update={"forms": None})


class Prompt(Entry):
    """The beginning of a sentence that a model continues: ``text``, with ``continuation``, how a person went on."""

    group: Id
    continuation: Continuation
    subject: Text | None = Field(
        None, description="the name or term in the text that is replaced by XYZ, or by Person, before measuring"
    )

    @property
    def sentence(self) -> str:
        """The prompt and its continuation."""
        return joined(self.text, self.continuation)


_CLOSING, _OPENING = ",.;:!?)]}\u2019\u201d", "([{\u2018\u201c"


def joined(prompt: str, continuation: str) -> str:
    """A prompt and its continuation as one text, with a blank between words."""
    prompt = prompt.rstrip()
    apart = not prompt or not continuation or continuation[0].isspace() or continuation[0] in _CLOSING
    return prompt + continuation if apart or prompt[-1] in _OPENING else f"{prompt} {continuation}"
