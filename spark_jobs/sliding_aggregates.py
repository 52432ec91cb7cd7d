"""
Aggregates over sliding windows, from panes: every row is aggregated once, however many windows it lies in.

Windows of ``size`` that begin every ``slide`` fall apart into panes of their greatest common divisor (Balkesen et al., Sec. 4.2; the core's ``partitioning.panes``).
One aggregation makes the panes, a second one merges each window from its panes: ``size / slide`` copies of a pane take the place of as many copies of
each of its rows. All of it is Spark's own expressions.
"""

from collections.abc import Sequence
from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from partitioning.panes import Sliding
from spark_jobs.job import JobError
from spark_jobs.sql_names import quoted

ANSWER = ("window_start", "window_end", "count", "total", "least", "most", "mean")
_PANE, _VALUES = "__pane", "__values"  # begin of the pane, values in it that are not NULL
_MICROSECOND = timedelta(microseconds=1)


def sliding_aggregates(
    rows: DataFrame, *, by: Sequence[str], time: str, value: str, windows: Sliding
) -> DataFrame:
    """
    Count, sum, least, most and mean of ``value`` in every window that has a row, for each group of the columns ``by``.

    Windows are counted from 1970-01-01 UTC, as Spark's ``window`` counts them; ``every`` makes them from times. ``count`` is of rows, the others leave NULL
    values out, and rows without a time lie in no window. The answer is the one that grouping by ``window(time, size, slide)`` gives, bit for bit for
    counts, for the least and the most, and for sums of whole numbers and decimals; sums of fractions differ by rounding, as they do between two runs of Spark.
    """
    _check_names(rows, [*by, time, value])
    groups = [F.col(quoted(name)) for name in by]
    panes = _panes(rows, groups, F.col(quoted(time)), F.col(quoted(value)), windows)
    total_type = panes.schema["total"].dataType
    of_window = [F.col(quoted(name)) for name in by]
    merged = (
        panes.withColumn("window_start", F.explode(_windows_of(F.col(_PANE), windows)))
        .groupBy(*of_window, "window_start")
        .agg(
            F.sum("count").alias("count"),
            F.sum("total").cast(total_type).alias("total"),
            F.min("least").alias("least"),
            F.max("most").alias("most"),
            F.sum(_VALUES).alias(_VALUES),
        )
    )
    begin = F.col("window_start")
    return merged.select(
        *of_window,
        F.timestamp_micros(begin).alias("window_start"),
        F.timestamp_micros(begin + F.lit(windows.size)).alias("window_end"),
        "count",
        "total",
        "least",
        "most",
        (F.col("total").cast("double") / F.nullif(F.col(_VALUES), F.lit(0))).alias("mean"),
    )


def every(slide: timedelta, *, size: timedelta) -> Sliding:
    """Windows of this size that begin at this distance."""
    return Sliding(size=size // _MICROSECOND, slide=slide // _MICROSECOND)


def _panes(rows: DataFrame, groups: list[Column], time: Column, value: Column, windows: Sliding) -> DataFrame:
    """One row for each group and pane; panes that no window has (where windows leave gaps) are left out."""
    pane = F.lit(windows.pane)
    micros = F.unix_micros(time)
    begin = micros - F.pmod(micros, pane)
    return (
        rows.where(time.isNotNull())
        .groupBy(*groups, begin.alias(_PANE))
        .agg(
            F.count("*").alias("count"),
            F.sum(value).alias("total"),
            F.min(value).alias("least"),
            F.max(value).alias("most"),
            F.count(value).alias(_VALUES),
        )
        .where(_first_window(F.col(_PANE), windows) <= _last_window(F.col(_PANE), windows))
    )


def _windows_of(pane: Column, windows: Sliding) -> Column:
    """When the windows begin that have this pane whole."""
    return F.sequence(_first_window(pane, windows), _last_window(pane, windows), F.lit(windows.slide))


def _last_window(pane: Column, windows: Sliding) -> Column:
    """The last one that begins when the pane does, or before."""
    return pane - F.pmod(pane, F.lit(windows.slide))


def _first_window(pane: Column, windows: Sliding) -> Column:
    """The first one that ends when the pane does, or later."""
    earliest = pane + F.lit(windows.pane - windows.size)
    return earliest + F.pmod(-earliest, F.lit(windows.slide))


def _check_names(rows: DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.columns]
    if missing:
        raise JobError(
            f"by, time and value must be columns of the rows. Got {', '.join(map(repr, missing))}; there are"
            f" {', '.join(map(repr, rows.columns))}. Correct the names."
        )
    ours = {*ANSWER, _PANE, _VALUES}  # to Spark, Count is count
    taken = [name for name in names if name.lower() in ours]
    if taken:
        raise JobError(
            f"by, time and value must leave the names that are used here free. Got {', '.join(taken)}. Rename the column first."
        )
