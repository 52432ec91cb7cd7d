"""The report of one run as HTML, from ``run_facts``: one page that stands alone, everything from users escaped."""

from collections.abc import Sequence
from html import escape

from pages.document import document
from pages.parts import badge, bullets, details, link, paragraph, section, table, table_of_html
from pages.reports import INDEX
from spark_jobs.report_budgets import render_frontier, render_hot_buckets
from spark_jobs.report_capacity import render_capacity
from spark_jobs.report_feeds import render_feeds
from spark_jobs.report_first_screen import render_first_screen
from spark_jobs.report_forecast import render_forecast
from spark_jobs.report_history import render_history
from spark_jobs.report_moves import render_moves
from spark_jobs.report_words import moment, size
from spark_jobs.run_facts import Facts
from spark_jobs.run_outcome import MIGRATED


def render_page(facts: Facts) -> str:
    """The page of one run. Decides nothing: every figure is the facts'."""
    window = moment(facts["window_start"])
    plan = facts["plan"]
    parts = [
        f"<header><nav>{link('All runs of ' + facts['dataset'], f'{INDEX}.html')}</nav>",
        f"<h1>{escape(facts['dataset'])} {escape(window)} {badge(facts['outcome'])}</h1>",
        f'<p class="headline">{escape(facts["headline"])}</p></header>',
        render_first_screen(plan, facts) if plan else "",
        _reasons(facts),
        *(
            render(plan)
            for render in (render_moves, render_hot_buckets, render_frontier, render_capacity)
            if plan
        ),
        render_history(facts["history"], goal=plan["max_imbalance"] if plan else None),
        render_forecast(facts["forecast"]),
        render_feeds(facts["feeds"]),
        _checks(facts),
        _timings(facts),
        _names(facts),
    ]
    return document(f"{facts['dataset']} {window}: {facts['outcome']} | Evenkeel", "\n".join(parts))


def _reasons(facts: Facts) -> str:
    plan = facts["plan"] or {"reasons": []}
    prefix = "" if facts["outcome"] == MIGRATED else "the plan: "  # which nobody has carried out
    sentences = [*facts["reasons"], *(prefix + reason for reason in plan["reasons"])]
    return section(
        "Why it came out so", bullets(sentences) if sentences else paragraph("Nothing stood in the way.")
    )


def _checks(facts: Facts) -> str:
    if not facts["checks"]:
        return section("Checks of the window", paragraph("None is recorded for this window."))
    broken = [check for check in facts["checks"] if not check["success"]]
    said = (
        f"{len(broken)} of {len(facts['checks'])} are broken."
        if broken
        else f"All {len(facts['checks'])} are met."
    )
    sentences = [check["sentence"] for check in broken if check["sentence"]]
    return section(
        "Checks of the window",
        paragraph(said),
        bullets(sentences) if sentences else "",
        _check_table("Broken checks", broken) if broken else "",
        details("All checks", _check_table("All checks", facts["checks"])),
    )


def _check_table(name: str, checks: Sequence[Facts]) -> str:
    """Those that are broken first."""
    rows = [
        [badge("met" if check["success"] else "broken")]
        + [
            escape(str(check[field] or ""))
            for field in ("subject", "column", "expectation", "severity", "observed")
        ]
        for check in sorted(checks, key=lambda check: bool(check["success"]))
    ]
    return table_of_html(name, ["", "of", "column", "expectation", "severity", "found"], rows)


def _timings(facts: Facts) -> str:
    rows = [
        [step["name"], step["state"], f"{step['seconds']:.1f}", f"{step['start_seconds']:.1f}"]
        for step in facts["steps"]
    ]
    total = f"Its jobs worked {facts['seconds']:.1f} s; starting Spark took {facts['start_seconds']:.1f} s in all."
    head = ["step", "state", "worked, s", "Spark's start, s"]
    return section("Timings", paragraph(total), table("Timings", head, rows) if rows else "")


def _names(facts: Facts) -> str:
    rows = [
        ["run", str(facts["run"])],
        ["window", f"{moment(facts['window_start'])} up to {moment(facts['window_end'])} UTC"],
    ]
    plan = facts["plan"]
    if plan:
        limits = f"θ ≤ {plan['max_imbalance']:g} (aim {plan['target_imbalance']:g}), routes ≤ {_limit(plan['max_routes'])}, "
        rows += [
            ["plan", plan["plan"]],
            ["planner", plan["planner"]],
            ["verdict", plan["verdict"]],
            ["budgets", f"{limits}migration ≤ {_migration_limit(plan['max_migration'])}"],
            ["function before", plan["from_function"]],
            ["function after", plan["to_function"]],
        ]
    return section("Names", table("Names", ["of", "is"], rows))


def _limit(value: float | None) -> str:
    return "no limit" if value is None else f"{value:,.0f}"


def _migration_limit(value: float | None) -> str:
    """Up to 1 it is a share, above that bytes."""
    if value is None:
        return "no limit"
    return f"{value:.0%} of the state" if value <= 1 else size(value)
