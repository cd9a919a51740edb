"""The page of a mitigation: what was trained, every point of the grid, and the course of the training."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from holisticbias.terms.grammar import capitalised
from holisticbias_eval.measures.info import Info
from holisticbias_eval.mitigation.record import Mitigation, Point, ValidationRecord
from holisticbias_eval.mitigation.settings import TrainingSettings, varied
from holisticbias_eval.report.report import Chapter, Report
from holisticbias_eval.report.runs import sets_report
from holisticbias_eval.report.signature import architecture, weights_rows
from holisticbias_eval.results.run_sets import RunSet
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import Column, ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.settings import listed
from holisticbias_eval.units import show, tick

_INFO = Info(
    name="mitigation",
    title="Training",
    summary="what the models were trained on, with which settings, and what validation found",
    direction="a larger F means that the groups' perplexities differ more; a higher perplexity is a cost",
    limits="validation sentences chose the settings, so their figures look better than those of the test set",
    source="Zhao et al. 2024, sections 4 and 5",
    headline="f",
)
_SETTINGS = ("batch", "accumulation", "learning_rate", "weight", "lm_weight", "epochs", "steps", "optimizer", "seed")
_F, _PERPLEXITY = "F on validation sentences", "Validation perplexity"


def training_chapter(records: Sequence[Mitigation]) -> Chapter:
    """The chapter on training, for one method or several on the same model."""
    sections = [_overview(records)]
    for record in records:
        if len(record.points) > 1:
            sections.append(_grid(record))
        sections.append(_course(record))
    sections += [_origin(own[0], i) for i, own in enumerate(_by_model(records))]
    return Chapter(_INFO, tuple(sections))


def mitigation_report(records: Sequence[Mitigation], sets: Sequence[RunSet]) -> Report:
    """A page of what was gained and what it cost, with what was trained; the first of the sets are the runs before."""
    order = [record.method for record in records]
    before, *after = sets
    after.sort(key=lambda found: order.index(found.name) if found.name in order else len(order))
    _, compared = sets_report((before, *after), (), lambda _: None)
    gains, *rest = compared.chapters
    return replace(
        compared,
        title=_title(records),
        chapters=(gains, training_chapter(records), *rest),
        measured=(*_about(records[0]), *compared.measured),
    )


def training_report(records: Sequence[Mitigation]) -> Report:
    """A page of the training alone."""
    first = records[0]
    return Report(
        title=_title(records),
        chapters=(training_chapter(records),),
        measured=_about(first),
        notes=(first.base_model.note,) if first.base_model.note else (),
    )


def _title(records: Sequence[Mitigation]) -> str:
    """Each base model and its methods; of several methods the abbreviations, where titles end with one."""
    long = len(records) == 1
    return "; ".join(
        f"{own[0].base_model.name} before and after {listed([r.title if long else _short(r.title) for r in own])}"
        for own in _by_model(records)
    )


def _short(title: str) -> str:
    return re.sub(r".* \((\w+)\)$", r"\1", title)


def _by_model(records: Sequence[Mitigation]) -> Sequence[Sequence[Mitigation]]:
    """The records of each base model, in order."""
    found: dict[tuple[str | None, str], list[Mitigation]] = {}
    for record in records:
        found.setdefault((record.base_model.weights_sha256, record.base_model.name), []).append(record)
    return list(found.values())


def _origin(record: Mitigation, number: int) -> Section:
    """The section on the signature that the methods of a base model share; ``number`` is that of the model."""
    name = f"origin-{number}" if number else "origin"
    columns = (Column("what", "What"), Column("value", "Value"))
    title = f"What the training of {record.base_model.name} depends on"
    table = Table(name, title, columns, tuple(_origin_rows(record)))
    return Section(name, title, (table,), detail=True, in_terminal=False)


def _origin_rows(record: Mitigation) -> Sequence[tuple[str, str]]:
    trained, chosen = record.trained_on, record.specification
    rows = [
        ("Model", record.base_model.name),
        ("Architecture", architecture(record.base_model)),
        *weights_rows(record.base_model),
        ("Corpus", trained.name),
        ("Machine", record.machine),
        ("Packages", ", ".join(f"{name} {version}" for name, version in record.versions.items())),
    ]
    if chosen is not None:
        rows += [
            ("Specification", f"{chosen.id}, SHA-256 {chosen.sha256}"),
            ("Groups in the training", ", ".join(chosen.groups)),
            ("Groups held out", ", ".join(chosen.held_out) or "none"),
        ]
    return rows


def _about(record: Mitigation) -> tuple[str, ...]:
    chosen = record.specification
    if chosen is None:
        return ()
    held = f" {', '.join(chosen.held_out)}: measured and not trained on." if chosen.held_out else ""
    return (f"{chosen.title}: trained on {', '.join(chosen.groups)}.{held}",)


_OVERVIEW: tuple[ColumnOf[Mitigation], ...] = (
    ColumnOf("method", "Method", lambda record: record.title),
    ColumnOf("texts", "Texts", lambda record: record.trained_on.texts, "count"),
    ColumnOf("kept", "Steps kept", lambda record: record.point.kept, "count"),
    ColumnOf("f_before", f"{_F}, before", lambda record: record.f_before, ""),
    ColumnOf("f", "F, after", lambda record: record.point.f, ""),
    ColumnOf("perplexity_before", f"{_PERPLEXITY}, before", lambda record: record.perplexity_before, "perplexity"),
    ColumnOf("perplexity", "Perplexity, after", lambda record: record.point.perplexity, "perplexity"),
    ColumnOf("settings", "Settings", lambda record: _in_words(record.point.settings)),
)


def _overview(records: Sequence[Mitigation]) -> Section:
    caption = "What was trained, and what validation found"
    note = Paragraph(
        "Validation texts chose the state that was kept, and the settings if there was a grid: gains and costs are of "
        "other texts.",
        "caveat",
    )
    table = table_of("trained", caption, _OVERVIEW, records, drop_empty=True)
    return Section("trained", "What was trained", (table, note))


def _grid(record: Mitigation) -> Section:
    columns: tuple[ColumnOf[tuple[int, Point]], ...] = (
        ColumnOf("point", "Point", lambda row: str(row[0] + 1)),
        *(ColumnOf(name, capitalised(_words(name)), partial(_setting, name)) for name in varied(record.planned)),
        ColumnOf("f", _F, lambda row: row[1].f, ""),
        ColumnOf("perplexity", _PERPLEXITY, lambda row: row[1].perplexity, "perplexity"),
        ColumnOf("kept", "Steps kept", lambda row: row[1].kept, "count"),
        ColumnOf("note", "Note", lambda row: row[1].failed or ("chosen" if row[0] == record.chosen else None)),
    )
    most, rise = show(record.most_perplexity, "perplexity"), tick(record.most_rise, "share")
    text = Paragraph(
        f"Chosen: the smallest F among the points whose validation perplexity is at most {most}, "
        f"{rise} above that of the model before training; without such a point, the smallest perplexity. P-values have "
        "no part in it."
    )
    table = table_of(f"grid_{record.method}", f"{record.title}: every point", columns, enumerate(record.points))
    title = f"{record.title}: the grid {record.grid}"
    return Section(f"grid-{record.method}", title, (text, table), detail=True)


def _setting(name: str, row: tuple[int, Point]) -> str:
    return _shown(getattr(row[1].settings, name))


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _course(record: Mitigation) -> Section:
    columns: tuple[ColumnOf[ValidationRecord], ...] = (
        ColumnOf("step", "Step", lambda validation: str(validation.step)),
        ColumnOf("perplexity", _PERPLEXITY, lambda validation: validation.perplexity, "perplexity"),
        ColumnOf("auxiliary", "The method's own loss", lambda validation: validation.auxiliary, ""),
        ColumnOf("loss", "Whole loss", lambda validation: validation.loss, ""),
        ColumnOf("note", "Note", lambda validation: "kept" if validation.step == record.point.kept else None),
    )
    table = table_of(f"course_{record.method}", f"{record.title}: validations", columns, record.point.validations)
    return Section(f"course-{record.method}", f"{record.title}: the course of the training", (table,), detail=True)


def _in_words(settings: TrainingSettings) -> str:
    unused = "epochs" if settings.steps is not None else "steps"
    values = {name: getattr(settings, name) for name in _SETTINGS if name != unused}
    return ", ".join(f"{_words(name)} {_shown(value)}" for name, value in values.items() if value is not None)


def _words(name: str) -> str:
    return name.replace("_", " ").replace("lm ", "LM ")
