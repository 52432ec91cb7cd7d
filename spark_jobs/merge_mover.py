"""The ``merge`` mover: one public MERGE with deletion vectors, which writes the moved rows and nothing else."""

import json

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from partitioning.classify import changed_buckets
from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.flip_mover import ConcernedFiles
from spark_jobs.function_change import FunctionChange, Moved
from spark_jobs.job import JobError
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction, retrying
from spark_jobs.locations import uri_of
from spark_jobs.routing import grain_expression, with_bucket, with_split
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table, user_metadata
from spark_jobs.table_log import MOVING, MOVING_PLAN, MOVING_TURN

_TURNS = "evenkeel/merge"  # the mark whose number a MERGE must raise by one to be committed
_ONCE = "spark.databricks.delta.write"  # what makes Delta leave out a commit whose number it has seen


def merge_rows(spark: SparkSession, dataset: Dataset, change: FunctionChange) -> None:
    """
    Bring the rows into their new buckets, then let the table name the new function.

    Three commits: the table says that it is being moved, the rows move, the table names the new function. Each is refused unless the
    table is, in the very version that it is made from, on this change's way. Killed in between, the table refuses all other
    writers until the same change is made again, and every step can be repeated: rows that have moved no longer match. Two processes
    that make the same change at once both end with it made. Others' commits make a step be done again, as often as ``retrying`` tries.
    """
    after = change.after.digest
    turn = in_transaction(spark, dataset, lambda transaction: _begin(transaction, change), moving_to=after)
    if turn is not None:
        retrying(dataset, lambda: _merge(LayoutTransaction(spark, dataset, moving_to=after), change, turn))
        in_transaction(spark, dataset, lambda transaction: _end(transaction, change, turn), moving_to=after)


def preview(spark: SparkSession, dataset: Dataset, change: FunctionChange) -> dict[str, int]:
    """
    How many rows the merge would write, from statistics alone: nothing is written.

    It flips and rewrites no file. All rows of some files would move; of others there is no telling how many.
    """
    transaction = LayoutTransaction(spark, dataset, moving_to=change.after.digest)
    return ConcernedFiles.of_change(transaction, change).rows_that_move()


def _begin(transaction: LayoutTransaction, change: FunctionChange) -> str | None:
    """The turn of this move, whoever began it; None if the table has the change already."""
    if change.is_done_in(transaction.function):
        return None
    if transaction.properties.get(MOVING):
        return _turn(transaction)
    turn = str(transaction.number_of(_TURNS))
    transaction.set_properties({MOVING: change.after.digest, MOVING_PLAN: change.plan, MOVING_TURN: turn})
    transaction.commit({"evenkeel": "begin to merge"})
    return turn


def _turn(transaction: LayoutTransaction) -> str:
    """The number that the mark had when the move began: no two moves have it in common, for each raises it."""
    return transaction.properties.get(MOVING_TURN, "")


def _has_arrived(transaction: LayoutTransaction, change: FunctionChange, turn: str) -> bool:
    """Whether another process has ended the move that we were at. Refuses a table that has gone elsewhere since."""
    is_done, is_moving = change.is_done_in(transaction.function), bool(transaction.properties.get(MOVING))
    if is_moving and _turn(transaction) == turn:
        return False
    if is_moving or not is_done:
        raise JobError(
            f"{MOVING} must stay {change.after.digest[:12]} until all rows have moved. Got {'a later move' if is_moving else 'nothing'}:"
            f" another process ended this move and the table went back to {transaction.function[:12]}. Start again if it is"
            " still to move."
        )
    return True


def _merge(transaction: LayoutTransaction, change: FunctionChange, turn: str) -> None:
    """
    Move the rows that have to, in one commit.

    MERGE chooses itself which version it starts from, so that the table may have moved on since we looked. Delta leaves a commit
    out whose number the table has seen: ours is one more than we saw, and ``_end`` takes that number too.
    """
    sources = changed_buckets(change.before, change.after)
    if not sources or _has_arrived(transaction, change, turn):
        return
    dataset = transaction.dataset
    moving = _moving_keys(transaction.spark, dataset, change, sources)
    if moving.isEmpty():
        return  # a commit that moves nothing would pass for the one that moved the rows
    # A session of its own, which nothing else is done in: left set, these make Delta leave out whatever is written later.
    spark = transaction.spark.newSession()
    spark.conf.set(f"{_ONCE}.txnAppId", _TURNS)
    spark.conf.set(f"{_ONCE}.txnVersion", transaction.number_of(_TURNS) + 1)
    # Literals: only these prune files.
    numbers = ", ".join(map(str, sources))
    table = DeltaTable.forPath(spark, uri_of(dataset.state))
    with user_metadata(spark, json.dumps(change.note(Moved(), mover="merge"))):
        (
            table.alias("t")
            .merge(
                moving.alias("s"),
                f"t.bucket IN ({numbers}) AND t.bucket = s.from_bucket AND t.{quoted(dataset.key)} <=> s.key"
                f"{_of_grain(change.after, of='t')}",
            )
            .whenMatchedUpdate(set={"bucket": F.col("s.to_bucket")})
            .execute()
        )


def _end(transaction: LayoutTransaction, change: FunctionChange, turn: str) -> None:
    if _has_arrived(transaction, change, turn):
        return
    number = transaction.number_of(_TURNS)
    is_empty = str(number) == turn  # no MERGE was made: this commit has to tell of the change
    transaction.set_properties({**change.properties, MOVING: "", MOVING_PLAN: "", MOVING_TURN: ""})
    transaction.mark(_TURNS, number=number + 1)
    transaction.commit(change.note(Moved(), mover="merge") if is_empty else {"evenkeel": "end of a merge"})


def _moving_keys(
    spark: SparkSession, dataset: Dataset, change: FunctionChange, sources: list[int]
) -> DataFrame:
    """Each key, and of split keys each grain, that has to leave, once: where it is and where it goes."""
    state = read_table(spark, dataset.state).where(F.col("bucket").isin(sources))
    routed = with_bucket(state.withColumn("__from", F.col("bucket")), change.after, key=dataset.key)
    columns = [
        F.col(quoted(dataset.key)).alias("key"),
        F.col("__from").alias("from_bucket"),
        F.col("bucket").alias("to_bucket"),
    ]
    if change.after.splits:
        # Rows of a key that is split afterwards leave one bucket for several: there the grain tells which.
        routed = with_split(routed, change.after, key=dataset.key)
        grain = F.expr(grain_expression(change.after.row_id))
        columns.append(F.when(F.col("is_split"), grain).alias("grain"))
    return routed.where("__from <> bucket").select(columns).distinct()


def _of_grain(after: PartitioningFunction, *, of: str) -> str:
    """The part of the condition that tells rows of split keys apart."""
    if not after.splits:
        return ""
    return f" AND (s.grain IS NULL OR s.grain = {grain_expression(after.row_id, of=of)})"
