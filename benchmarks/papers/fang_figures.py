"""Fang et al., *Parallel stream processing against workload skewness and variance*: Fig. 7 to 12 and 17 to 21."""

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from statistics import fmean
from typing import TypeVar

import numpy as np

from benchmarks.drift import Table
from benchmarks.papers.fang_windows import (
    METHODS,
    N_SLOTS,
    Outcome,
    Windows,
    average_load,
    compare_on_same,
    follow,
    take_window,
)
from benchmarks.papers.fang_words import OF_AVERAGE, SAME_REQUESTS, WORDS
from benchmarks.papers.sheets import Experiment, Grid, Scale
from benchmarks.papers.yardstick import NAME, in_sorts
from benchmarks.workloads import Drift, drifted_request
from partitioning import make_plan
from partitioning.measures import load_per_bucket, max_over_min
from partitioning.planners.min_mig import MinMigOptions, plan_min_mig
from partitioning.planners.mixed import plan_mixed
from partitioning.planners.mixed_compact import plan_on_statistics, summarise_request
from partitioning.request import PlanRequest
from partitioning.tracking.compact import CompactStatistics

PLANNERS = [method for method in METHODS if method != "hash"]
WITHOUT_READJ = [
    method for method in PLANNERS if method != "readj"
]  # where the paper does not have it: it is slow
DRIFTS: dict[Drift, str] = {"hot": "burst", "literal": "reshuffle"}
PERCENTILES = (0, 25, 50, 75, 100)

MIGRATION, THETA, ROUTES = "migration, % of state", "θ after planning", "routes"
TIME = f"planning time, in {NAME}"
MEASURES: dict[str, Callable[[list[Outcome]], float]] = {
    MIGRATION: lambda outcomes: fmean(outcome.migration for outcome in outcomes),
    THETA: lambda outcomes: fmean(outcome.theta for outcome in outcomes),
    ROUTES: lambda outcomes: float(outcomes[-1].n_routes),
    TIME: lambda outcomes: in_sorts(fmean(outcome.seconds for outcome in outcomes)),
}

Number = TypeVar("Number", int, float)
Point = tuple[str, Windows]  # what the axis shows, and what to run there


def _base(scale: Scale) -> Windows:
    windows = Windows(n_windows={"full": 3, "quick": 2, "tiny": 1}[scale])
    return windows.changed(n_keys={"full": 100_000, "quick": 20_000, "tiny": 1_500}[scale])


def _pick(scale: Scale, full: Sequence[Number], quick: Sequence[Number]) -> Sequence[Number]:
    return {"full": full, "quick": quick, "tiny": quick[:1]}[scale]


def _grids(
    axis: str, points: Sequence[Point], measures: Sequence[str], suffix: str = "", methods: Sequence[str] = tuple(PLANNERS)
) -> list[Grid]:  # fmt: skip
    """A grid a measure; each run is made once. Plain hashing stands beside θ only: it moves nothing, and has no table and no plan."""
    runs = {method: [follow(windows, method) for _, windows in points] for method in methods}
    plain = [follow(windows, "hash") for _, windows in points] if THETA in measures else []
    return [
        Grid(
            measure=f"{measure}{suffix}",
            axis=axis,
            columns=[label for label, _ in points],
            rows={
                method: [MEASURES[measure](outcomes) for outcomes in line]
                for method, line in (runs | {"hash": plain} if measure == THETA else runs).items()
            },
        )
        for measure in measures
    ]


def figure_7(scale: Scale) -> list[Grid]:
    """Plain hashing, with our planner beside it: the paper's distributions, then max over min of them and of single windows."""
    distributions, spreads = [], []
    base = dataclasses.replace(_base(scale), n_windows={"full": 50, "quick": 5, "tiny": 1}[scale])
    axes: dict[str, Sequence[Point]] = {
        "N": [(f"{n}", base.changed(n_buckets=n)) for n in _pick(scale, (5, 10, 20, 30, 40), (5, 15, 40))],
        "K": [(f"{k:.0e}", base.changed(n_keys=k)) for k in _pick(scale, (5_000, 10_000, 100_000, 1_000_000), (5_000, 20_000))],
    }  # fmt: skip
    lines: tuple[tuple[str, Drift], ...] = (("hash", "hot"), ("hash", "literal"), ("evenkeel", "hot"))
    for axis, points in axes.items():
        columns = [label for label, _ in points]
        shares: dict[str, list[float]] = {}
        rows: dict[str, list[float]] = {}
        for method, drift in lines:
            name = f"{method}, {DRIFTS[drift]}"
            runs = [follow(windows.changed(drift=drift), method) for _, windows in points]
            for label, run in zip(columns, runs, strict=True):
                shares[f"{name}, {axis} = {label}"] = np.percentile(average_load(run), PERCENTILES).tolist()
            rows[f"{name}, {OF_AVERAGE}"] = [max_over_min(average_load(run)) for run in runs]
            rows[f"{name}, mean of windows"] = [fmean(outcome.spread for outcome in run) for run in runs]
            rows[f"{name}, worst window"] = [max(outcome.spread for outcome in run) for run in runs]
        distributions.append(
            Grid(
                measure=f"average load of an instance over all windows, 1 is the mean, {axis}",
                axis="percentile of instances",
                columns=[f"{percentile}" for percentile in PERCENTILES],
                rows=shares,
            )
        )
        spreads.append(Grid(measure=f"max/min load, {axis}", axis=axis, columns=columns, rows=rows))
    return [*distributions, *spreads]


