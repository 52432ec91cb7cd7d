"""
Mixed: MinTable's cleaning, as much of it as the table needs, and MinMig's selection (Fang et al., Sec. III-C, Alg. 4).

Objective (Eq. 3): the least migration with θ at most θ_max and at most A_max routes. The only freedom is n, how many
routes are cleaned first: n = 0 is MinMig, n = N_A starts where MinTable starts.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from partitioning.measures import count_routes
from partitioning.plan import Plan
from partitioning.planners.fang_phases import Board, Selection, check_beta, largest_gamma_first, send_home
from partitioning.planners.llfd import balance
from partitioning.request import PlanRequest


@dataclass(frozen=True, kw_only=True)
class MixedOptions:
    """``beta`` weighs cost against state in gamma = c^β / S: larger moves fewer, heavier items (Fig. 20, 21)."""

    beta: float = 1.5  # what the paper settles on (Appendix)

    def __post_init__(self) -> None:
        check_beta("MixedOptions.beta", self.beta)


DEFAULTS = MixedOptions()


Answer = TypeVar("Answer")


class Rounds(Protocol[Answer]):
    """What Mixed repeats with more and more routes cleaned."""

    @property
    def n_routed(self) -> int: ...
    def run(self, n_cleaned: int) -> Answer: ...
    def n_routes(self, answer: Answer) -> int: ...


class KeyRounds:
    """The answer for each n, item by item: the n smallest routes cleaned, then balanced by gamma."""

    def __init__(self, request: PlanRequest, *, beta: float) -> None:
        self._request = request
        self._board = Board.of(request)
        self._psi: Selection = largest_gamma_first(request.cost, request.state, beta=beta)
        self._routed = _by_state(request, self._board.home)

    @property
    def n_routed(self) -> int:
        """N_A: the routes there are before the plan."""
        return self._routed.size

    def run(self, n_cleaned: int) -> NDArray[np.int64]:
        """One round of Alg. 4 (lines 6-9): Phases I to III with ``n_cleaned`` routes removed first."""
        cleaned = send_home(self._request.start, self._board.home, self._routed[:n_cleaned])
        return balance(self._board, cleaned, self._psi)

    def n_routes(self, owner: NDArray[np.int64]) -> int:
        """Routes of a placement, counted from the final owners: a slot that moved takes its keys' homes along."""
        if self._request.has_slots:
            return count_routes(self._request, owner)
        return int(np.count_nonzero(owner != self._board.home))


def plan_mixed(request: PlanRequest, options: MixedOptions = DEFAULTS) -> Plan:
    """
    Clean as few routes as the table allows, and move what sheds the most cost for the least state.

    Without a limit on routes, or where MinMig's table fits, this is MinMig. Each further round cleans as many
    routes more as the last table was too long (n is cumulative, at most N_A). If no n fits, the answer is the
    shortest table found, the least cleaned of equals, and it may exceed ``max_routes``.
    """
    owner = clean_until_it_fits(KeyRounds(request, beta=options.beta), request.budgets.route_limit())
    return Plan(request=request, owner=owner, planner="mixed")


def clean_until_it_fits(rounds: Rounds[Answer], a_max: float) -> Answer:
    """
    The loop of Alg. 4 (lines 5-11): the first answer with at most ``a_max`` routes, or the shortest table.

    Line 10 is read as cumulative: the last overuse alone can repeat an n for ever. At most N_A + 1 rounds; a few
    in practice.
    """
    n_cleaned, answer = 0, rounds.run(0)
    n_routes = rounds.n_routes(answer)
    best, fewest = answer, n_routes
    while n_routes > a_max and n_cleaned < rounds.n_routed:
        n_cleaned = min(n_cleaned + int(n_routes - a_max), rounds.n_routed)
        answer = rounds.run(n_cleaned)
        n_routes = rounds.n_routes(answer)
        if n_routes < fewest:
            best, fewest = answer, n_routes
    return best


def _by_state(request: PlanRequest, home: NDArray[np.int64]) -> NDArray[np.int64]:
    """η (Alg. 4, line 1): the items of the routing table, the smallest state first, ties by position."""
    routed = np.flatnonzero(request.start != home)
    return routed[np.argsort(request.state[routed], kind="stable")]
