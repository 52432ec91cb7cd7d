"""Run jobs as the command line does, one after the other in one JVM, each to its end; then their exit codes as JSON."""

import json
import sys
from importlib import import_module
from typing import Any

from spark_jobs.job import run_job

NEEDS: dict[str, dict[str, Any]] = {
    "load_window": {"needs": ("window",)},
    "migrate_layout": {"needs": ("plan",)},
    "settle_layout": {},
}


def exit_code(name: str, arguments: list[str]) -> int:
    work = getattr(import_module(f"spark_jobs.{name}"), name)
    try:
        run_job(work, about=None, argv=arguments, **NEEDS[name])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


if __name__ == "__main__":
    codes = [exit_code(name, arguments) for name, *arguments in json.loads(sys.argv[1])]
    sys.stdout.write(f"\n{json.dumps(codes)}\n")
