"""
Prove that a change of function lost, doubled and split nothing, at the cost of what was rewritten.

The proof shares no code with what moved the rows: Spark's Delta wrote the commit, delta-rs reads it. Files that the commit does
not name are the same files as before. A flipped file must be the same file, with the same deleted rows, and everything
that may be in it must belong into its new bucket. Of rewritten files every row is compared, whatever order it has
now, and must lie in the bucket that the new function says.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from partitioning.function import PartitioningFunction
from partitioning.hashing import slot_of
from partitioning.splits import N_GRAINS
from schemas.dataset import Dataset
from spark_jobs.arrow_rows import buckets_of_batch
from spark_jobs.commit_files import CommitFiles, FileEntry, Snapshot, read_commit
from spark_jobs.control_tables import load_function
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.row_checksum import checksum_of
from spark_jobs.table_log import OURS, current_function, layout_commit


@dataclass(frozen=True, kw_only=True)
class Content:
    """What some files hold: how many rows, and a checksum of the user's columns that no order changes."""

    rows: int
    checksum: int
    astray: int  # rows that are not in the bucket that the function gives them


def verify_layout(task: Task) -> Result:
    current_function(task.dataset)  # refuses a table that is still being moved
    commit = layout_commit(task.dataset, plan=task.plan)
    result: Result = {
        "plan": task.plan,
        "rows_compared": 0,
        "rows_astray": 0,
        "conserved": True,
        "files_flipped": 0,
    }
    if commit:
        functions = (
            load_function(task.dataset.name, commit[name]) for name in ("from_function", "to_function")
        )
        result |= prove(task.dataset, read_commit(task.dataset, commit["version"]), *functions)
    if result["rows_astray"] or not result["conserved"]:
        raise JobError(
            f"a change of function must keep every row, once, in its bucket. Got {result}. Stop all writers of"
            f" {task.dataset.state} and look at its history: the version before the change is still there."
        )
    task.say(
        f"{result['files_flipped']:,} flipped files are the same files, {result['rows_compared']:,} rewritten rows compared:"
        " each is there, once, in the bucket that the function says"
    )
    return result


def prove(
    dataset: Dataset, commit: CommitFiles, before: PartitioningFunction, after: PartitioningFunction
) -> Result:
    """Whether the table after the commit holds what it held before, each row where ``after`` says."""
    held = content_of(commit.before, commit.removed, dataset, function=None)
    holds = content_of(commit.after, commit.written, dataset, function=after)
    astray = misplaced_flips(commit.flipped, before, after)
    return {
        "rows_compared": holds.rows,
        "rows_astray": holds.astray + sum(entry.rows for entry in astray),
        "conserved": (held.rows, held.checksum) == (holds.rows, holds.checksum) and commit.flips_are_faithful,
        "files_flipped": len(commit.flipped),
    }


def content_of(
    snapshot: Snapshot,
    entries: Iterable[FileEntry],
    dataset: Dataset,
    *,
    function: PartitioningFunction | None,
) -> Content:
    """Read in batches, so that memory does not grow with the files."""
    rows = checksum = astray = 0
    for entry in entries:
        for batch in snapshot.batches_of(entry):
            rows += batch.num_rows
            checksum = (checksum + checksum_of(_theirs(batch))) % 2**64
            if function is not None:
                wanted = buckets_of_batch(batch, function, key=dataset.key)
                astray += int(np.count_nonzero(wanted != entry.bucket))
    return Content(rows=rows, checksum=checksum, astray=astray)


def _theirs(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.drop_columns([name for name in OURS if name in batch.schema.names])


def misplaced_flips(
    flipped: Iterable[tuple[FileEntry, FileEntry]], before: PartitioningFunction, after: PartitioningFunction
) -> list[FileEntry]:
    """
    Flipped files that may hold a row which belongs elsewhere.

    Found by asking for every slot, every routed key and every grain of every split key.
    """
    places_in_slot: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for key in {*before.exceptions, *after.exceptions}:
        is_split = key in before.splits or key in after.splits
        places_in_slot[slot_of(key, before.key_type, before.n_slots)] |= {
            (before.bucket_of(key, grain), after.bucket_of(key, grain))
            for grain in range(N_GRAINS if is_split else 1)
        }

    def places(entry: FileEntry) -> Iterator[tuple[int, int]]:
        for slot in range(entry.low_slot, entry.high_slot + 1):
            yield int(before.slots[slot]), int(after.slots[slot])
            yield from places_in_slot[slot]

    def is_misplaced(old: FileEntry, new: FileEntry) -> bool:
        targets = {target for place, target in places(old) if place == old.bucket}
        return targets != {new.bucket}

    return [new for old, new in flipped if is_misplaced(old, new)]


if __name__ == "__main__":
    run_job(verify_layout, about=__doc__, takes=("window", "plan"))
