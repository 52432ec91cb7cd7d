"""
Compute a window's result for every key in two stages, partial results per bucket and their merge, so that no key makes a straggler.

The dataset's ``merge:`` says what is computed. The results are those of a plain groupBy, and go to the Delta table ``aggregates/<dataset>``
of the warehouse. Run again, it replaces the window's results in one commit.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from partitioning.splitter_choice import Choice, QueryTraits, choose_against_heavy_keys
from partitioning.splitters.sources import check_local
from schemas.dataset import Dataset
from schemas.places import warehouse
from spark_jobs.job import RefusalError, Result, Task, Window, run_job
from spark_jobs.load_window import window_events
from spark_jobs.merging import COMBINED_BY_SPARK, check_columns, check_mergeable
from spark_jobs.splitter_options import add_splitter
from spark_jobs.splitting import measure_window
from spark_jobs.sql_names import quoted
from spark_jobs.state_table import text, user_metadata
from spark_jobs.two_stages import BUCKET, ROWS, kinds_of_rows, needed_rows, partial_results, results

DEFAULT_CHOICES = 2  # candidate buckets of a key
# The keys of this window are counted, so none are to come.
_TRAITS = QueryTraits(is_mergeable=True, has_constant_groups=True)


def aggregate_window(task: Task) -> Result:
    """The window's results, written; what splitting cost, and why it was done like this."""
    dataset = task.dataset
    check_mergeable(dataset.merge, dataset=dataset.name)
    _refuse_idle_choices(task.options.get("splitter"), task.options.get("choices"))
    events = window_events(task)
    check_columns(dataset.merge, events.schema, dataset=dataset.name)
    choice = _choice(task, events)
    task.say(f"splitter {choice.splitter}: {choice.reason}")
    figures = _aggregate(task, events, choice)
    task.say(
        f"{figures['rows']:,} rows made {figures['merge_cost']:,} partial results (Γ) for {figures['keys']:,} keys;"
        f" imbalance of rows over {dataset.n_buckets} buckets: {figures['imbalance']:.3f}"
    )
    return {
        "splitter": choice.splitter,
        "n_choices": choice.n_choices,
        "reason": choice.reason,
        "table": results_of(dataset),
        **figures,
    }


def results_of(dataset: Dataset) -> str:
    """Where the dataset's results are: a Delta table of its own, one partition a window."""
    return f"{warehouse().rstrip('/')}/aggregates/{dataset.name}"


def _refuse_idle_choices(splitter: str | None, n_choices: int | None) -> None:
    """What would have no effect is not taken: whoever gave it expects one."""
    if n_choices is not None and splitter is None:
        raise RefusalError(
            f"--choices must come with --splitter. Got {n_choices} alone: what chooses the splitter for a window chooses the"
            " candidates of its keys too. Name a splitter, or leave --choices out."
        )


def _choice(task: Task, events: DataFrame) -> Choice:
    """The splitter that was asked for; otherwise the one that suits what this window looks like."""
    named = task.options.get("splitter")
    if named is not None:
        return Choice(check_local(named), "asked for.", task.options.get("choices") or DEFAULT_CHOICES)
    key = F.col(quoted(task.dataset.key))
    window = measure_window(events, key, n_buckets=task.dataset.n_buckets)
    choice = choose_against_heavy_keys(_TRAITS, window)
    return replace(choice, reason=choice.reason + _hint(task.dataset.merge))


def _hint(merge: Mapping[str, str]) -> str:
    """What somebody should know who need not split anything."""
    if not COMBINED_BY_SPARK.issuperset(merge.values()):
        return ""
    return (
        " Spark combines all of these before it shuffles: a plain groupBy is quicker, for it sends no rows."
    )


def _aggregate(task: Task, events: DataFrame, choice: Choice) -> Result:
    """Compute and write. What it cost is counted while it is computed: nothing is read twice."""
    dataset, window = task.dataset, task.window
    kinds = kinds_of_rows(needed_rows(events, dataset), choice)
    seen, of_results = [Observation() for _ in kinds], Observation()
    made = [
        results(_observed(partial_results(rows, dataset, sent), observation, dataset), dataset, sent)
        for (rows, sent), observation in zip(kinds, seen, strict=True)
    ]
    whole = reduce(DataFrame.union, made).observe(of_results, F.count(F.lit(1)).alias("keys"))
    note = {"evenkeel": "aggregate", "window": window.name, "splitter": choice.splitter}
    with user_metadata(task.spark, json.dumps(note)):
        write_results(whole, dataset, window)
    loads = np.array(
        [[one.get[str(bucket)] or 0 for bucket in range(dataset.n_buckets)] for one in seen]
    ).sum(axis=0)
    return {
        "rows": int(loads.sum()),
        "keys": int(of_results.get["keys"]),
        "merge_cost": sum(int(one.get["merge_cost"]) for one in seen),
        "imbalance": float(loads.max() / loads.mean() - 1) if loads.any() else 0.0,
        "bucket_rows": loads.tolist(),
    }


def _observed(partials: DataFrame, observation: Observation, dataset: Dataset) -> DataFrame:
    """The same partial results, counted as they come, and the rows of each bucket."""
    rows_of = (F.sum(F.when(F.col(BUCKET) == bucket, F.col(ROWS))) for bucket in range(dataset.n_buckets))
    return partials.observe(
        observation,
        F.count(F.lit(1)).alias("merge_cost"),
        *(rows.alias(str(bucket)) for bucket, rows in enumerate(rows_of)),
    )


def write_results(whole: DataFrame, dataset: Dataset, window: Window) -> None:
    """Put these results in the place of the window's own, in one commit."""
    moments = {"window_start": window.start, "window_end": window.end}
    stamped = whole.withColumns({name: F.lit(moment) for name, moment in moments.items()})
    start = text(window.start.isoformat())
    (
        stamped.write.format("delta")
        .partitionBy("window_start")
        .mode("overwrite")
        .option("replaceWhere", f"window_start = TIMESTAMP {start}")
        .option("mergeSchema", "true")  # merge: may have got another column
        .save(results_of(dataset))
    )


if __name__ == "__main__":
    run_job(aggregate_window, about=__doc__, add_options=add_splitter, needs=("window",))
