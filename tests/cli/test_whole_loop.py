"""The command from nothing to a rolled back table, on real Spark and Delta, in one process; and one apply that is killed."""

import json
import shutil
from pathlib import Path

import pytest

from pages.reports import INDEX, read_report
from schemas.dataset import dataset_named
from schemas.tables import MOVES, PLANS, RUNS
from spark_jobs import audit_dataset, check_window, merge_mover
from spark_jobs.balance import balance_of, newest_window
from spark_jobs.control_tables import load_function, read_one, read_rows
from spark_jobs.run_facts import run_facts
from spark_jobs.table_log import FUNCTION, properties_of
from tests.cli.conftest import dataset_file
from tests.faults.children import child, kill_group, own_home, settings, wait_until
from tests.faults.scenes import append_as_a_stranger, held_by, version_of
from tests.spark_jobs.conftest import START, write_events
from tests.spark_jobs.test_check_window import quick_judge

pytestmark = pytest.mark.spark


@pytest.fixture
def visits(datasets, monkeypatch):
    """The dataset of the jobs' tests, as a file; Great Expectations in this process."""
    dataset_file(
        datasets,
        key={"column": 'who`s"it', "type": "string"},
        state={"table": "visits/state", "keep_windows": 2},
        planner="llfd",
    )
    for module in (audit_dataset, check_window):
        monkeypatch.setattr(module, "early_judge", quick_judge)
    return dataset_named("visits")


def test_command_takes_a_dataset_through_its_whole_life(spark, visits, evenkeel, answer):
    """create → run → plan → apply → explain → roll-back → history → audit: each step leaves what the next one needs."""
    write_events(spark, visits)
    assert answer("create", "visits")["rows"] == 0

    # A window that is not the newest is loaded and profiled, and its plan held.
    code, out, err = evenkeel("run", "visits", "--window-start", "2026-01-03", "--yes", "--json")
    held = json.loads(out)
    assert (code, held["outcome"]) == (3, "held"), err
    assert "check …" in err
    before, version = held_by(visits), version_of(visits)
    assert before.rows

    # Two plans; the text of the first names the command that carries it out.
    small = answer("plan", "visits", "--max-routes", "1")
    plan = answer("plan", "visits")
    assert plan["plan"] == held["plan"]["plan"] != small["plan"]
    assert version_of(visits) == version

    check_apply(visits, plan, evenkeel)
    assert held_by(visits).rows == before.rows
    check_stale(visits, small, evenkeel)
    check_explain(visits, plan, answer)
    check_roll_back(visits, plan, evenkeel, answer)
    check_told(visits, answer)
    check_audit(spark, visits, plan, evenkeel)


def check_apply(visits, plan, evenkeel):
    """θ, rows and function are the plan's, and applying it again finds it done."""
    code, out, err = evenkeel("apply", "visits", plan["plan"][:10], "--yes", "--json")
    applied = json.loads(out)

    assert (code, applied["outcome"]) == (0, "migrated"), err
    assert [step["name"] for step in applied["steps"]] == ["plan", "gate", "validate", "migrate", "verify"]
    assert applied["plan"] == plan
    assert properties_of(visits)[FUNCTION] == plan["to_function"]
    run = read_one(RUNS, dataset="visits", run=f"apply-{plan['plan']}")
    assert applied["rows_moved"] == run["rows_moved"] > 0
    assert Path(run["report"]).exists()
    version = version_of(visits)
    assert evenkeel("apply", "visits", plan["plan"], "--yes")[0] == 0
    assert version_of(visits) == version


def check_stale(visits, small, evenkeel):
    """A plan from the function before is refused by its exit code; no table changes."""
    version, runs = version_of(visits), read_rows(RUNS, dataset="visits").num_rows

    code, out, err = evenkeel("apply", "visits", small["plan"], "--yes")

    assert (code, out) == (3, "")
    assert "the table has moved on. Plan again." in err
    assert (version_of(visits), read_rows(RUNS, dataset="visits").num_rows) == (version, runs)


def check_explain(visits, plan, answer):
    """A moved key names the plan that moved it, the cause and θ without; θ now is the plan's θ after."""
    [status] = answer("status")
    assert status["imbalance"] == plan["imbalance_after"]
    move = next(move for move in read_rows(MOVES, plan=plan["plan"]).to_pylist() if move["key"] is not None)

    facts = answer("explain", "visits", f"key:{move['key']}")

    assert facts["bucket"] == move["to_bucket"]
    assert facts["moved_by"]["plan"] == plan["plan"]
    names = ("from_bucket", "to_bucket", "cause", "imbalance_without")
    assert {name: facts["moved_by"][name] for name in names} == {name: move[name] for name in names}
    assert (facts["item"]["cost"], facts["item"]["state"]) == (move["cost"], move["state"])


