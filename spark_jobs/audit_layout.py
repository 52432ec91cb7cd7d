"""
Read the whole state table and check it: every row in the bucket its function says, every statistic true.

A function gives each key one bucket, so rows that all obey it have every key in one bucket. Finds trouble, changes nothing;
repair_layout brings rows home.
"""

from typing import Any

from pyspark.sql import functions as F

from spark_jobs.control_tables import load_function
from spark_jobs.file_audit import audited_files
from spark_jobs.job import JobError, Result, Task, run_job
from spark_jobs.layout_transaction import LayoutTransaction
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import read_table

MAX_NAMED = 20  # files in trouble that are named one by one


def audit_layout(task: Task) -> Result:
    facts = audit(task)
    if facts["rows_astray"] or facts["false_files"] or facts["doubled_keys"]:
        named = "; ".join(_describe(file) for file in facts["examples"])
        raise JobError(
            f"every row of {task.dataset.state} must be where function {facts['function'][:12]} says, once, in a file with true"
            f" statistics. Got {facts['rows_astray']:,} rows astray in {facts['files_astray']:,} files, {facts['false_files']:,}"
            f" files with false statistics, {facts['doubled_keys']:,} keys with more than their one row. {named}."
            " Run repair_layout: it brings rows home, and mends statistics."
        )
    task.say(
        f"{facts['rows']:,} rows in {facts['files']:,} files are where the function says; {facts['mixed_files']:,} files are mixed"
    )
    return facts


def audit(task: Task) -> Result:
    """What the audit found, trouble or not. At most MAX_NAMED files come to the driver."""
    transaction = LayoutTransaction(task.spark, task.dataset)
    function = load_function(task.dataset.name, transaction.function)
    files = audited_files(transaction, function).persist()
    try:
        totals = files.agg(
            F.count(F.lit(1)).alias("files"),
            F.coalesce(F.sum("seen_rows"), F.lit(0)).alias("rows"),
            F.coalesce(F.sum("rows_astray"), F.lit(0)).alias("rows_astray"),
            F.count_if(F.col("rows_astray") > 0).alias("files_astray"),
            F.count_if("is_false").alias("false_files"),
            F.count_if(F.col("low_slot") != F.col("high_slot")).alias("mixed_files"),
        ).first()
        in_trouble = (
            files.where((F.col("rows_astray") > 0) | F.col("is_false")).orderBy("name").limit(MAX_NAMED)
        )
        examples = [row.asDict() for row in in_trouble.select(*_NAMED).collect()]
    finally:
        files.unpersist()
    found = totals.asDict() if totals else {}
    return {
        "version": transaction.version,
        "function": function.digest,
        **found,
        "doubled_keys": _doubled_keys(task),
        "examples": examples,
    }


_NAMED = ("name", "bucket", "rows_astray", "is_false", "example")


def _describe(file: dict[str, Any]) -> str:
    what = (
        [f"{file['rows_astray']:,} rows astray, one of key {file['example']!r}"]
        if file["rows_astray"]
        else []
    )
    what += ["false statistics"] if file["is_false"] else []
    return f"File {file['name']} in bucket {file['bucket']}: {', '.join(what)}"


def _doubled_keys(task: Task) -> int:
    """Keys with more than one row, where the dataset promises one."""
    if task.dataset.rows_per_key != "one":
        return 0
    keys = read_table(task.spark, task.dataset.state).groupBy(quoted(task.dataset.key)).count()
    return keys.where("count > 1").count()


if __name__ == "__main__":
    run_job(audit_layout, about=__doc__)
