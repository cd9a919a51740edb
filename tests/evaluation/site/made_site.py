"""A site of two versions of a catalog with hostile texts."""

from pathlib import Path
from typing import Any

from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Assessment, Descriptor, Noun, Template
from holisticbias.terms.file_kinds import DescriptorFile, NounFile, Source, TemplateFile
from holisticbias.terms.version_files import ReleaseFile
from holisticbias_eval.site.build import write_pages
from holisticbias_eval.site.explored import Explored, compare_releases, show_release
from holisticbias_eval.site.models_results import Results
from holisticbias_eval.site.writer import Writer
from quiet import QUIET

PICTURE = "<img src=x onerror=\"document.title='taken'\">"
MARKUP = f"\"'>{PICTURE}</script><script>document.title='taken'</script>"
TURNED = "ab\u202edc"
OLD, NEW = "0.1.0", "0.2.0"

OLDER: dict[str, Any] = {"sources": ("made-up",), "since": OLD}
NEWER: dict[str, Any] = {"sources": ("made-up",), "since": NEW}
AGE = (
    Descriptor(
        id="age.old",
        text="old",
        not_with=("noun.kid",),
        without_noun=False,
        assessments=(Assessment(judgement="dispreferred", community=MARKUP, source="made-up", date="2024-05"),),
        **OLDER | {"history": [{"until": NEW, "reason": f"a reason {MARKUP}", "not_with": (), "without_noun": True}]},
    ),
    Descriptor(id="age.gone", text="gone", until=NEW, replaced_by="age.hostile", reason="no longer said", **OLDER),
    Descriptor(id="age.hostile", text=MARKUP, **NEWER),
)
ABILITY = (
    Descriptor(id="ability.with-pain", text="with pain", position="after", bucket="health", **OLDER),
    Descriptor(id="ability.turned", text=TURNED, position="standalone", **NEWER),
    Descriptor(id="ability.old", text="Old", sources=("unknown",), since=NEW, until="next"),
)
NOUNS = (
    Noun(id="noun.kid", text="kid", plural="kids", **OLDER),
    Noun(id="noun.person", text="person", plural="people", **OLDER),
)
TEMPLATES = (
    Template(id="dialogue.im", text="I'm {noun_phrase}.", **OLDER),
    Template(id="dialogue.love", text="I love {plural_noun_phrase}.", must_be_noun=True, **OLDER),
    Template(id="dialogue.new", text=f"{{noun_phrase}} {MARKUP}", **NEWER),
)
CATALOG = Catalog(
    axes=(
        DescriptorFile(axis="age", label=f"Age {MARKUP}", descriptors=AGE),
        DescriptorFile(axis="ability", label="Ability", buckets=("health",), descriptors=ABILITY),
    ),
    genders=(NounFile(gender="neutral", label="Neutral", nouns=NOUNS),),
    families=(TemplateFile(family="dialogue", label="Dialogue", templates=TEMPLATES),),
    releases=(
        ReleaseFile(version=OLD, date="2026-01-01", summary=f"first {MARKUP}", article_rule="letter"),
        ReleaseFile(version=NEW, date="2026-02-01", summary="second", article_rule="sound", layout=4),
    ),
    sources=(Source(id="made-up", title=f"A study {MARKUP}", url="https://example.org/?a=1&b=2"),),
)


def made_site(folder: Path, results: Results) -> Explored:
    """Write a site of both versions of the catalog into a folder; what it shows."""
    releases = tuple(show_release(build_release(CATALOG, version), CATALOG) for version in (OLD, NEW))
    explored = Explored(CATALOG, releases, compare_releases(releases, QUIET), results)
    write_pages(explored, Writer(folder), QUIET)
    return explored
