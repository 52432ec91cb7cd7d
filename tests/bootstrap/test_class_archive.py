"""Spark's driver takes its classes from the archive that set-up made, and its settings from conf/ all the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap.places import CLASS_ARCHIVE, NO_SETTINGS

ROOT = Path(__file__).parents[2]
ASK = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print("zone", spark.conf.get("spark.sql.session.timeZone"), spark.sparkContext.getConf().get("spark.ui.enabled"))
"""


@pytest.mark.spark
def test_driver_maps_most_classes_and_keeps_its_settings(tmp_path):
    """The archive is of use only while the class path is the one it was made with; a change there would go unnoticed."""
    if not CLASS_ARCHIVE.exists():
        pytest.skip("this Java makes no archive")
    loaded = tmp_path / "loaded"
    env = {**os.environ, "SPARK_SUBMIT_OPTS": f'-Xlog:class+load:file="{loaded}"'}
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )

    assert "zone UTC false" in done.stdout, done.stderr
    lines = loaded.read_text().splitlines()
    assert sum("shared objects file (top)" in line for line in lines) > len(lines) / 2
    assert not list(NO_SETTINGS.iterdir())
