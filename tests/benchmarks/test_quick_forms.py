"""Every benchmark and experiment that has no tests of its own still runs, on sizes that say nothing: so that none rots."""

import re
from functools import partial
from itertools import islice

import numpy as np
import pytest

from benchmarks import (
    admission_papers,
    bench_backtest,
    bench_chaos,
    bench_drift,
    bench_forecast,
    bench_published,
    bench_settling,
    bench_small,
    bench_small_drift,
)
from benchmarks.feed_figures import HALF
from benchmarks.rivals import Rivalry
from benchmarks.small_cases import small_cases
from benchmarks.splitting_holistic import holistic_tables
from benchmarks.splitting_pkg import pkg_tables
from benchmarks.workloads import Workload


def test_papers_on_splitting_keys_run(capsys):
    """Every table of both papers, to its last line."""
    tables = [*pkg_tables(n_rows=1_000, n_stand_in=1_000), *holistic_tables(n_rows=60)]
    for table in tables:
        table.print()

    said = capsys.readouterr().out
    assert all(figure in said for figure in ("Table 1", "Table 2", *(f"Fig. {n}" for n in range(4, 10))))


def test_paper_on_admission_runs(capsys):
    """Every figure that needs no cluster, with what the paper reads beside ours."""
    admission_papers.show_feeds(n_windows=HALF + 1)
    admission_papers.show_panes(n_panes=300)
    admission_papers.show_relocations()
    admission_papers.show_parts()

    said = capsys.readouterr().out
    for figure in ("Fig. 10(a)", "Fig. 11", "Fig. 12", "Fig. 13(a)", "Fig. 15"):
        assert figure in said
    assert said.count("paper:") == 6


@pytest.mark.long
def test_backtest_is_timed(monkeypatch):
    """A sentence for each contender and one more, and a champion that is no worse than the plain hash."""
    tiny = bench_backtest.Size(n_windows=4, n_slots=64, n_keys=30, n_buckets=4)
    monkeypatch.setattr(bench_backtest, "SMALL", tiny)

    goals = bench_backtest.run(quick=True)

    assert len(goals) == 3
    assert all(goal.met for goal in goals[1:])


@pytest.mark.parametrize("name", bench_forecast.WORKLOADS)
def test_forecasts_are_judged(name, monkeypatch):
    """Ratios of θ and of migration for every kind of drift, on as few windows as a forecast can be chosen from."""
    monkeypatch.setattr(bench_forecast, "N_KNOWN", 16)

    goals = bench_forecast.bench_drift(name, seeds=range(1), n_planned=1)

    assert [goal.what.partition(": ")[0] for goal in goals] == [name] * (2 if name == "random walk" else 4)
    assert all(np.isfinite(float(goal.result.partition("x")[0])) for goal in goals)


def test_a_forecast_that_paid_on_one_seed_only_is_seen(monkeypatch):
    """Four seeds that moved less once hid others that moved more: every seed's ratio lies in the range that is printed."""
    monkeypatch.setattr(bench_forecast, "N_KNOWN", 16)

    goals = bench_forecast.bench_drift("trend", seeds=range(2), n_planned=3)

    for goal in goals:
        ratio, least, most = map(float, re.findall(r"\d+\.\d+", goal.result))
        assert least - 0.01 <= ratio <= most + 0.01
        assert least < most
    assert bench_forecast.N_SEEDS >= 16


@pytest.fixture
def few_keys(monkeypatch):
    """Workloads of as few keys as every part of the planners' benchmark can do with."""
    for module in (bench_drift, bench_small_drift):
        monkeypatch.setattr(module, "Workload", lambda **given: Workload(**given | {"n_keys": 1_500}))
    for name, value in {"N_SLOTS": 128, "N_HEAVY": 50, "N_SORTED": 10_000}.items():
        monkeypatch.setattr(bench_drift, name, value)
    monkeypatch.setattr(bench_small_drift, "N_WINDOWS", 2)
    monkeypatch.setattr(bench_small, "small_cases", lambda _: islice(small_cases(1), 2))
    monkeypatch.setattr(bench_chaos, "N_ROUNDS", 3)
    monkeypatch.setattr(bench_chaos, "N_RIVAL_ROUNDS", 3)
    monkeypatch.setattr(bench_chaos, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(bench_settling, "plan_repeatedly", partial(bench_settling.plan_repeatedly, n_plans=2))


@pytest.mark.long
@pytest.mark.usefixtures("few_keys")
def test_every_part_of_the_planners_benchmark_runs():
    """Each returns rows of the table of goals, and no promise is broken on the way."""
    rivalry = Rivalry()
    parts = {
        "time": bench_drift.bench_time(quick=True),
        "explain": bench_drift.bench_explain(quick=True),
        "small": bench_small.bench_small(rivalry, quick=True),
        "drift": bench_drift.bench_drift(rivalry, quick=True),
        "small-drift": bench_small_drift.bench_small_drift(quick=True),
        "chaos": bench_chaos.bench_chaos(rivalry, quick=False),
        "convergence": bench_settling.bench_convergence(rivalry, quick=True),
        "resize": bench_settling.bench_resize(quick=True),
        "rivals": [rivalry.goal()],
    }

    assert all(parts.values())


def test_published_planners_are_compared(monkeypatch, capsys):
    """Every planner of the papers, key by key; goals are of sizes that are not run here."""
    monkeypatch.setattr(bench_published, "KEYS", (400,))
    monkeypatch.setattr(bench_published, "BUCKETS", (4,))

    rows = list(bench_published._measure_all(("hot",), repeat=1))

    assert {"mixed", "min_table", "min_mig", "evenkeel"} <= {row.planner for row in rows}
    assert "θ_max = 0.08" in capsys.readouterr().out
