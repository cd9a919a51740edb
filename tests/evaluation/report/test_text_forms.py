"""Reports in the terminal and as Markdown."""

import io
from dataclasses import replace

from rich.console import Console

from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.report import Chapter, Report, text_blocks
from holisticbias_eval.report.runs import comparison_report
from holisticbias_eval.report.terminal import print_report
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import Run
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import Column, Paragraph, Table

from .invented import HOSTILE, INFO, bars, dot_plot, heat_map, invented_report, table


def printed(report: Report, width: int = 100, *, terminal: bool = False) -> str:
    file = io.StringIO()
    print_report(report, Console(file=file, width=width, force_terminal=terminal, highlight=False))
    return file.getvalue()


def test_what_has_no_room_is_left_out_and_named() -> None:
    p_values = table()
    p_values = replace(p_values, columns=(*p_values.columns[:-1], replace(p_values.columns[-1], heading="p, Holm")))
    assert "Answers, “p, Holm”." in " ".join(printed(invented_report(p_values), 40).split())
    models = tuple(Column(f"model-{i}", f"model {i}") for i in range(4))
    results = Table("r", "R", (Column("axis", "Axis"), *models), (("Ability", *("62.1% [60.0% to 64.5%]",) * 4),))
    text = printed(invented_report(results), 80)
    assert "model 3" in text
    assert "62.1% [60.0%" in text
    assert "Not shown" not in text, "columns of words are folded before any is left out"
    text = printed(invented_report(table(45)))
    assert ("term 29" in text, "term 30" in text, "Not shown: 15 more rows." in text) == (True, False, True)
    details = [text(invented_report()) for text in (printed, render_markdown)]
    assert ["Keenness by term" in said for said in details] == [False, True]


def test_sections_of_pictures_alone_are_for_the_page() -> None:
    pictures = Section("map", "Map", (Paragraph("Of all templates."), heat_map(), dot_plot()))
    mixed = Section("mixed", "Mixed", (heat_map(), bars()))
    words = Section("words", "Words", (Paragraph("Words alone."),))

    def said(*sections: Section) -> str:
        return printed(Report("r", (Chapter(INFO, sections),)))

    assert "Of all templates." not in said(pictures, words)
    assert "Words alone." in said(pictures, words)
    assert "I love {plural_noun_phrase}." in said(mixed, pictures)
    assert "Of all templates." in said(pictures), "unless there is nothing else"


def test_a_comparison_leaves_no_measure_without_a_word(run: Run) -> None:
    """The mini release has one pair of templates of opposite stance, too few for a stance contrast."""
    said = " ".join(printed(comparison_report(compare_runs(run, run), run, run)).split())
    assert said.count("Stance contrast of A and B") == 1
    assert "Axis A B Change 95% interval p" in said
    assert "Age not defined not defined not defined" in said
    assert "Not shown: Median perplexities of A and B, all descriptors." in said
    assert "Not shown: ." not in printed(Report("r", (Chapter(INFO, ()),)))


def test_markup_of_names_sets_no_style() -> None:
    report = replace(invented_report(Paragraph("[red]x[/red]")), title="[b]y[/b] \x1b[2J")
    said = printed(report)
    assert "[red]x[/red]" in said
    assert "[b]y[/b] \ufffd[2J" in said


def test_a_chart_is_a_table_unless_a_table_has_all_its_values() -> None:
    values = (("Ability", 0.62, 0.15), ("Age", 0.21, 0.15), ("Nonce", None, 0.15), ("All axes", 0.5, None))
    columns = (Column("axis", "Axis"), Column("share", "Share", "share"), Column("floor", "Floor", "share"))
    whole = Table("by-axis", "By axis", columns, values)
    section = Section("s", "S", (bars(), heat_map()))
    for known, shown in (
        ((whole,), ["map"]),
        ((), ["keenness", "map"]),
        ((replace(whole, rows=values[:2]),), ["keenness", "map"]),
        ((replace(whole, rows=(("Ability", 0.61, 0.15), *values[1:])),), ["keenness", "map"]),
        ((replace(whole, rows=()), whole), ["map"]),
    ):
        assert [block.name for block in text_blocks(section, known) if isinstance(block, Table)] == shown
    report = Report("r", (Chapter(INFO, (section, Section("t", "T", (whole,)))),))
    for text in (printed(report), render_markdown(report)):
        assert "Keenness by axis" not in text.replace("Keenness by axis and template", "")
        assert "By axis" in text


def test_markdown_of_a_comparison_and_without_preferences() -> None:
    assert "## What" not in render_markdown(replace(invented_report(), chapters=()))
    rows = (("Model", "some/model", HOSTILE),)
    text = render_markdown(replace(invented_report(), runs=("one", "two"), signature=rows))
    assert "| Property | A | B |\n| --- | --- | --- |\n| Model | some/model | \\<" in text
