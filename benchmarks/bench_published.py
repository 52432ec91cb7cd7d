"""
Time and quality of every planner on every key, as ratios: ``python -m benchmarks.bench_published [--quick] [--json FILE]``.

Time is the best of a few runs over the best of a few ``np.argsort(cost, kind="stable")`` of the same array in the same
process. Migration is over the lower bound for a plan as even as that one. Memory is the peak that one run allocates, in
bytes a key, the request aside.
"""

import argparse
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.workloads import Drift, Workload, drifted_request
from partitioning.bounds import bound_imbalance
from partitioning.budgets import Budgets
from partitioning.measures import count_routes, load_per_bucket, overload
from partitioning.plan import Plan
from partitioning.planners import PLANNERS
from partitioning.planners.gedik_state import GedikOptions
from partitioning.planners.mixed_compact import plan_on_statistics, summarise_request
from partitioning.planners.readj import ReadjOptions
from partitioning.request import PlanRequest
from partitioning.tracking.compact import CompactStatistics

KEYS = (10_000, 100_000, 1_000_000)
BUCKETS = (10, 40)
BUDGETS = Budgets(max_imbalance=0.08, max_routes=3_000)

# Not meant for every key of a large table: these place the heaviest keys, and the rest is load that stays.
TRACKING: dict[str, type[GedikOptions]] = {
    "scan": GedikOptions,
    "redist": GedikOptions,
    "readj": ReadjOptions,
}
N_TRACKED = 300
# One round of Mixed for each route there is: tried no further than this many keys.
MAX_KEYS = {"mixed_bf": 10_000}

GIVEN = "mixed_compact, statistics given"

MAX_MIXED_TIME = 10.0  # goal at 10^6 keys, in argsorts
MAX_BYTES_A_KEY = 200.0

