"""What the runs of the splitting benchmark come to: stragglers, times, what sending costs, and the goals."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.event_log import ShuffleStage
from benchmarks.goals import Goal
from benchmarks.splitting_contenders import MERGES, OURS, PLAIN, SALTED

HASH_REPARTITION = "hash repartition"
MOST_FOR_SENDING = 3.0  # times a hash repartition
HAVE_A_GOAL = ("shuffle_heavy", "pkg, 5 candidates", "cam")  # the first is the choice for these events


@dataclass(kw_only=True)
class Measured:
    """One contender on one aggregate."""

    name: str  # of its job group
    contender: str
    what: str
    seconds: float  # from the call to the commit
    facts: dict[str, Any] = field(default_factory=dict)  # what the job said
    digest: tuple[int, int] = (0, 0)  # results and their checksum
    stages: list[ShuffleStage] = field(default_factory=list)

    @property
    def in_a_row(self) -> float:
        """The slowest tasks of the stages, one after the other: what they take where each task has a core."""
        return sum(max(stage.seconds) for stage in self.stages)

    @property
    def worst_straggler(self) -> float:
        """The slowest over the mean task, in the stage whose slowest task took longest."""
        return max(self.stages, key=lambda stage: max(stage.seconds)).straggler


@dataclass(frozen=True)
class Outcome:
    """All that was measured."""

    runs: list[Measured]
    sending: dict[str, float]  # seconds, by what sent the rows

    def run(self, contender: str, what: str) -> Measured:
        return next(one for one in self.runs if (one.contender, one.what) == (contender, what))


def goals_of(outcome: Outcome) -> list[Goal]:
    """The one goal that was set, and who wins by how much."""
    measured = {one.what for one in outcome.runs}
    on_merges = (goal for what in MERGES if what in measured for goal in _goals_on(outcome, what))
    return [*_sending_goals(outcome.sending), *on_merges]


def _sending_goals(sending: dict[str, float]) -> Iterator[Goal]:
    for name, seconds in sending.items():
        what, ratio = (
            f"sending rows by {name} / {HASH_REPARTITION}, time",
            seconds / sending[HASH_REPARTITION],
        )
        if name in HAVE_A_GOAL:
            yield Goal.at_most(what, MOST_FOR_SENDING, ratio)
        elif name != HASH_REPARTITION:
            yield Goal(what=what, goal="", result=f"{ratio:.3f}x", met=True)


def _goals_on(outcome: Outcome, what: str) -> Iterator[Goal]:
    ours, digests = outcome.run(OURS, what), {one.digest for one in outcome.runs if one.what == what}
    yield Goal(
        what=f"{what}: all three have the same results",
        goal="yes",
        result="yes" if len(digests) == 1 else "no",
        met=len(digests) == 1,
    )
    for contender in (PLAIN, SALTED, OURS):
        straggler = outcome.run(contender, what).worst_straggler
        yield Goal(
            what=f"{what}: slowest / mean task, {contender}", goal="", result=f"{straggler:.2f}", met=True
        )
    for contender in (PLAIN, SALTED):
        other = outcome.run(contender, what)
        for measure, ratio in (
            ("total time", ours.seconds / other.seconds),
            ("slowest tasks of all stages", ours.in_a_row / other.in_a_row),
        ):
            yield Goal(
                what=f"{what}: {measure}, {OURS} / {contender}", goal="", result=f"{ratio:.3f}x", met=True
            )


def print_runs(outcome: Outcome) -> None:
    """Each contender: time, and of each stage the slowest task, its ratio to the mean, and the bytes that the fullest task read, to the mean."""
    print(
        f"\n{'':<30} {'total s':>8} {'in a row':>9}  stages: slowest task s (/ mean; most bytes read / mean)"
    )
    for one in outcome.runs:
        print(
            f"{one.what:<10} {one.contender:<19} {one.seconds:8.1f} {one.in_a_row:9.1f}  {_told(one.stages)}"
        )
    for one in outcome.runs:
        if "reason" in one.facts:
            figures = f"Γ {one.facts['merge_cost']:,}, imbalance {one.facts['imbalance']:.4f}"
            print(f"{one.what}: {one.facts['splitter']}, {figures}. {one.facts['reason']}")


def _told(stages: list[ShuffleStage]) -> str:
    return ", ".join(
        f"{max(stage.seconds):.1f} ({stage.straggler:.2f}; {_most(stage.shuffled_bytes):.2f})"
        for stage in stages
    )


def _most(n_bytes: list[int]) -> float:
    return max(n_bytes) * len(n_bytes) / sum(n_bytes)
