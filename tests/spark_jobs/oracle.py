"""What must hold of a state table, said by Spark itself and by nothing that the jobs use."""

from pyspark.sql import functions as F

from spark_jobs.table_log import OURS, current_function


def state_of(spark, dataset):
    return spark.read.format("delta").load(dataset.state)


def rows_in(frame):
    """The user's rows as a sorted list: equal lists mean nothing lost, doubled or changed."""
    theirs = frame.select(
        [F.col(f"`{name.replace('`', '``')}`") for name in frame.columns if name not in OURS]
    )
    return sorted(map(str, theirs.collect()))


def keys_astray(spark, dataset):
    """Keys with a row outside the bucket that plain Python, key by key, gives them; a split key is astray too."""
    function = current_function(dataset)
    rows = (
        state_of(spark, dataset)
        .select(F.col(f"`{dataset.key.replace('`', '``')}`").alias("key"), "bucket")
        .distinct()
    )
    return [row["key"] for row in rows.collect() if function.bucket_of(row["key"]) != row["bucket"]]