Run = Callable[[PlanRequest], Plan]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One planner on one request."""

    n_keys: int
    n_buckets: int
    drift: Drift
    planner: str
    time: float  # in argsorts
    theta: float
    migration: float | None  # over the bound; None where nothing had to move
    n_routes: int
    bytes_a_key: float


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="bursts only, fewer repetitions: about a minute")
    parser.add_argument("--json", type=Path, help="also keep the figures in this file")
    args = parser.parse_args(argv)
    drifts: tuple[Drift, ...] = ("hot",) if args.quick else ("hot", "literal")

    rows = list(_measure_all(drifts, repeat=2 if args.quick else 5))
    _print_goals(rows)
    if args.json:
        args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def _measure_all(drifts: tuple[Drift, ...], *, repeat: int) -> Iterator[Row]:
    print(
        f"θ_max = {BUDGETS.max_imbalance}, A_max = {BUDGETS.max_routes}, state = the last 5 windows, Zipf 0.85"
    )
    for n_keys, n_buckets, drift in product(KEYS, BUCKETS, drifts):
        bench = Bench(Workload(n_keys=n_keys, n_buckets=n_buckets, drift=drift), repeat=repeat)
        bench.print_header()
        for name, run in _runs(bench.request):
            if n_keys > MAX_KEYS.get(name, n_keys):
                print(
                    f"  {name:<32}  cut off above {MAX_KEYS[name]:,} keys: one round of Mixed for every route"
                )
                continue
            row = bench.measure(name, run)
            print(_line(row))
            yield row


def _runs(request: PlanRequest) -> Iterator[tuple[str, Run]]:
    """Every planner, those of Gedik on the keys they would track, and Mixed on statistics that exist already."""
    for name, planner in PLANNERS.items():
        if name in TRACKING:
            yield f"{name}, {N_TRACKED} heaviest tracked", partial(_plan_tracked, name)
        else:
            yield name, planner
    yield GIVEN, partial(_plan_given, summarise_request(request, degree=8))


def _plan_given(statistics: CompactStatistics, request: PlanRequest) -> Plan:
    """What the paper times (Fig. 11): the controller plans on what buckets reported, and picks the real keys."""
    return plan_on_statistics(request, statistics)


def _plan_tracked(name: str, request: PlanRequest) -> Plan:
    """The planner on the heaviest keys; all other keys stay, as load it cannot change."""
    is_tracked = np.zeros(request.n_items, dtype=np.bool_)
    is_tracked[np.argsort(-request.cost, kind="stable")[:N_TRACKED]] = True
    background = load_per_bucket(request.cost[~is_tracked], request.owner[~is_tracked], request.n_buckets)
    tracked = PlanRequest.of_keys(
        cost=request.cost[is_tracked],
        state=request.state[is_tracked],
        owner=request.owner[is_tracked],
        home=request.home[is_tracked],
        n_buckets=request.n_buckets,
        budgets=request.budgets,
    )
    owner = request.owner.copy()
    owner[is_tracked] = PLANNERS[name](
        tracked, TRACKING[name](background_load=tuple(background.tolist()))
    ).owner
    return Plan(request=request, owner=owner, planner=name)


class Bench:
    """One request, and the argsort that is the unit of time."""

    def __init__(self, workload: Workload, *, repeat: int) -> None:
        self._workload = workload
        self._repeat = repeat
        self.request = drifted_request(workload, BUDGETS)
        self._argsort = self._best_time(lambda: np.argsort(self.request.cost, kind="stable"))

    def print_header(self) -> None:
        request, workload = self.request, self._workload
        theta = overload(load_per_bucket(request.cost, request.owner, request.n_buckets))
        print(
            f"\nK = {workload.n_keys:,}, N = {workload.n_buckets}, drift {workload.drift}: θ {theta:.3f} before"
            f" (bound {bound_imbalance(request.cost, request.n_buckets):.3f}),"
            f" {count_routes(request, request.owner):,} routes, argsort {self._argsort * 1e3:.1f} ms"
        )
        print(f"  {'planner':<32} {'time':>9} {'θ':>8} {'migration':>10} {'routes':>8} {'bytes/key':>10}")

    def measure(self, name: str, run: Run) -> Row:
        plan, peak = self._trace(run)
        bound = plan.bounds.migration
        return Row(
            n_keys=self._workload.n_keys,
            n_buckets=self._workload.n_buckets,
            drift=self._workload.drift,
            planner=name,
            time=self._best_time(lambda: run(self.request)) / self._argsort,
            theta=plan.imbalance,
            migration=plan.migration / bound if bound > 0 else None,
            n_routes=plan.n_routes,
            bytes_a_key=peak / self._workload.n_keys,
        )

    def _best_time(self, work: Callable[[], object]) -> float:
        """Seconds, the best of a few runs; one run if that takes a second or more."""
        times: list[float] = []
        while len(times) < self._repeat and (not times or times[-1] < 1.0):
            began = time.perf_counter()
            work()
            times.append(time.perf_counter() - began)
        return min(times)

    def _trace(self, run: Run) -> tuple[Plan, int]:
        """The plan, and the most bytes that were allocated at once on the way to it."""
        tracemalloc.start()
        plan = run(self.request)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return plan, peak


def _line(row: Row) -> str:
    migration = "-" if row.migration is None else f"{row.migration:.2f}x"
    return (
        f"  {row.planner:<32} {row.time:>8.2f}x {row.theta:>8.4f} {migration:>10}"
        f" {row.n_routes:>8,} {row.bytes_a_key:>10.0f}"
    )


def _print_goals(rows: list[Row]) -> None:
    """What was hoped for at 10^6 keys, beside what was measured; the worst of all settings counts."""
    large = [row for row in rows if row.n_keys == max(KEYS)]
    times = {
        name: [row.time for row in large if row.planner == name] for name in ("mixed", "mixed_compact", GIVEN)
    }
    heaviest = max(large, key=lambda row: row.bytes_a_key)
    print(f"\nGoals at {max(KEYS):,} keys")
    print(f"  mixed at most {MAX_MIXED_TIME:.0f}x: {max(times['mixed']):.2f}x at worst")
    for name in (GIVEN, "mixed_compact"):
        versus = ", ".join(
            f"{compact:.2f}x / {mixed:.2f}x"
            for compact, mixed in zip(times[name], times["mixed"], strict=True)
        )
        print(f"  {name} faster than mixed: {versus}")
    print(
        f"  memory at most {MAX_BYTES_A_KEY:.0f} bytes a key:"
        f" {heaviest.bytes_a_key:.0f} at worst ({heaviest.planner})"
    )


if __name__ == "__main__":
    main()
