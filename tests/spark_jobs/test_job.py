"""Arguments come from people and from templates: wrong ones are refused before Spark starts."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from spark_jobs.control_tables import literal
from spark_jobs.job import JobError, RefusalError, Window, moment, run_job


def never(_task):
    raise AssertionError("the job must not start")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--dataset", "clicks", "--window-start", "yesterday", "--window-end", "2026-01-04"],
            "must be an ISO 8601 time",
        ),
        (["--dataset", "clicks", "--window-start", "2026-01-03"], "--window-end"),
        (
            [
                "--dataset",
                "clicks",
                "--window-start",
                "2026-01-03",
                "--window-end",
                "2026-01-04",
                "--plan",
                "x'; DROP",
            ],
            "must be 16 hexadecimal digits",
        ),
    ],
)
def test_wrong_arguments_are_refused(capsys, arguments, sentence):
    """argparse's exit code 2, and a sentence that names the argument."""
    with pytest.raises(SystemExit) as caught:
        run_job(never, about="", argv=arguments, needs=("window",), takes=("plan",))

    assert caught.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--dataset", "nosuch", "--window-start", "2026-01-03", "--window-end", "2026-01-04"],
            "dataset must be one of",
        ),
        (
            ["--dataset", "clicks", "--window-start", "2026-01-04", "--window-end", "2026-01-03"],
            "must lie before",
        ),
    ],
)
def test_known_failures_end_with_one_sentence(capsys, arguments, sentence):
    """What an operator sees in the task's log is the sentence, not a stack trace."""
    with pytest.raises(SystemExit) as caught:
        run_job(never, about="", argv=arguments, needs=("window",), takes=("plan",))

    error = capsys.readouterr().err
    assert caught.value.code == 1
    assert error.startswith("ERROR: ")
    assert sentence in error


def test_times_without_a_zone_are_utc():
    """Windows must not depend on where the machine stands."""
    assert moment("2026-01-03") == moment("2026-01-03T01:00:00+01:00") == datetime(2026, 1, 3, tzinfo=UTC)


def test_empty_window_is_refused():
    """An end that is the start selects nothing, silently."""
    start = datetime(2026, 1, 3, tzinfo=UTC)
    with pytest.raises(JobError, match="--window-start must lie before --window-end"):
        Window(start=start, end=start)


@pytest.mark.parametrize(
    ("value", "sql"), [("it's", "'it''s'"), ("a'; DROP TABLE x --", "'a''; DROP TABLE x --'")]
)
def test_literals_are_escaped(value, sql):
    """Names end up in predicates: no text may end its own literal."""
    assert literal(value) == sql


@pytest.mark.parametrize(("error", "is_final"), [(RefusalError("no"), True), (JobError("not now"), False)])
def test_result_says_whether_asking_again_helps(tmp_path, error, is_final):
    """A scheduler tries again what may heal, and nothing else."""

    def fail(_task):
        raise error

    result = tmp_path / "result.json"
    with pytest.raises(SystemExit):
        run_job(fail, about="", argv=["--dataset", "clicks", "--result", str(result)])

    assert json.loads(result.read_text()) == {"error": str(error), "is_final": is_final}


def test_job_that_is_done_ends_well_whatever_its_libraries_do_at_the_end():
    """Seen on busy machines: a reader's threads abort the interpreter's end, and a scheduler would try the step again."""
    code = "import atexit, os; atexit.register(os.abort); from spark_jobs.job import run_job; run_job(lambda task: {}, about='')"
    command = [sys.executable, "-c", code, "--dataset", "clicks"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert json.loads(done.stdout)["seconds"] >= 0