def check_roll_back(visits, plan, evenkeel, answer):
    """Without --yes and without a terminal nothing changes; with it, the function before is back, and status knows."""
    version, rows = version_of(visits), held_by(visits).rows
    code, out, _ = evenkeel("roll-back", "visits")
    assert code == 0
    assert "evenkeel roll-back visits --yes" in out
    code, out, _ = evenkeel("roll-back", "visits", "--mover", "merge")
    assert code == 0
    assert "rows would be written anew" in out
    assert "flipped" not in out
    assert "evenkeel roll-back visits --mover merge --yes" in out
    assert version_of(visits) == version

    done = answer("roll-back", "visits", "--yes")

    assert done["function"] == properties_of(visits)[FUNCTION] == plan["from_function"]
    assert held_by(visits).rows == rows
    window = newest_window(visits)
    function = load_function("visits", plan["from_function"])
    assert done["status"]["imbalance"] == balance_of(visits, window, function).imbalance
    assert done["status"]["imbalance"] == plan["imbalance_before"]
    assert f"plan {plan['plan']} was rolled back" in evenkeel("status")[1]
    listed = read_report("visits", INDEX).decode()
    assert f"The table obeys function {plan['from_function'][:12]}." in listed
    assert listed.index("<td>roll back</td>") < listed.index(f"<td>plan {plan['plan']}</td>")
    move = next(move for move in plan["moves"] if move["key"] is not None)
    moved_by = answer("explain", "visits", f"key:{move['key']}")["moved_by"]
    assert (moved_by["by"], moved_by["to_bucket"]) == ("roll back", move["from_bucket"])


def check_told(visits, answer):
    """History and report are the tables' own figures, to the last digit."""
    [told] = answer("history", "visits")
    run = read_one(RUNS, dataset="visits", run=told["run"])
    plan = read_one(PLANS, dataset="visits", plan=run["plan"])

    assert told["window_start"] == START.isoformat()
    assert told["outcome"] == "migrated"
    assert told["imbalance"] == run["imbalance_after"] == plan["imbalance_after"]
    assert answer("report", "visits") == run_facts(visits, run)


def check_audit(spark, visits, plan, evenkeel):
    """0 where all is well; 4 where a stranger's rows are astray, with the files named."""
    code, out, err = evenkeel("audit", "visits")
    assert code == 0, out + err
    assert "visits is as it should be" in out
    assert (
        evenkeel("apply", "visits", plan["plan"], "--yes")[0] == 0
    )  # away from the hash that strangers write by
    append_as_a_stranger(spark, visits)

    code, out, err = evenkeel("audit", "visits", "--json")

    found = json.loads(out)
    assert code == 4, err
    assert found["files_in_trouble"]
    assert "repair_layout" in found["remedy"]


def test_shut_table_names_the_command_that_finishes_its_merge(
    templates, visits, warehouse, evenkeel, answer, monkeypatch
):
    """Nobody can write or plan until it is done, and whoever finds the table so need not be the one who began."""
    shutil.copytree(templates("planned"), warehouse, dirs_exist_ok=True)
    [plan] = read_rows(PLANS, dataset="visits").to_pylist()
    before = held_by(visits).rows

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(merge_mover, "_end", interrupt)
        code, _, err = evenkeel("apply", "visits", plan["plan"], "--mover", "merge", "--yes")
        assert code == 130
        assert "evenkeel status says what finishes it" in err
    [status] = answer("status", "visits")
    command = status["next"]["sentence"].partition("this finishes it: evenkeel ")[2]
    assert command in evenkeel("plan", "visits")[2]
    code, _, err = evenkeel(*command.split(), "--yes")

    assert code == 0, err
    assert properties_of(visits)[FUNCTION] == plan["to_function"]
    assert held_by(visits).rows == before
    assert not held_by(visits).astray(load_function("visits", plan["to_function"]))


@pytest.mark.faults
def test_killed_apply_finishes_when_it_is_given_again(
    templates, visits, warehouse, evenkeel, tmp_path, tmp_path_factory
):
    """A closed laptop is no reason to ask anybody: nothing of it is there, and the same command completes it."""
    shutil.copytree(templates("planned"), warehouse, dirs_exist_ok=True)
    [plan] = read_rows(PLANS, dataset="visits").to_pylist()
    state, before = Path(visits.state), held_by(visits)
    n_files = len(list(state.rglob("*.parquet")))
    env = settings(own_home(tmp_path_factory.mktemp("home")), warehouse)
    words = ("apply", "visits", plan["plan"], "--yes")
    with child("cli", *words, env=env, log=tmp_path / "log") as process:
        wait_until(
            lambda: process.poll() is not None or len(list(state.rglob("*.parquet"))) > n_files,
            what="a file of the migration",
        )
        kill_group(process)
    assert properties_of(visits)[FUNCTION] == plan["from_function"]
    assert held_by(visits) == before

    code, _, err = evenkeel(*words)

    assert code == 0, err
    assert properties_of(visits)[FUNCTION] == plan["to_function"]
    assert held_by(visits).rows == before.rows
    assert not held_by(visits).astray(load_function("visits", plan["to_function"]))
