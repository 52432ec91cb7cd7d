"""
Tables in docs/ that are the kept run's and nobody's typing: ``python -m benchmarks.kept_goals`` puts them in again.

``benchmarks/results/bench.json`` is what ``python -m benchmarks.bench --save`` kept.
"""

from benchmarks.goals import Goal
from benchmarks.kept_runs import read_run
from benchmarks.page_parts import fill_in, markdown_table
from schemas.dataset import ROOT

KEPT = ROOT / "benchmarks" / "results" / "bench.json"
PAGES = {"planners": "planner-goals.md", "layout": "layout.md", "forecast": "forecast.md"}


def main() -> None:
    for name, page in PAGES.items():
        fill_in(ROOT / "docs" / page, {f"kept {name}": table_of(kept_goals(name))})


def kept_goals(name: str) -> list[Goal]:
    return read_run(KEPT).benches[name]


def table_of(goals: list[Goal]) -> str:
    """One row a goal, or a figure without one; a missed goal says so."""
    rows = [
        [goal.what, goal.goal or "none", goal.result + ("" if goal.met else ", **missed**")] for goal in goals
    ]
    return markdown_table(["what", "goal", "measured"], rows)


if __name__ == "__main__":
    main()
