"""What an operator sees first: the figures that decide, and the loads before and after as a picture."""

from pages.parts import Cell, Picture, Tile, picture, section, tiles
from spark_jobs.report_pictures import NARROW, WIDE, draw_loads
from spark_jobs.report_words import amount, counted, figure, number, share, size
from spark_jobs.run_facts import Facts
from spark_jobs.run_outcome import MIGRATED


def render_first_screen(plan: Facts, run: Facts) -> str:
    names = ("before", "after") if run["outcome"] == MIGRATED else ("now", "planned")
    return section("Load of each bucket", picture(_loads(plan, names)), tiles(_figures(plan, run)))


def _figures(plan: Facts, run: Facts) -> list[Tile]:
    has_moved = run["outcome"] == MIGRATED
    return [
        Tile(
            "Imbalance θ" if has_moved else "Imbalance θ, by the plan",
            [figure(plan["imbalance_before"]), " → ", figure(plan["imbalance_after"])],
            [f"goal {plan['max_imbalance']:g}; ", figure(plan["imbalance_hash"]), " under a plain hash"],
        ),
        Tile(
            "State moved" if has_moved else "State it would move",
            [figure(plan["migration_share"], share)],
            [
                figure(plan["migration"], size),
                " of ",
                figure(plan["total_state"], size),
                f", in {counted(plan['n_moves'], 'move')}",
            ],
        ),
        Tile(
            "Bytes rewritten",
            [figure(run["bytes_written"], size)],
            [f"physically written; {counted(run['rows_moved'], 'row')} changed bucket"],
        ),
        Tile("Routes", [figure(plan["n_routes"], amount)], [_of_limit(plan["max_routes"])]),
        Tile("From the best possible", *_distance(plan)),
    ]


def _of_limit(max_routes: int | None) -> str:
    return "no limit" if max_routes is None else f"of {max_routes:,} allowed"


def _distance(plan: Facts) -> tuple[list[Cell], list[Cell]]:
    """How far the plan can be from perfect, and the bound that says so."""
    certificate = plan["certificate"]
    if certificate["proof"]:
        return ["none: proved"], [certificate["proof"]]
    bound, ratio = certificate["imbalance_bound"], certificate["migration_ratio"]
    gap = max(0.0, certificate["imbalance"] - max(bound, plan["max_imbalance"]))
    least: list[Cell] = ["no plan within the budgets has θ below ", figure(bound)]
    if gap > 0:
        return ["≤ ", figure(gap), " in θ"], least
    if ratio is None or not plan["n_moves"]:
        return ["goal kept"], least
    return ["≤ ", figure(ratio, lambda times: f"{times:.2f}"), " times"], [
        "the least migration for the goal, ",
        figure(certificate["migration_bound"], size),
    ]


def _loads(plan: Facts, names: tuple[str, str]) -> Picture:
    before, after, n_buckets = plan["load_before"], plan["load_after"], plan["n_buckets"]
    mean = sum(after) / n_buckets or 1.0
    wide, narrow = (
        draw_loads(
            dict(zip(names, (before, after), strict=True)),
            n_buckets=n_buckets,
            goal=plan["max_imbalance"],
            size=size,
        )
        for size in (WIDE, NARROW)
    )
    return Picture(
        wide_svg=wide,
        narrow_svg=narrow,
        sentence=f"Load of each of {len(after):,} buckets in mean loads: the hottest has {max(before) / mean:.2f} before the plan and"
        f" {max(after) / mean:.2f} after it; the goal is {1 + plan['max_imbalance']:.2f}.",
        head=["bucket", *(f"load {name}" for name in names), *(f"{name}, in means" for name in names)],
        rows=[
            [str(bucket), figure(old, amount), figure(new, amount), number(old / mean), number(new / mean)]
            for bucket, (old, new) in enumerate(zip(before, after, strict=True))
        ],
    )
