"""Reports: in the terminal, as a page and Markdown, and single tables and charts as files."""

from typing import Literal

Form = Literal["html", "md", "csv", "svg", "png"]
