"""
Bring rows home that lie outside the bucket their function says, and write files with false statistics anew.

What puts rows there: a writer that did not ask for the function, a RESTORE to before a migration, another tool. Nothing is ever
dropped. Files that belong elsewhere as a whole are flipped, others rewritten, all in one commit.
"""

from pyspark.sql import functions as F

from spark_jobs.control_tables import load_function
from spark_jobs.data_files import collected
from spark_jobs.file_audit import audited_files
from spark_jobs.job import Result, Task, run_job
from spark_jobs.layout_transaction import LayoutTransaction, in_transaction
from spark_jobs.rewriting import rewrite, worth_a_file
from spark_jobs.table_log import REPAIRED


def repair_layout(task: Task) -> Result:
    result = in_transaction(task.spark, task.dataset, _repair)
    task.say(
        f"{result['rows_moved']:,} rows brought home: {result['files_flipped']:,} files flipped,"
        f" {result['files_rewritten']:,} rewritten"
    )
    return result


def _repair(transaction: LayoutTransaction) -> Result:
    function = load_function(transaction.dataset.name, transaction.function)
    in_trouble = audited_files(transaction, function).where((F.col("rows_astray") > 0) | F.col("is_false"))
    is_whole = ~F.col("is_false") & (F.col("low_target") == F.col("high_target"))
    target = F.when(is_whole, F.col("low_target")).otherwise(-1)
    # From here on a file has as many rows as were seen in it: what its statistics say may be what is to be mended.
    found = in_trouble.withColumns({"target": target, "rows": F.col("seen_rows")}).persist()
    try:
        whole = found.where("target >= 0")
        flipped, divided = collected(whole), collected(found.where("target < 0"))
        targets = [row["target"] for row in whole.orderBy("action").select("target").collect()]
    finally:
        found.unpersist()
    result = {
        "function": function.digest,
        "files_flipped": len(flipped),
        "files_rewritten": len(divided),
        "rows_moved": 0,
    }
    if not len(flipped) and not len(divided):
        return result
    transaction.read_files({*flipped.bucket.tolist(), *divided.bucket.tolist()})
    # A change of properties, so that no writer that has read the files as they were can commit after us.
    transaction.set_properties({REPAIRED: str(transaction.version)})
    transaction.flip(flipped, targets)
    own_file = worth_a_file(divided, function, min_bytes=transaction.dataset.min_file_bytes)
    rewritten = rewrite(transaction, divided, function=function, own_file=own_file)
    result["rows_moved"] = int(flipped.rows.sum()) + rewritten.rows_moved
    transaction.commit({"evenkeel": "repair", **result})
    return result


if __name__ == "__main__":
    run_job(repair_layout, about=__doc__)
