"""Gedik's Algorithms 2 to 4, loop by loop and slow, with the readings of their gaps: what the planners must equal."""

import math

import numpy as np

SLACK = 1e-9  # gains closer than this are ties, as the planner says


def is_less(one, other):
    return one < other if math.isinf(other) else one < other - 1e-12 * abs(other)


class Reference:
    """One request under one utility, its resources given as functions, its tolerated deviation as one number."""

    def __init__(self, request, *, utility="U_APM", functions=(lambda x: x,), theta=None, background=None):
        self.cost, self.state = request.cost.tolist(), request.state.tolist()
        self.old, self.start = request.owner.tolist(), request.start.tolist()
        self.n_buckets, self.n_items = request.n_buckets, request.n_items
        self.functions, self.utility_name = functions, utility
        self.theta = max(request.budgets.max_imbalance if theta is None else theta, 1e-6)
        self.background = background or [[0.0] * self.n_buckets for _ in functions]

    def rho(self, mapping):
        """Eq. 19, 20 for a mapping {item: bucket}."""
        penalties = []
        for function, background in zip(self.functions, self.background, strict=True):
            load = list(background)
            for item, bucket in mapping.items():
                load[bucket] += function(self.cost[item])
            mean = sum(load) / self.n_buckets
            spread = max(load) - min(load)
            penalties.append(0.0 if spread <= 1e-12 * mean else spread / (self.theta * mean))
        return math.prod(penalties) ** (1 / len(penalties))

    def gamma(self, mapping):
        """Eq. 18 with nothing that is not tracked any more."""
        ideal = sum(self.state) / self.n_buckets
        moved = sum(self.state[item] for item, bucket in mapping.items() if bucket != self.old[item])
        return moved / ideal if ideal > 0 else 0.0

    def utility(self, mapping):
        rho, gamma = self.rho(mapping), self.gamma(mapping)
        return {
            "U_A": rho,
            "U_APM": rho + gamma,
            "U_APLM": rho + math.log(1 + gamma),
            "U_ATM": rho * (1 + gamma),
            "U_ATLM": rho * (1 + math.log(1 + gamma)),
        }[self.utility_name]

    def best_bucket(self, mapping, item):
        """The inner loop of Alg. 2 and 3; where the item starts is looked at first."""
        best, least = None, math.inf
        for bucket in [self.start[item], *range(self.n_buckets)]:
            utility = self.utility({**mapping, item: bucket})
            if best is None or is_less(utility, least):
                best, least = bucket, utility
        return best, least

    def scan(self):
        mapping = {}
        for item in sorted(range(self.n_items), key=lambda item: -self.cost[item]):
            mapping[item] = self.best_bucket(mapping, item)[0]
        return self.as_list(mapping)

    def redist(self):
        mapping, waiting = {}, list(range(self.n_items))
        while waiting:
            chosen, chosen_bucket, least = None, None, math.inf
            for item in waiting:
                bucket, utility = self.best_bucket(mapping, item)
                per_cost = utility / self.cost[item] if self.cost[item] > 0 else math.inf
                if chosen is None or is_less(per_cost, least):
                    chosen, chosen_bucket, least = item, bucket, per_cost
            mapping[chosen] = chosen_bucket
            waiting.remove(chosen)
        return self.as_list(mapping)

    def readj(self, start, *, n_rounds=10_000):
        mapping = dict(enumerate(start))
        for _ in range(n_rounds):
            best, most, slack = None, -math.inf, 0.0
            rho, utility = self.rho(mapping), self.utility(mapping)
            for change, shifted in self.readjustments(mapping):
                after = {**mapping, **change}
                if self.rho(after) >= rho * (1 - SLACK):
                    continue
                gain = (utility - self.utility(after)) / shifted
                noise = SLACK * abs(gain) + 1e-14 * utility / shifted
                if best is None or gain > most + slack + noise:
                    best, most, slack = change, gain, noise
            if best is None:
                break
            mapping.update(best)
        return self.as_list(mapping)

    def readjustments(self, mapping):
        """All moves, then all swaps, by source, target, item and partner, with |f(d1) - f(d2)|."""
        pairs = [(i, j) for i in range(self.n_buckets) for j in range(self.n_buckets) if i != j]
        for i, j in pairs:
            for item in self.items_in(mapping, i):
                if self.cost[item] > 0:
                    yield {item: j}, self.cost[item]
        for i, j in pairs:
            for item in self.items_in(mapping, i):
                for partner in self.items_in(mapping, j):
                    if self.cost[item] != self.cost[partner]:
                        yield {item: j, partner: i}, abs(self.cost[item] - self.cost[partner])

    def items_in(self, mapping, bucket):
        return [item for item in range(self.n_items) if mapping[item] == bucket]

    def as_list(self, mapping):
        return np.array([mapping[item] for item in range(self.n_items)], dtype=np.int64).tolist()
