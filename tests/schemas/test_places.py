"""One table has many names; those that a text can show to be one are one."""

import pytest

from schemas.places import locate, locate_files, place_of


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("/lake/state", "/lake/state"),
        ("/lake/state/", "/lake/state"),
        ("//lake//./state", "/lake/state"),
        ("/lake/other/../state", "/lake/state"),
        ("file:///lake/state/", "/lake/state"),
        ("file:/lake/state", "/lake/state"),
        ("S3A://lake/x/../state/", "s3a://lake/state"),
        ("s3://lake/state", "s3a://lake/state"),
        ("hdfs://nn:9000/lake/state", "hdfs://nn:9000/lake/state"),
        ("Sales.Orders", "sales.orders"),
        ("spark_catalog.sales.orders", "sales.orders"),
    ],
)
def test_ways_to_write_a_location_come_to_one(location, place):
    """Spark and delta-rs read all of these; who compares letters takes one table for two."""
    assert place_of(location) == place


@pytest.mark.parametrize(
    ("name", "table", "files"),
    [
        ("clicks/state", "/wh/clicks/state", "/wh/clicks/state"),
        ("/lake/state", "/lake/state", "/lake/state"),
        ("s3a://lake/state", "s3a://lake/state", "s3a://lake/state"),
        ("file:///lake/state", "file:///lake/state", "file:///lake/state"),
        ("file:/lake/state", "file:/lake/state", "file:/lake/state"),
        ("sales.orders", "sales.orders", "/wh/sales.orders"),
        ("clicks.parquet", "clicks.parquet", "/wh/clicks.parquet"),
    ],
)
def test_relative_names_lie_in_the_warehouse_and_only_tables_in_a_catalog(name, table, files, monkeypatch):
    """A file of that name in the working directory would be loaded; a table in a folder called file: would never be found again."""
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", "/wh/")

    assert (locate(name), locate_files(name)) == (table, files)


def test_relative_paths_begin_where_spark_begins(tmp_path, monkeypatch):
    """A warehouse may be given as a relative folder."""
    monkeypatch.chdir(tmp_path)

    assert place_of("warehouse/state") == place_of(f"file://{tmp_path}/warehouse/state/")


@pytest.mark.parametrize(
    ("one", "other"),
    [("s3a://lake/state", "hdfs://lake/state"), ("/lake/state", "/lake/States"), ("sales.a", "sales.b")],
)
def test_other_tables_stay_others(one, other):
    """Refusing a good file is as bad."""
    assert place_of(one) != place_of(other)
