"""A catalog of two versions with hostile texts, and the site made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rich.console import Console

from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Descriptor, Noun, Template, TermWording
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, ReleaseFile, Source, TemplateFile
from holisticbias_eval.progress import Display
from holisticbias_eval.site.explored import Explored
from holisticbias_eval.site.opening import compare_releases, show_release
from holisticbias_eval.site.writer import Writer

Layout = Literal[1, 2, 3, 4]
MARKUP = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
TURNED = "ab\u202edc"
OLD, NEW = "0.1.0", "0.2.0"
SOURCES = ("made-up",)
QUIET = Display(Console(quiet=True))

AGE = (
    Descriptor(
        id="age.old",
        text="old",
        not_with=("noun.kid",),
        without_noun=False,
        history=(TermWording(until=NEW, reason=f"a reason {MARKUP}", not_with=(), without_noun=True),),
        assessments=(Assessment(judgement="dispreferred", community=MARKUP, source="made-up", date="2024-05"),),
        sources=SOURCES,
        since=OLD,
    ),
    Descriptor(id="age.gone", text="gone", sources=SOURCES, since=OLD, until=NEW, replaced_by="age.hostile"),
    Descriptor(id="age.hostile", text=MARKUP, sources=SOURCES, since=NEW),
)
ABILITY = (
    Descriptor(id="ability.with-pain", text="with pain", position="after", bucket="health", sources=SOURCES, since=OLD),
    Descriptor(id="ability.turned", text=TURNED, sources=SOURCES, since=NEW),
    Descriptor(id="ability.old", text="Old", sources=("unknown",), since=NEW),
)


def made_catalog(layout: Layout = 4) -> Catalog:
    """Two axes, two nouns, three templates; the newer version has the layout."""
    return Catalog(
        axes=(
            DescriptorFile(axis="age", label=f"Age {MARKUP}", descriptors=AGE),
            DescriptorFile(axis="ability", label="Ability", buckets=("health",), descriptors=ABILITY),
        ),
        genders=(
            NounFile(
                gender="neutral",
                label="Neutral",
                nouns=(
                    Noun(id="noun.kid", text="kid", plural="kids", sources=SOURCES, since=OLD),
                    Noun(id="noun.person", text="person", plural="people", sources=SOURCES, since=OLD),
                ),
            ),
        ),
        families=(
            TemplateFile(
                family="dialogue",
                label="Dialogue",
                templates=(
                    Template(id="dialogue.im", text="I'm {noun_phrase}.", sources=SOURCES, since=OLD),
                    Template(
                        id="dialogue.love", text="I love {plural_noun_phrase}.", must_be_noun=True, sources=SOURCES,
                        since=OLD,
                    ),
                    Template(id="dialogue.new", text=f"{{noun_phrase}} {MARKUP}", sources=SOURCES, since=NEW),
                ),
            ),
        ),
        releases=(
            ReleaseFile(version=OLD, date="2026-01-01", summary=f"first {MARKUP}", article_rule="letter"),
            ReleaseFile(version=NEW, date="2026-02-01", summary="second", article_rule="sound", layout=layout),
        ),
        sources=(Source(id="made-up", title=f"A study {MARKUP}", url="https://example.org/?a=1&b=2"),),
    )  # fmt: skip


def explored_in(folder: Path, catalog: Catalog | None = None) -> tuple[Explored, Writer]:
    """Both versions of the catalog as a site shows them, and the site in the folder."""
    found = catalog or made_catalog()
    releases = tuple(show_release(build_release(found, version), found) for version in (OLD, NEW))
    return Explored(found, releases, compare_releases(releases, QUIET)), Writer(folder)
