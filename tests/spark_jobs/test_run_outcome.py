"""What a run came to: a failure before all, then what the gate said, then whether the plan is in the table."""

import pytest

from spark_jobs.run_outcome import Step, outcome_of


def gate(*, go, dry_run=False):
    result = {"go": go, "dry_run": dry_run, "reasons": [] if go else ["not now"]}
    return Step(name="gate", state="success" if go else "skipped", result=result)


CHECK_FAILED = Step(name="check", state="failed", error="rows must be 5. Got 3.")
REJECTED = Step(name="approve", state="success", result={"chosen_options": ["Reject"]})


@pytest.mark.parametrize(
    ("steps", "is_applied", "name", "reasons"),
    [
        ([CHECK_FAILED, gate(go=True)], True, "failed", ("check: rows must be 5. Got 3.",)),
        ([Step(name="migrate", state="failed")], False, "failed", ("migrate: no reason was left; see the log of the task",)),
        ([gate(go=False)], False, "held", ("not now",)),
        ([gate(go=False, dry_run=True)], False, "dry run", ("not now",)),
        ([gate(go=True), REJECTED], False, "held", ("a person rejected the plan",)),
        ([gate(go=True)], True, "migrated", ()),
        ([], True, "migrated", ()),
        ([], False, "planned", ()),
    ],
)  # fmt: skip
def test_outcome(steps, is_applied, name, reasons):
    """One word that an operator can act on, and why."""
    outcome = outcome_of(steps, is_applied=is_applied)

    assert (outcome.name, outcome.reasons) == (name, reasons)


def test_step_that_never_began_is_no_failure_of_its_own():
    """One cause, one sentence: what was not run because of it says nothing."""
    steps = [CHECK_FAILED, Step(name="plan", state="upstream_failed")]

    assert len(outcome_of(steps, is_applied=False).reasons) == 1
