"""A run's steps, one after the other in this process: the same jobs that the Dag's tasks call, Spark started once."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from cli.console import Console
from schemas.tables import RUNS
from spark_jobs.control_tables import read_one
from spark_jobs.job import Result, Task, Work, sentence_of, timed
from spark_jobs.run_facts import Facts, run_facts


@dataclass(frozen=True, kw_only=True)
class TerminalTask(Task):
    """A task whose job speaks to the person at the terminal."""

    console: Console

    def say(self, sentence: str) -> None:
        self.console.say(f"  {sentence}")


class Run:
    """One run. What each step came to is kept for its report, by the names that the Dag gives them."""

    def __init__(self, task: TerminalTask) -> None:
        self.task = task
        self._steps: list[dict[str, Any]] = []

    def do(self, name: str, work: Work, **options: Any) -> Result:
        """Do a step, and keep what it answered or the sentence it failed with."""
        step: dict[str, Any] = {"name": name, "state": "success", "error": "", "result": {}}
        self._steps.append(step)
        try:
            with self.task.console.step(name):
                step["result"] = timed(work, replace(self.task, options=options))
        except BaseException as error:
            step |= {"state": "failed", "error": _reason(error)}
            raise
        return dict(step["result"])

    def on(self, plan: str) -> None:
        """All later steps are about this plan."""
        self.task = replace(self.task, plan=plan)

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Whatever becomes of the steps inside, the run's report is written at the end; a step's failure is what is told."""
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self._report()
            raise
        self._report()

    def _report(self) -> None:
        from spark_jobs.report_run import report_run

        with self.task.console.step("report"):
            report_run(replace(self.task, options={"steps": self._steps}))

    def facts(self) -> Facts:
        """The run as the tables have it."""
        dataset = self.task.dataset
        return run_facts(dataset, read_one(RUNS, dataset=dataset.name, run=self.task.run))


def _reason(error: BaseException) -> str:
    """What the report says of a step that did not end well; Ctrl-C is one of the ways."""
    if not isinstance(error, Exception):
        return "interrupted by hand"
    return sentence_of(error) or f"{type(error).__name__}: {error}"


def carry_out(run: Run, *, mover: str | None) -> None:
    """Validate, migrate, verify. Whatever ends it, the table has the old function or the new one, or is shut by a merge."""
    from spark_jobs.migrate_layout import migrate_layout
    from spark_jobs.validate_plan import validate_plan
    from spark_jobs.verify_layout import verify_layout

    run.do("validate", validate_plan)
    run.do("migrate", migrate_layout, mover=mover)
    run.do("verify", verify_layout)
