"""Two kept results of ``make bench`` side by side: ``python -m benchmarks.compare_benches A.json B.json``."""

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.goals import Goal
from benchmarks.kept_runs import KeptRun, KeptRunError, read_run

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")
MISSING = "-"


@dataclass(frozen=True)
class Pair:
    """One figure in two runs; None where a run does not have it."""

    what: str
    a: Goal | None
    b: Goal | None

    @property
    def ratio(self) -> float | None:
        """The first number of B's result over that of A's; None where there is none to divide by."""
        if self.a is None or self.b is None:
            return None
        a, b = _first_number(self.a.result), _first_number(self.b.result)
        return b / a if a and b is not None else None

    @property
    def note(self) -> str:
        """What became of the goal, if it was missed or is another one now."""
        if self.a is None or self.b is None:
            return ""
        if self.a.goal != self.b.goal:
            return f"the goal of B is {self.b.goal or 'none'}{'' if self.b.met else ', missed'}"
        if self.a.met == self.b.met:
            return "" if self.b.met else "missed by both"
        return "now met" if self.b.met else "now missed"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a", type=Path, help="kept by `make bench OUT=...`")
    parser.add_argument("b", type=Path, help="another one")
    args = parser.parse_args(argv)
    try:
        a, b = read_run(args.a), read_run(args.b)
    except KeptRunError as error:
        parser.error(str(error))
    print(f"A: {args.a}, {a.form}\nB: {args.b}, {b.form}")
    if a.form != b.form:
        print("A quick run and a whole one measure other sizes: what differs may be the size alone.")
    for name, pairs in compare(a, b).items():
        print(f"\n{name:<92} {'goal':>10}  {'A':<24} {'B':<24} {'B/A':>7}")
        for pair in pairs:
            print(_line(pair))


def compare(a: KeptRun, b: KeptRun) -> dict[str, list[Pair]]:
    """Pairs by benchmark: the figures of A in A's order, then those that only B has."""
    return {
        name: list(_pairs(a.benches.get(name, []), b.benches.get(name, [])))
        for name in {**a.benches, **b.benches}
    }


def _pairs(a: list[Goal], b: list[Goal]) -> Iterator[Pair]:
    of_a, of_b = ({goal.what: goal for goal in goals} for goals in (a, b))
    for what in {**of_a, **of_b}:
        yield Pair(what, of_a.get(what), of_b.get(what))


def _line(pair: Pair) -> str:
    goal = (pair.a or pair.b or Goal(what="", goal="", result="", met=True)).goal
    shown = [MISSING if side is None else side.result for side in (pair.a, pair.b)]
    ratio = "" if pair.ratio is None else f"{pair.ratio:.2f}"
    return f"{pair.what:<92} {goal:>10}  {shown[0]:<24} {shown[1]:<24} {ratio:>7} {pair.note}".rstrip()


def _first_number(text: str) -> float | None:
    found = NUMBER.search(text)
    return float(found[0].replace(",", "")) if found else None


if __name__ == "__main__":
    main()
