"""
Which splitter for which query: the selection rule of Katsipoulakis et al. (Sec. 7), with its reason in words, and a rule of ours
for keys heavier than a bucket.

    If the number of groups is expected to be constant and significantly less than the rows of a bucket in a window,
    shuffle; otherwise AM or cAM.

Our readings. "Significantly less": at most a tenth; their Fig. 5 (4 groups, millions of rows a worker) is on one side and Fig. 10
(4 groups, 42 rows in a window) on the other. Of AM and cAM, the one that evens out what the query's work grows with. A
result that cannot be merged must not be split at all (Nasir et al., Sec. 3.1: associative functions only).
"""

from dataclasses import dataclass
from typing import Literal

from partitioning.errors import SplitRequestError
from partitioning.hashing import is_whole

SIGNIFICANT = 10  # rows of a bucket to one group


@dataclass(frozen=True, kw_only=True)
class QueryTraits:
    """What the query says about itself."""

    is_mergeable: bool  # partial results of a key combine to the whole one
    has_constant_groups: bool  # the number of keys does not grow with the rows (a flag, a country, a class)
    work_grows_with: Literal["rows", "keys"] = "rows"

    def __post_init__(self) -> None:
        if self.work_grows_with not in ("rows", "keys"):
            raise SplitRequestError(
                f"QueryTraits.work_grows_with must be 'rows' or 'keys'. Got {self.work_grows_with!r}."
                " Say 'keys' where a bucket's time is spent per key and not per row."
            )


@dataclass(frozen=True, kw_only=True)
class WindowStatistics:
    """What a typical window looks like."""

    n_rows: int
    n_keys: int
    n_buckets: int
    hottest_rows: int | None = None  # rows of the most frequent key; None: not known
    heavy: tuple[
        int, ...
    ] = ()  # hashes of the keys with more than a tenth of a bucket's rows, as far as they are known

    def __post_init__(self) -> None:
        for name, least in (("n_rows", 0), ("n_keys", 0), ("n_buckets", 1)):
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise SplitRequestError(
                    f"WindowStatistics.{name} must be a whole number, at least {least}. Got {value!r}."
                    " Count one whole window."
                )
        if self.n_keys > self.n_rows:
            raise SplitRequestError(
                f"WindowStatistics.n_keys must be at most n_rows ({self.n_rows}): a key has a row."
                f" Got {self.n_keys}. Count both in the same window."
            )
        hottest = self.hottest_rows
        if hottest is not None and not (is_whole(hottest) and 0 <= hottest <= self.n_rows):
            raise SplitRequestError(
                f"WindowStatistics.hottest_rows must be a whole number in [0, {self.n_rows}], or None."
                f" Got {hottest!r}. Count the rows of the most frequent key in the same window."
            )

    @property
    def rows_per_bucket(self) -> float:
        return self.n_rows / self.n_buckets


@dataclass(frozen=True)
class Choice:
    """A splitter's name, as in ``SPLITTERS``, and why."""

    splitter: str
    reason: str
    n_choices: int = 2  # candidates of a key, where the splitter has any
    heavy: tuple[int, ...] = ()  # hashes of the keys that ``shuffle_heavy`` splits


def choose_splitter(traits: QueryTraits, window: WindowStatistics) -> Choice:
    """
    The splitter the rule names.

    Worked: 4 groups, constant, 10,000,000 rows in 8 buckets: shuffle, since 4 * 10 <= 1,250,000. The same 4 groups in
    windows of 42 rows: cam, since 40 > 5.25.
    """
    if not traits.is_mergeable:
        return Choice(
            "hash",
            "partial results of a key cannot be merged, so every key stays in the one bucket of its hash."
            f"{_warning(window)}",
        )
    groups = f"{window.n_keys:,} keys to {window.rows_per_bucket:,.2f} rows a bucket"
    is_few = window.n_keys * SIGNIFICANT <= window.rows_per_bucket
    if traits.has_constant_groups and is_few:
        most = min(window.n_keys * window.n_buckets, window.n_rows)
        return Choice(
            "shuffle",
            f"the number of keys is constant and small, {groups}: rows are spread evenly whatever their key, and at"
            f" most {most:,} partial results are merged.",
        )
    why_not = f"{groups} is more than one to {SIGNIFICANT}" if not is_few else "the number of keys grows"
    return Choice(
        "am" if traits.work_grows_with == "keys" else "cam",
        f"{why_not}, so merging what shuffle spreads would cost too much: a source keeps a key whole and sends a new"
        f" one to the candidate with the fewest {traits.work_grows_with}.{_warning(window)}",
    )


def choose_against_heavy_keys(traits: QueryTraits, window: WindowStatistics) -> Choice:
    """
    The rule's splitter, unless that would keep a key whole that is heavier than a bucket.

    Then ``shuffle_heavy`` where the heavy keys are known: the rule itself, for heavy keys and for the others. Where they are not, ``pkg``: a
    key in d buckets loads one of them with its rows over d at least (Nasir et al., Sec. 5.1), so d is the least with which that is no more
    than the mean.

    Worked: 10,000,000 rows of 400,000 keys in 8 buckets, 6,000,000 of them one key's, is 4.8 mean buckets: pkg with 5 candidates, or
    shuffle_heavy with that key, which makes 7 partial results more than there are keys.
    """
    choice = choose_splitter(traits, window)
    hottest = window.hottest_rows or 0
    if choice.splitter not in ("am", "cam") or hottest <= window.rows_per_bucket:
        return choice
    so = f"the hottest key alone is {hottest / window.rows_per_bucket:.2f} mean buckets, and its partial results can be merged:"
    if window.heavy:
        n_heavy, most = len(window.heavy), len(window.heavy) * (window.n_buckets - 1)
        return Choice(
            "shuffle_heavy",
            f"{so} rows of the {n_heavy} heaviest keys go to all buckets in turn, and all other keys, each at most a tenth of a bucket,"
            f" stay whole by their hash. At most {most:,} partial results more than there are keys are merged.",
            window.n_buckets,
            window.heavy,
        )
    # In whole numbers, rounded up: a quotient of floats may come out a little above the one it stands for.
    n_choices = int(-(-hottest * window.n_buckets // window.n_rows))
    return Choice(
        "pkg",
        f"{so} each row goes to the least loaded of {n_choices} candidates of its key, so that no bucket has to hold more"
        " of it than the mean. Keys kept whole would overload one.",
        n_choices,
    )


def _warning(window: WindowStatistics) -> str:
    """What keeping keys whole cannot cure."""
    if window.hottest_rows is None or window.hottest_rows <= window.rows_per_bucket:
        return ""
    return (
        f" The hottest key alone is {window.hottest_rows / window.rows_per_bucket:.2f} mean buckets:"
        " whole, it overloads one, whatever is done with the others."
    )
