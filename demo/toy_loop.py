"""The loop on a toy table, so that Spark has loaded the classes that a real one needs: ``python -m demo.toy_loop``."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from schemas.dataset import Dataset, dataset_named
from schemas.places import locate
from spark_jobs.create_layout import create_layout
from spark_jobs.generate_clicks import generate_clicks
from spark_jobs.job import Task, Window
from spark_jobs.load_window import load_window
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_moves import plan_moves
from spark_jobs.profile_keys import profile_keys
from spark_jobs.verify_layout import verify_layout

START = datetime(2026, 1, 3, tzinfo=UTC)
N_CLICKS = 2_000


def toy() -> Dataset:
    """The demo's dataset under another name, far smaller."""
    return replace(
        dataset_named("clicks"), name="toy", events=locate("toy/events"), state=locate("toy/state")
    )


def main() -> None:
    window = Window(start=START, end=START + timedelta(days=1))
    generate_clicks(Task(dataset=toy(), given_window=window, options={"clicks": N_CLICKS}))
    create_layout(Task(dataset=toy()))
    load_window(Task(dataset=toy(), given_window=window))
    profile_keys(Task(dataset=toy(), given_window=window))
    plan = plan_moves(Task(dataset=toy(), given_window=window))["plan"]
    migrate_layout(Task(dataset=toy(), given_window=window, plan=plan))
    verify_layout(Task(dataset=toy(), given_window=window, plan=plan))


if __name__ == "__main__":
    main()
