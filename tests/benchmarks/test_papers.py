"""The papers' experiments still run, and docs/papers.md is what their kept numbers say."""

import math

import numpy as np
import pytest

from benchmarks.papers import page, pictures, words
from benchmarks.papers.__main__ import EXPERIMENTS, main
from benchmarks.papers.fang_windows import Outcome, average_load
from benchmarks.papers.gedik_domain import Setting, make_domain
from benchmarks.papers.gedik_growth import grow
from benchmarks.papers.real_data import Stream
from benchmarks.papers.sheets import (
    SHORT_FORM,
    Experiment,
    Grid,
    Reading,
    Sheet,
    Words,
    grid_as_json,
    grid_of_json,
)
from benchmarks.workloads import Workload, next_window, zipf_rows

TINY = Setting(n_keys=3_000, n_channels=3)


def _grid(**rows):
    return Grid(measure="m", axis="|D|", columns=["1", "2"], rows=rows)


def _experiment(*readings):
    words = Words(title="T", setting="S", difference="D", readings=readings)
    return Experiment(name="gedik-0", measure=lambda _: [], words=words)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs_on_tiny_sizes(name):
    """So that none rots between two whole runs: every method has a number in every cell it was run for."""
    experiment = EXPERIMENTS[name]
    grids = experiment.measure("tiny")

    assert "evenkeel" in str([(grid.measure, *grid.rows) for grid in grids])
    assert all(len(row) == len(grid.columns) for grid in grids for row in grid.rows.values())
    assert Sheet(experiment=experiment, grids=grids).as_markdown().count(experiment.words.difference) == 1


def test_the_page_is_what_the_kept_numbers_say():
    """Nobody edits a table of docs/papers.md by hand, and every reading of a paper found the numbers it speaks of."""
    kept = page.load_grids()
    text = page.make_page([Sheet(experiment=EXPERIMENTS[name], grids=grids) for name, grids in kept.items()])

    assert list(kept) == list(EXPERIMENTS)
    assert page.PAGE.read_text() == text
    assert "not in a quick run" not in text


def test_pages_are_made_by_whole_runs_only(capsys):
    """A page of half a run would mix numbers of two versions."""
    for half in (["--only", "gedik-3"], ["--quick"]):
        with pytest.raises(SystemExit):
            main(["--write", *half])

        assert f"--write must come without {half[0]}. Got both." in capsys.readouterr().err


def test_a_short_form_says_that_it_is_one():
    """Its settings and differences are those of the whole form: nobody may take its figures for these."""
    sheet = Sheet(experiment=_experiment(), grids=[_grid(a=[1.0, 2.0])])

    assert SHORT_FORM in sheet.as_text("quick")
    assert SHORT_FORM not in sheet.as_text("full")


def test_pictures_are_small_and_the_same_from_run_to_run(tmp_path):
    """They are committed: a picture that changes without its numbers hides the changes that matter."""
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        pictures.draw_pictures(page.load_grids(), folder)

    drawn = sorted(path.name for path in folders[0].iterdir())
    assert drawn == sorted(f"{picture.name}.svg" for picture in pictures.PICTURES)
    for name in drawn:
        assert (folders[0] / name).stat().st_size < 60_000
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_numbers_survive_being_kept():
    """JSON has neither ∞ nor NaN: an empty channel and a method that was not run must come back as what they were."""
    rows = grid_of_json(grid_as_json(_grid(a=[math.inf, 1.5], b=[math.nan, 2.0]))).rows

    assert rows["a"] == [math.inf, 1.5]
    assert math.isnan(rows["b"][0])


def test_a_bar_in_a_cell_does_not_end_it():
    """|D| is the papers' own letter for the number of keys."""
    reading = Reading("|D| = 2", "1.5", lambda grids: f"{grids['m'].at('a', 2)}")
    sheet = Sheet(experiment=_experiment(reading), grids=[_grid(a=[1.0, 2.0])])

    assert r"| \|D\| = 2 | 1.5 | 2.0 |" in sheet.as_markdown()


