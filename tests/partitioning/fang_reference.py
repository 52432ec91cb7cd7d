"""
Fang et al., Alg. 1 to 4, word for word: exact fractions, lists, no thought for speed. What the planners must equal.

Costs and states are whole numbers or floats that are exact; gamma is compared by its square, so β = 1.5 is exact.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

Psi = Callable[[int], object]  # smaller is taken first


class Reference:
    """One problem, and the three phases on it. ``where[k]`` is the bucket of key k, None while k is in C."""

    def __init__(
        self, *, cost: Sequence[float], state: Sequence[float], home: Sequence[int], n: int, theta: str
    ):
        self.cost = [Fraction(c) for c in cost]
        self.state = [Fraction(s) for s in state]
        self.home = list(home)
        self.n = n
        self.l_max = (1 + Fraction(theta)) * sum(self.cost, Fraction(0)) / n

    def cost_first(self, k: int) -> object:
        return (-self.cost[k], k)

    def gamma_first(self, k: int) -> object:
        """β = 1.5: gamma² = c³ / S²; S = 0 before everything."""
        if self.state[k] == 0:
            return (0, 0, k)
        return (1, -(self.cost[k] ** 3) / self.state[k] ** 2, k)

    def load(self, where: list[int | None], d: int) -> Fraction:
        return sum((self.cost[k] for k, at in enumerate(where) if at == d), Fraction(0))

    def prepare(self, where: list[int | None], psi: Psi) -> list[int | None]:
        """Phase II."""
        where = list(where)
        for d in range(self.n):
            for k in sorted((k for k, at in enumerate(where) if at == d and self.cost[k] > 0), key=psi):
                if self.load(where, d) <= self.l_max:
                    break
                where[k] = None
        return where

    def llfd(self, where: list[int | None], psi: Psi) -> list[int]:
        """Phase III, Alg. 1."""
        where = list(where)
        while None in where:
            k = min((k for k, at in enumerate(where) if at is None), key=self.cost_first)
            ascending = sorted(range(self.n), key=lambda d: (self.load(where, d), d))
            accepted = ascending[0]
            for d in ascending:
                exchanged = self.adjust(k, d, where, psi)
                if exchanged is not None:
                    for other in exchanged:
                        where[other] = None
                    accepted = d
                    break
            where[k] = accepted
        return where  # type: ignore[return-value]

    def adjust(self, k: int, d: int, where: list[int | None], psi: Psi) -> list[int] | None:
        """The keys that d must give up to take k, or None if it cannot."""
        after = self.load(where, d) + self.cost[k]
        if after <= self.l_max:
            return []
        exchanged: list[int] = []
        for other in sorted(
            (o for o, at in enumerate(where) if at == d and 0 < self.cost[o] < self.cost[k]), key=psi
        ):
            exchanged.append(other)
            after -= self.cost[other]
            if after <= self.l_max:
                return exchanged
        return None

    def balance(self, where: Sequence[int], psi: Psi) -> list[int]:
        return self.llfd(self.prepare(list(where), psi), psi)

    def routes(self, where: Sequence[int]) -> int:
        return sum(at != home for at, home in zip(where, self.home, strict=True))

    def routed_by_state(self, where: Sequence[int]) -> list[int]:
        return sorted(
            (k for k, at in enumerate(where) if at != self.home[k]), key=lambda k: (self.state[k], k)
        )

    def mixed_round(self, where: Sequence[int], n_cleaned: int) -> list[int]:
        cleaned = list(where)
        for k in self.routed_by_state(where)[:n_cleaned]:
            cleaned[k] = self.home[k]
        return self.balance(cleaned, self.gamma_first)

    def min_table(self) -> list[int]:
        return self.balance(self.home, self.cost_first)

    def mixed(self, where: Sequence[int], a_max: float) -> list[int]:
        """Alg. 4, n cumulative and capped; the shortest table, first found, if no n fits."""
        n_routed, n, answers = len(self.routed_by_state(where)), 0, []
        while True:
            answers.append(self.mixed_round(where, n))
            over = self.routes(answers[-1]) - a_max
            if over <= 0:
                return answers[-1]
            if n == n_routed:
                return min(answers, key=self.routes)
            n = min(n + int(over), n_routed)
