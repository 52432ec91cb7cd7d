"""What profiling a window again changed: events that came late, or were taken away."""

import pyarrow as pa
import pyarrow.compute as pc


def what_changed(before: pa.Table, after: pa.Table) -> str | None:
    """A sentence about the difference between two profiles of one window; None if it is the first or the same."""
    if not before.num_rows:
        return None
    costs = [pc.sum(table["cost"]).as_py() or 0.0 for table in (before, after)]
    keys = [set(table.filter(pc.field("kind") == "key")["key"].to_pylist()) for table in (before, after)]
    if costs[0] == costs[1] and keys[0] == keys[1]:
        return None
    share = f" ({costs[1] / costs[0] - 1:+.2%})" if costs[0] else ""
    return (
        f"profiled before; its statistics are replaced: cost {costs[0]:,.0f} → {costs[1]:,.0f}{share},"
        f" {len(keys[1] - keys[0]):,} heavy keys came and {len(keys[0] - keys[1]):,} went"
    )
