"""What the budgets still stand in the way of: buckets that stay hot, and θ at a range of budgets."""

from collections.abc import Sequence

from pages.parts import Picture, bullets, paragraph, picture, section, subsection
from spark_jobs.report_pictures import draw_frontier
from spark_jobs.report_words import amount, figure, size
from spark_jobs.run_facts import Facts

MAX_HOT = 50  # buckets; the rest are in plans.explanation
BINDS = {
    "max_migration": "the migration budget",
    "max_routes": "the route budget",
    "item": "one item that is above the goal by itself",
    "pins": "pinned items",
    "items": "items too coarse to even out",
}


def render_hot_buckets(plan: Facts) -> str:
    hot = plan["hot_buckets"]
    if not hot:
        return section(
            "Buckets still hot", paragraph("None: after the plan every bucket is within the goal.")
        )
    parts = [
        subsection(
            f"Bucket {bucket['bucket']}: {bucket['load']:.3f} mean loads",
            paragraph(_why(bucket)),
            bullets([f"Would help: {remedy}" for remedy in bucket["helps"]]),
        )
        for bucket in hot[:MAX_HOT]
    ]
    if len(hot) > MAX_HOT:
        parts.append(paragraph(f"{len(hot) - MAX_HOT:,} more are not shown: plans.explanation has them all."))
    return section("Buckets still hot", *parts)


def _why(bucket: Facts) -> str:
    binds = "In the way: " + ", ".join(BINDS[word] for word in bucket["binds"])
    if bucket["heaviest_item"] is None:
        return f"{binds}."
    return f"{binds}. Its heaviest item, {bucket['heaviest_item']}, is {bucket['heaviest_cost']:.3f} mean loads by itself."


def render_frontier(plan: Facts) -> str:
    by_migration, by_routes = plan["frontier"]["by_migration"], plan["frontier"]["by_routes"]
    return section(
        "What more budget would buy",
        paragraph(
            "θ within reach if one budget were another and the other stayed. Found by a quick search: a longer one may do better."
        ),
        '<div class="grid"><div>',
        subsection(
            "By state moved",
            _frontier(plan, by_migration, [_limit(point["budget"], "{:.0%}") for point in by_migration]),
        ),
        "</div><div>",
        subsection(
            "By routes",
            _frontier(plan, by_routes, [_limit(point["budget"], "{:,.0f}") for point in by_routes]),
        ),
        "</div></div>",
    )


def _limit(budget: float | None, form: str) -> str:
    return "any" if budget is None else form.format(budget)


def _frontier(plan: Facts, points: Sequence[Facts], budgets: list[str]) -> str:
    reached = [point["imbalance"] for point in points]
    svg = draw_frontier(budgets, reached, goal=plan["max_imbalance"], planned=plan["imbalance_after"])
    return picture(
        Picture(
            wide_svg=svg,
            narrow_svg=svg,
            sentence=f"θ within reach: from {reached[0]:.3f} at {budgets[0]} to {reached[-1]:.3f} without a limit.",
            head=["budget", "θ", "state moved", "routes"],
            rows=[
                [
                    budget,
                    figure(point["imbalance"]),
                    figure(point["migration"], size),
                    figure(point["n_routes"], amount),
                ]
                for budget, point in zip(budgets, points, strict=True)
            ],
        )
    )
