"""The simulations of Nasir et al., *Partial Key Grouping* (Sec. 6.2, Q1 to Q4)."""

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.splitting_workloads import LN1, LN2, Keys, draw_lognormal, draw_zipf, exponent_of
from benchmarks.tables import Line, Table
from partitioning.hashing import hash_keys
from partitioning.splitters import SPLITTERS
from partitioning.splitters.options import GLOBAL, Estimation, PkgOptions
from partitioning.splitters.request import SplitRequest, deal_round_robin

WORKERS = (5, 10, 50, 100)
METHODS = ("pkg", "off_greedy", "on_greedy", "potc", "hash")

# Table 2: fraction of average imbalance by data set, method and number of workers.
TABLE_2 = {
    "WP": {
        "pkg": (3.7e-8, 1.3e-7, 2.7e-2, 3.7e-2),
        "off_greedy": (3.7e-8, 4.1e-8, 7.4e-2, 8.3e-2),
        "on_greedy": (3.6e-7, 6.4e-3, 7.4e-2, 8.3e-2),
        "potc": (7.3e-7, 7.8e-3, 7.4e-2, 8.3e-2),
        "hash": (6.4e-2, 7.8e-2, 9.2e-2, 9.2e-2),
    },
    "TW": {
        "pkg": (3.4e-10, 1.4e-9, 2.3e-9, 3.4e-3),
        "off_greedy": (3.4e-10, 6e-10, 6.7e-3, 1.7e-2),
        "on_greedy": (7.2e-9, 7.9e-8, 1.0e-2, 1.7e-2),
        "potc": (1.9e-5, 4.3e-6, 1.2e-2, 1.7e-2),
        "hash": (3.5e-2, 3.2e-2, 2.0e-2, 2.8e-2),
    },
}
# What stands in for WP and TW: Zipf with as hot a first key, over so many keys.
STAND_INS = {"WP": (0.0932, 2_900_000), "TW": (0.0267, 31_000_000)}


def pkg_tables(*, n_rows: int, n_stand_in: int) -> Iterator[Table]:
    """Every table and figure that a simulation can answer: streams of ``n_rows``, of ``n_stand_in`` for data that we do not have."""
    yield table_1(n_rows)
    for name in ("WP", "TW"):
        yield table_2(name, n_stand_in)
    yield figure_5(n_stand_in)
    yield figure_8(n_stand_in)
    for title, workload in (("LN1", LN1), ("LN2", LN2)):
        yield methods_on(title, draw_lognormal(workload, n_rows))
    yield figure_4(n_rows)
    yield figure_6(n_rows)
    yield figure_7(n_rows)
    yield figure_9(n_stand_in)  # forty candidates a row


def table_1(n_rows: int) -> Table:
    """LN1 and LN2 as generated."""
    lines = []
    for name, workload, n_keys, share in (("LN1", LN1, "16k", "14.71 %"), ("LN2", LN2, "1.1k", "7.01 %")):
        count = np.bincount(draw_lognormal(workload, n_rows))
        lines.append(Line(f"{name} keys", n_keys, f"{np.count_nonzero(count):,}"))
        lines.append(Line(f"{name} p1", share, f"{100 * count.max() / n_rows:.2f} %"))
    return Table(
        f"Table 1, generated data ({n_rows:,} rows; the paper: 10,000,000)",
        lines,
        "Keys are rounded draws. Rare keys take rows to show up: the number of keys agrees at 10,000,000 rows only.",
    )


def table_2(name: str, n_rows: int) -> Table:
    """The five methods on a stand-in for a data set of the paper."""
    share, n_keys = STAND_INS[name]
    n_keys = min(n_keys, 10 * n_rows)  # keys beyond that are hardly ever drawn
    keys = draw_zipf(n_rows, n_keys=n_keys, exponent=exponent_of(share, n_keys))
    return Table(
        f"Table 2, {name}: I(m)/m, one source that knows all loads (stand-in: Zipf, p1 = {share:.2%}, {n_rows:,} rows)",
        _method_lines(keys, TABLE_2[name]),
        "A stand-in has the paper's p1 and nothing else of its data. Where p1 decides (W = 100, and 50 on WP) PKG must be at"
        " p1/2 - 1/W and whole keys at p1 - 1/W. Where loads are even, I(m) is a few rows: I(m)/m goes with 1/m, and ours has fewer"
        " rows. Hashing depends on the hash function, On-Greedy and PoTC on when the hot keys first arrive.",
    )


