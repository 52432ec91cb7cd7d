"""Run the whole loop on made-up clicks with Airflow itself, window after window, and show what it did."""

import os
import shutil
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from demo.bars import load_bars
from demo.console import Console
from demo.summary import summary_table, where_to_look
from schemas.dataset import ROOT

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
N_FILLING = 2  # days that fill the state table
LOG = ROOT / ".evenkeel" / "demo.log"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One day of the demo, and what must come of it."""

    about: str
    outcome: str
    copies: int = 1  # how often its events are delivered


SCENES = (
    Scene(about="the table has only ever known the plain hash", outcome="migrated"),
    Scene(about="a quarter of the hot users has changed overnight", outcome="migrated"),
    Scene(about="hot users are those of yesterday: nothing needs to move", outcome="held"),
    Scene(about="the day's events were delivered twice", outcome="failed", copies=2),
)


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
    runs = _run_days(console)
    if runs is None:
        return 1
    console.say(summary_table(runs))
    console.say(_loads_of(runs[0]))
    console.say(where_to_look(runs[0]["report"], warehouse))
    console.say(f"\nAll in {time.monotonic() - started:.0f} s. Run `make test` next.")
    return 0


def _loads_of(run: dict[str, Any]) -> str:
    """The first window's, which had the most to even out."""
    from schemas.tables import PLANS
    from spark_jobs.control_tables import read_one

    plan = read_one(PLANS, dataset="clicks", plan=run["plan"])
    return f"\nwindow {run['window']:%Y-%m-%d}\n{load_bars(plan['load_before'], plan['load_after'])}"


def _run_days(console: Console) -> list[dict[str, Any]] | None:
    """One result a day, or None as soon as something came out otherwise than it must; the console has said what."""
    from demo.airflow_runs import deliver, prepare, roll_back, run_window

    filled = FIRST_DAY + N_FILLING * DAY
    if not prepare(console, first=FIRST_DAY, last=filled):
        return None
    runs = []
    for number, scene in enumerate(SCENES):
        start = filled + number * DAY
        console.say(f"window {start:%Y-%m-%d}: {scene.about}")
        deliver("clicks", first=FIRST_DAY, start=start, end=start + DAY, copies=scene.copies)
        run = run_window(console, "clicks", start, start + DAY)
        if run is None or run["outcome"] != scene.outcome:
            console.say(
                f"The day must end as {scene.outcome}. Got {run and run['outcome']}. Log: {console.log}"
            )
            return None
        if scene.outcome == "failed":
            console.say(
                "That is as it should be: nothing of such a day is loaded, and the next one is not blocked."
            )
        runs.append(run)
    return runs if roll_back(console, "clicks") else None


if __name__ == "__main__":
    sys.exit(main())
