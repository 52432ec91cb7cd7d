"""The papers' algorithms as printed: one row at a time, no cleverness. What the fast forms are compared with."""

from collections import defaultdict

from datasketches import hll_sketch, tgt_hll_type
from hypothesis import strategies as st

from partitioning.hashing import hash_key
from partitioning.splitters.request import SplitRequest


def candidates(key, n_buckets, n_choices):
    """H_1 … H_d of one key."""
    buckets = []
    for _ in range(n_choices):
        buckets.append(key % n_buckets)
        key = hash_key(key, "bigint")
    return buckets


def rows_of(request):
    return zip(request.key_hash.tolist(), request.source.tolist(), request.window.tolist(), strict=True)


def first_least(buckets, load):
    best = buckets[0]
    for bucket in buckets:
        if load[bucket] < load[best]:
            best = bucket
    return best


class Loads:
    """What each source believes, with the truth told before every ``probe_every``-th row of the stream."""

    def __init__(self, n_buckets, probe_every):
        self.true = [0] * n_buckets
        self.believed = defaultdict(lambda: [0] * n_buckets)
        self.probe_every = probe_every
        self.row = 0

    def known_to(self, source):
        if self.probe_every and self.row % self.probe_every == 0:
            true = list(self.true)
            self.believed = defaultdict(lambda: list(true))
        return self.believed[source]

    def add(self, source, bucket):
        self.true[bucket] += 1
        self.believed[source][bucket] += 1
        self.row += 1


def pkg(request, n_choices=2, probe_every=None):
    loads, answer = Loads(request.n_buckets, probe_every), []
    for key, source, _ in rows_of(request):
        known = loads.known_to(source)
        answer.append(first_least(candidates(key, request.n_buckets, n_choices), known))
        loads.add(source, answer[-1])
    return answer


def whole(request, options_of, probe_every=None):
    """Static PoTC and On-Greedy: one table for all sources."""
    loads, table, answer = Loads(request.n_buckets, probe_every), {}, []
    for key, source, _ in rows_of(request):
        known = loads.known_to(source)
        if key not in table:
            table[key] = first_least(options_of(key), known)
        answer.append(table[key])
        loads.add(source, answer[-1])
    return answer


def potc(request, n_choices=2, probe_every=None):
    return whole(request, lambda key: candidates(key, request.n_buckets, n_choices), probe_every)


def on_greedy(request, probe_every=None):
    return whole(request, lambda _: range(request.n_buckets), probe_every)


def off_greedy(request, probe_every=None):
    """On-Greedy on the same rows, sorted by how often their key occurs, then by when it came first."""
    keys = request.key_hash.tolist()
    order = sorted(range(len(keys)), key=lambda row: (-keys.count(keys[row]), keys.index(keys[row]), row))
    rows = SplitRequest(
        key_hash=request.key_hash[order], n_buckets=request.n_buckets, source=request.source[order]
    )
    sent = dict(zip(order, on_greedy(rows, probe_every), strict=True))
    return [sent[row] for row in range(len(keys))]


class Sketch:
    """C with HyperLogLog and the trial update of Sec. 3.2.2, on a fresh copy each time."""

    def __init__(self):
        self._sketch = hll_sketch(7, tgt_hll_type.HLL_8, True)

    def __contains__(self, key):
        trial = hll_sketch.deserialize(self._sketch.serialize_updatable())
        trial.update(key)
        return trial.get_estimate() == self.estimate()

    def add(self, key):
        self._sketch.update(key)

    def estimate(self):
        return self._sketch.get_estimate()


class Exact(set):
    """C with a set."""

    def estimate(self):
        return len(self)


def cardinality_aware(request, decide, n_choices=2, counter=Exact):
    """Alg. 1: C and L of every source are reset at each window."""
    n_buckets, answer = request.n_buckets, []
    state = defaultdict(lambda: ([counter() for _ in range(n_buckets)], [0] * n_buckets))
    for key, source, window in rows_of(request):
        keys, rows = state[source, window]
        bucket = decide(keys, rows, key, candidates(key, n_buckets, n_choices))
        keys[bucket].add(key)
        rows[bucket] += 1
        answer.append(bucket)
    return answer


def cm(keys, rows, key, options):
    return first_least(options, [held.estimate() for held in keys])


def am(keys, rows, key, options):
    for bucket in options:
        if key in keys[bucket]:
            return bucket
    return cm(keys, rows, key, options)


def cam(keys, rows, key, options):
    for bucket in options:
        if key in keys[bucket]:
            return bucket
    return first_least(options, rows)


def lm(p):
    def scaled(load):
        return [(x - min(load)) / (max(load) - min(load)) if max(load) > min(load) else 0.0 for x in load]

    def decide(keys, rows, key, options):
        scaled_rows, scaled_keys = scaled(rows), scaled([held.estimate() for held in keys])
        return first_least(
            options, [p * a + (1 - p) * b for a, b in zip(scaled_rows, scaled_keys, strict=True)]
        )

    return decide


@st.composite
def requests(draw, max_rows=120, max_keys=30, max_sources=4, max_windows=3):
    """Few keys and buckets, so that ties, repeats and coinciding hashes are common."""
    n_rows = draw(st.integers(0, max_rows))
    step = draw(st.sampled_from([1, 1, 3, 2**40]))  # sources need not be numbered without gaps

    def column(n_values):  # bytes: lists of integers are slow to draw
        return [byte % n_values for byte in draw(st.binary(min_size=n_rows, max_size=n_rows))]

    return SplitRequest.of_keys(
        [key * 7 - 5 for key in column(draw(st.integers(1, max_keys)))],
        "bigint",
        n_buckets=draw(st.integers(1, 9)),
        source=[source * step for source in column(max_sources)],
        window=sorted(column(max_windows)),
    )
