"""The facts about a window of events that are judged: one pass over it, and a pruned look at what lies outside every window."""

from datetime import datetime
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from spark_jobs.job import JobError, Window
from spark_jobs.sql_names import quoted

Facts = dict[str, Any]


def check_columns_of_events(dataset: Dataset, events: DataFrame) -> None:
    """Refuse a dataset file that names a column the events do not have, or a cost that cannot be computed from them."""
    named = {"key.column": dataset.key, "events.time": dataset.event_time, "events.id": dataset.event_id}
    known = {column.lower() for column in events.columns}  # as Spark looks them up
    for field, column in named.items():
        if column is not None and column.lower() not in known:
            raise JobError(
                f"{field} must be a column of {dataset.events_name}. Got {column!r}; there are"
                f" {', '.join(map(repr, events.columns))}. Correct datasets/{dataset.name}.yaml."
            )
    try:
        events.where(_is_bad_cost(dataset))  # where, not select: an aggregate is no cost of one event
    except AnalysisException as error:
        raise _cost_error(dataset, error) from None


def facts_of_window(events: DataFrame, dataset: Dataset) -> Facts:
    """
    One pass over the window's events.

    ``rows``; ``null_keys``, the share of them without a key; where the dataset names ``events.id``, ``duplicates``: rows
    that do not bring an id of their own; where it has ``events.cost``, ``cost``: rows whose cost is no cost.
    """
    aggregates = [
        F.count("*").alias("rows"),
        F.count_if(F.col(quoted(dataset.key)).isNull()).alias("null_keys"),
    ]
    if dataset.event_id is not None:
        distinct = F.count_distinct(F.col(quoted(dataset.event_id)))
        aggregates.append((F.count("*") - distinct).alias("duplicates"))
    if dataset.cost is not None:
        aggregates.append(F.count_if(_is_bad_cost(dataset)).alias("cost"))
    facts = _first(events.agg(*aggregates), dataset)
    return facts | {"null_keys": facts["null_keys"] / max(facts["rows"], 1)}


def count_lost_events(events: DataFrame, dataset: Dataset, *, window: Window, now: datetime) -> int:
    """Events without a time, or with one that is still to come: no window up to now holds them. Pruned by statistics."""
    time = F.col(quoted(dataset.event_time))
    return events.where(time.isNull() | (time > F.lit(max(window.end, now)))).count()


def has_events(events: DataFrame, dataset: Dataset, *, start: datetime, end: datetime) -> bool:
    """Whether there is any event from ``start`` up to, not including, ``end``. Pruned, and ends at the first."""
    time = F.col(quoted(dataset.event_time))
    return not events.where((time >= F.lit(start)) & (time < F.lit(end))).limit(1).isEmpty()


def _is_bad_cost(dataset: Dataset) -> Column:
    """Whether an event's cost is NULL (or no number at all), negative, NaN or infinite."""
    if dataset.cost is None:
        return F.lit(False)
    cost = F.expr(dataset.cost).try_cast("double")
    return F.coalesce(F.isnan(cost) | (cost < 0) | (cost == float("inf")), F.lit(True)) | cost.isNull()


def _first(frame: DataFrame, dataset: Dataset) -> Facts:
    try:
        row = frame.first()
    except PySparkException as error:
        if dataset.cost is None or error.getCondition() not in _COST_FAILURES:
            raise
        raise _cost_error(dataset, error) from None
    return row.asDict() if row else {}


# What an expression can do wrong on a row although it is right as an expression.
_COST_FAILURES = {
    "ARITHMETIC_OVERFLOW",
    "CAST_INVALID_INPUT",
    "CAST_OVERFLOW",
    "DIVIDE_BY_ZERO",
    "INVALID_ARRAY_INDEX",
    "INVALID_ARRAY_INDEX_IN_ELEMENT_AT",
    "NUMERIC_VALUE_OUT_OF_RANGE",
    "REMAINDER_BY_ZERO",
}


def _cost_error(dataset: Dataset, error: PySparkException) -> JobError:
    said = (error.getMessage() or str(error)).strip().splitlines()[0].rstrip(".")
    return JobError(
        f"events.cost must be a Spark SQL expression that gives each event of {dataset.events_name} a number. Got"
        f" {dataset.cost!r}: {said}. Correct datasets/{dataset.name}.yaml."
    )
