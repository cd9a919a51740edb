"""Drawings as SVG, within the page or as a file, and as PNG."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources

from markupsafe import Markup

from holisticbias_eval.errors import ReportError
from holisticbias_eval.report.drawings.shapes import MARGIN, WIDTH, Dot, DotPath, Line, Rect, Shape, Text, VectorDrawing
from holisticbias_eval.units import printable

PNG_SCALE = 3
GAP = 12
_LETTER, _TITLE_LETTER = 5.5, 7.4


def render_inline(drawing: VectorDrawing, key: str) -> Markup:
    """A drawing within the page; ``key`` makes the ids of its title and description unique."""
    size = f'height="{drawing.height:g}"' if drawing.fluid else f'viewBox="0 0 {drawing.width:g} {drawing.height:g}"'
    return Markup(
        '<svg class="chart {kind}" role="img" aria-labelledby="{key}-title {key}-desc" {size}>'
        '<title id="{key}-title">{title}</title><desc id="{key}-desc">{words}</desc>{shapes}</svg>'
    ).format(
        kind="fluid" if drawing.fluid else "fixed",
        key=key,
        size=Markup(size),  # noqa: S704 - numbers alone
        title=printable(drawing.title),
        words=printable(drawing.description),
        shapes=_shapes(drawing.shapes, fluid=drawing.fluid),
    )


def render_svg(drawings: Sequence[VectorDrawing], heading: Sequence[str] = ()) -> str:
    """Drawings one below the other as one file, in the colours of the light page, with lines of text above them."""
    width = max(drawing.width for drawing in drawings)
    parts: list[Markup] = []
    y = 14.0
    for i, drawing in enumerate(drawings):
        y = _put_text(parts, textwrap.wrap(drawing.title, int(width / _TITLE_LETTER)), "heading", y, 16)
        if i == 0:
            lines = [line for text in heading for line in textwrap.wrap(text, int(width / _LETTER))]
            y = _put_text(parts, lines, "tick", y, 14)
        parts.append(_nested(drawing, y))
        y += drawing.height + (GAP if drawing.title and i < len(drawings) - 1 else 0)
    colours = light_colours()
    styles = _template("drawings.css") + "\n.chart .paper { fill: var(--surface); }"
    styles = re.sub(r"var\(--([a-z0-9-]+)\)", lambda name: colours[name[1]], styles)
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-labelledby="title desc" '
        'width="{width}" height="{height}"><title id="title">{title}</title><desc id="desc">{words}</desc>'
        '<style>{styles}</style><rect class="paper" width="{width}" height="{height}"/>{parts}</svg>\n'
    ).format(
        width=f"{width:g}",
        height=f"{y:g}",
        title=printable("; ".join(filter(None, (d.title for d in drawings)))),
        words=printable("; ".join(filter(None, (d.description for d in drawings)))),
        styles=Markup(styles),  # noqa: S704 - our own file
        parts=Markup("").join(parts),
    )


def render_png(svg: str) -> bytes:
    """An SVG file as PNG, three times as large; ``ReportError`` if no font is installed."""
    import resvg_py

    drawn = resvg_py.svg_to_bytes(svg_string=svg, zoom=PNG_SCALE)
    if "<text" in svg and drawn == resvg_py.svg_to_bytes(svg_string=svg, zoom=PNG_SCALE, skip_system_fonts=True):
        raise ReportError(
            "no font is installed, so a PNG would have no text: install one (fonts-dejavu), or use --format svg"
        )
    return bytes(drawn)


def _nested(drawing: VectorDrawing, y: float) -> Markup:
    shapes = tuple(s for s in drawing.shapes if not (isinstance(s, Text) and "narrow-only" in s.kind))
    return Markup('<svg y="{}" width="{}" height="{}">{}</svg>').format(
        f"{y:g}", f"{drawing.width:g}", f"{drawing.height:g}", _shapes(shapes, fluid=drawing.fluid)
    )


def _put_text(parts: list[Markup], lines: Sequence[str], kind: str, y: float, step: float) -> float:
    for i, line in enumerate(lines):
        parts.append(_text(Text(kind, MARGIN * 2, y + 4 + i * step, line), fluid=False))
    return y + step * len(lines)


def _shapes(shapes: Iterable[Shape], *, fluid: bool) -> Markup:
    return Markup("").join(_shape(shape, fluid=fluid) for shape in shapes)


def _shape(shape: Shape, *, fluid: bool) -> Markup:
    """A shape as an element."""
    match shape:
        case Text():
            return _text(shape, fluid=fluid)
        case Rect(kind, x, y, width, height):
            return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="1"/>').format(
                kind, _at(x, fluid=fluid), _num(y), _at(width, fluid=fluid), _num(height)
            )
        case Line(kind, x, y, to_x, to_y):
            return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
                kind, _at(x, fluid=fluid), _num(y), _at(to_x, fluid=fluid), _num(to_y)
            )
        case Dot(kind, x, y, radius, label):
            title = Markup("<title>{}</title>").format(printable(label)) if label else ""
            return Markup('<circle class="{}" cx="{}" cy="{}" r="{}">{}</circle>').format(
                kind, _at(x, fluid=fluid), _num(y), _num(radius), title
            )
        case DotPath(kind, places):
            path = "".join(f"M{_num(x)} {_num(y)}h0" for x, y in places)
            return Markup('<path class="{}" d="{}"/>').format(kind, path)


def _text(text: Text, *, fluid: bool) -> Markup:
    shift = Markup(' dx="{}"').format(_num(text.shift)) if text.shift else ""
    turn = Markup(' transform="rotate(-90 {} {})"').format(_num(text.x), _num(text.y)) if text.upright else ""
    brief = Markup('<tspan class="brief">{}</tspan>\u00a0\u00a0').format(printable(text.brief)) if text.brief else ""
    return Markup('<text class="{}" x="{}" y="{}"{}{}>{}{}</text>').format(
        text.kind, _at(text.x, fluid=fluid), _num(text.y), shift, turn, brief, printable(text.text)
    )


def _at(x: float, *, fluid: bool) -> str:
    return f"{round(100 * x / WIDTH, 2):g}%" if fluid else _num(x)


def _num(value: float) -> str:
    return f"{round(value, 1):g}"


def light_colours() -> dict[str, str]:
    """The page's colours on a light screen, by name."""
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", _template("palette.css").partition("@media")[0]))


@cache
def _template(name: str) -> str:
    return resources.files("holisticbias_eval.report").joinpath("templates", name).read_text("utf-8")
