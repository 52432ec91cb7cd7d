"""How hard the planner looks."""

from dataclasses import dataclass

from partitioning.errors import PlanRequestError


@dataclass(frozen=True, kw_only=True)
class EvenkeelOptions:
    """Bounds on the search, in steps: more finds better plans for requests of few, coarse items, and takes longer."""

    n_coarse: int = 64  # heaviest items, decided one by one
    max_nodes: int = 2_000  # children looked at for each of them; also see ``width``
    n_rungs: int = 7  # tries at the goal where all items are coarse: ``ladder.THOROUGH``
    n_levels: int = 6  # levels looked at once the goal is out of reach
    max_tries: int = 200  # levels and prices tried in all; hardly ever reached
    n_ahead: int = 1  # 1: where max_migration makes it several plans, the next ones count too (``course``); 0: the most for θ at once

    def __post_init__(self) -> None:
        for field, least in (
            ("n_coarse", 0),
            ("max_nodes", 1),
            ("n_rungs", 1),
            ("n_levels", 0),
            ("max_tries", 1),
            ("n_ahead", 0),
        ):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise PlanRequestError(
                    f"EvenkeelOptions.{field} must be a whole number, {least} or more. Got {value!r}."
                    " Leave it out for the default."
                )

    def width(self, n_buckets: int) -> int:
        """Nodes kept a step: fewer where each has many children, within reason."""
        return max(MIN_WIDTH, min(self.max_nodes // n_buckets, MAX_WIDTH))


MIN_WIDTH = 32
MAX_WIDTH = 256
DEFAULTS = EvenkeelOptions()
AT_ONCE = EvenkeelOptions(n_ahead=0)
LIGHT = EvenkeelOptions(
    n_coarse=32, max_nodes=500, n_rungs=2, n_levels=4, max_tries=4, n_ahead=0
)  # for questions beside the plan, a dozen at a time
