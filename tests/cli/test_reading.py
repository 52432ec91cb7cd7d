"""The verbs that only read, and plan: on tables that delta-rs made, without Spark."""

import json
import os
import subprocess
import sys
from datetime import timedelta

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from cli.explain import parse_what
from cli.main import VERBS
from schemas.dataset import ROOT, dataset_named
from schemas.tables import MOVES, PLANS
from spark_jobs.balance import balance_of, newest_window
from spark_jobs.control_tables import read_one, read_rows, replace_rows, save_function
from spark_jobs.table_log import FUNCTION, current_function
from tests.cli.conftest import DAY, KEYS, START, dataset_file, write_window

HEAVY = ("pyspark", "great_expectations", "matplotlib", "airflow")


# What is typed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stauts"], "Got 'stauts'. Did you mean status?"),
        (["status", "vists"], "DATASET must be one of visits. Got 'vists'. Did you mean visits?"),
        (["plan", "orders"], "DATASET must be one of visits. Got 'orders'. Add datasets/<name>.yaml."),
        (["plan", "visits"], "visits must have a profiled window. Got none."),
        (["plan", "visits", "--max-routes", "-1"], "must be a whole number, 0 or more. Got '-1'."),
        (["apply", "visits", "12ab"], "PLAN must be a stored name, or how it begins. Got '12ab'"),
        (["explain", "visits"], "WHAT must be given, or --null or --capacity in its place. Got nothing."),
        (["explain", "visits", "x", "--null"], "Got more than one."),
        (["explain", "visits", "bucket:three"], "For the key of that text write key:bucket:three."),
        (["report", "visits"], "visits must have had a run. Got none."),
        (["roll-back", "visits", "--to", "beef"], "--to must be a stored name"),
        (["run", "visits", "--window-start", "2026-01-03", "--window-end", "2026-01-02"], "must lie before --window-end"),
        (["run", "visits", "--window-start", "2999-01-03"], "must not lie in the future"),
        (["run", "visits", "--window-start", "soon"], "must be an ISO 8601 time. Got 'soon'. Write it like 2026-01-31"),
        (["aggregate", "visits", "--window-start", "2026-01-03", "--splitter", "potc"], "invalid choice: 'potc'"),
        (["aggregate", "visits", "--window-start", "2026-01-03", "--choices", "0"], "must be a whole number from 1 to 1024. Got '0'."),
        (["datasets"], "the following arguments are required: check. evenkeel datasets --help"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_refused_with_2(created, evenkeel, words, said):
    """A script tells its own mistakes from failures, and a person reads what to type."""
    code, out, err = evenkeel(*words)

    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_help_has_examples_and_exit_codes(evenkeel, verb):
    """Nobody should need this page's source to find out."""
    code, out, _ = evenkeel(*([verb] if verb else []), "--help")

    assert code == 0
    assert "exit codes:" in out
    assert not verb or f"examples:\n  evenkeel {verb}" in out


def test_aggregate_without_merge_is_refused_before_anything_is_read(created, evenkeel):
    """There are no events here, and no Spark is started to find that out."""
    code, out, err = evenkeel("aggregate", "visits", "--window-start", "2026-01-03")

    assert (code, out) == (3, "")
    assert (
        "merge must be given to aggregate a window. Got nothing in dataset visits. Say in datasets/visits.yaml"
        in err
    )


def test_errors_of_scripts_are_a_document_too(datasets, evenkeel):
    """With --json standard output holds one document, whatever happens."""
    code, out, _ = evenkeel("plan", "orders", "--json")

    assert code == 2
    assert json.loads(out)["exit_code"] == 2


@pytest.mark.parametrize(
    ("what", "meant"),
    [
        ("4711", ("key", "4711")), ("bucket:3", ("bucket", "3")), ("slot:17", ("slot", "17")), ("key:bucket:3", ("key", "bucket:3")),
        ("key:", ("key", "")), ("a:b", ("key", "a:b")), ("buckets:3", ("key", "buckets:3")),
    ],
)  # fmt: skip
def test_what_is_asked_for_has_one_meaning(what, meant):
    """A key that looks like a bucket can be asked for, and a bucket is never taken for a key."""
    assert parse_what(what) == meant


# status


def test_status_tells_the_next_step_from_nothing_to_a_waiting_plan(datasets, evenkeel, request):
    """A newcomer follows the last line, and needs no other page."""
    assert "visits  not created yet: evenkeel create visits" in evenkeel("status")[1]
    created = request.getfixturevalue("created")
    assert (
        "no window was profiled yet: evenkeel run visits --window-start 2026-01-03" in evenkeel("status")[1]
    )
    write_window(created, START)
    assert "is above 0.08: evenkeel plan visits" in evenkeel("status")[1]
    evenkeel("plan", "visits")
    plan = read_rows(PLANS, dataset="visits")["plan"][0].as_py()
    assert f"plan {plan} waits to be applied: evenkeel apply visits {plan}" in evenkeel("status")[1]


def test_theta_of_status_is_the_planners_own(profiled, answer):
    """θ now and a plan's θ before are one figure, to the last digit."""
    [status] = answer("status")
    plan = answer("plan", "visits")

    assert (
        status["imbalance"]
        == plan["imbalance_before"]
        == read_rows(PLANS, dataset="visits")["imbalance_before"][0].as_py()
    )


def test_status_is_of_the_newest_window(profiled, answer):
    """An older window that was profiled later says nothing about now."""
    write_window(profiled, START - 3 * DAY)

    assert answer("status")[0]["window_start"] == START.isoformat()


def test_exit_code_of_status_is_for_scripts(profiled, datasets, evenkeel):
    """4 only where it was asked for; a file with mistakes is something to look at too, and hides no other dataset."""
    assert evenkeel("status")[0] == 0
    assert evenkeel("status", "--exit-code")[0] == 4
    dataset_file(datasets, budgets={"max_imbalance": 9.0})
    assert evenkeel("status", "--exit-code")[0] == 0
    dataset_file(datasets, name="torn", schedule="now and then")

    code, out, _ = evenkeel("status", "--exit-code")

    assert code == 4
    assert "mistakes in its file: 1. To read them: evenkeel datasets check" in out
    assert "visits  nothing to do: θ" in out


# plan


def test_plan_shows_what_it_stores(profiled, evenkeel, answer):
    """Figures of --json are the table's to the last digit; the text names the next command."""
    facts = answer("plan", "visits")
    row = read_one(PLANS, dataset="visits", plan=facts["plan"])

    for name in (
        "imbalance_before",
        "imbalance_after",
        "load_before",
        "load_after",
        "migration",
        "n_moves",
        "cost_saved",
    ):
        assert facts[name] == row[name]
    assert len(facts["moves"]) == read_rows(MOVES, plan=facts["plan"]).num_rows == row["n_moves"]
    code, out, _ = evenkeel("plan", "visits")
    assert code == 0
    assert f"evenkeel apply visits {facts['plan']}" in out


def test_plan_takes_the_budgets_of_the_job(profiled, answer):
    """For this once: no routes, no moves of keys."""
    facts = answer("plan", "visits", "--max-routes", "0", "--max-migration", "0.05", "--planner", "mixed")

    assert facts["n_routes"] == 0
    assert facts["migration_share"] <= 0.05
    assert facts["planner"] == "mixed"


def test_plan_on_a_window_that_was_not_profiled_is_refused(profiled, evenkeel):
    code, _, err = evenkeel("plan", "visits", "--window", (START + DAY).isoformat())

    assert code == 2
    assert "--window must be the start of a profiled window" in err


def test_keys_never_reach_the_terminal_raw(profiled, evenkeel):
    """A key that would clear the screen is shown, not obeyed, by whatever verb shows it."""
    shown = [evenkeel("plan", "visits"), evenkeel("explain", "visits", KEYS[0])]
    shown += [evenkeel("explain", "visits", f"bucket:{bucket}") for bucket in range(4)]

    assert not any("\x1b" in out + err for _, out, err in shown)
    assert all(r"\x1b[2J" in out for _, out, _ in shown[:2])


# explain


@pytest.mark.parametrize("key", KEYS)
def test_explain_says_where_a_key_is(profiled, answer, key):
    """The same bucket as the function's, its figures the table's, θ after a move as if it had been made."""
    words = ["--null"] if key is None else [f"key:{key}"]
    facts = answer("explain", "visits", *words)
    function = current_function(profiled)

    assert facts["bucket"] == function.bucket_of(key)
    assert facts["item"]["cost"] == 200.0 / (KEYS.index(key) + 1)
    move = facts["best_move"]
    moved = function.with_changes(routes={key: move["to_bucket"]})
    window = newest_window(profiled)
    assert window is not None
    assert move["imbalance"] == balance_of(profiled, window, moved).imbalance
    assert move["n_routes"] == moved.n_routes


@pytest.mark.parametrize("key", [KEYS[0], KEYS[4]])
def test_explain_counts_the_routes_that_are_there(profiled, answer, key):
    """A routed key needs no second route to go elsewhere, and none to go home."""
    function = current_function(profiled)
    home = function.bucket_of(KEYS[0])
    routed = function.with_changes(routes={KEYS[0]: (home + 1) % 4})
    save_function("visits", routed)
    DeltaTable(profiled.state).alter.set_table_properties(
        {FUNCTION: routed.digest}, raise_if_not_exists=False
    )

    facts = answer("explain", "visits", f"key:{key}")

    assert facts["is_routed"] == (key == KEYS[0])
    target = facts["best_move"]["to_bucket"]
    assert facts["best_move"]["n_routes"] == routed.with_changes(routes={key: target}).n_routes


def test_explain_of_a_key_that_looks_like_a_bucket_is_of_the_key(profiled, answer):
    assert answer("explain", "visits", "bucket:1")["kind"] == "bucket"
    assert answer("explain", "visits", "key:bucket:1")["key"] == "bucket:1"


def test_explain_of_a_light_key_tells_its_slot(profiled, evenkeel, answer):
    """What is not tracked has no figures of its own, and that is said."""
    facts = answer("explain", "visits", "nobody knows me")

    assert not facts["is_tracked"]
    assert facts["item"]["kind"] == "slot"
    assert f"Moved alone, slot {facts['slot']} would" in evenkeel("explain", "visits", "nobody knows me")[1]


def test_explain_bucket_adds_up(profiled, answer):
    """Loads of all buckets are the window's cost, and the heaviest item is the heaviest."""
    buckets = [answer("explain", "visits", f"bucket:{bucket}") for bucket in range(4)]
    window = newest_window(profiled)
    assert window is not None
    balance = balance_of(profiled, window, current_function(profiled))

    assert [bucket["load"] for bucket in buckets] == balance.load.tolist()
    assert max(bucket["excess"] for bucket in buckets) == balance.imbalance
    heaviest = max(buckets, key=lambda bucket: bucket["heaviest"][0]["cost"])["heaviest"][0]
    assert heaviest["key"] == KEYS[0]


def test_explain_says_what_binds(profiled, datasets, answer):
    """Where the budgets forbid a move, the reader learns which."""
    dataset_file(datasets, budgets={"max_imbalance": 0.08, "max_routes": 0, "max_migration": 0.0})

    binds = answer("explain", "visits", f"key:{KEYS[0]}")["best_move"]["binds"]

    assert [sentence.partition(":")[0] for sentence in binds][-2:] == ["max_routes", "max_migration"]


def test_workers_are_the_same_in_plan_explain_status_and_report(profiled, datasets, answer, evenkeel):
    """One recommendation, everywhere: who reads two of them must not have to choose."""
    assert "visits must have a plan for its newest window" in evenkeel("explain", "visits", "--capacity")[2]
    dataset_file(datasets, capacity={"minutes": 1, "process_seconds": 1.0})
    planned = answer("plan", "visits")["capacity"]
    line = planned["lines"][0]
    sentence = evenkeel("explain", "visits", "--capacity")[1].splitlines()[0]

    assert (line["what"], line["present"], line["verdict"]) == ("buckets", 4, "under-provisioned")
    assert answer("explain", "visits", "--capacity") == planned == answer("status", "visits")[0]["capacity"]
    assert line["reason"] in sentence
    assert sentence in evenkeel("plan", "visits")[1]
    assert f"visits  buckets: 4, {line['needed']} needed: under-provisioned" in evenkeel("status")[1]
    assert newest_window(profiled) is not None


@pytest.mark.parametrize("what", ["bucket:4", "slot:64"])
def test_explain_refuses_what_is_not_there(profiled, evenkeel, what):
    code, _, err = evenkeel("explain", "visits", what)

    assert code == 2
    assert "must lie in [0, " in err


def test_explain_refuses_a_key_of_another_type(datasets, evenkeel, request):
    dataset_file(datasets, key={"column": "who", "type": "bigint"})
    request.getfixturevalue("created")

    code, _, err = evenkeel("explain", "visits", "abc")

    assert code == 2
    assert "KEY must be a bigint, as the dataset's key.type says. Got 'abc'." in err


# apply, as far as it comes without Spark


def test_stale_plan_is_refused_with_3_and_nothing_changes(profiled, answer, evenkeel):
    """The table has moved on: a script sees it by the code, and no table has a row more."""
    plan = answer("plan", "visits")
    row = read_one(PLANS, dataset="visits", plan=plan["plan"])
    others = {name: value for name, value in row.items() if name not in PLANS.identity}
    replace_rows([others | {"from_function": "0" * 64}], PLANS, dataset="visits", plan=plan["plan"])

    code, out, err = evenkeel("apply", "visits", plan["plan"][:8], "--yes")

    assert (code, out) == (3, "")
    assert "the table has moved on. Plan again." in err
    assert answer("history", "visits") == []


def test_apply_asks_or_wants_yes(profiled, answer, evenkeel):
    """Without a terminal nobody can say yes by accident."""
    plan = answer("plan", "visits")["plan"]

    code, _, err = evenkeel("apply", "visits", plan)

    assert code == 2
    assert f"evenkeel apply visits {plan} --yes changes the table." in err


def test_status_of_a_strange_table_hides_no_other(profiled, datasets, evenkeel):
    """A Delta table that we did not make, and one of other slots than its file says: a line each, and the healthy one's."""
    file = dataset_file(datasets, name="orders", state={"table": "orders/state"})
    foreign = pa.schema([("who", pa.string())])
    DeltaTable.create(dataset_named("orders").state, schema=foreign)
    code, out, err = evenkeel("status")

    assert (code, err) == (0, "")
    assert "orders  state.table must carry the property evenkeel.function. Got a table without at" in out
    assert "visits  θ 0." in out

    file.unlink()
    dataset_file(datasets, layout={"buckets": 4, "slots": 128})
    assert "visits  layout.slots must stay 64, with which" in evenkeel("status")[1]


# datasets


def test_datasets_check_tells_every_mistake(datasets, evenkeel, answer):
    """1 and all mistakes of all files; 0 if there are none."""
    assert answer("datasets", "check") == [{"file": str(datasets / "visits.yaml"), "mistakes": []}]
    dataset_file(datasets, layout={"buckets": 4, "slots": 63}, planner="guess")

    code, out, _ = evenkeel("datasets", "check")

    assert code == 1
    assert "mistakes: 3" in out  # 63 is no power of two, and less than 16 times 4
    assert "layout.slots must be a power of two. Got 63. Take 64." in out


def test_datasets_check_tells_of_a_shared_state_table(datasets, tmp_path, answer, evenkeel):
    """Both files are told; a draft is checked against what is in use, and the same dataset in two files shares nothing."""
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    draft = dataset_file(drafts, name="orders", state={"table": "visits/state/"})
    assert answer("datasets", "check", str(dataset_file(drafts)))[0]["mistakes"] == []
    code, out, _ = evenkeel("datasets", "check", str(draft))
    assert code == 1
    assert "which is that of visits too." in out
    assert "visits.yaml" not in out

    dataset_file(datasets, name="orders", state={"table": "visits/./state"})
    code, out, _ = evenkeel("datasets", "check")
    assert code == 1
    assert out.count("state.table must belong to one dataset.") == 2


# What reading costs


@pytest.mark.parametrize("words", [["status"], ["explain", "visits", "bucket:1"], ["history", "visits"], ["plan", "visits"], ["datasets", "check"]])  # fmt: skip
def test_reading_imports_nothing_heavy(profiled, words):
    """An answer in a second or two: neither Spark nor Great Expectations, pictures or Airflow may be loaded for it."""
    program = f"import sys; from cli.__main__ import end; from cli.main import main; code = main({words!r}); print([m for m in {HEAVY!r} if m in sys.modules]); end(code)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_next_window_of_a_schedule_ends_where_the_next_begins():
    """A run by hand takes the window that the Dag would take."""
    from schemas.intervals import interval_end

    assert interval_end("@daily", START) == START + DAY
    assert interval_end("0 */6 * * *", START) == START + timedelta(hours=6)
