"""
One row of the table of goals: what was hoped for, and what was measured. Every benchmark returns these.

What a benchmark has to be, so that ``make bench`` runs it and ``make bench-compare`` can show it beside another run: a module
``benchmarks/bench_*.py`` with a function

    def run(*, quick: bool) -> list[Goal]: ...

and nothing else. No list has to be edited, and each runs in a process of its own. ``quick`` asks for the smallest run that still says something, a few minutes at
most. ``Goal.what`` is the name by which two runs are compared: no measured number belongs into it. Whoever measures
``figures.Figure`` returns ``[figure.as_goal() for figure in figures]``.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A figure anybody can have again by running the benchmark."""

    what: str
    goal: str  # "" where there is none: the figure stands beside another
    result: str
    met: bool  # True where there is no goal

    @classmethod
    def at_most(cls, what: str, limit: float, result: float, *, unit: str = "x", note: str = "") -> "Goal":
        """A figure that should be no higher than its limit."""
        digits = f"{limit:.3f}".rstrip("0").rstrip(".")
        return cls(
            what=what, goal=f"≤ {digits}{unit}", result=f"{result:.3f}{unit}{note}", met=result <= limit
        )


def print_goals(goals: Iterable[Goal]) -> None:
    """The table, with the goals that were missed marked."""
    print(f"\n{'what':<92} {'goal':>10}  result")
    for goal in goals:
        print(f"{goal.what:<92} {goal.goal:>10}  {goal.result}{'' if goal.met else '   MISSED'}")
