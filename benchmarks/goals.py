"""One row of the table of goals: what was hoped for, and what was measured."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A figure anybody can have again by running the benchmark."""

    what: str
    goal: str
    result: str
    met: bool

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
