"""docs/papers.md, and the numbers it is made of."""

import json
from pathlib import Path

from benchmarks.papers.sheets import Grid, Sheet, grid_as_json, grid_of_json

ROOT = Path(__file__).parents[2]
NUMBERS = ROOT / "benchmarks" / "results" / "papers.json"
PAGE = ROOT / "docs" / "papers.md"

SECTIONS = {
    "gedik": """## Gedik

B. Gedik, *Partitioning functions for stateful data parallelism in stream processing*, VLDB Journal 2014. A stream of |D| keys with Zipf frequencies; channels are added one by one,
the load stays the same, and the last addition is measured: relative imbalance b (max/min over what is tolerated, the geometric mean of three resources; 1 is the
limit) and relative migration m (1 is the new channel's fair share of all state). Means of two hash seeds (the paper: five runs). `+ hash load`: the same algorithm, told the load that
the hash places. θ is ours: the hottest channel above the mean.

![Balance and migration against skew](pictures/gedik-skew.svg)

![Balance and migration against the number of channels](pictures/gedik-channels.svg)""",
    "fang": """## Fang et al.

J. Fang et al., *Parallel stream processing against workload skewness and variance*, 2016. Windows of Zipf keys whose frequencies are swapped between windows; every planner answers every
window, from where its own last answer left the keys. Table II's defaults were bold and are lost in the text: we take K = 10^5, z = 0.85, f = 1, θ_max = 0.08, β = 1.5, 3,000
routes and N = 15, since Fig. 18's table converges to 9,350 of 10^4 keys, which the paper explains by (N - 1)/N. *burst* and *reshuffle* are two readings of its generator: one instance attracts
frequent keys until its load has changed by f, or random pairs swap until some load has. evenkeel plans on 4,096 slots and the heavy keys, all others on every key. readj is
given its best case: it stops at θ_max, and the better of two σ counts, window by window. Plain hashing (`hash`) moves nothing, and has no table and nothing to plan: its row stands where θ is,
and would be 0 in all other tables. Fig. 13 to 16 are not repeated: throughput and latency of a Storm cluster of 21 machines, on a TPC-H stream and on the Social and Stock data, which are not
public. What balance is worth to a running job is measured on [stateful-benefit.md](stateful-benefit.md), on Spark.

![Migration against θ_max](pictures/fang-theta.svg)

![Migration and time against the fluctuation](pictures/fang-fluctuation.svg)""",
    "real": """## Real data

The same planners on two data sets that come with packages this project installs. *θ next* is the imbalance of the following window under the plan, before anybody plans again: what a job sees.

![θ window by window on real data](pictures/real-windows.svg)""",
}
HEAD = """# The papers' experiments, repeated

Made by `python -m benchmarks.papers --write`, which prints the same and keeps the numbers in
[benchmarks/results/papers.json](../benchmarks/results/papers.json); `make papers` runs everything, `make papers QUICK=--quick` a
short form. The papers' figures are pictures: what stands as theirs is what their text says, in the section that the table names; pages differ between prints. All runs are seeded, so that everybody gets the same figures, times aside;
times are processor times over that of an argsort of 10^6 floats in the same process. The experiments on splitting keys are on [splitting.md](splitting.md), those on feeds and
panes on [forecast.md](forecast.md)."""


def save_grids(kept: dict[str, list[Grid]]) -> None:
    numbers = {name: [grid_as_json(grid) for grid in grids] for name, grids in kept.items()}
    NUMBERS.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(
        f" {json.dumps(name)}: {json.dumps(grids, ensure_ascii=False)}" for name, grids in numbers.items()
    )
    NUMBERS.write_text(f'{{"experiments": {{\n{lines}\n}}}}\n')


def load_grids() -> dict[str, list[Grid]]:
    kept = json.loads(NUMBERS.read_text())["experiments"]
    return {name: [grid_of_json(grid) for grid in grids] for name, grids in kept.items()}


def make_page(sheets: list[Sheet]) -> str:
    """Sections in the order of ``SECTIONS``, then all that looks different from the papers."""
    parts = [HEAD]
    for section, text in SECTIONS.items():
        parts.append(text)
        parts += [sheet.as_markdown() for sheet in sheets if sheet.experiment.name.startswith(section)]
    words = [sheet.experiment.words for sheet in sheets if sheet.experiment.words.other_shape]
    others = [f"- {one.title.partition(', ')[0]}, {one.other_shape}" for one in words]
    parts += ["## Where the shape differs from the paper's", "\n".join(others)]
    return "\n\n".join(parts) + "\n"


def write_page(sheets: list[Sheet]) -> None:
    PAGE.write_text(make_page(sheets))
