"""Colours, questions and pipes: what differs between a person, a script and a closed pipe."""

import io
import os
import pty
import subprocess
import sys

import pytest

from cli.console import Console
from cli.steps import Run, TerminalTask
from cli.text import paint
from schemas.dataset import ROOT
from schemas.tables import PLANS, RUNS
from spark_jobs.control_tables import read_rows
from spark_jobs.job import JobError, Window
from tests.cli.conftest import DAY, START


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "no_color", "shown"),
    [(Terminal, "", "\x1b[31mx\x1b[0m\n"), (Terminal, "1", "x\n"), (io.StringIO, "", "x\n")],
)
def test_colours_are_for_terminals_that_want_them(monkeypatch, stream, no_color, shown):
    """A file has no use for colours, and whoever sets NO_COLOR means it (no-color.org)."""
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", stream())

    Console(is_json=False).show([paint("x", "red")], {})

    assert sys.stdout.getvalue() == shown


def command(*words: str, **changes: str) -> dict:
    """How a subprocess is given the command."""
    return {
        "args": [sys.executable, "-m", "cli", *words],
        "cwd": ROOT,
        "env": {**os.environ, "PYTHONPATH": str(ROOT), **changes},
    }


@pytest.mark.parametrize(("said", "code"), [(b"n\n", 3), (b"\n", 3)])
def test_apply_asks_at_a_terminal_and_takes_only_yes_for_yes(profiled, answer, said, code):
    """Enter alone changes nothing."""
    plan = answer("plan", "visits")["plan"]
    ours, theirs = pty.openpty()
    os.write(ours, said)
    done = subprocess.run(**command("apply", "visits", plan), stdin=theirs, capture_output=True, text=True, check=False)  # fmt: skip
    os.close(ours)
    os.close(theirs)

    assert done.returncode == code, done.stderr
    assert f"Apply plan {plan} to visits? [y/N]" in done.stderr
    assert done.stdout == "Nothing was changed.\n"
    assert read_rows(PLANS, dataset="visits").num_rows == 1
    assert read_rows(RUNS, dataset="visits").num_rows == 0


def test_terminal_of_another_encoding_gets_its_lines(profiled):
    """θ is not in ASCII; the answer must not be a traceback."""
    done = subprocess.run(**command("status", PYTHONIOENCODING="ascii"), capture_output=True, text=True, check=False)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "\\u03b8 now" in done.stdout


def test_reader_that_has_seen_enough_gets_no_traceback(profiled):
    """``evenkeel … | head -1`` ends quietly."""
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(**command("status"), stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)

    assert done.stderr == ""


def test_run_reports_the_step_that_failed(created, evenkeel, answer):
    """Whatever ends a run, its report names the step and the sentence, and status tells it."""
    task = TerminalTask(
        dataset=created,
        given_window=Window(start=START, end=START + DAY),
        run="run-x",
        console=Console(is_json=False),
    )

    def fail(task):
        raise JobError("the events must be there. Got none. Deliver them.")

    def interrupt(task):
        raise KeyboardInterrupt

    for work, kind, sentence in (
        (interrupt, KeyboardInterrupt, "interrupted by hand"),
        (fail, JobError, "the events must be there"),
    ):
        run = Run(task)
        with pytest.raises(kind), run.reported():
            run.do("check", work)
        assert run.facts()["outcome"] == "failed"
        assert run.facts()["reasons"][0].startswith(f"check: {sentence}")

    assert "last run failed at check: the events must be there. Got none." in evenkeel("status")[1]
    assert answer("report", "visits")["run"] == "run-x"
