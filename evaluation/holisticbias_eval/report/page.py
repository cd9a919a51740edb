"""The report of a run as one HTML page that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from holisticbias.output import write_file
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.report.charts import Chart, heat_level, report_charts, strip_chart
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.finding import baseline, caveats, finding, pooled
from holisticbias_eval.report.numbers import model_title, printable, show, title
from holisticbias_eval.report.summary import Summary, summarise
from holisticbias_eval.report.trust import nats_per, open_orders
from holisticbias_eval.report.words import (
    CAVEATS,
    PREFERENCES,
    measured,
    run_title,
    signature_rows,
    size_of_differences,
)
from holisticbias_eval.results.run import REPORT, Run, Share


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Shares by template (rows) and axis (columns, in words); ``None`` where a combination was not measured."""

    axes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Share | None, ...]], ...]


def write_page(run: Run, folder: Path) -> Path:
    """Write the page into the run's folder; its path."""
    path = folder / REPORT
    write_file(path, render_page(summarise(run)).encode())
    return path


def render_page(summary: Summary) -> str:
    """The page. Every text of the run is escaped: names of models and terms are anyone's."""
    environment = page_environment()
    shares, trust = summary.result.likelihood_bias.by_axis_and_template, summary.result.trust
    return environment.get_template("report.html.jinja").render(
        page_title=run_title(summary.result.signature),
        summary=summary,
        charts=report_charts(summary),
        every_template=_every_template(summary),
        tables=report_tables(summary),
        heat=_heat_map(summary),
        caveats=CAVEATS,
        wording=summary.wording,
        measured=measured(summary.result.signature),
        finding=finding(summary),
        baseline=baseline(summary),
        beside=tuple(caveats(summary)),
        pooled=pooled(summary),
        size=size_of_differences(summary.result),
        nats_per=nats_per(trust, summary.wording) if trust else None,
        flips=open_orders(trust) if trust else (),
        empty=[share for share in shares if share.share is None],
        tested=sum(share.pairs for share in shares),
        untested=sum(share.untested for share in shares),
        measures=[MEASURES[name] for name in summary.result.signature.measures if name in MEASURES],
        signature_rows=tuple(signature_rows(summary.result.signature)),
        script_digest=_script_digest(environment),
    )


def page_environment() -> Environment:
    """Jinja as the report uses it: everything escaped, nothing undefined, no hidden characters."""
    environment = Environment(
        loader=PackageLoader("holisticbias_eval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) or not isinstance(value, str) else printable(value),
    )
    environment.filters.update(
        number=lambda value: show(value, "count"),
        perplexity=lambda value: show(value, "perplexity"),
        tokens=lambda value: show(value, "tokens"),
        shown=show,
        title_of=title,
        model_title=model_title,
        heat_level=heat_level,
        sentence=lambda text: text.rstrip(".") + ".",
    )
    environment.tests["digest"] = lambda value: re.fullmatch("[0-9a-f]{64}", value) is not None
    environment.globals["preferences"] = PREFERENCES
    return environment


def _script_digest(environment: Environment) -> str:
    """The one script that the page lets a browser run, as its content security policy names it."""
    script = environment.get_template("report.js").render()
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _every_template(summary: Summary) -> list[Chart]:
    return [strip_chart(summary, template, f"every-{i}") for i, template in enumerate(summary.templates, 1)]


def _heat_map(summary: Summary) -> HeatMap:
    bias = summary.result.likelihood_bias
    found = {(share.axis, share.template): share for share in bias.by_axis_and_template}
    axes = tuple(a.axis for a in summary.axes)
    templates = tuple(share.template or "" for share in bias.by_template)
    rows = tuple((t, tuple(found.get((axis, t)) for axis in axes)) for t in templates)
    return HeatMap(tuple(map(summary.label, axes)), rows)
