"""Which columns tell two rows of a key apart: what a split goes by."""

import pyarrow as pa

from partitioning.function import PartitioningFunction
from schemas.dataset import Dataset
from spark_jobs.arrow_rows import plain_columns
from spark_jobs.job import JobError
from spark_jobs.table_log import OURS, state_log


def row_id_of(dataset: Dataset, function: PartitioningFunction) -> tuple[str, ...]:
    """
    The function's own while it splits keys; otherwise what the dataset declares, or all columns of the state that have plain types.

    The columns become part of the function: one that is added to the table later moves no row.
    """
    if function.splits:
        return function.row_id
    plain = plain_columns(pa.schema(state_log(dataset).schema().to_arrow()))
    usable = [name for name in plain if name not in OURS]
    missing = [name for name in dataset.row_id if name not in usable]
    if missing:
        raise JobError(
            f"row_id must name columns of {dataset.state} that have plain types. Got {', '.join(missing)}. Name some of"
            f" {', '.join(usable)}."
        )
    return dataset.row_id or tuple(usable)
