"""Create a dataset's state table, empty, under the plain hash function. Does nothing where it exists."""

from spark_jobs.control_tables import save_function
from spark_jobs.job import Result, Task, run_job
from spark_jobs.state_table import create_state_table
from spark_jobs.table_log import FUNCTION, initial_function, properties_of


def create_layout(task: Task) -> Result:
    function = initial_function(task.dataset)
    save_function(task.dataset.name, function)  # before the table can name it
    columns = task.spark.read.format("delta").load(task.dataset.events).schema
    create_state_table(task.spark, task.dataset, columns, function=function.digest)
    return {"state": task.dataset.state, "function": properties_of(task.dataset)[FUNCTION]}


if __name__ == "__main__":
    run_job(create_layout, about=__doc__)
