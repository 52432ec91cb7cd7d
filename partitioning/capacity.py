"""
How many loaders, buckets and mergers a window needs: Eq. 1 of Balkesen et al. (Sec. 3.2), and what we know beyond it.

Eq. 1a sizes the processing nodes, n_p, from the expected rate of all inputs and the cost of a row: R / n_p * c_op = 1 - H, where H
is the share of a node that is kept free. Eq. 1b sizes the mergers, n_m, as if every processing node sent on all it can, C_op:
n_p * C_op / n_m * c_merge = 1 - H. Ours are the loaders (Eq. 1a with the cost of loading a row), the forecast's interval, which
tells right from over-provisioned, and the heaviest key: beyond total / heaviest more buckets help nobody.

Worked: 1,000,000 rows in 100 s at 0.4 ms a row keep 4 buckets busy; with a headroom of 0.2 that is 5.
"""

import math
from dataclasses import dataclass
from typing import Literal

from partitioning.errors import CapacityError

Verdict = Literal["under-provisioned", "right-provisioned", "over-provisioned"]

_TOO_LARGE = 1e300  # of any figure
_ROUNDING = 1e-9  # 0.3 / 0.1 is a hair below 3, 0.7 / 0.1 a hair above 7: neither is another worker


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What a window will bring."""

    rows: float  # expected
    rows_high: float  # upper end of the forecast's interval
    seconds: float  # in which the window has to be done
    heaviest_rows: float = 0.0  # expected of the heaviest key; 0: no key matters

    def __post_init__(self) -> None:
        for name in ("rows", "rows_high", "heaviest_rows"):
            _check("Demand", name, getattr(self, name), rule="a finite number, 0 or more", least=0)
        _check("Demand", "seconds", self.seconds, rule="a finite number above 0", above=0)
        if self.rows_high < self.rows:
            raise CapacityError(
                f"Demand.rows_high must be at least rows. Got {self.rows_high} and {self.rows}."
                " Give the forecast's upper end, or rows itself."
            )
        if self.heaviest_rows > self.rows:
            raise CapacityError(
                f"Demand.heaviest_rows must be at most rows. Got {self.heaviest_rows} of {self.rows}."
                " Give both from the same forecast."
            )


@dataclass(frozen=True, kw_only=True)
class RowCosts:
    """What a row costs one worker, measured, in seconds."""

    load: float
    process: float  # c_op
    merge: float  # c_merge
    sent_on: (
        float  # C_op: rows a second that a busy bucket sends to the mergers; 0: there is nothing to merge
    )
    headroom: float = 0.2  # H: share of a worker's time that is kept free

    def __post_init__(self) -> None:
        for name in ("load", "process", "merge", "sent_on"):
            _check("RowCosts", name, getattr(self, name), rule="a finite number, 0 or more", least=0)
        _check("RowCosts", "headroom", self.headroom, rule="a number from 0 up and below 1", least=0, below=1)


@dataclass(frozen=True, kw_only=True)
class Workers:
    """A size: how many of each there are, or should be."""

    loaders: int
    buckets: int
    mergers: int

    def __post_init__(self) -> None:
        for name in ("loaders", "buckets", "mergers"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise CapacityError(
                    f"Workers.{name} must be a whole number, 0 or more. Got {value!r}. Give how many there are."
                )


def size_workers(rows: float, seconds: float, costs: RowCosts) -> Workers:
    """
    The fewest workers that do so many rows in time: Eq. 1, rounded up.

    At least one loader and bucket, so that there is a table; no mergers where nothing is merged. More rows, dearer rows, more
    headroom or less time never ask for fewer.
    """
    _check("size_workers", "rows", rows, rule="a finite number, 0 or more", least=0)
    _check("size_workers", "seconds", seconds, rule="a finite number above 0", above=0)
    free = 1.0 - costs.headroom
    rate = float(rows) / seconds
    buckets = max(1, _round_up(rate * costs.process / free))
    return Workers(
        loaders=max(1, _round_up(rate * costs.load / free)),
        buckets=buckets,
        mergers=_round_up(buckets * costs.sent_on * costs.merge / free),
    )


@dataclass(frozen=True, kw_only=True)
class Advice:
    """One line of the recommendation."""

    what: str  # "loaders", "buckets" or "mergers"
    present: int
    needed: int  # for the rows expected
    enough: int  # for the upper end of the interval
    verdict: Verdict
    reason: str  # the numbers behind it


@dataclass(frozen=True, kw_only=True)
class Recommendation:
    """What we would do. Nobody does it unasked."""

    lines: tuple[Advice, ...]
    useful_buckets: int | None  # with more, the heaviest key alone is above the mean; None: no key matters

    @property
    def is_right(self) -> bool:
        return all(line.verdict == "right-provisioned" for line in self.lines)


def recommend_workers(present: Workers, demand: Demand, costs: RowCosts) -> Recommendation:
    """
    Whether there are too few, enough or too many of each worker for the demand.

    Under-provisioned: fewer than the rows expected need. Over-provisioned: more than even the upper end of the interval needs.
    In between is right, so that a forecast that wavers inside its own interval does not call for another size every window.
    """
    needed = size_workers(demand.rows, demand.seconds, costs)
    enough = size_workers(demand.rows_high, demand.seconds, costs)
    reasons = _reasons(needed, demand, costs)
    lines = tuple(
        Advice(
            what=what,
            present=getattr(present, what),
            needed=getattr(needed, what),
            enough=getattr(enough, what),
            verdict=_judge(getattr(present, what), getattr(needed, what), getattr(enough, what)),
            reason=reason,
        )
        for what, reason in reasons.items()
    )
    useful = None
    if demand.heaviest_rows > 0:
        useful = max(1, math.floor(min(demand.rows / demand.heaviest_rows, _TOO_LARGE) * (1 + _ROUNDING)))
    return Recommendation(lines=lines, useful_buckets=useful)


def _judge(present: int, needed: int, enough: int) -> Verdict:
    if present < needed:
        return "under-provisioned"
    return "over-provisioned" if present > enough else "right-provisioned"


def _reasons(needed: Workers, demand: Demand, costs: RowCosts) -> dict[str, str]:
    rows = (
        f"{demand.rows:,.0f} rows (at most {demand.rows_high:,.0f}) in {demand.seconds:,.0f} s at"
        " {cost:.3g} s a row, " + f"{costs.headroom:.0%} kept free"
    )
    return {
        "loaders": rows.format(cost=costs.load),
        "buckets": rows.format(cost=costs.process),
        "mergers": (
            f"{needed.buckets} buckets that send on up to {costs.sent_on:,.0f} rows a second at {costs.merge:.3g} s a row,"
            f" {costs.headroom:.0%} kept free"
        ),
    }


def _round_up(amount: float) -> int:
    if not math.isfinite(amount):
        raise CapacityError(
            "The workers needed must be a number. Got more than a float can hold. Mend the rows, the seconds or the costs of a row."
        )
    return math.ceil(amount * (1 - _ROUNDING))


def _check(  # noqa: PLR0913  (one argument a limit)
    owner: str,
    name: str,
    value: object,
    *,
    rule: str,
    least: float = -math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _TOO_LARGE
    if not is_number or not (least <= value < below and value > above):  # type: ignore[operator]
        raise CapacityError(f"{owner}.{name} must be {rule}. Got {value!r}. Give it as it was measured.")
