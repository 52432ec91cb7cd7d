"""
Prove that a change of function lost, doubled and split nothing, at the cost of what was rewritten.

The proof shares no code with what moved the rows: Spark's Delta wrote the commit, delta-rs reads it. A flipped file must be the
same file, with the same deleted rows, and everything that may be in it must belong into its new bucket. Of rewritten files every row
is compared, whatever order it has now, and must lie in the bucket that the new function says. Files that the commit does not name are
the same files as before: by their statistics nothing in them may have to leave its bucket. A flip leaves none of which these cannot tell;
of those that a merge leaves, the rows are looked at.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from partitioning.function import PartitioningFunction
from partitioning.hashing import slot_of
from partitioning.splits import N_GRAINS
from schemas.dataset import Dataset
from spark_jobs.arrow_rows import buckets_of_batch
from spark_jobs.commit_files import CommitFiles, FileEntry, Snapshot, read_commit
from spark_jobs.control_tables import load_function
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.row_checksum import checksum_of
from spark_jobs.table_log import FUNCTION, MOVING, OURS, current_function, layout_commit


@dataclass(frozen=True, kw_only=True)
class Content:
    """What some files hold: how many rows, and a checksum of the user's columns that no order changes."""

    rows: int
    checksum: int
    astray: int  # rows that are not in the bucket that the function gives them


def verify_layout(task: Task) -> Result:
    current_function(task.dataset)  # refuses a table that is still being moved
    note = layout_commit(task.dataset, plan=task.plan)
    result: Result = {
        "plan": task.plan,
        "rows_compared": 0,
        "rows_astray": 0,
        "conserved": True,
        "files_flipped": 0,
    }
    if note:
        commit = read_commit(task.dataset, note["version"])
        check_functions(commit, note)
        functions = (
            load_function(task.dataset.name, note[name]) for name in ("from_function", "to_function")
        )
        result |= prove(task.dataset, commit, *functions)
    if result["rows_astray"] or not result["conserved"]:
        raise JobError(
            f"a change of function must keep every row, once, in its bucket. Got {result}. Stop all writers of"
            f" {task.dataset.state} and look at its history: the version before the change is still there."
        )
    task.say(
        f"{result['files_flipped']:,} flipped files are the same files, {result['rows_compared']:,} rewritten rows compared:"
        " each is there, once, in the bucket that the function says; nothing that had to move was left behind"
    )
    return result


def check_functions(commit: CommitFiles, note: dict[str, Any]) -> None:
    """The commit must lead from the function that the table named before it to the one that it names, or moves to, since."""
    before, after = (snapshot.table.metadata().configuration for snapshot in (commit.before, commit.after))
    led = before.get(FUNCTION, ""), after.get(MOVING) or after.get(FUNCTION, "")
    noted = note["from_function"], note["to_function"]
    if led != noted:
        said, got = (" to ".join(name[:12] for name in names) for names in (noted, led))
        raise JobError(
            f"the commit of version {note['version']} must lead from function {said}, as it notes. Got a table that went from"
            f" {got}. Run repair_layout: it brings every row to where the table's function says."
        )


def prove(
    dataset: Dataset, commit: CommitFiles, before: PartitioningFunction, after: PartitioningFunction
) -> Result:
    """Whether the table after the commit holds what it held before, each row where ``after`` says."""
    held = content_of(commit.before, commit.removed, dataset, function=None)
    holds = content_of(commit.after, commit.written, dataset, function=after)
    ways = Ways(before, after)
    flipped_astray = sum(entry.rows for entry in misplaced_flips(commit.flipped, ways))
    left_astray = sum(
        astray_in(batch, entry, after, key=dataset.key)
        for entry in commit.untouched_over(ways.left)
        for batch in commit.after.batches_of(entry)
    )
    return {
        "rows_compared": holds.rows,
        "rows_astray": holds.astray + flipped_astray + left_astray,
        "conserved": (held.rows, held.checksum) == (holds.rows, holds.checksum)
        and commit.flips_are_faithful
        and commit.is_each_file_once,
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
                astray += astray_in(batch, entry, function, key=dataset.key)
    return Content(rows=rows, checksum=checksum, astray=astray)


def astray_in(batch: pa.RecordBatch, entry: FileEntry, function: PartitioningFunction, *, key: str) -> int:
    """How many of these rows of the file belong into another bucket."""
    return int(np.count_nonzero(buckets_of_batch(batch, function, key=key) != entry.bucket))


def _theirs(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.drop_columns([name for name in OURS if name in batch.schema.names])


@dataclass(frozen=True)
class Ways:
    """From where to where everything goes: found by asking for every slot, every routed key and every grain of every split key."""

    before: PartitioningFunction
    after: PartitioningFunction

    def of_slot(self, slot: int) -> set[tuple[int, int]]:
        """Each bucket that may hold rows of the slot, and each one that these go to."""
        return {(int(self.before.slots[slot]), int(self.after.slots[slot])), *self._of_exceptions[slot]}

    @cached_property
    def left(self) -> NDArray[np.int64]:
        """``bucket * n_slots + slot`` of all that leaves its bucket, ascending."""
        n_slots = self.before.n_slots
        found = {
            source * n_slots + slot
            for slot in range(n_slots)
            for source, target in self.of_slot(slot)
            if source != target
        }
        return np.array(sorted(found), dtype=np.int64)

    @cached_property
    def _of_exceptions(self) -> defaultdict[int, set[tuple[int, int]]]:
        ways: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        for key in {*self.before.exceptions, *self.after.exceptions}:
            is_split = key in self.before.splits or key in self.after.splits
            ways[slot_of(key, self.before.key_type, self.before.n_slots)] |= {
                (self.before.bucket_of(key, grain), self.after.bucket_of(key, grain))
                for grain in range(N_GRAINS if is_split else 1)
            }
        return ways


def misplaced_flips(flipped: Iterable[tuple[FileEntry, FileEntry]], ways: Ways) -> list[FileEntry]:
    """Flipped files that may hold a row which belongs elsewhere."""

    def is_misplaced(old: FileEntry, new: FileEntry) -> bool:
        slots = range(old.low_slot, old.high_slot + 1)
        targets = {target for slot in slots for source, target in ways.of_slot(slot) if source == old.bucket}
        return targets != {new.bucket}

    return [new for old, new in flipped if is_misplaced(old, new)]


if __name__ == "__main__":
    run_job(verify_layout, about=__doc__, takes=("window", "plan"))
