"""The README's picture, from the demo's own tables: ``python -m demo.picture > docs/before-after.svg`` after `make demo`."""

import os
import sys
from pathlib import Path

from schemas.tables import PLANS
from spark_jobs.control_tables import read_rows
from spark_jobs.report_page import draw_loads


def main() -> None:
    os.environ["EVENKEEL_WAREHOUSE"] = str(Path(os.environ["EVENKEEL_WAREHOUSE"]) / "demo")
    first = min(read_rows(PLANS, dataset="clicks").to_pylist(), key=lambda plan: plan["window_start"])
    sys.stdout.write(draw_loads(first["load_before"], first["load_after"], goal=first["max_imbalance"]))


if __name__ == "__main__":
    main()
