"""`make bench` and `make bench-compare`: what runs, what is kept, what is shown."""

import json

import pytest

from benchmarks import bench, compare_benches
from benchmarks.goals import Goal
from benchmarks.kept_runs import KeptRunError, read_run
from schemas.dataset import ROOT


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


def test_an_interrupted_run_keeps_what_is_over(monkeypatch, tmp_path):
    """All of them take two hours: whoever ends the last one early must not lose the others."""

    def run_bench(name, **_):
        if name == "splitting":
            raise KeyboardInterrupt
        return [_goal()]

    monkeypatch.setattr(bench, "run_bench", run_bench)
    path = tmp_path / "bench.json"

    with pytest.raises(KeyboardInterrupt):
        bench.main(["--only", "planners", "splitting", "--save", str(path)])

    assert read_run(path).benches == {"planners": [_goal()]}


def test_a_run_can_be_kept_bench_by_bench(tmp_path):
    """One that runs again replaces its own figures, and a quick form never stands beside a whole one, nor takes its place."""
    path = tmp_path / "bench.json"
    for name, result in (("planners", "1x"), ("layout", "2x"), ("planners", "3x")):
        bench.save_results(path, {name: [_goal(result=result)]}, quick=True)

    kept = read_run(path).benches
    assert {name: goals[0].result for name, goals in kept.items()} == {"layout": "2x", "planners": "3x"}

    with pytest.raises(
        KeptRunError, match=r"must be of the whole form, or new\. Got a kept run of the quick form"
    ):
        bench.save_results(path, {"layout": [_goal()]}, quick=False)
    assert read_run(path).benches == kept


def test_where_nothing_can_be_written_nothing_runs(monkeypatch, tmp_path, capsys):
    """Nor in a place that is none."""
    monkeypatch.setattr(bench, "run_bench", lambda *_, **__: pytest.fail("nothing may run"))
    (tmp_path / "file").write_text("")

    with pytest.raises(SystemExit):
        bench.main(["--save", str(tmp_path / "file" / "bench.json")])

    assert "--save must be a file that can be written. Got " in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "hello", "[]", "{}", '{"quick": false, "benches": {"a": [{}]}}'])
def test_what_cannot_be_kept_is_refused_before_anything_runs(text, monkeypatch, tmp_path, capsys):
    """Two hours of measuring must not end in a file that cannot take them."""
    monkeypatch.setattr(bench, "run_bench", lambda *_, **__: pytest.fail("nothing may run"))
    path = tmp_path / "bench.json"
    path.write_text(text)

    with pytest.raises(SystemExit):
        bench.main(["--save", str(path)])

    assert "must be a result kept by `make bench`. Got something else." in capsys.readouterr().err
    assert path.read_text() == text


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

    said = capsys.readouterr().out
    assert "A quick run and a whole one measure other sizes" in said
    lines = {line.split("  ")[0]: line for line in said.splitlines()}
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


@pytest.mark.parametrize(
    ("a", "b", "note"),
    [
        (_goal(), _goal(), ""),
        (_goal(), _goal(met=False), "now missed"),
        (_goal(met=False), _goal(), "now met"),
        (_goal(met=False), _goal(met=False), "missed by both"),
        (_goal(), Goal(what="planning time", goal="≤ 1x", result="0.50x", met=True), "the goal of B is ≤ 1x"),
        (
            _goal(),
            Goal(what="planning time", goal="≤ 0.4x", result="0.50x", met=False),
            "the goal of B is ≤ 0.4x, missed",
        ),
        (_goal(), None, ""),
    ],
)
def test_what_became_of_a_goal_is_told(a, b, note):
    """A goal that was lowered looks like one that is met now; one that both miss must not look like one that both meet."""
    assert compare_benches.Pair("planning time", a, b).note == note


@pytest.mark.parametrize(
    ("name", "got"),
    [
        ("nowhere.json", "no such file"),
        (".", "a file that cannot be read (Is a directory)"),
        ("pyproject.toml", "something else"),
        ("docs/stateful-benefit.json", "something else"),
        ("docs/scale.json", "something else"),
    ],
)
def test_a_result_that_is_none_is_said(name, got, monkeypatch, capsys):
    """Other files of numbers lie beside the kept ones: which file it was, and what to do."""
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit):
        compare_benches.main([name, "benchmarks/results/bench.json"])

    error = capsys.readouterr().err
    assert f"{name} must be a result kept by `make bench`. Got {got}. Run `make bench OUT=...`" in error
