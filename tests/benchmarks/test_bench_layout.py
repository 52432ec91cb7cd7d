"""The benchmark of layout changes, on a table that says nothing: its tables are made, and figures are measured."""

import numpy as np
import pytest

from benchmarks import bench_layout, layout_files
from benchmarks.layout_bench import LayoutBench

pytestmark = pytest.mark.spark


def test_layout_benchmark_runs(spark, warehouse, monkeypatch):
    """Bytes that appeared on disk must be those that the commit states: it refuses to go on where they are not."""
    monkeypatch.setattr(layout_files, "FEW", 64)
    monkeypatch.setattr(layout_files, "MANY", 128)
    bench = LayoutBench(spark, warehouse, 20_000, 1)

    figures = list(bench_layout._measure(bench, list(bench_layout.GROUPS)))

    assert all(np.isfinite(figure.ratio) for figure in figures)