def methods_on(name: str, keys: Keys) -> Table:
    """The same on data that can be generated; the paper shows these in figures only."""
    nothing = dict.fromkeys(METHODS, None)
    return Table(
        f"Q1 on {name}: I(m)/m, one source that knows all loads ({keys.size:,} rows)",
        _method_lines(keys, nothing),
        "The paper prints no numbers for this data.",
    )


def _method_lines(keys: Keys, printed: Mapping[str, tuple[float, ...] | None]) -> list[Line]:
    hashes = hash_keys(keys, "bigint")
    lines = []
    for method, paper in printed.items():
        for position, n_workers in enumerate(WORKERS):
            bucket = SPLITTERS[method](SplitRequest(key_hash=hashes, n_buckets=n_workers))
            lines.append(
                Line(
                    f"{method}, W = {n_workers}",
                    "-" if paper is None else f"{paper[position]:.1e}",
                    f"{imbalance(bucket, n_workers):.1e}",
                )
            )
    return lines


def figure_4(n_rows: int) -> Table:
    """Local estimation against the global oracle, for some numbers of sources."""
    lines = []
    for name, workload in (("LN1", LN1), ("LN2", LN2)):
        hashes = hash_keys(draw_lognormal(workload, n_rows), "bigint")
        for n_workers in WORKERS:
            split = partial(_split_pkg, hashes, n_workers)
            known = imbalance(split(1, PkgOptions(estimation=GLOBAL)), n_workers)
            local = [imbalance(split(n, PkgOptions()), n_workers) for n in (5, 10, 15, 20)]
            hashed = imbalance(hashes % n_workers, n_workers)
            values = " ".join(f"{value:.1e}" for value in local)
            worst = max(local) / known if known else float("inf")
            lines.append(
                Line(
                    f"{name}, W = {n_workers}",
                    "L / G < 10",
                    f"H {hashed:.1e}  G {known:.1e}  L5 L10 L15 L20 {values}  worst L / G {worst:.1f}",
                )
            )
    return Table(
        f"Fig. 4: I(m)/m of hashing, of the oracle and of local estimation ({n_rows:,} rows)",
        lines,
        "Where G is a row or two, L / G compares rows: each source may be a row off by itself, whatever m is.",
    )


