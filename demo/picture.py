"""The README's picture, from the demo's own tables: ``python -m demo.picture > docs/before-after.svg`` after `make demo`."""

import os
import sys
from pathlib import Path

from schemas.tables import PLANS
from spark_jobs.control_tables import read_rows
from spark_jobs.report_pictures import draw_loads


def main() -> None:
    os.environ["EVENKEEL_WAREHOUSE"] = str(Path(os.environ["EVENKEEL_WAREHOUSE"]) / "demo")
    first = min(read_rows(PLANS, dataset="clicks").to_pylist(), key=lambda plan: plan["window_start"])
    loads = {"before": first["load_before"], "after": first["load_after"]}
    sys.stdout.write(draw_loads(loads, n_buckets=first["n_buckets"], goal=first["max_imbalance"]) + "\n")


if __name__ == "__main__":
    main()
