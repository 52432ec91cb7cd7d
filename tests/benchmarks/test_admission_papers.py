"""The experiments of Balkesen et al. still run, and have the shape that docs/forecast.md says they have."""

import numpy as np
import pytest

from benchmarks.admission_papers import NOT_REPEATED, show_panes, show_parts, show_relocations
from benchmarks.feed_figures import follow_feeds
from benchmarks.feed_traces import KINDS, make_trace


def trace_of(kind):
    return make_trace(kind, 60, np.random.default_rng(list(KINDS).index(kind)))


@pytest.mark.parametrize("kind", ["ptfcw", "tfvar"])
def test_forecasts_redirect_fewer_feeds_where_there_is_a_trend(kind):
    """Fig. 10(a): par most, then ard, then drf; what is declared helps no less."""
    par, ard, drf, drf_m = (
        follow_feeds(trace_of(kind), name).redirected for name in ("par", "ard", "drf", "drf_m")
    )

    assert par > 10 * ard
    assert drf < 0.75 * ard
    assert drf_m < 0.75 * ard


@pytest.mark.parametrize("kind", ["psfcw", "bursty"])
def test_what_is_declared_helps_where_no_forecast_can(kind):
    """Steps and bursts: drf_m knows of them, drf does not."""
    drf, drf_m = (follow_feeds(trace_of(kind), name) for name in ("drf", "drf_m"))

    assert drf_m.redirected < 0.5 * drf.redirected
    assert drf_m.overfull < 0.5 * drf.overfull


def test_the_other_figures_are_printed(capsys):
    """Panes, relocations and parts: each with what the paper reads beside what we measure."""
    show_panes(600)
    show_relocations()
    show_parts()

    said = capsys.readouterr().out
    assert said.count("  paper: ") == said.count("  ours: ") == 3
    assert all(figure in said for figure in ("Fig. 12", "Fig. 13(a)", "Fig. 15"))


def test_what_is_not_repeated_is_said():
    """A figure of the paper's evaluation that is neither repeated nor named would pass for repeated."""
    assert all(figure in NOT_REPEATED for figure in ("10(b, c)", "13(b)", "14"))
