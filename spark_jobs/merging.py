"""
How partial results of a column combine, as native expressions: ``merge:`` of a dataset file.

Each is three steps: a partial result over rows, a merged one over partial results of the same type, and what the user sees of it.
So it does not matter how the rows of a key were divided, or whether they were.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    AtomicType,
    BinaryType,
    DataType,
    DecimalType,
    IntegerType,
    LongType,
    NumericType,
    StringType,
    StructType,
    VariantType,
)

from spark_jobs.job import RefusalError


def _is_ordered(kind: DataType) -> bool:
    """Whether Spark can say which of two values comes first."""
    if isinstance(kind, StructType):
        return all(_is_ordered(field.dataType) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return _is_ordered(kind.elementType)
    return _is_plain(kind)


def _is_plain(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and not isinstance(kind, VariantType)


def _same(partial: Column) -> Column:
    return partial


@dataclass(frozen=True, kw_only=True)
class How:
    """One way to combine. ``partial`` and ``merge`` are aggregates."""

    partial: Callable[[Column, Column], Column]  # of the values and the events' times
    merge: Callable[[Column], Column]  # of partial results
    finish: Callable[[Column], Column] = _same
    needs_time: bool = False
    takes: Callable[[DataType], bool] = _is_ordered  # columns of which types
    takes_words: str = "values that Spark can order"


def _timed(value: Column, time: Column) -> Column:
    """A value that sorts by its time, and by itself where times are equal: the order of rows does not matter."""
    return F.struct(time.alias("time"), value.alias("value"))


def _listed(value: Column, time: Column) -> Column:
    # NULL is no value, as in collect_list. Sorted parts make sorting the whole a merge of runs.
    return F.sort_array(F.collect_list(F.when(value.isNotNull(), _timed(value, time))))


HOWS: Mapping[str, How] = {
    "sum": How(
        takes=lambda kind: isinstance(kind, NumericType),
        takes_words="numbers",
        partial=lambda value, _: F.sum(value),
        merge=F.sum,
    ),
    "count": How(
        takes=lambda _: True,
        takes_words="anything",
        partial=lambda value, _: F.count(value),
        merge=F.sum,
    ),
    "min": How(partial=lambda value, _: F.min(value), merge=F.min),
    "max": How(partial=lambda value, _: F.max(value), merge=F.max),
    "hll": How(
        takes=_is_plain,
        takes_words="plain values",
        partial=lambda value, _: F.hll_sketch_agg(value),
        merge=F.hll_union_agg,
        finish=F.hll_sketch_estimate,
    ),
    "first": How(
        partial=lambda value, time: F.min(_timed(value, time)),
        merge=F.min,
        finish=lambda partial: partial["value"],
        needs_time=True,
    ),
    "list": How(
        partial=_listed,
        merge=lambda partial: F.sort_array(F.flatten(F.collect_list(partial))),
        finish=lambda partial: F.transform(partial, lambda timed: timed["value"]),
        needs_time=True,
    ),
}

COMBINED_BY_SPARK = frozenset(HOWS) - {"list"}  # whose partial results are smaller than the rows they are of
_SKETCHED = (IntegerType, LongType, StringType, BinaryType)  # what hll_sketch_agg takes


def prepared(value: Column, kind: DataType, how: str) -> Column:
    """The column as its partial result wants it: sketches take few types, and text stands for all others."""
    return value.cast("string") if how == "hll" and not isinstance(kind, _SKETCHED) else value


def merged(partial: Column, kind: DataType, how: str) -> Column:
    """The aggregate over partial results of this type; a sum of decimals does not widen a second time."""
    whole = HOWS[how].merge(partial)
    return whole.cast(kind) if isinstance(kind, DecimalType) else whole


def check_mergeable(merge: Mapping[str, str], *, dataset: str) -> None:
    """Refuse a dataset that says nothing about merging."""
    if not merge:
        raise RefusalError(
            f"merge must be given to aggregate a window. Got nothing in dataset {dataset}. Say in datasets/{dataset}.yaml how each"
            " column combines, such as merge: {amount: sum}."
        )


def check_columns(merge: Mapping[str, str], columns: StructType, *, dataset: str) -> None:
    """Refuse what these columns cannot be merged to, before any row is read."""
    for column, how in merge.items():
        kind = columns[column].dataType if column in columns.names else None
        if kind is None:
            raise RefusalError(
                f"merge.{column} must be a column of the events. Got none of that name; there are {', '.join(columns.names)}."
                f" Correct datasets/{dataset}.yaml."
            )
        if not HOWS[how].takes(kind):
            raise RefusalError(
                f"merge.{column} must fit the column: {how} is for {HOWS[how].takes_words}. Got {kind.simpleString()}. Take another how,"
                " or aggregate a column that is made from it."
            )
