"""What the state table's own log says: its function, and the commits that moved its rows. Needs no Spark."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.control_tables import load_function
from spark_jobs.job import JobError

FUNCTION = "evenkeel.function"  # the function that the rows obey
MOVING = "evenkeel.moving"  # the plan whose move has begun and not ended; empty if there is none
OURS = ("slot", "bucket")  # the columns that we add to the user's


def initial_function(dataset: Dataset) -> PartitioningFunction:
    """The plain hash: what every dataset starts with, and what it is compared with."""
    return PartitioningFunction.initial(
        key_type=dataset.key_type, n_buckets=dataset.n_buckets, n_slots=dataset.n_slots
    )


def properties_of(dataset: Dataset) -> dict[str, str]:
    """The table's properties as its newest version has them."""
    if not DeltaTable.is_deltatable(dataset.state):
        raise JobError(
            f"state.table must be a Delta table. Got none at {dataset.state}. Run create_layout for {dataset.name}."
        )
    return dict(DeltaTable(dataset.state).metadata().configuration)


def current_function(dataset: Dataset) -> PartitioningFunction:
    """The function that the table's rows obey. Refuses a table whose last move was interrupted."""
    properties = properties_of(dataset)
    if properties.get(MOVING):
        raise JobError(
            f"{MOVING} must be empty. Got plan {properties[MOVING]}: its migration was interrupted and some rows"
            " obey the old function, others the new one. Run migrate_layout with that plan again: it finishes."
        )
    return load_function(dataset.name, properties[FUNCTION])


def bytes_per_row(dataset: Dataset) -> float:
    """What a row weighs on disk, from the log alone: bytes over rows of all data files, 0 for an empty table."""
    files = pa.table(DeltaTable(dataset.state).get_add_actions(flatten=True))
    n_rows = pc.sum(files["num_records"]).as_py() or 0
    return float(pc.sum(files["size_bytes"]).as_py()) / n_rows if n_rows else 0.0


def commit_note(plan: str) -> str:
    """What the commit that moves a plan's rows carries as user metadata."""
    return f"evenkeel plan {plan}"


def move_commit(dataset: Dataset, plan: str) -> dict[str, Any] | None:
    """The commit that moved this plan's rows, as DESCRIBE HISTORY shows it; None if nothing had to move."""
    history = DeltaTable(dataset.state).history()
    return next((commit for commit in history if commit.get("userMetadata") == commit_note(plan)), None)


def moved_by(dataset: Dataset, plan: str) -> dict[str, int]:
    """How many rows the plan's commit moved, and how many bytes it wrote to do so; 0 if nothing had to move."""
    commit = move_commit(dataset, plan)
    metrics = commit["operationMetrics"] if commit else {}
    return {
        "rows_moved": int(metrics.get("numTargetRowsUpdated", 0)),
        "bytes_written": int(metrics.get("numTargetBytesAdded", 0)),
    }
