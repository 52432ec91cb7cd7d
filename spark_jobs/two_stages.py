"""
A per-key aggregate in two stages, as frames: rows → partial results, one for each key in each bucket → one result a key.

Rows are shuffled once, each to the bucket that a splitter chose, with the columns that are needed; a bucket is a task. Partial results are
shuffled once more, by key. Where no key is split (hash) there is nothing to merge, and nothing more is shuffled. Where only heavy keys
are, their rows and the others are worked on side by side.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from partitioning.splitter_choice import Choice
from schemas.dataset import Dataset
from spark_jobs.merging import HOWS, merged, prepared
from spark_jobs.splitting import split_column
from spark_jobs.sql_names import quoted

KEY, TIME, BUCKET, ROWS = "__key", "__time", "__bucket", "__rows"


def needed_rows(events: DataFrame, dataset: Dataset) -> DataFrame:
    """Of each event its key, what is aggregated, and its time where that decides."""
    columns = [F.col(quoted(dataset.key)).alias(KEY)]
    if any(HOWS[how].needs_time for how in dataset.merge.values()):
        columns.append(F.col(quoted(dataset.event_time)).alias(TIME))
    columns += [
        prepared(F.col(quoted(column)), events.schema[column].dataType, how).alias(_value(place))
        for place, (column, how) in enumerate(dataset.merge.items())
    ]
    return events.select(columns)


def sent_rows(rows: DataFrame, choice: Choice, *, n_buckets: int) -> DataFrame:
    """The rows, each in the partition of its bucket."""
    bucket = split_column(F.col(KEY), choice, n_buckets=n_buckets)
    return rows.withColumn(BUCKET, bucket).repartitionById(n_buckets, F.col(BUCKET))


def kinds_of_rows(rows: DataFrame, choice: Choice) -> list[tuple[DataFrame, Choice]]:
    """The rows and how they are sent: all alike, or those of heavy keys by shuffle and the others by hash."""
    if choice.splitter != "shuffle_heavy":
        return [(rows, choice)]
    is_heavy = F.xxhash64(F.col(KEY)).isin(list(choice.heavy))
    return [(rows.where(~is_heavy), Choice("hash", "")), (rows.where(is_heavy), Choice("shuffle", ""))]


def partial_results(rows: DataFrame, dataset: Dataset, choice: Choice) -> DataFrame:
    """One row for each key in each bucket; every bucket is worked on by itself."""
    return partials_by(sent_rows(rows, choice, n_buckets=dataset.n_buckets), dataset, BUCKET, KEY)


def partials_by(rows: DataFrame, dataset: Dataset, *columns: str) -> DataFrame:
    """The partial result of each group, and how many rows it is of."""
    aggregates = [
        HOWS[how].partial(F.col(_value(place)), F.col(TIME)).alias(_partial(place))
        for place, how in enumerate(dataset.merge.values())
    ]
    return rows.groupBy(*columns).agg(F.count(F.lit(1)).alias(ROWS), *aggregates)


def results(partials: DataFrame, dataset: Dataset, choice: Choice) -> DataFrame:
    """One row a key: the key and what was merged, by the names that they have in the events."""
    is_whole = choice.splitter == "hash"  # every key in one bucket
    return named(partials if is_whole else merge_partials(partials, dataset), dataset)


def merge_partials(partials: DataFrame, dataset: Dataset) -> DataFrame:
    """One partial result a key, which is that of all its rows."""
    aggregates = [
        merged(F.col(_partial(place)), partials.schema[_partial(place)].dataType, how).alias(_partial(place))
        for place, how in enumerate(dataset.merge.values())
    ]
    return partials.groupBy(KEY).agg(*aggregates)


def named(whole: DataFrame, dataset: Dataset) -> DataFrame:
    """What users see of partial results that are whole."""
    columns = [
        HOWS[how].finish(F.col(_partial(place))).alias(column)
        for place, (column, how) in enumerate(dataset.merge.items())
    ]
    return whole.select(F.col(KEY).alias(dataset.key), *columns)


def _value(place: int) -> str:
    return f"__value_{place}"


def _partial(place: int) -> str:
    return f"__partial_{place}"
