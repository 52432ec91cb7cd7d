"""What the state table's own log says: its function, and the commits that changed its layout. Needs no Spark."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from deltalake import DeltaTable

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from schemas.tables import FUNCTIONS
from spark_jobs.control_tables import load_function, read_rows
from spark_jobs.function_facts import read_function
from spark_jobs.job import JobError, RefusalError
from spark_jobs.locations import uri_of

DATASET = "evenkeel.dataset"  # whose state it is; tables that are older than this property have none
FUNCTION = "evenkeel.function"  # the function that the rows obey
PREVIOUS = "evenkeel.previous"  # the one before it: where a roll back leads
REPAIRED = "evenkeel.repaired"  # the version that the last repair started from
MOVING = (
    "evenkeel.moving"  # the function that the merge mover has begun to move to; empty if it is not at work
)
MOVING_PLAN = "evenkeel.moving.plan"  # the plan that asked for it; empty for a roll back
MOVING_TURN = "evenkeel.moving.turn"  # what tells this move from an earlier one to the same function
FIGURES = ("files_flipped", "files_rewritten", "rows_moved", "bytes_flipped", "bytes_written")  # of a change
RECENT = 50  # commits that are looked at before all others
OURS = ("slot", "bucket")  # the columns that we add to the user's


def initial_function(dataset: Dataset) -> PartitioningFunction:
    """The plain hash: what every dataset starts with, and what it is compared with."""
    return PartitioningFunction.initial(
        key_type=dataset.key_type, n_buckets=dataset.n_buckets, n_slots=dataset.n_slots
    )


def state_log(dataset: Dataset, version: int | None = None) -> DeltaTable:
    """The state table as delta-rs sees it, its newest version unless one is given."""
    uri = uri_of(dataset.state)
    if not DeltaTable.is_deltatable(uri):
        raise no_state_table(dataset)
    return DeltaTable(uri, version=version)


def no_state_table(dataset: Dataset) -> JobError:
    return JobError(
        f"state.table must be a Delta table. Got none at {dataset.state}. To create it: evenkeel create {dataset.name}."
    )


def properties_of(dataset: Dataset) -> dict[str, str]:
    """The table's properties as its newest version has them."""
    return dict(state_log(dataset).metadata().configuration)


def current_function(dataset: Dataset) -> PartitioningFunction:
    """The function that the table's rows obey. Refuses a table whose last move was interrupted."""
    properties = properties_of(dataset)
    refuse_moving(dataset, properties)
    return load_function(dataset.name, function_of(properties, dataset))


def function_of(properties: Mapping[str, str], dataset: Dataset) -> str:
    """
    Digest of the function that the rows obey: whatever works on a state table asks here what it is.

    Refuses a table that is not this dataset's own, and a dataset file that no longer says of slots and keys what the table was made with.
    """
    owner = properties.get(DATASET, dataset.name)
    if owner != dataset.name:
        raise RefusalError(
            f"state.table must be the table of dataset {dataset.name}. Got that of {owner}, at {dataset.state}. Two datasets"
            f" cannot share one: name another table in datasets/{dataset.name}.yaml."
        )
    if FUNCTION not in properties:
        raise RefusalError(
            f"state.table must carry the property {FUNCTION}. Got a table without at {dataset.state}: Evenkeel did not make it. Name"
            " another state table, which create_layout makes; with --source it copies this one, bucketed."
        )
    _refuse_changed_shape(properties[FUNCTION], dataset)
    return properties[FUNCTION]


def _refuse_changed_shape(digest: str, dataset: Dataset) -> None:
    """What every slot number depends on is fixed. A function that is not stored, or is none, is refused by whoever loads it."""
    rows = read_rows(FUNCTIONS, dataset=dataset.name, function=digest).to_pylist()
    for function in filter(None, map(read_function, rows)):
        fixed = {
            "layout.slots": (str(function.n_slots), str(dataset.n_slots)),
            "key.type": (function.key_type, dataset.key_type),
        }
        for field, (made_with, given) in fixed.items():
            if given.replace(" ", "") != made_with.replace(" ", ""):
                raise RefusalError(
                    f"{field} must stay {made_with}, with which {dataset.state} was made: it is fixed for the life of a dataset. Got"
                    f" {given}. Put {made_with} back into datasets/{dataset.name}.yaml."
                )


