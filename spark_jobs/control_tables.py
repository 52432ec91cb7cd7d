"""
Reading and writing the control tables. Every write can be repeated and changes nothing the second time.

They are small, so they are read and written without Spark (delta-rs): a step that plans, validates or reports starts
in a second. Any engine can read them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, Schema, write_deltalake

from partitioning.function import PartitioningFunction
from schemas.tables import FUNCTIONS, Table
from spark_jobs.job import JobError

Row = dict[str, Any]


def read_rows(table: Table, **values: object) -> pa.Table:
    """The rows in which every named column has the given value; none where the table does not exist yet."""
    if not DeltaTable.is_deltatable(table.path):
        return table.schema.empty_table()
    filters = [(column, "=", value) for column, value in values.items()] or None
    rows = DeltaTable(table.path).to_pyarrow_table(filters=filters)
    for name in table.columns:
        if name not in rows.column_names:  # written before we had this column
            rows = rows.append_column(table.schema.field(name), pa.nulls(rows.num_rows, table.columns[name]))
    return rows.select(list(table.columns))


def read_one(table: Table, **values: object) -> Row:
    """The single row with these values."""
    found: list[Row] = read_rows(table, **values).to_pylist()
    if len(found) != 1:
        wanted = ", ".join(f"{column} {value}" for column, value in values.items())
        raise JobError(
            f"{table.name} must hold one row for {wanted}. Got {len(found)}. Run the step that writes it first."
        )
    return found[0]


def replace_rows(rows: pa.Table | Sequence[Row], table: Table, **values: object) -> None:
    """
    Put these rows in the place of those with the same identity, in one commit.

    ``values`` gives the identity columns; ``rows`` hold the others, which must be just the declared ones.
    """
    others = pa.schema([field for field in table.schema if field.name not in table.identity])
    given = (
        rows.select(others.names).cast(others)
        if isinstance(rows, pa.Table)
        else pa.Table.from_pylist(list(rows), others)
    )
    for name in table.identity:
        given = given.append_column(
            table.schema.field(name), pa.array([values[name]] * given.num_rows, table.columns[name])
        )
    predicate = " AND ".join(f"{name} = {literal(values[name])}" for name in table.identity)
    _declare(table)
    write_deltalake(table.path, given.select(table.schema.names), mode="overwrite", predicate=predicate)


def _declare(table: Table) -> None:
    """Make the table if it is not there, and give an older one the columns that it has not got yet."""
    log = DeltaTable.create(table.path, schema=table.schema, mode="ignore", partition_by=["dataset"])
    present = {field.name for field in log.schema().fields}
    missing = [field for field in Schema.from_arrow(table.schema).fields if field.name not in present]
    if missing:
        log.alter.add_columns(missing)


def literal(value: object) -> str:
    """A value as a SQL literal of delta-rs; text is escaped, so that no name can become SQL."""
    if isinstance(value, datetime):
        return f"arrow_cast('{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    return "'" + str(value).replace("'", "''") + "'"


def save_function(dataset: str, function: PartitioningFunction) -> None:
    """Write a function once; an existing row is never touched. Must precede any use of its name."""
    identity = {"dataset": dataset, "function": function.digest}
    if read_rows(FUNCTIONS, **identity).num_rows:
        return
    row = {
        "n_buckets": function.n_buckets,
        "n_slots": function.n_slots,
        "n_routes": function.n_routes,
        "body": function.to_json(),
    }
    replace_rows([row], FUNCTIONS, **identity)


def load_function(dataset: str, digest: str) -> PartitioningFunction:
    """The function of this name, checked against its digest."""
    function = PartitioningFunction.from_json(read_one(FUNCTIONS, dataset=dataset, function=digest)["body"])
    if function.digest != digest:
        raise JobError(
            f"functions.body must have the digest {digest}. Got {function.digest}. The row was changed by hand:"
            " restore the functions table to an earlier version."
        )
    return function
