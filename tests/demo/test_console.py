"""The demo shows its own lines; what Airflow and Spark print goes to a log, where failures are looked up."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import subprocess, sys
from pathlib import Path
from demo.console import Console
console = Console(Path(sys.argv[1]))
print("noise of this process, ValueError: of an earlier step", flush=True)
console.begin_step("plan")
subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('noise of a child\\\\n' + sys.argv[1])", sys.argv[2]])
console.end_step("FAILED")
console.say(console.reason())
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "12:00 ERROR: the plan is stale. Plan again. [airflow.task] loc=x",
            "the plan is stale. Plan again.",
        ),
        ("RuntimeError: disk on fire", "RuntimeError: disk on fire"),
        ("KeyError: 1\nERROR: the sentence wins.", "the sentence wins."),
        ("nothing of note", "no reason was left; see the log"),
    ],
)
def test_users_see_the_step_and_its_reason_and_no_noise(tmp_path, line, reason):
    """Redirected at the level of file descriptors, so that children of children are caught too."""
    command = [sys.executable, "-c", CODE, tmp_path / "log", line]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].split()[0] == "plan"
    assert lines[1] == reason
    assert "noise of a child" in (tmp_path / "log").read_text()
