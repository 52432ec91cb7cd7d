"""Run the whole loop on made-up clicks with Airflow itself, window after window, and show what it did."""

import os
import shutil
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from demo.console import Console
from demo.summary import summary_table
from schemas.dataset import ROOT, dataset_named

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
N_DAYS = 6  # two fill the state table, four are planned on
DAY = timedelta(days=1)
LOG = ROOT / ".evenkeel" / "demo.log"


def main() -> int:
    started = time.monotonic()
    warehouse = Path(os.environ["EVENKEEL_WAREHOUSE"]) / "demo"
    try:
        shutil.rmtree(warehouse, ignore_errors=True)  # the demo's own folder: every run begins anew
        warehouse.mkdir(parents=True)
    except OSError as error:
        sys.stderr.write(
            f"The warehouse must be writable. Got {error}. Change its mode, or set EVENKEEL_WAREHOUSE.\n"
        )
        return 1
    os.environ["EVENKEEL_WAREHOUSE"] = str(warehouse)
    console = Console(LOG)
    runs = _run_windows(console)
    if runs is None:
        return 1
    console.say(summary_table(runs))
    console.say(
        f"\nReport: {runs[-1]['report']}\nAll in {time.monotonic() - started:.0f} s. Run `make test` next."
    )
    return 0


def _run_windows(console: Console) -> list[dict[str, object]] | None:
    """One result a window, or None as soon as a step failed; the console has said which."""
    from demo.airflow_runs import prepare, run_window

    if not prepare(console, first=FIRST_DAY, last=FIRST_DAY + N_DAYS * DAY):
        return None
    dataset = dataset_named("clicks")
    start = datetime(dataset.start.year, dataset.start.month, dataset.start.day, tzinfo=UTC)
    runs = []
    while start < FIRST_DAY + N_DAYS * DAY:
        run = run_window(console, dataset.name, start, start + DAY)
        if run is None:
            return None
        runs.append(run)
        start += DAY
    return runs


if __name__ == "__main__":
    sys.exit(main())
