"""The report as HTML: one self-contained page, pictures as inline SVG, everything from users escaped."""

import io
from collections.abc import Sequence
from html import escape

from spark_jobs.run_facts import Facts

MEGABYTE = 1e6


def render_page(facts: Facts) -> str:
    """The page of one run, from ``run_facts``. Decides nothing."""
    title = f"{facts['dataset']} {facts['window_start'][:16].replace('T', ' ')}"
    return _PAGE.format(
        title=escape(title),
        outcome=escape(facts["outcome"]),
        headline=escape(facts["headline"]),
        reasons=_list(facts["reasons"]),
        plan=_plan_part(facts["plan"], facts) if facts["plan"] else "<p>The run came to no plan.</p>",
        checks=_table(
            ["subject", "column", "expectation", "severity", "met", "found"], _check_cells(facts["checks"])
        ),
        times=_table(["figure", "value"], _times(facts)),
    )


def _plan_part(plan: Facts, run: Facts) -> str:
    return _PLAN.format(
        verdict=escape(plan["verdict"]),
        picture=draw_loads(plan["load_before"], plan["load_after"], goal=plan["max_imbalance"]),
        figures=_table(["figure", "value"], _figures(plan, run)),
        reasons=_list(plan["reasons"]),
        moves=_table(["moved", "from", "to", "cost", "state, bytes", "why"], _move_cells(plan["moves"])),
    )


def _list(sentences: Sequence[str]) -> str:
    return "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) or "<li>none</li>"


def _times(run: Facts) -> list[list[str]]:
    return [
        ["run", str(run["run"])],
        ["jobs worked", f"{run['seconds']:.1f} s"],
        ["Spark's starts took, in all", f"{run['start_seconds']:.1f} s"],
    ]


def draw_loads(before: Sequence[float], after: Sequence[float], *, goal: float) -> str:
    """Loads per bucket before and after, with the mean and the goal, as an SVG element."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "evenkeel"  # the same plan gives the same page
    buckets = range(len(after))
    figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
    axes.bar([b - 0.2 for b in buckets], before, width=0.4, label="before", color="#b9c3cf")
    axes.bar([b + 0.2 for b in buckets], after, width=0.4, label="after", color="#1f6f8b")
    mean = sum(after) / len(after)
    axes.axhline(mean, color="#444444", linewidth=1, label="mean")
    axes.axhline(mean * (1 + goal), color="#c0392b", linewidth=1, linestyle="--", label="goal")
    axes.set_xlabel("bucket")
    axes.set_ylabel("load, rows")
    axes.set_xticks(list(buckets))
    axes.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.15))
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]


def _figures(plan: Facts, run: Facts) -> list[list[str]]:
    return [
        ["θ had nothing been done (plain hash)", f"{plan['imbalance_hash']:.4f}"],
        ["θ before", f"{plan['imbalance_before']:.4f}"],
        ["θ after", f"{plan['imbalance_after']:.4f}"],
        ["θ no plan can beat", f"{plan['bound_imbalance']:.4f}"],
        ["routes", f"{plan['n_routes']}"],
        ["state moved", f"{plan['migration_share']:.2%}, {plan['migration'] / MEGABYTE:.2f} MB"],
        ["least state any such plan moves", f"{plan['bound_migration'] / MEGABYTE:.2f} MB"],
        ["rows moved", f"{run['rows_moved']:,}"],
        ["written to do it", f"{run['bytes_written'] / MEGABYTE:.2f} MB"],
        ["planner", str(plan["planner"])],
        ["plan", str(plan["plan"])],
    ]


def _move_cells(moves: Sequence[Facts]) -> list[list[str]]:
    return [
        [
            m["item"],
            str(m["from_bucket"]),
            str(m["to_bucket"]),
            f"{m['cost']:,.0f}",
            f"{m['state']:,.0f}",
            m["why"],
        ]
        for m in moves
    ]


def _check_cells(checks: Sequence[Facts]) -> list[list[str]]:
    names = ("subject", "column", "expectation", "severity")
    return [
        [*(str(c[name]) for name in names), "yes" if c["success"] else "NO", c["observed"]] for c in checks
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evenkeel: {title}</title>
<style>
:root {{ color-scheme: light; font: 16px/1.5 system-ui, sans-serif; }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff; }}
svg {{ width: 100%; height: auto; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; }}
</style>
</head>
<body>
<h1>{title}: {outcome}</h1>
<p>{headline}</p>
<ul>{reasons}</ul>
{plan}
<h2>Checks</h2>
<div class="scroll">{checks}</div>
<h2>Run</h2>
<div class="scroll">{times}</div>
</body>
</html>
"""

_PLAN = """<h2>Plan: {verdict}</h2>
<figure role="img" aria-label="Load of each bucket before and after the plan, with the mean and the goal">{picture}</figure>
<h3>Figures</h3>
<div class="scroll">{figures}</div>
<h3>Why</h3>
<ul>{reasons}</ul>
<h3>Moves</h3>
<div class="scroll">{moves}</div>
"""
