"""Which items moved lately: what keeps a plan from sending them there and back."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from partitioning import item_checks
from partitioning.errors import PlanRequestError
from partitioning.hashing import is_whole


def _none() -> NDArray[np.int64]:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """
    Past moves, one entry a move: ``item[i]`` left ``source[i]`` ``age[i]`` windows ago.

    The rule: an item that left a bucket up to ``n_windows`` ago goes back there only if plans that may do so lower the
    imbalance ``min_gain`` times as much as plans that may not. History is an argument: nothing is remembered.

    Worked: θ is 0.30. Without going back 0.20 can be reached, a gain of 0.10. With ``min_gain`` 2 an item may go back
    if that reaches 0.10 or less.
    """

    item: NDArray[np.int64] = field(default_factory=_none)  # positions in the request
    source: NDArray[np.int64] = field(default_factory=_none)  # bucket it left
    age: NDArray[np.int64] = field(default_factory=_none)  # in windows; 1 is the window before this one
    n_windows: int = 3  # moves older than this are forgotten
    min_gain: float = 2.0  # factor by which going back must help more; infinite: never

    def __post_init__(self) -> None:
        for name in ("item", "source", "age"):
            value = item_checks.as_buckets(
                f"History.{name}", getattr(self, name), n_buckets=item_checks.MAX_ENTRIES
            )
            object.__setattr__(self, name, value)
        if not self.item.size == self.source.size == self.age.size:
            raise PlanRequestError(
                "History.item, source and age must have one value a move. Got"
                f" {self.item.size}, {self.source.size} and {self.age.size}. Give all three for every move."
            )
        if not is_whole(self.n_windows) or self.n_windows < 0:
            raise PlanRequestError(
                f"History.n_windows must be a whole number, 0 or more. Got {self.n_windows!r}. Give 0 to let items go back at once."
            )
        if not self.min_gain >= 1:
            raise PlanRequestError(
                f"History.min_gain must be 1 or more. Got {self.min_gain}. Give 1 to let any gain count."
            )

    def check_fits(self, *, n_items: int) -> None:
        """Refuses a history of other items."""
        beyond = np.flatnonzero(self.item >= n_items)
        if beyond.size:
            raise PlanRequestError(
                f"History.item must be a position below {n_items}. Got {self.item[beyond[0]]} at entry {beyond[0]}"
                f" ({beyond.size} of {self.item.size} entries). Number items as the request does."
            )

    def forbidden(self, n_buckets: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The (item, bucket) pairs that would be a way back, for buckets that still exist."""
        recent = (self.age <= self.n_windows) & (self.source < n_buckets)
        return self.item[recent], self.source[recent]


NO_HISTORY = History()
