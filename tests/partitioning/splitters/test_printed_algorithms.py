"""Every splitter makes exactly the choices of its paper's pseudo-code, whatever the batches, sources and windows."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partitioning.splitters import SPLITTERS, whole_keys
from partitioning.splitters.am import am_source
from partitioning.splitters.cam import cam_source
from partitioning.splitters.candidates import candidates_by_key, candidates_of
from partitioning.splitters.cm import cm_source
from partitioning.splitters.lm import lm_source
from partitioning.splitters.options import (
    GLOBAL,
    CardinalityOptions,
    Choices,
    Estimation,
    LmOptions,
    PkgOptions,
)
from partitioning.splitters.pkg import PkgSenders, send_in_step, send_in_turn
from partitioning.splitters.request import SplitRequest, deal_round_robin
from partitioning.splitters.whole_keys import WholeKeySenders
from tests.partitioning.splitters import reference
from tests.partitioning.splitters.reference import requests

quick = settings(max_examples=40, deadline=None, derandomize=True)
n_choices = st.integers(1, 5)
probes = st.one_of(st.none(), st.integers(1, 40))


@quick
@given(requests(), n_choices, probes)
def test_pkg_equals_greedy_d(request_, d, probe_every):
    """Local, probing and global estimation, any d: the paper's comparison is only as good as each of them."""
    options = PkgOptions(n_choices=d, estimation=Estimation(probe_every=probe_every))

    assert SPLITTERS["pkg"](request_, options).tolist() == reference.pkg(request_, d, probe_every)


