"""`make bench` and `make bench-compare`: what runs, what is kept, what is shown."""

import json

import pytest

from benchmarks import bench, compare_benches
from benchmarks.goals import Goal


def _goal(what="planning time", result="0.50x", *, met=True):
    return Goal(what=what, goal="≤ 0.5x", result=result, met=met)


def test_benches_are_found_by_their_run_function():
    """Who adds benchmarks/bench_x.py with run(*, quick) needs to edit no list: a forgotten line would be a bench that rots."""
    found = bench.find_benches()

    assert {"forecast", "layout", "planners"} <= set(found)
    assert "published" not in found  # a module of that prefix without run is no bench


def test_a_bench_that_fails_is_a_result():
    """One broken benchmark must not hide the figures of the others."""
    (goal,) = bench.run_bench("of_nothing", quick=True)

    assert not goal.met
    assert goal.result == "ModuleNotFoundError: No module named 'benchmarks.bench_of_nothing'"


def test_a_missed_goal_is_reported_and_kept_and_fails_nothing(monkeypatch, tmp_path, capsys):
    """A benchmark reports; whether a miss matters is for people to say."""
    missed = _goal(result="0.70x", met=False)
    monkeypatch.setattr(bench, "run_bench", lambda *_, **__: [missed])
    path = tmp_path / "kept" / "bench.json"

    bench.main(["--quick", "--only", "planners", "--save", str(path)])

    assert "MISSED" in capsys.readouterr().out
    kept = json.loads(path.read_text())
    assert kept["quick"] is True
    assert [Goal(**row) for row in kept["benches"]["planners"]] == [missed]


def test_a_run_can_be_kept_bench_by_bench(tmp_path):
    """All of them take an hour: one that runs again replaces its own figures, and a quick form never stands beside a whole one."""
    path = tmp_path / "bench.json"
    for name, result in (("planners", "1x"), ("layout", "2x"), ("planners", "3x")):
        bench.save_results(path, {name: [_goal(result=result)]}, quick=True)

    kept = json.loads(path.read_text())["benches"]
    assert {name: rows[0]["result"] for name, rows in kept.items()} == {"layout": "2x", "planners": "3x"}

    bench.save_results(path, {"layout": [_goal()]}, quick=False)
    assert list(json.loads(path.read_text())["benches"]) == ["layout"]


def test_two_results_are_shown_side_by_side(tmp_path, capsys):
    """Figures are paired by name, whichever run has them, with the ratio and what became of the goal."""
    paths = []
    for name, goals in (
        ("a", [_goal(), _goal("only in A")]),
        ("b", [_goal("only in B", "1,200 rows"), _goal(result="0.75x", met=False)]),
    ):
        paths.append(tmp_path / f"{name}.json")
        bench.save_results(paths[-1], {"planners": goals}, quick=name == "a")

    compare_benches.main([str(path) for path in paths])

    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["planning time"].split() == [
        "planning",
        "time",
        "≤",
        "0.5x",
        "0.50x",
        "0.75x",
        "1.50",
        "now",
        "missed",
    ]
    assert lines["only in A"].split()[-2:] == ["0.50x", "-"]
    assert lines["only in B"].split()[-4:] == ["0.5x", "-", "1,200", "rows"]


def test_a_result_that_is_not_there_is_said(capsys):
    """With the command that makes it."""
    with pytest.raises(SystemExit):
        compare_benches.main(["nowhere.json", "nowhere.json"])

    assert "Run `make bench OUT=nowhere.json`." in capsys.readouterr().err
