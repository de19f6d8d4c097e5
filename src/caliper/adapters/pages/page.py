"""Shared by all pages: template environment, style, script and content security policy."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from caliper.adapters import phrases, provenance
from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.pages import charts
from caliper.core.report import BenchmarkReport, Table
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import jinja2
else:
    jinja2 = lazy_module("jinja2")

_TEMPLATES = files("caliper.adapters.pages") / "templates"


TABLES = ("tables.js",)
"""Copies tables and figures."""
SAMPLES = ("cards.js", "samples.js")
"""Browses samples."""


def render(
    template: str,
    *,
    scripts: Sequence[str] = (),
    sheet: str = "",
    live: bool = False,
    **values: Any,
) -> str:
    """Render a template with our style and, if named, some of our scripts and another sheet.

    A content security policy in every page forbids all other scripts and all requests. A `live`
    page may request pictures and pages from its own server.
    """
    style, run = _style(sheet), _joined(scripts)
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(run),  # noqa: S704 - our own file
            policy=Markup(_policy(style, run, live=live)),  # noqa: S704 - our own words
            **values,
        )
    )


def cut(text: str, longest: int = 4000) -> str:
    """Cut a text to `longest` characters, noting how many are missing."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} [... {len(text) - longest:,} more characters]"


def data_uri(jpeg: bytes) -> str:
    """A picture as part of the page."""
    return f"data:image/jpeg;base64,{b64encode(jpeg).decode()}"


def live_policy(scripts: Sequence[str] = (), sheet: str = "") -> str:
    """The policy for a live page's header, where it can also forbid framing."""
    return f"{_policy(_style(sheet), _joined(scripts), live=True)}; frame-ancestors 'none'"


def _joined(scripts: Sequence[str]) -> str:
    return "".join(map(_text, scripts))


def _style(sheet: str) -> str:
    return _text("report.css") + _text(sheet)


def _text(file: str) -> str:
    return _TEMPLATES.joinpath(file).read_text("utf-8") if file else ""


def _policy(style: str, script: str, *, live: bool) -> str:
    source = "'self' " if live else ""
    return "; ".join(
        (
            "default-src 'none'",
            f"img-src {source}data:",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script) if script else 'none'}'",
            f"connect-src '{'self' if live and script else 'none'}'",
            "base-uri 'none'",
            f"form-action '{'self' if live else 'none'}'",
        )
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("caliper.adapters.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        # Defaults for values that only the pages of a server set.
        trail=(),
        refresh=0,
        label=phrases.label,
        headline=phrases.headline,
        notes=phrases.notes,
        remarks=phrases.remarks,
        reuse=phrases.reuse,
        stuffed=stuffing_warnings,
        facts=provenance.facts,
        made=provenance.TITLE,
        title_of=phrases.title_of,
        chart_scale=chart_scale,
        bar=charts.bar,
    )
    environment.filters.update(
        number=phrases.number,
        interval=phrases.interval,
        percent=phrases.percent,
        chance=phrases.p_value,
        heading=phrases.heading,
        readable=phrases.readable,
        tick=phrases.tick,
    )
    return environment


def chart_scale(benchmark: BenchmarkReport, table: Table) -> charts.Scale | None:
    """The axis of the table's charted column; None without a chart or data."""
    if table.chart is None:
        return None
    paths = {row.cells[table.chart] for row in table.rows}
    return charts.scale(each for path, each in benchmark.estimates.items() if path in paths)


def _hash(text: str) -> str:
    """The hash source of an inline script or style in a content security policy."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
