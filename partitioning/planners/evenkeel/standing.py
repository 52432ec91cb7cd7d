"""A placement while it is being polished: loads, what has moved, and routes, kept up to date move by move."""

import numpy as np

from partitioning.planners.evenkeel.problem import NOWHERE, Flags, Floats, Integers, Problem


class Standing:
    """Where each unit is, what each bucket holds, and how much of the two budgets is left."""

    def __init__(self, problem: Problem, owner: Integers, *, max_moved: float, max_routes: float) -> None:
        self.problem = problem
        self.owner = owner.copy()
        self.load = problem.load(owner)
        every = np.arange(problem.n_items)
        self.state_left = max_moved - float(self.state_at(every, owner).sum())
        self.routes_left = max_routes - float(self.routes_at(every, owner).sum())

    @property
    def level(self) -> Floats:
        """Each bucket's load in fair shares."""
        return np.asarray((self.load + self.problem.fixed) / self.problem.share)

    def state_at(self, units: Integers, buckets: Integers) -> Floats:
        """What counts as moved if these units are in these buckets."""
        origin = self.problem.origin[units]
        return np.where((buckets != origin) & (origin != NOWHERE), self.problem.state[units], 0.0)

    def routes_at(self, units: Integers, buckets: Integers) -> Floats:
        """Routes if these units are in these buckets: a slot away from its origin leaves keys behind."""
        problem = self.problem
        left = np.where(buckets != problem.origin[units], problem.left_behind[units], 0.0)
        away = np.where(buckets != problem.home[units], 1.0, 0.0)
        return np.where(problem.is_slot[units], left, away)

    def state_added(self, units: Integers, buckets: Integers) -> Floats:
        return np.asarray(self.state_at(units, buckets) - self.state_at(units, self.owner[units]))

    def routes_added(self, units: Integers, buckets: Integers) -> Floats:
        return np.asarray(self.routes_at(units, buckets) - self.routes_at(units, self.owner[units]))

    def is_allowed(self, units: Integers, buckets: Integers) -> Flags:
        """Whether no rule bars these units from these buckets."""
        barred = self.problem.is_barred
        return (
            np.ones(np.broadcast(units, buckets).shape, dtype=np.bool_)
            if barred is None
            else ~barred[units, buckets]
        )

    def move(self, unit: int, bucket: int) -> None:
        """Makes one move; loads and what is left of the budgets follow."""
        one, there = np.array([unit]), np.array([bucket])
        self.state_left -= float(self.state_added(one, there)[0])
        self.routes_left -= float(self.routes_added(one, there)[0])
        self.load[self.owner[unit]] -= self.problem.cost[unit]
        self.load[bucket] += self.problem.cost[unit]
        self.owner[unit] = bucket
