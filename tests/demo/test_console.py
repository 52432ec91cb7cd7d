"""The demo shows its own lines; what Airflow and Spark print goes to a log, where failures are looked up."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = """
import subprocess, sys
from pathlib import Path
from demo.console import Console
console = Console(Path(sys.argv[1]))
print("noise of this process")
subprocess.run(["sh", "-c", "echo noise of a child; echo 'x ERROR: the plan is stale. Plan again.' >&2"])
console.begin_step("plan")
console.end_step("done")
console.say(console.last_error())
"""


def test_users_see_steps_and_the_last_error_and_no_noise(tmp_path):
    """Redirected at the level of file descriptors, so that children of children are caught too."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, tmp_path / "log"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].split()[0] == "plan"
    assert lines[1] == "the plan is stale. Plan again."
    assert "noise of a child" in (tmp_path / "log").read_text()