@quick
@given(requests(), st.integers(1, 40))
def test_probing_in_turn_tells_one_source_at_a_time(request_, every):
    """Each source is told the truth once in P rows, P / S rows after the one before it."""
    sources = sorted(set(request_.source.tolist()))
    step, true, expected = max(1, every // max(1, len(sources))), [0] * request_.n_buckets, []
    believed = {source: list(true) for source in sources}
    for row, (key, source) in enumerate(
        zip(request_.key_hash.tolist(), request_.source.tolist(), strict=True)
    ):
        if row % step == 0:
            believed[sources[row // step % len(sources)]] = list(true)
        bucket = reference.first_least(reference.candidates(key, request_.n_buckets, 2), believed[source])
        expected.append(bucket)
        true[bucket] += 1
        believed[source][bucket] += 1

    options = PkgOptions(estimation=Estimation(probe_every=every, is_in_turn=True))

    assert SPLITTERS["pkg"](request_, options).tolist() == expected


@quick
@given(requests(), n_choices, probes)
def test_potc_equals_the_printed_algorithm(request_, d, probe_every):
    """One table for all sources, choices by the loads of whoever meets the key first."""
    options = PkgOptions(n_choices=d, estimation=Estimation(probe_every=probe_every))

    assert SPLITTERS["potc"](request_, options).tolist() == reference.potc(request_, d, probe_every)


@quick
@given(requests(), probes)
def test_on_greedy_equals_the_printed_algorithm(request_, probe_every):
    """A new key may go anywhere, so ties by bucket decide a lot."""
    expected = reference.on_greedy(request_, probe_every)

    assert SPLITTERS["on_greedy"](request_, Estimation(probe_every=probe_every)).tolist() == expected


@quick
@given(requests(), probes)
def test_off_greedy_is_on_greedy_on_sorted_rows(request_, probe_every):
    """Rows by their key's frequency, each still sent by its own source, which knows what it sent or was told."""
    expected = reference.off_greedy(request_, probe_every)

    assert SPLITTERS["off_greedy"](request_, Estimation(probe_every=probe_every)).tolist() == expected


@quick
@given(requests(max_sources=1))
def test_off_greedy_is_lpt_for_one_source(request_):
    """Keys by falling frequency to the least loaded bucket: the classic, with ties by first arrival."""
    keys = request_.key_hash.tolist()
    load, table = [0] * request_.n_buckets, {}
    for key in sorted(dict.fromkeys(keys), key=lambda key: -keys.count(key)):
        table[key] = load.index(min(load))
        load[table[key]] += keys.count(key)

    assert SPLITTERS["off_greedy"](request_).tolist() == [table[key] for key in keys]


@quick
@given(requests(), n_choices, st.sampled_from(["cm", "am", "cam"]))
def test_cardinality_aware_splitters_equal_the_printed_algorithms(request_, m, name):
    """Alg. 2 to 4 with exact sets, every source on its own, everything forgotten at each window."""
    expected = reference.cardinality_aware(request_, getattr(reference, name), m)

    assert SPLITTERS[name](request_, CardinalityOptions(n_choices=m)).tolist() == expected


@settings(quick, max_examples=15)
@given(requests(max_rows=80), n_choices, st.sampled_from(["cm", "am", "cam", "lm"]))
def test_sketches_decide_as_the_printed_algorithms(request_, m, name):
    """A trial update on a fresh copy for each question: what keeping the trial saves must not change an answer."""
    decide = reference.lm(0.5) if name == "lm" else getattr(reference, name)
    options = LmOptions if name == "lm" else CardinalityOptions
    expected = reference.cardinality_aware(request_, decide, m, reference.Sketch)

    sent = SPLITTERS[name](request_, options(n_choices=m, counter="hll", log2_registers=7))

    assert sent.tolist() == expected


@quick
@given(requests(), n_choices, st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
def test_lm_equals_the_printed_algorithm(request_, m, p):
    """Alg. 5 with the primes of Eq. 9."""
    expected = reference.cardinality_aware(request_, reference.lm(p), m)

    assert SPLITTERS["lm"](request_, LmOptions(n_choices=m, row_weight=p)).tolist() == expected


@quick
@given(requests())
def test_shuffle_deals_each_source_in_turn(request_):
    """Round robin per source, source s from bucket s on."""
    sent, expected = {}, []
    for source in request_.source.tolist():
        expected.append((source + sent.get(source, 0)) % request_.n_buckets)
        sent[source] = sent.get(source, 0) + 1

    assert SPLITTERS["shuffle"](request_).tolist() == expected


@quick
@given(requests(max_sources=9), n_choices)
def test_sending_in_step_equals_sending_in_turn(request_, d):
    """The batch form that makes PKG affordable is exact, loads included, also where sources are uneven or silent."""
    columns = [reference.candidates(key, request_.n_buckets, d) for key in request_.key_hash.tolist()]
    candidates = np.array(columns, dtype=np.int64).reshape(-1, d).T
    in_turn, in_step = np.zeros((2, 11, request_.n_buckets), dtype=np.int64)

    expected = send_in_turn(in_turn, candidates, request_.source_place)

    assert send_in_step(in_step, candidates, request_.source_place).tolist() == expected.tolist()
    assert in_step.tolist() == in_turn.tolist()


def test_many_sources_are_sent_in_step_and_equal_the_printed_algorithm():
    """Enough sources for the batch form to be taken by itself, several rows each, unevenly."""
    rng = np.random.default_rng(5)
    request = SplitRequest.of_keys(
        rng.zipf(1.3, 4_000) % 500, "bigint", n_buckets=7, source=rng.integers(0, 300, 4_000)
    )

    assert SPLITTERS["pkg"](request).tolist() == reference.pkg(request)


SOURCES = {
    "cm": lambda n: cm_source(n, CardinalityOptions()),
    "am": lambda n: am_source(n, CardinalityOptions()),
    "cam": lambda n: cam_source(n, CardinalityOptions()),
    "lm": lambda n: lm_source(n, LmOptions()),
    "cm, hll": lambda n: cm_source(n, CardinalityOptions(counter="hll", log2_registers=7)),
    "am, hll": lambda n: am_source(n, CardinalityOptions(counter="hll", log2_registers=7)),
    "cam, hll": lambda n: cam_source(n, CardinalityOptions(counter="hll", log2_registers=7)),
}


@quick
@given(requests(max_sources=1, max_windows=1), st.sampled_from(sorted(SOURCES)), st.integers(1, 50))
def test_batches_do_not_change_what_a_source_sends(request_, name, size):
    """A partition comes in batches of any size; the split must not depend on it."""
    whole, cut = SOURCES[name](request_.n_buckets), SOURCES[name](request_.n_buckets)
    starts = range(0, request_.n_rows, size)

    batches = [cut.send(request_.key_hash[start : start + size]).tolist() for start in starts]

    assert list(chain.from_iterable(batches)) == whole.send(request_.key_hash).tolist()


SENDERS = {
    "pkg": lambda n: PkgSenders(n, 4),
    "potc": lambda n: WholeKeySenders(n, 4, lambda keys: candidates_of(keys, n, Choices())),
}


@quick
@given(requests(), st.sampled_from(sorted(SENDERS)), st.integers(1, 50))
def test_batches_do_not_change_what_senders_send(request_, name, size):
    """The same for senders that hold several sources."""
    whole, cut = SENDERS[name](request_.n_buckets), SENDERS[name](request_.n_buckets)
    batches = [slice(start, start + size) for start in range(0, request_.n_rows, size)]

    sent = [cut.send(request_.key_hash[rows], request_.source_place[rows]).tolist() for rows in batches]

    assert list(chain.from_iterable(sent)) == whole.send(request_.key_hash, request_.source_place).tolist()
    assert cut.load.tolist() == whole.load.tolist()


def test_long_stretches_without_a_new_key_are_counted():
    """Whole keys: rows between new keys count when the next one is chosen for, however many they are."""
    rng = np.random.default_rng(2)
    # The k-th key is new after a stretch of 300 to 500 rows, or of none, and the old ones recur unevenly.
    stretches = [
        np.append(rng.integers(0, k, rng.integers(300, 500) * (k % 3 > 0)) // 2, k) for k in range(1, 40)
    ]
    keys = np.concatenate(stretches)
    request = SplitRequest.of_keys(keys, "bigint", n_buckets=5, source=deal_round_robin(keys.size, 3))

    assert SPLITTERS["potc"](request).tolist() == reference.potc(request)


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("stretch", [1, 100, 10**9])
def test_whole_keys_are_the_same_however_rows_are_counted(monkeypatch, few, stretch):
    """Known keys are counted beforehand or as they go by, over stretches of some length: for speed, without a say in what is chosen."""
    monkeypatch.setattr(whole_keys, "_FEW", few)  # 0: as they go by, else beforehand
    monkeypatch.setattr(whole_keys, "_STRETCH", stretch)
    keys = np.random.default_rng(3).zipf(1.3, 3_000) % 900
    request = SplitRequest.of_keys(keys, "bigint", n_buckets=5, source=deal_round_robin(keys.size, 3))

    assert SPLITTERS["potc"](request).tolist() == reference.potc(request)
    assert SPLITTERS["on_greedy"](request).tolist() == reference.on_greedy(request)


@quick
@given(requests(max_windows=1, max_sources=1))
def test_kinship_of_the_splitters(request_):
    """What the papers say about special cases: d = 1 is hashing, p = 1 is PKG, p = 0 is CM, cAM is PoTC in a window."""
    split = {name: splitter(request_).tolist() for name, splitter in SPLITTERS.items()}

    assert SPLITTERS["pkg"](request_, PkgOptions(n_choices=1)).tolist() == split["hash"]
    assert SPLITTERS["lm"](request_, LmOptions(row_weight=1)).tolist() == split["pkg"]
    assert SPLITTERS["lm"](request_, LmOptions(row_weight=0)).tolist() == split["cm"]
    assert split["cam"] == split["potc"]


@quick
@given(requests())
def test_sources_that_know_everything_are_one_source(request_):
    """The global oracle: who sent a row no longer matters."""
    alone = SplitRequest(key_hash=request_.key_hash, n_buckets=request_.n_buckets)

    assert (
        SPLITTERS["pkg"](request_, PkgOptions(estimation=GLOBAL)).tolist() == SPLITTERS["pkg"](alone).tolist()
    )


@pytest.mark.spark
def test_spark_names_the_same_candidates(spark):
    """Jobs compute candidates natively: nested xxhash64 must be our family of hashes, negative keys included."""
    keys = [0, 1, -1, 7, 2**63 - 1, -(2**63), 42]
    request = SplitRequest.of_keys(keys, "bigint", n_buckets=11)
    frame = spark.createDataFrame([(key,) for key in keys], "key bigint")

    rows = frame.selectExpr(
        "pmod(xxhash64(key), 11)",
        "pmod(xxhash64(xxhash64(key)), 11)",
        "pmod(xxhash64(xxhash64(xxhash64(key))), 11)",
    ).collect()

    ours = candidates_by_key(request.key_hash, 11, Choices(n_choices=3))
    assert [tuple(row) for row in rows] == list(ours)
