"""How a job's answer reaches Airflow: as JSON in a file that only this try knows."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def result_of(run: Callable[[str], None]) -> Any:
    """Call ``run`` with the path of a fresh file; what the job wrote there."""
    handle, name = tempfile.mkstemp(prefix="result-", suffix=".json")
    os.close(handle)
    try:
        run(name)
        return json.loads(Path(name).read_text())
    finally:
        Path(name).unlink(missing_ok=True)
