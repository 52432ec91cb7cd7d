"""A window's statistics as arrays, keys as the values they have in the state table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.dataset import Dataset
from schemas.tables import ITEM_STATS
from spark_jobs.control_tables import read_rows
from spark_jobs.job import JobError, Window

FROM_TEXT = {"bigint": int, "int": int, "string": str}  # by key type


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyStats:
    """Position i of each describes the same key; None is the NULL key."""

    key: list[Any]
    cost: NDArray[np.float64]
    state: NDArray[np.float64]


def read_stats(dataset: Dataset, window: Window) -> KeyStats:
    """The window's keys, in the order of their text, the NULL key first: the same order whatever wrote them."""
    rows = read_rows(ITEM_STATS, dataset=dataset.name, window_start=window.start)
    if not rows.num_rows:
        raise JobError(f"item_stats must hold the window {window.name}. Got no rows. Run profile_keys first.")
    rows = rows.sort_by([("key", "ascending")])
    texts = rows["key"].to_pylist()
    nulls_first = np.argsort([text is not None for text in texts], kind="stable")
    from_text = FROM_TEXT[dataset.key_type]
    return KeyStats(
        key=[None if texts[i] is None else from_text(texts[i]) for i in nulls_first],
        cost=rows["cost"].to_numpy()[nulls_first],
        state=rows["state"].to_numpy()[nulls_first],
    )


def text_key(key: Any) -> str | None:
    """A key as the control tables hold it."""
    return None if key is None else str(key)


def text_keys(keys: Sequence[Any]) -> list[str | None]:
    return [text_key(key) for key in keys]