def refuse_moving(dataset: Dataset, properties: dict[str, str], *, but_to: str = "") -> None:
    """Only the merge mover can be interrupted between commits; until it ends, nobody but a move to ``but_to`` may write."""
    moving = properties.get(MOVING)
    if moving and moving != but_to:
        raise JobError(
            f"{MOVING} must be empty. Got {moving}: a move by merge to that function is at work or was interrupted, some rows"
            f" obey the old function, others the new one. Wait for it; if it was interrupted, this finishes it: {finishing(dataset, properties)}"
        )


def finishing(dataset: Dataset, properties: dict[str, str]) -> str:
    """The command that ends the interrupted move of a table with these properties."""
    plan = properties.get(MOVING_PLAN)
    if plan:
        return f"evenkeel apply {dataset.name} {plan} --mover merge"
    return f"evenkeel roll-back {dataset.name} --to {properties[MOVING][:12]} --mover merge"


def layout_commit(dataset: Dataset, *, plan: str = "") -> dict[str, Any] | None:
    """
    The newest commit that changed the function, with its ``version`` and what it noted; None if there is none.

    ``plan`` asks for the commit of that plan.
    """
    for commit in _newest_first(dataset):
        note = note_of(commit)
        if note.get("plan") == plan if plan else "to_function" in note:
            return note | _merge_figures(commit, note) | {"version": commit["version"]}
    return None


def layout_commits(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """What the commits that changed the function noted, newest first, with their ``version`` and ``timestamp``; all that the log holds."""
    for commit in _newest_first(dataset):
        note = note_of(commit)
        if "to_function" in note:
            yield note | {name: commit[name] for name in ("version", "timestamp")}


def recent_changes(dataset: Dataset) -> list[dict[str, Any]]:
    """Of the last commits those that changed the function, newest first: what they noted, what they moved, and their ``timestamp``."""
    noted = ((commit, note_of(commit)) for commit in state_log(dataset).history(RECENT))
    return [
        note | _merge_figures(commit, note) | {"timestamp": commit["timestamp"]}
        for commit, note in noted
        if "to_function" in note
    ]


def applied_plans(dataset: Dataset) -> list[str]:
    """Names of the plans among the last commits, newest first."""
    notes = (note_of(commit) for commit in state_log(dataset).history(RECENT))
    return [note["plan"] for note in notes if note.get("plan")]


def _newest_first(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The table's commits. What is asked for is nearly always among the last, and each older one is a file to read."""
    log = state_log(dataset)
    recent = log.history(RECENT)
    yield from recent
    if len(recent) == RECENT:
        yield from log.history()[RECENT:]


def _merge_figures(commit: dict[str, Any], note: dict[str, Any]) -> dict[str, int]:
    """A MERGE cannot note what it will have moved; Delta's own metrics say it afterwards."""
    if note.get("mover") != "merge":
        return {}
    metrics = commit.get("operationMetrics") or {}
    return {
        "rows_moved": int(metrics.get("numTargetRowsUpdated", 0)),
        "bytes_written": int(metrics.get("numTargetBytesAdded", 0)),
    }


def note_of(commit: dict[str, Any]) -> dict[str, Any]:
    """What one of our commits noted in its user metadata; nothing for anybody else's."""
    try:
        note = json.loads(commit.get("userMetadata") or "{}")
    except ValueError:
        return {}
    return note if isinstance(note, dict) and "evenkeel" in note else {}


def moved_by(dataset: Dataset, plan: str) -> dict[str, int]:
    """What the plan's commit moved, what that took, and its ``version``; the newest change's without a plan; 0 if nothing had to move."""
    commit = layout_commit(dataset, plan=plan) or {}
    return {name: int(commit.get(name, 0)) for name in (*FIGURES, "version")}
