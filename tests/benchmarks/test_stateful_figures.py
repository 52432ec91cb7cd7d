"""From which wait on rebalancing pays: what a reader decides by."""

import math

import pytest

from benchmarks.stateful_figures import break_evens
from benchmarks.stateful_windows import Run


def runs_of(**ways: tuple[float, list[int]]) -> list[Run]:
    """One window: all seconds and the clicks of each task; a click waits a second."""
    return [
        Run(name=name, window=0, seconds={"job": seconds}, task_rows=rows, waited=float(max(rows)))
        for name, (seconds, rows) in ways.items()
    ]


def test_break_even_is_where_both_sums_are_equal():
    """Ours: 9 s beside a fullest task of 11; plain: 1 s beside one of 15. At a wait of 20 of the mean 10 both come to 31."""
    runs = runs_of(plain=(16, [5, 15]), shuffle=(16, [5, 15]), salted=(16, [5, 15]), evenkeel=(20, [9, 11]))
    assert break_evens(runs)["plain"] == pytest.approx(20)


def test_a_shuffle_with_more_tasks_is_measured_by_our_buckets():
    """Adaptive execution may make three tasks of what we have two buckets for: its mean is lower, its wait is not."""
    runs = runs_of(
        plain=(16, [5, 15]), shuffle=(16, [1, 4, 15]), salted=(16, [5, 15]), evenkeel=(20, [9, 11])
    )
    assert break_evens(runs)["shuffle"] == break_evens(runs)["plain"]


@pytest.mark.parametrize(("seconds", "pays"), [(11, math.inf), (41, -math.inf)])
def test_where_the_other_is_as_even_no_wait_decides(seconds, pays):
    """Salting can be as even as we are: then other seconds decide, for ever."""
    runs = runs_of(
        plain=(16, [5, 15]), shuffle=(16, [5, 15]), salted=(seconds, [10, 10]), evenkeel=(20, [9, 11])
    )
    assert break_evens(runs)["salted"] == pays
