"""
The papers' experiments, ours in every one: ``python -m benchmarks.papers [--quick] [--only NAME ...] [--write]``.

Gedik and Fang et al. are on docs/papers.md, with real data beside them; ``splitting`` and ``admission`` have pages of their own and
are printed only. ``--write`` keeps a whole run: numbers in benchmarks/results/papers.json, tables in docs/papers.md, pictures in
docs/pictures. ``--page`` makes page and pictures again from the kept numbers.
"""

import argparse
import time
from collections.abc import Callable

from benchmarks import admission_papers, splitting_papers
from benchmarks.papers.fang_figures import EXPERIMENTS as FANG
from benchmarks.papers.gedik_figures import EXPERIMENTS as GEDIK
from benchmarks.papers.page import load_grids, save_grids, write_page
from benchmarks.papers.pictures import draw_pictures
from benchmarks.papers.real_figures import EXPERIMENTS as REAL
from benchmarks.papers.sheets import Experiment, Grid, Scale, Sheet

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in (*GEDIK, *FANG, *REAL)}
ELSEWHERE: dict[str, Callable[[list[str]], None]] = {
    "splitting": splitting_papers.main,
    "admission": admission_papers.main,
}


def main(argv: list[str] | None = None) -> None:
    args = _parse_args(argv)
    if not args.page:
        _run_all(args)
    if args.write or args.page:
        kept = load_grids()
        write_page([Sheet(experiment=EXPERIMENTS[name], grids=grids) for name, grids in kept.items()])
        draw_pictures(kept)
    if not args.page:
        _run_elsewhere(args)


def _parse_args(argv: list[str] | None) -> argparse.Namespace:
    names = [*EXPERIMENTS, *ELSEWHERE]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        dest="scale",
        action="store_const",
        const="quick",
        default="full",
        help="under five minutes",
    )
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names)
    )
    parser.add_argument("--write", action="store_true", help="keep numbers, page and pictures")
    parser.add_argument("--resume", action="store_true", help="go on with a --write that was interrupted")
    parser.add_argument("--page", action="store_true", help="page and pictures from the kept numbers, no run")
    args = parser.parse_args(argv)
    if args.write and not set(EXPERIMENTS) <= set(args.only):
        parser.error("--write must come without --only. Got both. Pages are made by one whole run.")
    if args.write and args.scale != "full":
        parser.error("--write must come without --quick. Got both. Pages are made by one whole run.")
    return args


def _run_all(args: argparse.Namespace) -> None:
    """Prints every experiment and keeps what there is after each: a run that is interrupted can be resumed."""
    kept = load_grids() if args.resume else {}
    for name, experiment in EXPERIMENTS.items():
        if name in args.only and name not in kept:
            kept[name] = _run(experiment, args.scale)
            kept = {known: kept[known] for known in EXPERIMENTS if known in kept}
            if args.write:
                save_grids(kept)


def _run(experiment: Experiment, scale: Scale) -> list[Grid]:
    began = time.perf_counter()
    grids = experiment.measure(scale)
    print(Sheet(experiment=experiment, grids=grids).as_text(scale))
    print(f"({experiment.name}: {time.perf_counter() - began:.0f} s)\n", flush=True)
    return grids


def _run_elsewhere(args: argparse.Namespace) -> None:
    for name, run in ELSEWHERE.items():
        if name in args.only:
            run(["--quick"] if args.scale == "quick" else [])


if __name__ == "__main__":
    main()