def _with_windows(
    axis: str, base: Windows, points: Callable[[Windows], Sequence[Point]], methods: Sequence[str]
) -> list[Grid]:
    """The two window sizes of the paper: everything for w = 5, migration for w = 1 too."""
    return [
        *_grids(axis, points(base.changed(n_windows=1)), [MIGRATION], ", w = 1", WITHOUT_READJ),
        *_grids(axis, points(base.changed(n_windows=5)), list(MEASURES), ", w = 5", methods),
    ]


def figure_8(scale: Scale) -> list[Grid]:
    counts = _pick(scale, (5, 15, 25, 35, 40), (5, 15, 40))
    return _with_windows(
        "N", _base(scale), lambda base: [(f"{n}", base.changed(n_buckets=n)) for n in counts], WITHOUT_READJ
    )


def figure_9(scale: Scale) -> list[Grid]:
    goals = _pick(scale, (0.02, 0.05, 0.08, 0.2, 0.3), (0.02, 0.08, 0.2))
    return _with_windows(
        "θ_max",
        _base(scale),
        lambda base: [(f"{goal:g}", base.limited(max_imbalance=goal)) for goal in goals],
        PLANNERS,
    )


def figure_10(scale: Scale) -> list[Grid]:
    sizes = _pick(scale, (5_000, 10_000, 100_000, 1_000_000), (5_000, 20_000))

    def points(base: Windows) -> Sequence[Point]:
        return [
            (f"{k:.0e}", dataclasses.replace(base.changed(n_keys=k), n_windows=min(base.n_windows, 2)))
            for k in sizes
        ]

    return _with_windows("K", _base(scale), points, WITHOUT_READJ)


def figure_11(scale: Scale) -> list[Grid]:
    """Mixed on compact statistics of one request, by the degree of discretisation."""
    base = _base(scale)
    request = drifted_request(base.workload, base.budgets)
    degrees = _pick(scale, (1, 2, 4, 8, 16, 32, 64, 128, 256), (1, 8, 256))
    statistics = [summarise_request(request, degree=degree) for degree in degrees]
    load = load_per_bucket(request.cost, request.start, request.n_buckets)

    def error(given: CompactStatistics) -> float:
        estimated = np.bincount(given.bucket, weights=given.cost * given.count, minlength=request.n_buckets)
        return 100 * float(np.abs(estimated / load - 1).max())

    planned = [plan_on_statistics(request, given) for given in statistics]
    times = [_sorts_of(partial(plan_on_statistics, request, given)) for given in statistics]
    columns = ["every key", *(f"{degree}" for degree in degrees)]
    mixed = plan_mixed(request)
    rows = {
        TIME: [_sorts_of(partial(plan_mixed, request)), *times],
        "records": [float(request.n_items), *(float(given.n_records) for given in statistics)],
        "load error, %": [0.0, *(error(given) for given in statistics)],
        THETA: [mixed.imbalance, *(plan.imbalance for plan in planned)],
        MIGRATION: [100 * plan.migration / request.total_state for plan in (mixed, *planned)],
    }
    return [
        Grid(measure="mixed on compact statistics", axis="R", columns=columns, rows=rows),
        _ours_on_every_key(request),
    ]


def _ours_on_every_key(request: PlanRequest) -> Grid:
    """Our planner on the same request. It has no R: what keeps its input small is slots, which a request of keys has not."""
    plan = make_plan(request)
    rows = {
        TIME: [_sorts_of(partial(make_plan, request))],
        THETA: [plan.imbalance],
        MIGRATION: [100 * plan.migration / request.total_state],
    }
    return Grid(measure="evenkeel, the same request", axis="R", columns=["every key"], rows=rows)


def _sorts_of(work: Callable[[], object]) -> float:
    """The best of three."""
    times = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return in_sorts(min(times))


def figure_12(scale: Scale) -> list[Grid]:
    rates = _pick(scale, (0.0, 0.2, 0.5, 1.0, 2.0), (0.2, 1.0, 2.0))
    grids = []
    for drift, name in DRIFTS.items():
        points = [(f"{f:g}", _base(scale).changed(drift=drift, fluctuation=f)) for f in rates]
        grids += _grids("f", points, list(MEASURES), f", {name}")
    return grids


