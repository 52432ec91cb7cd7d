"""A change from one function to another: what both movers are given, and what their commit says about itself."""

from dataclasses import asdict, dataclass
from typing import Any

from partitioning.function import PartitioningFunction
from spark_jobs.job import JobError
from spark_jobs.table_log import FUNCTION, PREVIOUS

MIGRATE, ROLL_BACK = "migrate", "roll back"


@dataclass(frozen=True, kw_only=True)
class Moved:
    """What a change moved, and what that cost."""

    files_flipped: int = 0
    files_rewritten: int = 0
    rows_moved: int = 0
    bytes_flipped: int = 0  # bytes that changed bucket without being touched
    bytes_written: int = 0


@dataclass(frozen=True, kw_only=True)
class FunctionChange:
    """From ``before`` to ``after``. The table must obey one of them."""

    kind: str  # MIGRATE or ROLL_BACK
    before: PartitioningFunction
    after: PartitioningFunction
    plan: str = ""  # where a plan asked for it

    @property
    def properties(self) -> dict[str, str]:
        """What the table says of itself afterwards. There is nothing to roll back after a roll back."""
        return {FUNCTION: self.after.digest, PREVIOUS: self.before.digest if self.kind == MIGRATE else ""}

    def is_done_in(self, function: str) -> bool:
        """Whether a table of this function has the change already. Refuses a table of a third function."""
        if function not in (self.before.digest, self.after.digest):
            what = f"plan {self.plan}" if self.plan else f"the {self.kind}"
            raise JobError(
                f"{what} must start from the table's function {function[:12]}. Got a change from"
                f" {self.before.digest[:12]}: the table has moved on. Plan again."
            )
        return function == self.after.digest

    def note(self, moved: Moved, *, mover: str) -> dict[str, Any]:
        """What the commit carries as user metadata, for DESCRIBE HISTORY and for whoever verifies it."""
        return {
            "evenkeel": self.kind,
            "mover": mover,
            **({"plan": self.plan} if self.plan else {}),
            "from_function": self.before.digest,
            "to_function": self.after.digest,
            **asdict(moved),
        }
