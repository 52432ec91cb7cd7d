"""Where a table is: a path or URI as it stands, a catalog name as the catalog says."""

from functools import cache

from schemas.places import is_catalog_name
from spark_jobs.sql_names import quoted


@cache
def uri_of(table: str) -> str:
    """The table's path or URI. For a catalog name Spark is started, for only it knows the catalog."""
    if not is_catalog_name(table):
        return table
    from pyspark.sql import SparkSession

    details = SparkSession.builder.getOrCreate().sql(f"DESCRIBE DETAIL {sql_name(table)}").first()
    location = str(details["location"]) if details else ""
    return location.removeprefix("file:") if location.startswith("file:/") else location


def sql_name(table: str) -> str:
    """The table as Spark SQL names it, whatever characters it contains."""
    if is_catalog_name(table):
        return ".".join(quoted(part) for part in table.split("."))
    return f"delta.{quoted(table)}"
