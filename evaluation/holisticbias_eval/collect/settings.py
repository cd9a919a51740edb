"""Settings of a collection of prompts from a wiki."""

from typing import Literal

from pydantic import field_validator

from holisticbias_eval.settings import Settings, setting


class CollectSettings(Settings):
    """Settings that decide which prompts a dump gives."""

    licence: str = setting("CC BY-SA 4.0", "Licence of the wiki's texts.")
    site: str | None = setting(
        None,
        "Address of the wiki's pages, such as https://en.wikipedia.org/wiki/, for attribution.",
        metavar="ADDRESS",
    )
    names: str | None = setting(
        None,
        "spaCy model, by name or folder, that recognises the names of people. Default: a page's title is taken as a "
        "name.",
        metavar="MODEL",
    )
    links: Literal["items", "all"] = setting(
        "items", "Links of a list page: the first of each list item or table row, or all of the page."
    )
    seconds: float = setting(
        20.0, "Longest time for one page; a page that takes longer is left out.", metavar="SECONDS", ge=0.1
    )

    @field_validator("site")
    @classmethod
    def _check(cls, site: str | None) -> str | None:
        if site is not None and not site.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return site

    @property
    def recorded(self) -> dict[str, object]:
        """The settings as JSON, with the language of the sentences."""
        return {**self.model_dump(exclude={"links"}), "every_link": self.links == "all", "language": LANGUAGE}


LANGUAGE = "en"
"""The language whose rules end sentences."""
