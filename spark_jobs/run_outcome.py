"""What a run came to, from what its steps came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MIGRATED, HELD, DRY_RUN, FAILED, PLANNED = "migrated", "held", "dry run", "failed", "planned"
# What the step that loads and profiles a window answers about its speed: ``row_costs`` reads it.
TIMED = ("cost", "rows", "load_seconds", "profile_seconds", "workers")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step, as the scheduler saw it."""

    name: str
    state: str  # Airflow's word: success, skipped, failed, upstream_failed
    error: str = ""  # its last sentence, if it failed
    result: dict[str, Any] = field(default_factory=dict)  # what its job answered

    @property
    def seconds(self) -> float:
        return float(self.result.get("seconds", 0.0))

    @property
    def start_seconds(self) -> float:
        return float(self.result.get("start_seconds", 0.0))

    @property
    def timing(self) -> dict[str, Any]:
        """What ``runs.steps`` keeps of it."""
        is_timed = all(name in self.result for name in TIMED)
        return {
            "name": self.name,
            "state": self.state,
            "seconds": self.seconds,
            "start_seconds": self.start_seconds,
            **({name: self.result[name] for name in TIMED} if is_timed else {}),
        }


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One of the five words, and why."""

    name: str
    reasons: tuple[str, ...] = ()


def outcome_of(steps: Sequence[Step], *, is_applied: bool) -> Outcome:
    """A failure before all; then what the gate and a person said; then whether the table has the plan's function by that plan."""
    failed = tuple(_failures(steps))
    if failed:
        return Outcome(name=FAILED, reasons=failed)
    gate = next((step.result for step in steps if step.name == "gate"), {})
    if gate and not gate.get("go"):
        is_dry = bool(gate.get("dry_run"))
        return Outcome(name=DRY_RUN if is_dry else HELD, reasons=tuple(gate.get("reasons", ())))
    approval = next((step.result for step in steps if step.name == "approve"), {})
    if "Reject" in approval.get("chosen_options", ()):
        return Outcome(name=HELD, reasons=("a person rejected the plan",))
    return Outcome(name=MIGRATED if is_applied else PLANNED)


def _failures(steps: Sequence[Step]) -> Iterator[str]:
    """Those that failed themselves; a step that never began says nothing of its own."""
    for step in steps:
        if step.state == "failed":
            yield f"{step.name}: {step.error or 'no reason was left; see the log of the task'}"
