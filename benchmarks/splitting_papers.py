"""
The experiments of the two papers on splitting keys, beside what they print: ``python -m benchmarks.splitting_papers [--quick]``.

Every stream is seeded. Imbalance is the papers' I(m)/m: rows of the fullest worker above the mean, over all rows.
"""

import argparse

from benchmarks.splitting_holistic import holistic_tables
from benchmarks.splitting_pkg import pkg_tables

FULL_ROWS = 10_000_000  # as many as the papers' synthetic streams have
STAND_IN_ROWS = 1_000_000  # streams that only resemble those of the papers
QUICK_ROWS = 20_000
# The row-by-row methods on windows: enough to see who wins.
FULL_WINDOW_ROWS, QUICK_WINDOW_ROWS = 300_000, 6_000


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"streams of {QUICK_ROWS:,} rows: under two minutes"
    )
    args = parser.parse_args(argv)

    print("Nasir et al., Partial Key Grouping")
    n_rows, n_stand_in = (QUICK_ROWS, QUICK_ROWS) if args.quick else (FULL_ROWS, STAND_IN_ROWS)
    for table in pkg_tables(n_rows=n_rows, n_stand_in=n_stand_in):
        table.print()
    print("\nKatsipoulakis et al., A Holistic View of Stream Partitioning Costs")
    for table in holistic_tables(n_rows=QUICK_WINDOW_ROWS if args.quick else FULL_WINDOW_ROWS):
        table.print()


if __name__ == "__main__":
    main()
