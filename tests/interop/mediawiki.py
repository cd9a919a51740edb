"""Collect prompts from dumps that MediaWiki itself wrote: mediawiki.py [--install].

A wiki is set up in SQLite with Debian's package ``mediawiki``, pages of invented words are saved in it, and its
``dumpBackup.php`` writes them: the last revisions, all revisions, and compressed. The prompts of each dump must be
equal to rows worked out by hand. Without PHP or MediaWiki nothing is checked, and a line says so; ``--install``
installs them with apt.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console

from holisticbias_eval.collect.collecting import collect, prompts_of
from holisticbias_eval.collect.settings import CollectSettings
from holisticbias_eval.progress import Display

MAINTENANCE = Path("/usr/share/mediawiki/maintenance")
PACKAGES = ("mediawiki", "php-sqlite3", "php-cli", "php-mbstring", "php-xml", "php-intl", "php-bz2")
PAGES = (
    ("Vell Ambro", "Vell Ambro is the first text of this page, which is replaced later."),
    ("Vell Ambro", "{{Box|Vell Ambro}} '''Vell Ambro''' is a [[Glorbist|folder]] of maps & cloth from "
     "<nowiki>Osk</nowiki>.\n\nVell Ambro<ref>A note about Vell Ambro that is long enough.</ref> wrote “maps” with the "
     "weavers of Osk.\n"
     "[[Category:Weavers]]"),
    ("List of trades", "* [[Old glorbist]] of [[Osk]]\n* [[Tarner]]"),
    ("Old glorbist", "#REDIRECT [[Glorbist (trade)]]"),
    ("Glorbist (trade)", "A glorbist folds maps of cloth for the ships of Osk.\n{| class=wikitable\n| A glorbist in a "
     "table is not a sentence to read.\n|}"),
    ("Tarner", "{{unclosed A tarner is here and there in the old town.\n\n"
     "Many tarners of the town have met a glorbist."),
    ("Talk:Tarner", "A tarner is a word that we talk about on this page."),
)  # fmt: skip
GROUPS = """\
groups:
  - {id: osk.weavers, text: Weavers, domain: gender, needs_person: true, pages: {categories: [Weavers]}}
  - {id: osk.trades, text: Trades, domain: profession, pages: {lists: [list_of trades]}}
"""
EXPECTED = [
    ("osk.weavers", "Vell Ambro is a folder of maps", "& cloth from Osk.", "Vell Ambro"),
    ("osk.weavers", "Vell Ambro wrote “maps” with the weavers", "of Osk.", "Vell Ambro"),
    ("osk.trades", "A glorbist folds maps of cloth", "for the ships of Osk.", "Glorbist"),
    ("osk.trades", "Many tarners of the town have", "met a glorbist.", "Tarner"),
]


def php(script: str, *arguments: str, text: str | None = None) -> None:
    """Run a script of MediaWiki's maintenance."""
    command = ["php", str(MAINTENANCE / script), *arguments]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{script}: {done.stdout[-500:]} {done.stderr[-500:]}"


def make_wiki(work: Path) -> str:
    """Set up a wiki with the pages; return its settings."""
    (work / "conf").mkdir()
    php(
        "install.php", "--dbtype", "sqlite", "--dbname", "osk", "--dbpath", str(work / "database"), "--confpath",
        str(work / "conf"), "--server", "http://localhost", "--scriptpath", "/w", "--lang", "en",
        "--pass", "long enough for this test", "Osk", "Admin",
    )  # fmt: skip
    settings = str(work / "conf" / "LocalSettings.php")
    for title, content in PAGES:
        php("edit.php", "--conf", settings, title, text=content)
    return settings


def rows(dump: Path, work: Path) -> list[tuple[str, ...]]:
    """Group, prompt, continuation and subject of each row that a dump gives."""
    (work / "groups.yaml").write_text(GROUPS)
    out = work / f"collected-{dump.name}"
    display = Display(Console(stderr=True, quiet=True))
    made = collect(dump, str(work / "groups.yaml"), out, CollectSettings(), display)
    about = made["dump"]
    print(f"{dump.name}: {about['pages']} pages by {about['generator']}, {prompts_of(made)} prompts")
    found = pq.read_table(out / "prompts.parquet").to_pylist()
    assert all(row["revision"] and row["page_id"] and row["timestamp"] for row in found)
    return [tuple(row[name] for name in ("group_id", "prompt", "continuation", "subject")) for row in found]


def main() -> None:
    """Compare the prompts of each dump with those worked out by hand."""
    if "--install" in sys.argv:
        subprocess.run(["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *PACKAGES], check=True)
    if shutil.which("php") is None or not MAINTENANCE.is_dir():
        print(f"MediaWiki: skipped, it is not installed: apt-get install {' '.join(PACKAGES)}")
        return
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        settings = make_wiki(work)
        for dump, options in {
            "current.xml": ["--current", "--output=file:"],
            "full.xml": ["--full", "--output=file:"],
            "full.xml.bz2": ["--full", "--output=bzip2:"],
            "full.xml.gz": ["--full", "--output=gzip:"],
        }.items():
            php("dumpBackup.php", "--conf", settings, options[0], f"{options[1]}{work / dump}")
            found = rows(work / dump, work)
            assert found == EXPECTED, f"{dump}: {found}"


if __name__ == "__main__":
    main()