def figure_17(scale: Scale) -> list[Grid]:
    powers = _pick(scale, (1, 5, 7, 8, 9, 11, 13), (1, 7, 13))
    grids = []
    for goal in (0.08, 0.3):
        base = _base(scale).limited(max_imbalance=goal)
        points = [(f"2^{i}", base.limited(max_routes=2**i)) for i in powers]
        grids += _grids("N_A", points, [MIGRATION, ROUTES], f", θ_max = {goal:g}", ("evenkeel", "mixed"))
    return grids


def figure_18(scale: Scale) -> list[Grid]:
    """Routes after so many adjustments; K = 10^4 as in the paper. Ours is cut off earlier: it takes longer."""
    last = {"full": 9, "quick": 6, "tiny": 2}[scale]
    ours = {"full": 5, "quick": 4, "tiny": 1}[scale]
    columns = [2**i for i in range(last + 1)]
    rows = {}
    for goal in (0.02, 0.08, 0.3):
        base = (
            _base(scale).limited(max_imbalance=goal, max_routes=None).changed(n_keys=10_000, drift="literal")
        )
        rows[f"min_mig, θ_max = {goal:g}"] = _routes_after(base, "min_mig", columns)
        n_ours = len(columns[: ours + 1])
        rows[f"evenkeel, θ_max = {goal:g}"] = _routes_after(base, "evenkeel", columns[:n_ours]) + [
            math.nan
        ] * (len(columns) - n_ours)
    return [Grid(measure=ROUTES, axis="number of adjustments", columns=[f"{n}" for n in columns], rows=rows)]


def _routes_after(windows: Windows, method: str, counts: Sequence[int]) -> list[float]:
    table = Table.of(windows.workload, n_slots=N_SLOTS)
    routes = []
    for adjustment in range(1, counts[-1] + 1):
        table.drift()
        outcome = take_window(table, windows.budgets, method)
        if adjustment in counts:
            routes.append(float(outcome.n_routes))
    return routes


def figure_19(scale: Scale) -> list[Grid]:
    sizes = _pick(scale, (1, 5, 10, 15, 20), (1, 5, 20))
    points = [(f"{w}", _base(scale).changed(n_windows=w)) for w in sizes]
    return _grids("w", points, [MIGRATION], "", ("evenkeel", "mixed", "min_table", "min_mig"))


def _by_beta(scale: Scale, measure: str) -> list[Grid]:
    """MinMig over ten adjustments; our planner has no β and stands beside it."""
    betas = _pick(scale, (1.0, 1.25, 1.5, 1.75, 2.0), (1.0, 1.5, 2.0))
    n_windows = {"full": 10, "quick": 4, "tiny": 1}[scale]
    rows: dict[str, list[float]] = {}
    for drift, name in DRIFTS.items():
        windows = dataclasses.replace(_base(scale), n_windows=n_windows).changed(drift=drift)
        runs = [
            follow(windows, "min_mig", partial(plan_min_mig, options=MinMigOptions(beta=beta)))
            for beta in betas
        ]
        rows[f"min_mig, {name}"] = [MEASURES[measure](run) for run in runs]
        rows[f"evenkeel, {name}"] = [MEASURES[measure](follow(windows, "evenkeel"))] * len(betas)
    return [Grid(measure=measure, axis="β", columns=[f"{beta:g}" for beta in betas], rows=rows)]


def figure_20(scale: Scale) -> list[Grid]:
    return _by_beta(scale, ROUTES)


def figure_21(scale: Scale) -> list[Grid]:
    return _by_beta(scale, MIGRATION)


def same_requests(scale: Scale) -> list[Grid]:
    """Both planners on one and the same request, window after window, following the placements of either."""
    rates = _pick(scale, (0.2, 1.0), (0.2, 1.0))
    rows = {}
    for f, (drift, name), leader in product(rates, DRIFTS.items(), ("mixed", "evenkeel")):
        windows = _base(scale).changed(fluctuation=f, drift=drift)
        rows[f"f = {f:g}, {name}, from {leader}'s placements"] = compare_on_same(windows, leader)
    columns = [f"{window}" for window in range(1, _base(scale).n_windows + 1)]
    return [Grid(measure="migration of evenkeel over Mixed's", axis="window", columns=columns, rows=rows)]


FIGURES: dict[int, Callable[[Scale], list[Grid]]] = {
    7: figure_7, 8: figure_8, 9: figure_9, 10: figure_10, 11: figure_11, 12: figure_12, 17: figure_17, 18: figure_18, 19: figure_19,
    20: figure_20, 21: figure_21,
}  # fmt: skip

EXPERIMENTS = [
    Experiment(name=f"fang-{number}", measure=measure, words=WORDS[number])
    for number, measure in FIGURES.items()
]
EXPERIMENTS.append(Experiment(name="fang-same", measure=same_requests, words=SAME_REQUESTS))
