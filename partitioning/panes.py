"""
Sliding windows fall apart into panes (Balkesen et al., Sec. 4.2 and 5): every row is aggregated once, whatever the overlap.

Windows of size w that begin every s are whole panes of size gcd(w, s). A row belongs to exactly one pane, so panes can be worked on
anywhere, in pieces even, and a window is the merge of its w / gcd(w, s) panes. ``spark_jobs.sliding_aggregates`` does so.
"""

import math
from dataclasses import dataclass

from partitioning.errors import PaneError


@dataclass(frozen=True, kw_only=True)
class Sliding:
    """Windows [k * slide, k * slide + size), k = 0, 1, …; in rows, or in whole units of time."""

    size: int
    slide: int

    def __post_init__(self) -> None:
        for name in ("size", "slide"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise PaneError(
                    f"Sliding.{name} must be a whole number from 1. Got {value!r}. Give it in rows, or in a finer unit of time."
                )

    @property
    def pane(self) -> int:
        """The size of a pane. Worked: windows of 12 that begin every 4 have panes of 4, and 3 of them each."""
        return math.gcd(self.size, self.slide)
