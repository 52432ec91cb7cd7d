"""Two kept results of ``make bench`` side by side: ``python -m benchmarks.compare_benches A.json B.json``."""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.goals import Goal

NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")
MISSING = "-"

Rows = list[dict[str, Any]]  # goals as JSON has them


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
        """What changed about the goal, if anything."""
        if self.a is None or self.b is None or self.a.met == self.b.met:
            return ""
        return "now met" if self.b.met else "now missed"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a", type=Path, help="kept by `make bench OUT=...`")
    parser.add_argument("b", type=Path, help="another one")
    args = parser.parse_args(argv)
    kept = [_load(parser, path) for path in (args.a, args.b)]
    print(f"A: {args.a}{_form(kept[0])}\nB: {args.b}{_form(kept[1])}")
    for name, pairs in compare(kept[0]["benches"], kept[1]["benches"]).items():
        print(f"\n{name:<92} {'goal':>10}  {'A':<24} {'B':<24} {'B/A':>7}")
        for pair in pairs:
            print(_line(pair))


def compare(a: dict[str, Rows], b: dict[str, Rows]) -> dict[str, list[Pair]]:
    """Pairs by benchmark: the figures of A in A's order, then those that only B has."""
    return {name: list(_pairs(a.get(name, []), b.get(name, []))) for name in {**a, **b}}


def _pairs(a: Rows, b: Rows) -> Iterator[Pair]:
    of_a, of_b = ({str(row["what"]): Goal(**row) for row in rows} for rows in (a, b))
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


def _form(kept: dict[str, Any]) -> str:
    return ", quick" if kept.get("quick") else ""


def _load(parser: argparse.ArgumentParser, path: Path) -> dict[str, Any]:
    try:
        kept: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        parser.error(
            f"{path} must be a result kept by `make bench`. Got no such file. Run `make bench OUT={path}`."
        )
    return kept


if __name__ == "__main__":
    main()
