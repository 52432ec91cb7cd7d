"""Mixed on compact statistics: thousands of records instead of a million keys (Fang et al., Sec. IV-A)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import count_routes, home_after
from partitioning.plan import Plan
from partitioning.planners.fang_phases import check_beta, largest_gamma_first
from partitioning.planners.llfd_records import Pieces, balance_records
from partitioning.planners.mixed import clean_until_it_fits
from partitioning.request import PlanRequest
from partitioning.tracking.compact import CompactStatistics, summarise
from partitioning.tracking.hlhe import check_degree


@dataclass(frozen=True, kw_only=True)
class MixedCompactOptions:
    """``beta`` as for Mixed; ``degree`` is R of the discretisation: larger gives fewer records and coarser loads."""

    beta: float = 1.5
    degree: int = 8  # what the paper measured as ten times faster at little loss (Fig. 11)

    def __post_init__(self) -> None:
        check_beta("MixedCompactOptions.beta", self.beta)
        check_degree("MixedCompactOptions.degree", self.degree)


DEFAULTS = MixedCompactOptions()


def plan_mixed_compact(request: PlanRequest, options: MixedCompactOptions = DEFAULTS) -> Plan:
    """
    Mixed, planned on compact statistics and carried out on the items.

    Loads are known only up to the discretisation, so θ may end above θ_max by its error: measured on drifting Zipf
    windows, up to 0.3 % of the mean at N = 10 and 1.3 % at N = 40 with R = 8; more with larger R.
    """
    statistics = summarise_request(request, degree=options.degree)
    return plan_on_statistics(request, statistics, beta=options.beta)


def summarise_request(request: PlanRequest, *, degree: int) -> CompactStatistics:
    """What the buckets would report (Fig. 5, step 1)."""
    home = home_after(request, request.start)
    return summarise(cost=request.cost, state=request.state, bucket=request.start, home=home, degree=degree)


def plan_on_statistics(
    request: PlanRequest, statistics: CompactStatistics, *, beta: float = DEFAULTS.beta
) -> Plan:
    """The same from statistics that exist already: they must be those of this request."""
    rounds = _Rounds(request, statistics, beta=beta)
    pieces = clean_until_it_fits(rounds, request.budgets.route_limit())
    return Plan(request=request, owner=rounds.owner_of(pieces), planner="mixed_compact")


class _Rounds:
    """The answer for each n, in pieces of records."""

    def __init__(self, request: PlanRequest, statistics: CompactStatistics, *, beta: float) -> None:
        self._request = request
        self._statistics = statistics
        self._record_psi = largest_gamma_first(statistics.cost, statistics.state, beta=beta)
        self._item_psi = largest_gamma_first(request.cost, request.state, beta=beta)
        routed = np.flatnonzero(statistics.bucket != statistics.home)
        self._routed = routed[np.argsort(statistics.state[routed], kind="stable")]  # η: smallest state first

    @property
    def n_routed(self) -> int:
        return int(self._statistics.count[self._routed].sum())

    def run(self, n_cleaned: int) -> Pieces:
        """Phases I to III with the routes of ``n_cleaned`` items removed first."""
        return balance_records(
            self._statistics,
            self._cleaned(n_cleaned),
            self._record_psi,
            n_buckets=self._request.n_buckets,
            max_imbalance=self._request.budgets.max_imbalance,
        )

    def _cleaned(self, n_cleaned: int) -> Pieces:
        """Phase I: d' becomes d_h for ``n_cleaned`` items of routed records, the last record split."""
        statistics, count = self._statistics, self._statistics.count
        ends = np.cumsum(count[self._routed])
        n_sent = np.clip(n_cleaned - (ends - count[self._routed]), 0, count[self._routed])
        kept = count.copy()
        kept[self._routed] -= n_sent
        sent = {
            (r, int(statistics.home[r])): n
            for r, n in zip(self._routed.tolist(), n_sent.tolist(), strict=True)
        }
        return Pieces(np.arange(count.size), statistics.bucket, kept).with_added(sent)

    def n_routes(self, pieces: Pieces) -> int:
        """Routes of an answer. Where slots move, homes move with them: then only the items can tell."""
        if self._request.has_slots:
            return count_routes(self._request, self.owner_of(pieces))
        return int(pieces.count[pieces.bucket != self._statistics.home[pieces.record]].sum())

    def owner_of(self, pieces: Pieces) -> NDArray[np.int64]:
        """
        The pieces carried out on items (Sec. IV-A, Phase III): the largest gamma of a record leaves first.

        Those that leave fill the record's new buckets in ascending order. Records that stay whole keep their items.
        """
        owner = self._request.start.copy()
        leaves = pieces.bucket != self._statistics.bucket[pieces.record]
        is_split = np.zeros(self._statistics.n_records, dtype=np.bool_)
        is_split[pieces.record[leaves]] = True
        items = np.flatnonzero(is_split[self._statistics.record_of])
        by_record = np.lexsort((-self._priority(items), self._statistics.record_of[items]))
        concerned = np.flatnonzero(is_split[pieces.record])
        order = concerned[
            np.lexsort((pieces.bucket[concerned], ~leaves[concerned], pieces.record[concerned]))
        ]
        owner[items[by_record]] = np.repeat(pieces.bucket[order], pieces.count[order])
        return owner

    def _priority(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        """Gamma of the items; those without cost, which only cleaning moves, come by position."""
        priority = np.zeros(items.size)
        costly = np.flatnonzero(self._request.cost[items] > 0)
        priority[costly] = self._item_psi(items[costly])
        return priority
