"""What every planner is given: items, where they are, and the limits."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from partitioning import item_checks
from partitioning.budgets import Budgets
from partitioning.errors import PlanRequestError
from partitioning.item_checks import MAX_EXACT, NO_SLOT

__all__ = ["MAX_EXACT", "NO_SLOT", "PlanRequest"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanRequest:
    """
    Items to place into ``n_buckets`` buckets. Position i of each array describes the same item.

    An item is a key, or a slot: all the keys of one hash slot that are not items themselves. However a request is
    made, everything is checked before any work, and the arrays are read-only copies afterwards. ``of_keys`` and
    ``of_items`` fill in what a caller rarely has to say.
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
    ) -> "PlanRequest":
        """
        A request with keys and slots. ``slot`` holds positions in these very arrays.

        Without ``n_buckets_before`` the number of buckets does not change. Without ``home_before`` homes did not
        change either, but for items whose home is a bucket that did not exist: those sat at home until now.
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
        slot. Without a change of N this is ``owner``. Planners start here.
        """
        has_slot = self.slot != NO_SLOT
        is_gone = self.owner >= self.n_buckets
        start = np.where((self.owner == self.home_before) | is_gone, self.home, self.owner)
        slots = self.slot[has_slot]
        sits_at_home = self.owner[has_slot] == self.owner[slots]
        start[has_slot] = np.where(sits_at_home | is_gone[has_slot], start[slots], self.owner[has_slot])
        start.flags.writeable = False
        return start

    @cached_property
    def total_state(self) -> float:
        return float(self.state.sum())


def _guess_home_before(owner: ArrayLike, home: ArrayLike, *, before: int, after: int) -> NDArray[np.int64]:
    owners = item_checks.as_buckets("PlanRequest.owner", owner, n_buckets=before)
    homes = item_checks.as_buckets("PlanRequest.home", home, n_buckets=after)
    if homes.size != owners.size:
        return homes  # refused a moment later, with the sentence for lengths
    return np.where(homes < before, homes, owners)