@pytest.mark.parametrize("method", ["evenkeel", "scan", "consistent hash", "uniform hash"])
def test_load_is_conserved_while_channels_are_added(method):
    """Balance means nothing if keys get lost on the way: one channel more, and θ, b and m are those of all keys."""
    domain = make_domain(TINY.n_keys, TINY.zipf, 0)
    grown = grow(TINY, method, 0)

    assert domain.total("linear") == pytest.approx(1.0)
    assert domain.total("constant") == TINY.n_keys
    assert 0 <= grown.theta < TINY.n_channels - 1
    assert 0 < grown.migration <= TINY.n_channels


def test_a_remainder_moves_all_but_one_in_n():
    """What makes plain hashing useless when N changes: of N channels' worth of state, N - 1 move."""
    assert grow(Setting(n_keys=100_000, zipf=0.1), "uniform hash", 0).migration == pytest.approx(9, rel=0.02)


def test_a_run_to_fewer_channels_is_the_beginning_of_a_longer_one():
    """Runs are shared between figures; sharing must not change what they measure."""
    short = grow(TINY, "scan", 5)
    grow(Setting(n_keys=3_000, n_channels=5), "scan", 5)

    assert grow(TINY, "scan", 5) == short
    assert grow(TINY, "scan", 6) != short


def test_rows_are_counted_by_key_and_window():
    """The first key of two windows, the second of one."""
    stream = Stream.of(["a", "b", "a", "a"], [0, 0, 0, 1])

    assert stream.keys == ["a", "b"]
    np.testing.assert_array_equal(stream.rows, [[2, 1], [1, 0]])


def test_the_most_is_looked_for_where_the_paper_looked():
    """A paper's "up to 36 %" is of its whole range: one column of ours would say less than we measured, or more."""
    grids = {
        "m": Grid(
            measure="m",
            axis="N",
            columns=["2", "20", "32"],
            rows={"a": [2, 3, 9], "b": [2, 2, 1], "c": [1, 2, 1]},
        )
    }

    assert words.most("m", "a", "b", up_to="20")(grids) == "1.50 times b (at 20)"
    assert words.most("m", "a", "b", "c")(grids) == "9.00 times b (at 32), 9.00 times c (at 32)"
    assert words.ratios("m", "a", "b", up_to="20")(grids) == "1.00 to 1.50 times"
    assert words.ratios("m", "a", "b")(grids) == "1.00 to 9.00 times"
    assert words.over("m", "20", "a", "b", "c")(grids) == "1.50 times b, 1.50 times c"
    assert words.growth("m", "2", "20", "a", "c")(grids) == "a 2 to 3, 1.50 times, c 1 to 2, 2.00 times"


@pytest.mark.parametrize("drift", ["hot", "literal"])
def test_nothing_changes_where_f_is_zero(drift):
    """Table II begins at f = 0: the change is enough before any key has been swapped."""
    workload = Workload(n_keys=200, n_buckets=4, fluctuation=0, drift=drift)
    cost, owner = zipf_rows(workload), np.arange(200) % 4

    following = next_window(cost, owner, workload, np.random.default_rng(0))

    np.testing.assert_array_equal(following, cost)
    assert following is not cost


def test_loads_are_averaged_before_they_are_compared():
    """Fig. 7 plots averages over windows: an instance that is the hottest of one and the coolest of the next is an even one."""
    numbers = {"theta_before": 0, "theta": 0, "spread": 3, "migration": 0, "n_routes": 0, "seconds": 0}
    run = [Outcome(**numbers, load=np.array(load)) for load in ([3.0, 1.0, 2.0], [1.0, 3.0, 5.0])]

    np.testing.assert_allclose(average_load(run), [0.8, 0.8, 1.4])
