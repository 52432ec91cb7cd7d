"""What every planner is given: items, where they are, and the limits."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning import bucket_checks, item_checks
from partitioning.budgets import Budgets
from partitioning.errors import PlanRequestError
from partitioning.history import NO_HISTORY, History
from partitioning.item_checks import MAX_EXACT, NO_SLOT
from partitioning.payback_rule import PaybackRule

__all__ = ["MAX_EXACT", "NO_SLOT", "PlanRequest"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanRequest:
    """
    Items to place into ``n_buckets`` buckets. Position i of each array describes the same item.

    An item is a key, or a slot: all the keys of one hash slot that are not items themselves. However a request is
    made, everything is checked before any work, and the arrays are read-only copies afterwards. ``of_keys`` and
    ``of_items`` fill in what a caller rarely has to say.

    A bucket of twice the capacity is meant to carry twice the cost. A drained bucket is to be emptied: nothing moves
    into it, and what it still holds counts for no imbalance. A pinned item never moves, unless its bucket goes away:
    then it goes where ``start`` says, and no further.
    """

    cost: NDArray[np.float64]  # work the item caused in the window
    state: NDArray[np.float64]  # bytes that change bucket if the item moves
    owner: NDArray[np.int64]  # bucket that holds the item today; may be a bucket that is going away
    home: NDArray[np.int64]  # bucket the hash gives it, under ``n_buckets`` buckets
    n_buckets: int  # after the plan
    budgets: Budgets = field(default_factory=Budgets)
    is_slot: NDArray[np.bool_]  # True: a slot, moving it costs no route
    slot: NDArray[np.int64]  # for a key: position of its slot's item, NO_SLOT if its slot is not an item
    n_buckets_before: int  # buckets of ``owner`` and ``home_before``
    home_before: NDArray[np.int64]  # bucket the hash gave it when ``owner`` was made
    # None stands for nothing out of the ordinary, and is replaced by an array that says so.
    capacity: NDArray[np.float64] = None  # type: ignore[assignment]  # of each bucket, in any unit
    drained: NDArray[np.int64] = None  # type: ignore[assignment]  # buckets to empty, ascending
    is_pinned: NDArray[np.bool_] = None  # type: ignore[assignment]  # True: may not move
    history: History = NO_HISTORY  # which items moved lately, and from where
    payback: PaybackRule = field(default_factory=PaybackRule)  # when a plan counts as worth its migration

    def __post_init__(self) -> None:
        if not isinstance(self.budgets, Budgets):
            raise PlanRequestError(
                f"PlanRequest.budgets must be Budgets. Got {self.budgets!r}. Give Budgets(max_imbalance=...)."
            )
        after = self._set("n_buckets", item_checks.as_bucket_count("PlanRequest.n_buckets", self.n_buckets))
        before = self._set(
            "n_buckets_before",
            item_checks.as_bucket_count("PlanRequest.n_buckets_before", self.n_buckets_before),
        )
        self._set("cost", item_checks.as_amounts("PlanRequest.cost", self.cost))
        self._set("state", item_checks.as_amounts("PlanRequest.state", self.state))
        self._set("owner", item_checks.as_buckets("PlanRequest.owner", self.owner, n_buckets=before))
        self._set("home", item_checks.as_buckets("PlanRequest.home", self.home, n_buckets=after))
        self._set(
            "home_before",
            item_checks.as_buckets("PlanRequest.home_before", self.home_before, n_buckets=before),
        )
        self._set("is_slot", item_checks.as_flags("PlanRequest.is_slot", self.is_slot))
        for name in ("state", "owner", "home", "home_before", "is_slot"):
            item_checks.check_length(f"PlanRequest.{name}", getattr(self, name), self.cost.size)
        self._set("slot", item_checks.as_slot_positions("PlanRequest.slot", self.slot, self.is_slot))
        self._set("capacity", bucket_checks.as_capacities("PlanRequest.capacity", self.capacity, after))
        self._set("drained", bucket_checks.as_drained("PlanRequest.drained", self.drained, after))
        pinned = np.zeros(self.n_items, dtype=np.bool_) if self.is_pinned is None else self.is_pinned
        self._set("is_pinned", item_checks.as_flags("PlanRequest.is_pinned", pinned))
        item_checks.check_length("PlanRequest.is_pinned", self.is_pinned, self.n_items)
        self.history.check_fits(n_items=self.n_items)

    def _set(self, name: str, value: Any) -> Any:
        object.__setattr__(self, name, value)  # the way a frozen dataclass normalises its own fields
        return value

    @classmethod
    def of_keys(  # noqa: PLR0913  (the front door: one argument a fact)
        cls,
        *,
        cost: ArrayLike,
        state: ArrayLike,
        owner: ArrayLike,
        home: ArrayLike,
        n_buckets: int,
        budgets: Budgets | None = None,
        n_buckets_before: int | None = None,
        home_before: ArrayLike | None = None,
        capacity: ArrayLike | None = None,
        drained: ArrayLike | None = None,
        is_pinned: ArrayLike | None = None,
        history: History = NO_HISTORY,
        payback: PaybackRule | None = None,
    ) -> "PlanRequest":
        """A request whose items are all keys. Defaults are those of ``of_items``."""
        n_items = item_checks.as_amounts("PlanRequest.cost", cost).size
        return cls.of_items(
            cost=cost,
            state=state,
            owner=owner,
            home=home,
            n_buckets=n_buckets,
            budgets=budgets,
            is_slot=np.zeros(n_items, dtype=np.bool_),
            slot=np.full(n_items, NO_SLOT, dtype=np.int64),
            n_buckets_before=n_buckets_before,
            home_before=home_before,
            capacity=capacity,
            drained=drained,
            is_pinned=is_pinned,
            history=history,
            payback=payback,
        )

    @classmethod
    def of_items(  # noqa: PLR0913  (the front door: one argument a fact)
        cls,
        *,
        cost: ArrayLike,
        state: ArrayLike,
        owner: ArrayLike,
        home: ArrayLike,
        n_buckets: int,
        is_slot: ArrayLike,
        slot: ArrayLike,
        budgets: Budgets | None = None,
        n_buckets_before: int | None = None,
        home_before: ArrayLike | None = None,
        capacity: ArrayLike | None = None,
        drained: ArrayLike | None = None,
        is_pinned: ArrayLike | None = None,
        history: History = NO_HISTORY,
        payback: PaybackRule | None = None,
    ) -> "PlanRequest":
        """
        A request with keys and slots. ``slot`` holds positions in these very arrays.

        Without ``n_buckets_before`` the number of buckets does not change. Without ``home_before`` homes did not
        change either, but for items whose home is a bucket that did not exist: those sat at home until now. Without
        the others all buckets are alike, none is to be emptied, nothing is pinned, and nothing moved lately.
        """
        after = item_checks.as_bucket_count("PlanRequest.n_buckets", n_buckets)
        before = after
        if n_buckets_before is not None:
            before = item_checks.as_bucket_count("PlanRequest.n_buckets_before", n_buckets_before)
        if home_before is None:
            home_before = _guess_home_before(owner, home, before=before, after=after)
        return cls(
            cost=cost,  # type: ignore[arg-type]  # __post_init__ makes arrays of whatever comes
            state=state,  # type: ignore[arg-type]
            owner=owner,  # type: ignore[arg-type]
            home=home,  # type: ignore[arg-type]
            n_buckets=after,
            budgets=Budgets() if budgets is None else budgets,
            is_slot=is_slot,  # type: ignore[arg-type]
            slot=slot,  # type: ignore[arg-type]
            n_buckets_before=before,
            home_before=home_before,  # type: ignore[arg-type]
            capacity=capacity,  # type: ignore[arg-type]
            drained=drained,  # type: ignore[arg-type]
            is_pinned=is_pinned,  # type: ignore[arg-type]
            history=history,
            payback=payback or PaybackRule(),
        )

    @property
    def n_items(self) -> int:
        return self.cost.size

    @cached_property
    def has_slots(self) -> bool:
        """Whether any item is a slot; without one, homes are fixed."""
        return bool(self.is_slot.any())

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """
        Where each item is once the change of N has had its way, before any balancing.

        An item that sat at its old home follows its home; one that was placed elsewhere stays, unless its bucket
        is gone: then it goes home. A key whose slot is an item is at home in its slot's bucket, and follows the
        slot. Nothing follows a home into a bucket that is to be emptied (what must go somewhere is dealt out over
        the others), and a pinned item stays if its bucket does. Without a change of N this is ``owner``. Planners
        start here.
        """
        has_slot = self.slot != NO_SLOT
        is_gone = self.owner >= self.n_buckets
        live = np.flatnonzero(self.is_live)
        home = np.where(self.is_live[self.home], self.home, live[self.home % live.size])
        stays = ~is_gone & (self.is_pinned | ~self.is_live[self.home])
        follows = ((self.owner == self.home_before) & ~stays) | is_gone
        start = np.where(follows, home, self.owner)
        slots = self.slot[has_slot]
        sits_at_home = (self.owner[has_slot] == self.owner[slots]) & ~self.is_pinned[has_slot]
        start[has_slot] = np.where(sits_at_home | is_gone[has_slot], start[slots], self.owner[has_slot])
        start.flags.writeable = False
        return start

    @cached_property
    def total_state(self) -> float:
        return float(self.state.sum())

    @cached_property
    def is_live(self) -> NDArray[np.bool_]:
        """Whether each bucket is to stay in use; the others are being drained."""
        is_live = np.ones(self.n_buckets, dtype=np.bool_)
        is_live[self.drained] = False
        is_live.flags.writeable = False
        return is_live

    @cached_property
    def ways_back(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(item, bucket) pairs that would undo a recent move; without those that are where the item is."""
        items, buckets = self.history.forbidden(self.n_buckets)
        away = self.owner[items] != buckets
        return items[away], buckets[away]

    @cached_property
    def is_plain(self) -> bool:
        """Whether every bucket is in use and of capacity 1, so that loads are costs."""
        return bool(self.is_live.all() and (self.capacity == 1.0).all())


def _guess_home_before(owner: ArrayLike, home: ArrayLike, *, before: int, after: int) -> NDArray[np.int64]:
    owners = item_checks.as_buckets("PlanRequest.owner", owner, n_buckets=before)
    homes = item_checks.as_buckets("PlanRequest.home", home, n_buckets=after)
    if homes.size != owners.size:
        return homes  # refused a moment later, with the sentence for lengths
    return np.where(homes < before, homes, owners)
