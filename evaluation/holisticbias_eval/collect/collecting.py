"""Collect the prompts of a collection of groups from a dump, from end to end."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holisticbias.output import refuse_target, resumed_folder
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.anonymise import Named, anonymise
from holisticbias.terms.file_kinds import CollectionFile
from holisticbias_eval.collect.dump import BytesRead, DumpFile, DumpReader, WikiPage, find_dump, read_pages
from holisticbias_eval.collect.journal import FILE, Journal, open_journal
from holisticbias_eval.collect.outputs import is_collected, page_address, write_attribution, write_prompts, write_record
from holisticbias_eval.collect.page_sentences import (
    FoundSentence,
    PageReader,
    PageSentences,
    WantedGroup,
    person_finder,
)
from holisticbias_eval.collect.rule import PromptRule
from holisticbias_eval.collect.settings import CollectSettings
from holisticbias_eval.collect.titles import title_key
from holisticbias_eval.collect.wanted_pages import WantedPages, read_links, resolve
from holisticbias_eval.collect.worker import Worker
from holisticbias_eval.errors import CollectError, CutDumpError
from holisticbias_eval.named_files import read_yaml
from holisticbias_eval.progress import Display
from holisticbias_eval.stereotypes.specifications import USERS, key_of_name

_SHOWN = 200  # characters of a user's text in a message


def find_collection(name: str) -> CollectionFile:
    """The collection of the newest version of the dataset with this name, or the one in a YAML file.

    Raises ``CollectError`` if it is missing or invalid, or names no page.
    """
    path = Path(name)
    found = read_collection(path) if path.suffix in {".yaml", ".yml"} or path.is_file() else _of_dataset(name)
    if not any(group.has_pages for group in found.groups):
        raise CollectError(f"{name}: the collection names no page: give a group pages: {{titles, lists or categories}}")
    return found


def read_collection(path: Path) -> CollectionFile:
    """Read a collection from YAML; groups and forms may leave out their sources. Raises ``CollectError``."""

    def made_of(data: Any) -> CollectionFile:
        if not isinstance(data, dict) or not isinstance(data.get("groups"), list):
            raise CollectError(f"{path} is not a collection: it needs a list groups; see docs/collect.md")
        groups = [_of_user(group) for group in data["groups"]]
        named = {"collection": key_of_name(path.stem, "_"), "label": path.stem}
        return CollectionFile.model_validate({**named, **data, "groups": groups})

    found = read_yaml(path, made_of, CollectError)
    twice = [name for name, count in Counter(group.id for group in found.groups).items() if count > 1]
    if twice:
        raise CollectError(f"{path} has two groups with the id {twice[0]!r}: rename one")
    return found


def _of_user(entry: Any) -> Any:
    """An entry with the source and the version of a user's entries where it has none; its forms likewise."""
    if not isinstance(entry, dict):
        return entry
    return {**USERS, **entry} | ({"forms": _of_user(entry["forms"])} if "forms" in entry else {})


def _of_dataset(name: str) -> CollectionFile:
    catalog = load_catalog()
    known = catalog.at(catalog.versions[-1]).collections
    for collection in known:
        if collection.collection == name:
            return collection
    names = ", ".join(c.collection for c in known) or "none"
    raise CollectError(f"there is no collection {name[:_SHOWN]!r} and no such .yaml file; available: {names}")


def prompts_of(record: Mapping[str, Any]) -> int:
    """The number of prompts by the record of their folder."""
    return sum(group["prompts"] for group in record["groups"].values())


def collect(dump: Path, name: str, out: Path, settings: CollectSettings, display: Display) -> dict[str, Any]:
    """Write the prompts of a collection that a dump holds, as ``prompts.parquet`` with attribution and a record.

    Returns the record. A run that was interrupted goes on where it stopped. Raises ``CollectError`` if there is
    nothing to collect, and ``CutDumpError`` after writing if the dump ends in the middle.
    """
    refuse_target(out, is_collected, [dump, *([Path(name)] if Path(name).is_file() else [])])
    collection, found = find_collection(name), find_dump(dump)
    about = _about(collection, found, settings)
    with resumed_folder(out, json.dumps(about, sort_keys=True), is_collected, FILE) as folder:
        try:
            with open_journal(folder) as journal:
                run = _Run(found, collection, settings, journal, display)
                run.read()
                made = run.write(folder, about)
        except CollectError:
            shutil.rmtree(folder, ignore_errors=True)  # nothing was found, so there is nothing to continue
            raise
    end = made["dump"]["end"]
    if end is not None:
        count = f"{prompts_of(made):,} prompts of the pages before are in {out}"
        raise CutDumpError(f"{dump}: {end}: {count}; get the whole dump")
    return made


def _about(collection: CollectionFile, dump: DumpFile, settings: CollectSettings) -> dict[str, Any]:
    """All settings that decide the result, as JSON."""
    digest = hashlib.sha256(collection.model_dump_json().encode("utf-8", "replace")).hexdigest()
    return {
        "collection": {"name": collection.collection, "label": collection.label, "sha256": digest, **collection.shared},
        "dump": {"name": dump.path.name, "bytes": dump.size, "sha256": dump.sha256},
        "options": settings.recorded,
        "groups": [group.id for group in collection.groups],
    }


