"""What a backtest advises, in a sentence with its number; or why it advises nothing."""

import numpy as np

from partitioning.backtest import MIN_EDGE, Backtest
from partitioning.item_windows import ItemWindows
from partitioning.planners.frequency_hash import FREQUENCY_HASH
from schemas.dataset import SCHEMA, Dataset
from spark_jobs.plan_request import target_of
from spark_jobs.planned import is_mergeable
from spark_jobs.report_words import counted

PLANNERS_OF_FILES = frozenset(SCHEMA["properties"]["planner"]["enum"])  # what a dataset file takes


def choosable_planners(dataset: Dataset, caveat: str | None) -> frozenset[str]:
    """The planners that the dataset could change to with the figures of a replay; none where there is a caveat."""
    if caveat is not None:
        return frozenset()
    return PLANNERS_OF_FILES - {FREQUENCY_HASH} if is_mergeable(dataset) else PLANNERS_OF_FILES


def why_not_as_replayed(dataset: Dataset, windows: ItemWindows) -> str | None:
    """Where keys would be split: a replay places every key whole, so its figures are not the dataset's. None: they are."""
    if not is_mergeable(dataset):
        return None
    if dataset.planner == FREQUENCY_HASH:
        return (
            f"{dataset.name} cuts its frequent keys ({FREQUENCY_HASH} with merge), and splits take no part in a replay: what is replayed"
            " for it is the plain hash"
        )
    n_heavy = _n_with_a_heavy_key(dataset, windows)
    if not n_heavy:
        return None
    return (
        f"{counted(n_heavy, 'window')} of {windows.n_windows} had a key that {dataset.name} would split (it declares merge), and splits take no"
        " part in a replay: every figure is that of whole keys"
    )


def _n_with_a_heavy_key(dataset: Dataset, windows: ItemWindows) -> int:
    """In how many windows a key alone cost more than a plan aims at for a bucket."""
    total = windows.slot_cost.sum(axis=1) + np.nansum(windows.key_cost, axis=1)
    level = (1.0 + target_of(dataset)) * total / dataset.n_buckets
    heaviest = np.nan_to_num(windows.key_cost).max(axis=1, initial=0.0)
    return int(np.count_nonzero(heaviest > level))


def advice(result: Backtest, caveat: str | None) -> str:
    """What to do, in one sentence with its number."""
    champion, challenger = result.champion, result.challenger
    if caveat is not None:
        return f"no advice: {caveat}"
    if challenger is None:
        return f"keep {champion.contender}: nobody else took part that a dataset file can name; mean θ {champion.mean_imbalance:.4f}"
    edge = challenger.net - champion.net
    if result.should_change:
        return (
            f"change to {challenger.contender}: it saves {edge:.2%} of all cost more than {champion.contender};"
            f" mean θ {challenger.mean_imbalance:.4f} instead of {champion.mean_imbalance:.4f}"
        )
    return f"keep {champion.contender}: the best of the others, {challenger.contender}, {_standing(edge)}"


def _standing(edge: float) -> str:
    """How the best of the others stands to a champion that is to be kept; what would be printed as nothing is a tie."""
    size = f"{abs(edge):.2%}"
    if size == f"{0:.2%}":
        return "ties with it"
    if edge > 0:
        return f"is ahead by {size}, less than {MIN_EDGE:.1%} of all cost"
    return f"is behind by {size} of all cost"
