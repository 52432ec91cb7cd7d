"""The plan's moves, the most missed first, each with its reason."""

from pages.parts import paragraph, section, table
from spark_jobs.report_words import amount, counted, figure, size
from spark_jobs.run_facts import Facts

MAX_MOVES = 200  # more are read with SQL, not with eyes
HEAD = ["moved", "from bucket", "to bucket", "cost", "state", "why", "θ without this move"]


def render_moves(plan: Facts) -> str:
    moves = plan["moves"]
    if not moves:
        return section("Moves", paragraph("Nothing moves."))
    rows = [
        [
            move["item"],
            str(move["from_bucket"]),
            str(move["to_bucket"]),
            figure(move["cost"], amount),
            figure(move["state"], size),
            move["why"],
            figure(move["imbalance_without"]),
        ]
        for move in moves[:MAX_MOVES]
    ]
    return section("Moves", paragraph(_said(plan)), table("Moves", HEAD, rows))


def _said(plan: Facts) -> str:
    n_moves = len(plan["moves"])
    said = f"{counted(n_moves, 'move')}, those first without which θ would be highest."
    if n_moves <= MAX_MOVES:
        return said
    return (
        f"{said} {n_moves - MAX_MOVES:,} more are not shown: table moves, plan {plan['plan']}, has them all."
    )
