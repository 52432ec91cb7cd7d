"""Gedik, *Partitioning functions for stateful data parallelism in stream processing*, VLDB Journal 2014: Fig. 3 to 14."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from benchmarks.papers.gedik_domain import Setting
from benchmarks.papers.gedik_growth import METHODS, SEES_ALL, Grown, grow
from benchmarks.papers.gedik_words import TOLERANCE, WORDS
from benchmarks.papers.sheets import Experiment, Grid, Scale
from benchmarks.papers.yardstick import NAME, in_sorts
from partitioning.tracking.delta import frequency_threshold
from partitioning.tracking.lossy_counting import LossyCounter, counting_error

PLANNERS = ("evenkeel", "readj", "redist", "scan")
WITHOUT_VARIANT = tuple(method for method in METHODS if not method.endswith(SEES_ALL))

MIGRATION, BALANCE, THETA = "relative migration m", "relative imbalance b", "θ of traffic"
MEASURES: dict[str, Callable[[Grown], float]] = {
    MIGRATION: lambda grown: grown.migration,
    BALANCE: lambda grown: grown.balance,
    THETA: lambda grown: grown.theta,
}
TIME = f"construction time, in {NAME}"
ENTRIES, MAPPINGS, ROUTES = "entries of the lossy counter", "keys tracked", "routes of evenkeel"

Point = tuple[str, Setting]  # what the axis shows, and the setting there


def _seeds(scale: Scale) -> range:
    return range({"full": 2, "quick": 1, "tiny": 1}[scale])


def _base(scale: Scale) -> Setting:
    return Setting(n_keys=3_000, n_channels=3) if scale == "tiny" else Setting()


def _pick(scale: Scale, full: Sequence[float], quick: Sequence[float]) -> Sequence[float]:
    return {"full": full, "quick": quick, "tiny": quick[:2]}[scale]


def _grid(
    measure: str, axis: str, points: Iterable[Point], cells: dict[str, Callable[[Setting], float]]
) -> Grid:
    points = list(points)
    return Grid(
        measure=measure,
        axis=axis,
        columns=[label for label, _ in points],
        rows={name: [cell(setting) for _, setting in points] for name, cell in cells.items()},
    )


def _averages(
    scale: Scale, axis: str, points: Sequence[Point], measures: dict[str, Callable[[Grown], float]],
    methods: Sequence[str] = METHODS,
) -> list[Grid]:  # fmt: skip
    """A grid a measure, averaged over the seeds; runs are shared between them."""

    def cell(method: str, read: Callable[[Grown], float]) -> Callable[[Setting], float]:
        return lambda setting: fmean(read(grow(setting, method, seed)) for seed in _seeds(scale))

    return [
        _grid(measure, axis, points, {method: cell(method, read) for method in methods})
        for measure, read in measures.items()
    ]


def _named(grids: Iterable[Grid], suffix: str) -> list[Grid]:
    return [replace(grid, measure=f"{grid.measure}, {suffix}") for grid in grids]


def figure_3(scale: Scale) -> list[Grid]:
    """The five spokes of the radar charts, for every combination of resource functions."""
    grids = []
    spokes: dict[str, Callable[[Grown], float]] = {
        "m": lambda grown: grown.migration,
        "b": lambda grown: grown.balance,
        "b of state": lambda grown: grown.balances[0],
        "b of computation": lambda grown: grown.balances[1],
        "b of traffic": lambda grown: grown.balances[2],
        "θ": lambda grown: grown.theta,
    }
    for resources in ("CCL", "LCL", "LLL", "LQL"):
        setting = replace(_base(scale), resources=resources)
        rows = {
            method: [
                fmean(read(grow(setting, method, seed)) for seed in _seeds(scale)) for read in spokes.values()
            ]
            for method in METHODS
        }
        grids.append(Grid(measure=resources, axis="spoke", columns=list(spokes), rows=rows))
    return grids


def figure_4(scale: Scale) -> list[Grid]:
    grids = []
    ranges = {
        "LCL": _pick(scale, (0.1, 0.4, 0.6, 0.8, 0.9, 1.0), (0.4, 0.8, 1.0)),
        "LLL": _pick(scale, (0.1, 0.4, 0.6, 0.8, 0.9, 1.0), (0.4, 0.8, 1.0)),
        "LQL": _pick(scale, (0.25, 0.4, 0.5), (0.25, 0.5)),
    }
    for resources, skews in ranges.items():
        points = [(f"{z:g}", replace(_base(scale), resources=resources, zipf=z)) for z in skews]
        # The plans of LCL are those of LLL: only b differs.
        measures = {BALANCE: MEASURES[BALANCE]} if resources == "LCL" else MEASURES
        grids += _named(_averages(scale, "z", points, measures), resources)
    return grids


def figure_5(scale: Scale) -> list[Grid]:
    grids = []
    scalers = _pick(scale, (0.008, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0), (0.05, 0.1, 0.5, 1.0))
    for resources in ("LCL", "LQL"):
        points = [
            (f"{sigma:g}", replace(_base(scale), resources=resources, sigma=sigma)) for sigma in scalers
        ]
        grids += _named(_averages(scale, "σ", points, MEASURES, WITHOUT_VARIANT), resources)
    return grids


def _channel_points(scale: Scale) -> list[Point]:
    counts = {"full": (2, 4, 8, 12, 16, 20, 24, 32), "quick": (2, 4, 8, 12), "tiny": (2, 3)}[scale]
    return [(f"{count}", replace(_base(scale), n_channels=count)) for count in counts]


def figure_6(scale: Scale) -> list[Grid]:
    return _averages(scale, "N", _channel_points(scale), MEASURES)


def figure_7(scale: Scale) -> list[Grid]:
    """Our planner has no utility function: one and the same run stands beside all of them."""
    grids = []
    utilities = ("U_A", "U_APM", "U_APLM", "U_ATM", "U_ATLM")
    for resources in ("LCL", "LQL") if scale == "full" else ("LCL",):
        for method in ("readj", "redist"):
            points = [(name, replace(_base(scale), resources=resources, utility=name)) for name in utilities]
            measures = {measure: MEASURES[measure] for measure in (MIGRATION, BALANCE)}
            grids += _named(
                _averages(scale, "utility", points, measures, (method, "evenkeel")), f"{method}, {resources}"
            )
    return grids


def figure_8(scale: Scale) -> list[Grid]:
    sizes = {
        "full": (10**4, 10**5, 10**6, 10**7, 10**8),
        "quick": (10**4, 10**5, 10**6),
        "tiny": (1_000, 3_000),
    }[scale]
    points = [(f"{size:.0e}", replace(_base(scale), n_keys=size)) for size in sizes]
    return _averages(scale, "|D|", points, MEASURES, WITHOUT_VARIANT)


def tolerance(scale: Scale) -> list[Grid]:
    """Of Table 1, the parameter that has no figure."""
    alphas = _pick(scale, (1.05, 1.1, 1.2, 1.5, 2.0, 4.0), (1.1, 1.2, 2.0))
    points = [(f"{alpha:g}", replace(_base(scale), alpha=alpha)) for alpha in alphas]
    return _averages(scale, "α", points, MEASURES, WITHOUT_VARIANT)


def _function_size(scale: Scale, axis: str, points: dict[str, list[Point]]) -> list[Grid]:
    """Entries of the counter after a stream of tuples, keys tracked, and what our planner needs of them."""
    columns = [label for label, _ in next(iter(points.values()))]
    entries = {name: [_count_entries(setting, scale) for _, setting in line] for name, line in points.items()}
    tracked = {
        name: [float(grow(setting, "scan", 0).n_tracked) for _, setting in line]
        for name, line in points.items()
    }
    routes = {
        name: [float(grow(setting, "evenkeel", 0).n_routes) for _, setting in line]
        for name, line in points.items()
    }
    return [
        Grid(measure=measure, axis=axis, columns=columns, rows=rows)
        for measure, rows in ((ENTRIES, entries), (MAPPINGS, tracked), (ROUTES, routes))
    ]


def _count_entries(setting: Setting, scale: Scale) -> float:
    """After ten and a half windows of the counter, in the middle between two evictions; shorter forms stop earlier."""
    delta = frequency_threshold(
        n_buckets=setting.n_channels,
        n_keys=setting.n_keys,
        resources=setting.resource_names,
        alpha=setting.alpha,
        sigma=setting.sigma,
    )
    counter = LossyCounter(counting_error(delta))
    most = {"full": math.inf, "quick": 1_000_000, "tiny": 20_000}[scale]
    weight = np.cumsum(np.arange(1, setting.n_keys + 1, dtype=np.float64) ** -setting.zipf)
    rng = np.random.default_rng(0)
    left = int(min(most, 10 * counter.window + counter.window // 2))
    while left > 0:
        n_tuples = min(left, 1_000_000)
        counter.add(np.searchsorted(weight, rng.random(n_tuples) * weight[-1]))
        left -= n_tuples
    return float(counter.n_entries)


def figure_9(scale: Scale) -> list[Grid]:
    scalers = _pick(scale, (0.008, 0.01, 0.02, 0.1, 0.25, 1.0), (0.05, 0.1, 1.0))
    return _function_size(scale, "σ", {
        resources: [(f"{sigma:g}", replace(_base(scale), resources=resources, sigma=sigma)) for sigma in scalers]
        for resources in ("LCL", "LQL")
    })  # fmt: skip


def figure_10(scale: Scale) -> list[Grid]:
    skews = _pick(scale, (0.1, 0.5, 0.8, 1.0), (0.5, 1.0))
    return _function_size(scale, "z", {
        resources: [(f"{z:g}", replace(_base(scale), resources=resources, zipf=z)) for z in skews]
        for resources in ("LCL", "LQL")
    })  # fmt: skip


def figure_11(scale: Scale) -> list[Grid]:
    return _function_size(scale, "N", {"LCL": _channel_points(scale)})


def _times(scale: Scale, axis: str, points: Sequence[Point]) -> list[Grid]:
    return _averages(scale, axis, points, {TIME: lambda grown: in_sorts(grown.seconds)}, PLANNERS)


def figure_12(scale: Scale) -> list[Grid]:
    scalers = _pick(scale, (0.008, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0), (0.05, 0.1, 1.0))
    return _times(scale, "σ", [(f"{sigma:g}", replace(_base(scale), sigma=sigma)) for sigma in scalers])


def figure_13(scale: Scale) -> list[Grid]:
    return _times(scale, "N", _channel_points(scale))


def figure_14(scale: Scale) -> list[Grid]:
    skews = _pick(scale, (0.1, 0.4, 0.6, 0.8, 0.9, 1.0), (0.4, 0.8, 1.0))
    return _times(scale, "z", [(f"{z:g}", replace(_base(scale), zipf=z)) for z in skews])


FIGURES: dict[int, Callable[[Scale], list[Grid]]] = {
    3: figure_3, 4: figure_4, 5: figure_5, 6: figure_6, 7: figure_7, 8: figure_8, 9: figure_9, 10: figure_10, 11: figure_11,
    12: figure_12, 13: figure_13, 14: figure_14,
}  # fmt: skip

EXPERIMENTS = [
    Experiment(name=f"gedik-{number}", measure=measure, words=WORDS[number])
    for number, measure in FIGURES.items()
]
EXPERIMENTS.append(Experiment(name="gedik-alpha", measure=tolerance, words=TOLERANCE))