def figure_5(n_rows: int) -> Table:
    """Probing, all sources at once and one after the other."""
    hashes = hash_keys(draw_lognormal(LN2, n_rows), "bigint")
    lines = []
    for n_workers in (5, 10, 50):
        local = imbalance(_split_pkg(hashes, n_workers, 5, PkgOptions()), n_workers)
        lines.append(Line(f"L5, W = {n_workers}", "-", f"{local:.1e}"))
        for every in (n_rows // 100, n_rows // 1000):
            values = [
                imbalance(_split_pkg(hashes, n_workers, 5, PkgOptions(estimation=estimation)), n_workers)
                for estimation in (
                    Estimation(probe_every=every),
                    Estimation(probe_every=every, is_in_turn=True),
                )
            ]
            shown = "  ".join(f"{value:.1e}" for value in values)
            lines.append(Line(f"L5, probed every {every:,} rows, W = {n_workers}", "same", shown))
    return Table(
        f"Fig. 5: probing by all sources at once, and by one after the other; LN2 ({n_rows:,} rows)",
        lines,
        "The paper probes every minute of WP, TW and CT; we have no clock, and probe every so many rows of the stream. Sources that are"
        " told the same loads at once add to the same workers until they are told again.",
    )


def figure_6(n_rows: int) -> Table:
    """How often local estimation decides otherwise than the oracle."""
    lines = []
    for exponent in (0.2, 0.6, 1.0, 1.2):
        hashes = hash_keys(draw_zipf(n_rows, n_keys=10_000, exponent=exponent), "bigint")
        for is_distinct in (False, True):
            known = _split_pkg(hashes, 5, 1, PkgOptions(estimation=GLOBAL, is_distinct=is_distinct))
            local = PkgOptions(is_distinct=is_distinct)
            share = [np.mean(_split_pkg(hashes, 5, n, local) != known) for n in (5, 10, 20)]
            name = f"z = {exponent}, {'two different candidates' if is_distinct else 'hashes as they come'}"
            lines.append(Line(name, "falls with z", "  ".join(f"{100 * value:.0f} %" for value in share)))
    return Table(
        f"Fig. 6: rows sent elsewhere than by the oracle, S = 5, 10, 20; K = 10k, W = 5 ({n_rows:,} rows)",
        lines,
        "The paper's values are in a picture; its text says that they fall with z, and that 47 % agree on WP. Where both hashes of a key name the"
        " same worker there is nothing to disagree about: a fifth of the rows at z = 0.2, and ever fewer with z if the hottest keys happen to"
        " have two.",
    )


def figure_7(n_rows: int) -> Table:
    """Skew."""
    lines = []
    for n_keys in (1_000, 1_000_000):
        for exponent in (0.4, 0.8, 1.2, 1.6, 2.0):
            hashes = hash_keys(draw_zipf(n_rows, n_keys=n_keys, exponent=exponent), "bigint")
            values = [imbalance(_split_pkg(hashes, n, 5, PkgOptions()), n) for n in WORKERS]
            shown = "  ".join(f"{value:.1e}" for value in values)
            paper = "even" if exponent < 1.2 else "transition" if exponent == 1.2 else "uneven"
            lines.append(Line(f"K = {n_keys:,}, z = {exponent}", paper, shown))
    return Table(
        f"Fig. 7: I(m)/m of PKG, W = 5, 10, 50, 100, five sources ({n_rows:,} rows)",
        lines,
        "The paper's words are for all W together. PKG cannot be even where p1 is above 2/W: with more workers, from a lower z on.",
    )


def figure_8(n_rows: int) -> Table:
    """Sources that send unequal shares of the stream."""
    keys = draw_zipf(n_rows, n_keys=100_000, exponent=0.8)
    sender = draw_zipf(n_rows, n_keys=100_000, exponent=0.8, seed=1)
    hashes = hash_keys(keys, "bigint")
    lines = []
    for n_workers in WORKERS:
        values = []
        for n_sources in (5, 20):
            skewed = hash_keys(sender, "bigint") % n_sources
            for source in (deal_round_robin(n_rows, n_sources), skewed):
                request = SplitRequest(key_hash=hashes, n_buckets=n_workers, source=source)
                values.append(imbalance(SPLITTERS["pkg"](request), n_workers))
        shown = "  ".join(f"{value:.1e}" for value in values)
        lines.append(Line(f"W = {n_workers}", "similar", shown))
    return Table(
        f"Fig. 8: I(m)/m, sources fed evenly and by a skewed key of their own, S = 5 then S = 20 ({n_rows:,} rows)",
        lines,
        "The paper has the LiveJournal graph, out-degrees at the sources, in-degrees at the workers; here both are Zipf 0.8.",
    )


def figure_9(n_rows: int) -> Table:
    """Number of choices."""
    keys = draw_zipf(n_rows, n_keys=1_000_000, exponent=1.2)
    hashes = hash_keys(keys, "bigint")
    share = np.bincount(keys).max() / n_rows
    lines = []
    for n_workers, paper in ((5, "even at d = 4"), (40, "even at d = 9"), (100, "a few tens")):
        values = []
        for n_choices in (2, 4, 9, 20, 40):
            options = PkgOptions(n_choices=n_choices)
            values.append(f"{imbalance(_split_pkg(hashes, n_workers, 5, options), n_workers):.1e}")
        lines.append(Line(f"W = {n_workers}", paper, "  ".join(values)))
    return Table(
        f"Fig. 9: I(m)/m for d = 2, 4, 9, 20, 40; z = 1.2, K = 1M, five sources ({n_rows:,} rows)",
        lines,
        f"p1 is {share:.1%}, and no d below p1 W can be even: {5 * share:.1f}, {40 * share:.1f}, {100 * share:.1f}. Hashes that"
        " coincide leave a hot key fewer buckets than d.",
    )


def imbalance(bucket: NDArray[np.int64], n_workers: int) -> float:
    """I(m)/m."""
    load = np.bincount(bucket, minlength=n_workers)
    return float((load.max() - load.mean()) / bucket.size)


def _split_pkg(
    hashes: NDArray[np.int64], n_workers: int, n_sources: int, options: PkgOptions
) -> NDArray[np.int64]:
    source = deal_round_robin(hashes.size, n_sources)
    return SPLITTERS["pkg"](SplitRequest(key_hash=hashes, n_buckets=n_workers, source=source), options)