@dataclass(slots=True)
class _Run:
    dump: DumpFile
    collection: CollectionFile
    settings: CollectSettings
    journal: Journal
    display: Display

    def read(self) -> None:
        """Read the dump: the links, then the pages; what an earlier run read is not read again."""
        self._check_names()
        groups = self.collection.groups
        read_links(self.dump, groups, self.journal, self.display, every=self.settings.links == "all")
        if self.journal.state("read") is None:
            self._read_pages(resolve(groups, self.journal))

    def _check_names(self) -> None:
        if self.settings.names is None and any(group.needs_person for group in self.collection.groups):
            self.display.notice(
                "Some groups need the name of a person: without --names MODEL every page's title is taken as a name."
            )
        elif self.settings.names is not None:  # find out before the dump is read that a model cannot be used
            person_finder(self.settings.names)

    def _read_pages(self, wanted: WantedPages) -> None:
        progress = BytesRead(self.dump.size, int(self.journal.state("pages") or 0))
        reader = self.dump.reader(progress, int(self.journal.state("offset") or 0))
        reader.broken = int(self.journal.state("broken") or 0)

        def commit(page: WikiPage) -> None:
            self.journal.commit(offset=page.offset, pages=progress.pages, broken=reader.broken)

        worker: Worker | None = None
        try:
            for page in read_pages(reader, progress, "Reading pages", self.display, commit):
                is_read = page.namespace == 0 and page.redirect is None
                groups = wanted.of(page.title, page.text, reader.namespaces) if is_read else ()
                if groups:
                    worker = worker or self._worker(wanted, reader)
                    self._read_page(page, groups, worker)
        finally:
            if worker is not None:
                worker.stop()
        site = {"site": reader.site.get("sitename"), "generator": reader.site.get("generator")}
        ended = {**site, "pages": progress.pages - 1, "broken_pages": reader.broken, "end": reader.end}
        self.journal.commit(read=ended)

    def _worker(self, wanted: WantedPages, reader: DumpReader) -> Worker:
        rule = PromptRule(**self.collection.shared)  # type: ignore[arg-type]
        pages = PageReader(rule, reader.namespaces, wanted.by_terms, self.settings.names)
        return Worker(pages, self.settings.seconds)

    def _read_page(self, page: WikiPage, groups: tuple[WantedGroup, ...], worker: Worker) -> None:
        self.journal.count("seen", title_key(page.title))
        for wanted in groups:
            self.journal.count("group_page", self.collection.groups[wanted.group].id)
        result = page.why if page.text is None else worker.read((page.text, groups))
        if isinstance(result, PageSentences):
            self._keep(page, result)
        else:
            why = result or "its text is empty"
            self.journal.count("failed", why)
            self.journal.add_failed(page.title, why)

    def _keep(self, page: WikiPage, result: PageSentences) -> None:
        for (group, why), number in sorted(result.left_out.items()):
            self.journal.count("sentence", f"{self.collection.groups[group].id} {why}", number)
        if result.found:
            source = {
                "page": page.title,
                "page_id": page.page_id,
                "revision": page.revision,
                "timestamp": page.timestamp,
                "licence": self.settings.licence,
                "address": page_address(self.settings.site, page.title, page.revision),
            }
            rows = [{**self._row(found, number), **source} for number, found in enumerate(result.found, 1)]
            self.journal.add_rows(rows)

    def _row(self, found: FoundSentence, number: int) -> dict[str, Any]:
        group = self.collection.groups[found.group]
        words = found.sentence.split(" ")
        prompt, rest = " ".join(words[: found.length]), " ".join(words[found.length :])
        forms = group.forms.words if group.forms else ()
        anonymous = anonymise([prompt, found.sentence], [Named(found.term, forms, group.needs_person)] * 2)
        return {
            "number": number,
            "domain": group.domain,
            "group": group.text,
            "group_id": group.id,
            "prompt": prompt,
            "continuation": rest,
            "sentence": found.sentence,
            "subject": found.term,
            "forms": forms,
            "person": group.needs_person,
            "prompt_anonymised": anonymous[0],
            "sentence_anonymised": anonymous[1],
        }

    def write(self, folder: Path, about: Mapping[str, Any]) -> dict[str, Any]:
        """Write the three files. Raises ``CollectError`` if there is no prompt."""
        ended = self.journal.state("read")
        self._refuse_nothing(ended)
        with self.display.step("Writing prompts"):
            made = write_prompts(self.journal, folder)
            write_attribution(self.journal, folder)
            seen = self.journal.counts("seen")
            missing = [
                title
                for title in dict.fromkeys(t for group in self.collection.groups for t in group.pages.titles)
                if title_key(title) not in seen and self.journal.redirect(title_key(title)) is None
            ]
            full = {**about, "dump": {**about["dump"], **ended}, "titles_not_in_dump": missing}
            return write_record(self.journal, folder, made, full)

    def _refuse_nothing(self, ended: Mapping[str, Any]) -> None:
        path, name = self.dump.path, self.collection.collection
        if not ended["pages"]:
            raise CollectError(f"{path} has no pages: {ended['end'] or 'it is the dump of an empty wiki'}")
        if not self.journal.counts("seen"):
            raise CollectError(
                f"{path}: none of its {ended['pages']:,} pages is of the collection {name!r}"
                f"{'' if ended['end'] is None else '; ' + ended['end']}: name other pages, or take a whole dump"
            )
        if next(self.journal.rows(), None) is None:
            raise CollectError(f"{path}: no sentence of the collection's pages gives a prompt{self._reasons()}")

    def _reasons(self) -> str:
        totals = Counter(self.journal.counts("failed"))
        for detail, number in self.journal.counts("sentence").items():
            totals[detail.partition(" ")[2]] += number
        shown = ", ".join(f"{why} ({number:,})" for why, number in totals.most_common(4))
        return f": {shown}" if shown else ""
