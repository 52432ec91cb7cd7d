"""A window that is profiled again says what is different now."""

import pyarrow as pa

from spark_jobs.late_data import what_changed


def stats(cost, keys):
    return pa.table(
        {"kind": ["slot", *["key"] * len(keys)], "key": [None, *keys], "cost": [cost, *[0.0] * len(keys)]},
        pa.schema([("kind", pa.string()), ("key", pa.string()), ("cost", pa.float64())]),
    )


def test_first_and_same_profile_say_nothing():
    """A cleared task is no news."""
    assert what_changed(stats(1.0, []).slice(0, 0), stats(1.0, ["a"])) is None
    assert what_changed(stats(1.0, ["a"]), stats(1.0, ["a"])) is None


def test_late_events_are_told_in_figures():
    """Whoever looks at two reports of one window must know why they differ."""
    assert what_changed(stats(100.0, ["a", "b"]), stats(125.0, ["b", "c", None])) == (
        "profiled before; its statistics are replaced: cost 100 → 125 (+25.00%), 2 heavy keys came and 1 went"
    )
