"""
One pool with one slot for each dataset: ``python -m dags.pools`` puts them into Airflow's database.

Every step of every Dag of a dataset runs in its pool, so that no two write the same table at once, whatever kinds of runs overlap. A
task whose pool is missing waits for ever. `make airflow` does this by itself; elsewhere run it after adding a dataset file.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from dags.pool import pool_of
from schemas.dataset import dataset_files


def main() -> int:
    names = [path.stem for path in dataset_files()]
    pools = {
        pool_of(name): {
            "slots": 1,
            "description": f"one writer of {name} at a time",
            "include_deferred": False,
        }
        for name in names
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pools.json"
        file.write_text(json.dumps(pools))
        done = subprocess.run(
            ["airflow", "pools", "import", str(file)], capture_output=True, text=True, check=False
        )
    sys.stderr.write(
        f"pools of {', '.join(names) or 'no dataset'}: {'there' if not done.returncode else 'FAILED'}\n"
    )
    if done.returncode:
        sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
