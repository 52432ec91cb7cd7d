"""A plan that was changed in any field is rejected, even by a forger who makes the checksum fit."""

import json
import math
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import deltalake
import numpy as np
import pyarrow as pa
import pytest

from partitioning.function import PartitioningFunction
from schemas.tables import CHECKS, FUNCTIONS, ITEM_STATS, MOVES, NUMBERS, PLANS, TEXT, TEXTS, WHOLE
from spark_jobs.control_tables import read_one, read_rows, replace_rows, save_function
from spark_jobs.expectations import SUITES
from spark_jobs.explanation_facts import hot_buckets, theta_without
from spark_jobs.function_facts import totality_facts
from spark_jobs.job import JobError
from spark_jobs.migrate_layout import migrate_layout
from spark_jobs.plan_facts import NAMING, is_same
from spark_jobs.plan_figures import MOVE_FIELDS, Figures
from spark_jobs.plan_moves import plan_moves
from spark_jobs.plan_record import plan_checksum, plan_name_of, read_plan
from spark_jobs.table_log import FUNCTION, current_function, initial_function
from spark_jobs.validate_plan import validate_plan

REFUSED = r"every critical expectation of schemas/plan_suite\.json|must hold one row for|(item_stats|forecasts) must hold"
NOT_RECOMPUTABLE = {
    "reasons",  # sentences for people, which no table can check
    "checksum",  # the forger makes it fit
}


def other(value, kind):
    """Another value of this type; numbers grow beyond all measure, since a bound may be anywhere below what is reached."""
    if kind == TEXT:
        return f"{value or ''}x"
    if kind == TEXTS:
        return [*value, "x"]
    if kind == NUMBERS:
        return [value[0] + 1, *value[1:]]
    if pa.types.is_timestamp(kind):
        return value + timedelta(hours=1)
    return (value or 0) + 1 if kind == WHOLE else 1000 * (value or 0) + 1


def edit(table, column, change, where=bool):
    """Change one field of the first such row, as anybody with access to the files can."""
    rows = deltalake.DeltaTable(table.path).to_pyarrow_table().to_pylist()
    victim = next(row for row in rows if where(row))
    victim[column] = change(victim[column])
    overwrite(table, rows)


def overwrite(table, rows):
    stored = pa.Table.from_pylist(rows, table.schema)
    deltalake.write_deltalake(table.path, stored, mode="overwrite")


def forge_checksum(plan):
    """What a forger does who has read our code."""
    row, moves, body = read_plan("visits", plan)
    edit(PLANS, "checksum", lambda _: plan_checksum(row, moves, body))


def write_honest_plan(task, before, after, **fields):
    """A plan from one function to the other whose every field is right; with ``fields``, one whose name fits them; its name."""
    dataset, window = task.dataset, task.window
    items = read_rows(ITEM_STATS, dataset="visits", window_start=window.start).to_pylist()
    n_wanted = fields.get("n_buckets", after.n_buckets)
    figures = Figures(
        items=items, before=before, after=after, by_hash=initial_function(replace(dataset, n_buckets=n_wanted)),
        n_wanted=n_wanted, n_windows=5,
    )  # fmt: skip
    row = {
        "dataset": "visits", "window_start": window.start, "window_end": window.end, "from_function": before.digest,
        "to_function": after.digest, "planner": "llfd", "planned_on": "last", "max_imbalance": 0.08, "target_imbalance": 0.06, "max_routes": 20,
        "max_migration": 0.6, "n_buckets": n_wanted, "payback_windows": 5, "bound_imbalance": 0.0, "bound_migration": 0.0,
        "verdict": "improves", "reasons": [], **figures.predictions, **fields,
    }  # fmt: skip
    row["explanation"] = honest_explanation(row, figures)
    row["plan"] = plan_name_of(*(row[name] for name in NAMING))
    moves = [dict(zip(MOVE_FIELDS, move, strict=True)) for move in figures.moves.elements()]
    for move in moves:
        is_going = move["from_bucket"] >= n_wanted
        move |= {
            "cause": "drain" if is_going else "relief",
            "imbalance_without": theta_without(move, figures),
        }
    save_function("visits", after)
    row["checksum"] = plan_checksum(row, moves, after.to_json())
    replace_rows(moves, MOVES, dataset="visits", plan=row["plan"])
    replace_rows([row], PLANS, dataset="visits", plan=row["plan"])
    return row["plan"]


def honest_explanation(row, figures):
    """What the judge looks at, and no more."""
    hot = hot_buckets(row["max_imbalance"], figures)
    said = {
        "hot_buckets": [{"bucket": bucket, "load": load} for bucket, load in hot.items()],
        "certificate": {
            "imbalance": figures.theta_after, "migration": figures.migration, "imbalance_bound": 0.0
        },
        "payback": {
            "saved": figures.predictions["cost_saved"], "spent": figures.predictions["cost_spent"]
        },
    }  # fmt: skip
    return json.dumps(said)


# Field by field


@pytest.mark.spark
def test_true_plan_is_judged_by_the_whole_suite(task, planned):
    """A fact that nobody computes any more would be an expectation that nobody judges."""
    result = validate_plan(task(0, planned(0)))

    suite = json.loads((SUITES / "plan_suite.json").read_text())["expectations"]
    kept = read_rows(CHECKS, subject="plan").to_pylist()
    assert {row["column"] for row in kept} == {one["kwargs"]["column"] for one in suite}
    assert all(row["success"] for row in kept if row["severity"] == "critical")
    assert result["applied"] is False


FIELDS = [
    pytest.param(table, column, id=f"{table.name}.{column}")
    for table in (PLANS, MOVES, FUNCTIONS)
    for column in table.columns
]


@pytest.mark.spark
@pytest.mark.parametrize(("table", "column"), FIELDS)
def test_field_changed_by_hand_is_rejected(task, planned, table, column):
    """Whatever the field: columns that are added later are tried as well."""
    plan = planned(0)
    target = read_one(PLANS, dataset="visits", plan=plan)["to_function"]
    edit(
        table,
        column,
        lambda value: other(value, table.columns[column]),
        where=lambda row: row.get("function", target) == target,
    )

    with pytest.raises(JobError, match=REFUSED):
        validate_plan(task(0, plan))


@pytest.mark.spark
@pytest.mark.parametrize("column", FUNCTIONS.columns)
def test_function_that_the_plan_starts_from_is_guarded_too(task, planned, column):
    """Moves from a false start are false moves."""
    plan = planned(0)
    start = read_one(PLANS, dataset="visits", plan=plan)["from_function"]
    edit(
        FUNCTIONS,
        column,
        lambda value: other(value, FUNCTIONS.columns[column]),
        where=lambda row: row["function"] == start,
    )

    with pytest.raises(JobError, match=REFUSED):
        validate_plan(task(0, plan))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("table", "column"), [field for field in FIELDS if field.values[1] not in NOT_RECOMPUTABLE]
)
def test_field_changed_with_a_checksum_that_fits_is_rejected(task, planned, table, column):
    """The checksum protects from accidents; a field that other tables know is also compared with them."""
    plan = planned(0)
    target = read_one(PLANS, dataset="visits", plan=plan)["to_function"]
    edit(
        table,
        column,
        lambda value: other(value, table.columns[column]),
        where=lambda row: row.get("function", target) == target,
    )
    with suppress(JobError):  # where the row or its function cannot even be found
        forge_checksum(plan)
    with pytest.raises(JobError, match=REFUSED) as caught:
        validate_plan(task(0, plan))

    assert "checksum_matches" not in str(caught.value)


PREDICTIONS = [
    "imbalance_hash", "imbalance_before", "imbalance_after", "load_before", "load_after", "n_routes", "n_moves", "migration",
    "total_state", "cost_saved", "cost_spent",
]  # fmt: skip


REACHED = {"bound_imbalance": "imbalance_after", "bound_migration": "migration"}


@pytest.mark.spark
@pytest.mark.parametrize("column", [*PREDICTIONS, *REACHED])
@pytest.mark.parametrize("change", ["nothing", "a little", "NaN"])
def test_prediction_is_compared_with_what_follows_from_the_tables(task, planned, column, change):
    """The refusal names the field. NaN, which is neither above nor below anything, and NULL get no further."""
    plan = planned(0)
    lists, whole = column.startswith("load_"), column.startswith("n_")
    if change == "NaN" and whole:
        pytest.skip("whole numbers have no NaN")

    def more(value):
        return value + 1 if whole else value * (1 + 1e-6)

    changes = {
        "nothing": lambda _: None,
        "a little": lambda value: [value[0], more(value[1]), *value[2:]] if lists else more(value),
        "NaN": lambda value: [math.nan, *value[1:]] if lists else math.nan,
    }
    if column.startswith("bound_"):
        reached = read_one(PLANS, dataset="visits", plan=plan)[REACHED[column]]
        changes["a little"] = lambda _: more(reached) + 1e-6
    edit(PLANS, column, changes[change])
    forge_checksum(plan)

    fact = "wrong_bounds" if column.startswith("bound_") else "wrong_predictions"
    with pytest.raises(JobError, match=rf'Got: {fact} is "{column}" \(expect_\S+\)\. Mend'):
        validate_plan(task(0, plan))


@pytest.mark.spark
@pytest.mark.parametrize(
    "word",
    ["balanced already", "reaches the target", "improves", "cannot improve within the budgets"],
)
def test_only_the_verdict_that_the_figures_bear_out_is_accepted(task, planned, word):
    """A false "reaches the target" is what a person would trust."""
    plan = planned(0)
    if read_one(PLANS, dataset="visits", plan=plan)["verdict"] == word:
        validate_plan(task(0, plan))
        return
    edit(PLANS, "verdict", lambda _: word)
    forge_checksum(plan)

    with pytest.raises(JobError, match=r"Got: verdict_matches is false \(expect_\S+\)\. Mend"):
        validate_plan(task(0, plan))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("change", "facts"),
    [
        pytest.param(lambda moves: moves[1:], {"misplaced_moves"}, id="one-missing"),
        pytest.param(
            lambda moves: [*moves, moves[0]], {"misplaced_moves", "keys_moved_twice"}, id="one-twice"
        ),
        pytest.param(
            lambda moves: [*moves, {**moves[0], "kind": "key", "key": "nobody"}],
            {"misplaced_moves"},
            id="one-of-nobody",
        ),
    ],
)
def test_moves_are_just_the_items_on_which_the_functions_differ(task, planned, change, facts):
    """A move too few leaves a key split between two buckets; one too many moves what nobody asked for."""
    plan = planned(0)
    overwrite(MOVES, change(read_rows(MOVES, dataset="visits", plan=plan).to_pylist()))
    forge_checksum(plan)

    with pytest.raises(JobError, match=r"Got: ") as caught:
        validate_plan(task(0, plan))
    assert {part.split(" is ")[0] for part in str(caught.value).split("Got: ")[1].split("; ")} == facts


@pytest.mark.spark
@pytest.mark.parametrize("change", [lambda items: items[1:], lambda items: [*items, items[0]]])
def test_item_that_is_not_there_just_once_is_found(task, planned, change):
    """An item that is counted twice has two buckets, one that is missing has none."""
    plan = planned(0)
    overwrite(ITEM_STATS, change(deltalake.DeltaTable(ITEM_STATS.path).to_pyarrow_table().to_pylist()))

    with pytest.raises(JobError, match=r"items_amiss is 1"):
        validate_plan(task(0, plan))


# Functions


CONTENT = json.loads(PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=64).to_json())
SOUND = dict.fromkeys(
    (
        "slots_without_bucket",
        "routes_without_bucket",
        "routes_given_twice",
        "routes_without_effect",
        "splits_not_whole",
    ),
    0,
)


def home_of(key):
    return PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=64).bucket_of(key)


@pytest.mark.parametrize(
    ("change", "facts"),
    [
        pytest.param({}, {}, id="sound"),
        pytest.param({"slots": [4, -1, *CONTENT["slots"][2:]]}, {"slots_without_bucket": 2}, id="slots"),
        pytest.param(
            {"slots": [None, *CONTENT["slots"][1:]]}, {"slots_without_bucket": 1}, id="slot-without"
        ),
        pytest.param({"routes": [["a", 4]]}, {"routes_without_bucket": 1}, id="route-outside"),
        pytest.param(
            {"routes": [["a", (home_of("a") + 1) % 4], ["a", (home_of("a") + 2) % 4]]},
            {"routes_given_twice": 1},
            id="route-twice",
        ),
        pytest.param({"routes": [["a", home_of("a")]]}, {"routes_without_effect": 1}, id="route-idle"),
        pytest.param({"routes": [[None, home_of(None)]]}, {"routes_without_effect": 1}, id="null-route-idle"),
        pytest.param({"splits": [["a", [[1, 96], [2, 4000]]]]}, {}, id="split"),
        pytest.param(
            {"splits": [["a", [[1, 96], [2, 3999]]]]}, {"splits_not_whole": 1}, id="split-with-a-hole"
        ),
        pytest.param({"splits": [["a", [[1, 96], [1, 4000]]]]}, {"splits_not_whole": 1}, id="split-in-one"),
        pytest.param(
            {"splits": [["a", [[1, 96], [4, 4000]]]]}, {"routes_without_bucket": 1}, id="part-outside"
        ),
        pytest.param(
            {"routes": [["a", (home_of("a") + 1) % 4]], "splits": [["a", [[1, 96], [2, 4000]]]]},
            {"routes_given_twice": 1},
            id="routed-and-split",
        ),
    ],
)
def test_function_gives_every_key_one_bucket_by_one_way(change, facts):
    """Read from the text itself: what parses is brought into order on the way, and would hide it."""
    assert totality_facts(json.dumps({**CONTENT, **change})) == {**SOUND, **facts}


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"slots": 1, "routes": [], "n_buckets": 4}'])
def test_text_that_is_no_function_has_no_slot_with_a_bucket(body):
    """Whatever was put there, the judge gets a fact and not a traceback."""
    assert totality_facts(body) == {"slots_without_bucket": 1}


@pytest.mark.spark
@pytest.mark.parametrize("which", ["from_function", "to_function"])
def test_body_of_another_function_is_rejected(task, planned, which):
    """A sound function under another one's name, with a checksum that fits."""
    plan = planned(0)
    name = read_one(PLANS, dataset="visits", plan=plan)[which]
    stranger = PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=64).with_changes(
        slots={0: 1, 1: 2, 2: 3}
    )
    edit(FUNCTIONS, "body", lambda _: stranger.to_json(), where=lambda row: row["function"] == name)
    forge_checksum(plan)

    with pytest.raises(JobError, match=rf'wrong_functions is "{which}"'):
        validate_plan(task(0, plan))


@pytest.mark.spark
def test_function_of_another_shape_is_rejected(task, planned):
    """S and the key's type never change: rows would be looked for where they are not."""
    planned(0)
    before = initial_function(task(0).dataset)
    after = PartitioningFunction.initial(key_type="string", n_buckets=4, n_slots=128)
    plan = write_honest_plan(task(0), before, before)
    save_function("visits", after)
    edit(PLANS, "to_function", lambda _: after.digest, where=lambda row: row["plan"] == plan)

    with pytest.raises(JobError, match=r'changed_shape is "n_slots"'):
        validate_plan(task(0, plan))


# Budgets and balance


@pytest.mark.spark
@pytest.mark.parametrize(
    ("budget", "fact"),
    [
        pytest.param({"max_routes": 0}, "routes_over_budget", id="routes"),
        pytest.param({"max_migration": 0.01}, "migration_over_budget", id="share"),
        pytest.param({"max_migration": 2.0}, "migration_over_budget", id="bytes"),
    ],
)
def test_plan_over_its_own_budget_is_rejected(task, planned, budget, fact):
    """All else is right, its name and checksum included."""
    found = read_one(PLANS, dataset="visits", plan=planned(0))
    before, after = (
        PartitioningFunction.from_json(read_one(FUNCTIONS, dataset="visits", function=found[name])["body"])
        for name in ("from_function", "to_function")
    )
    plan = write_honest_plan(task(0), before, after, **budget)

    with pytest.raises(JobError, match=rf"Got: {fact} is [0-9.]+ \(expect_\S+\)\. Mend"):
        validate_plan(task(0, plan))


@pytest.mark.spark
def test_plan_that_makes_the_hottest_bucket_hotter_is_rejected(task, planned):
    """Standing still is always possible."""
    planned(0)
    before = current_function(task(0).dataset)
    crowd = dict.fromkeys(range(0, 64, 2), 0)
    plan = write_honest_plan(task(0), before, before.with_changes(slots=crowd), max_migration=None)

    with pytest.raises(JobError, match=r"Got: imbalance_gained is [0-9.]+ "):
        validate_plan(task(0, plan))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("fields", "loosened"),
    [
        ({}, ""),
        ({"max_routes": 19, "max_migration": 0.5}, "max_routes, max_migration"),
        ({"max_imbalance": 0.01}, "max_imbalance"),
        ({"max_routes": None, "max_migration": None}, ""),
    ],
)
def test_budget_looser_than_the_dataset_file_is_a_warning(task, planned, fields, loosened):
    """A plan by hand may have been given its own budgets; whoever reads the report should see it."""
    given = task(0, planned(0))
    result = validate_plan(replace(given, dataset=replace(given.dataset, **fields)))

    assert result["budgets_loosened"] == loosened


@pytest.mark.spark
def test_whole_budgets_do_not_change_the_name(task, planned):
    """`max_imbalance: 1` in a file and 1.0 in the table are one budget."""
    planned(0)
    given = task(0)
    whole = replace(given, dataset=replace(given.dataset, max_imbalance=1, max_migration=1))
    plan = plan_moves(whole)["plan"]

    assert validate_plan(replace(whole, plan=plan))["name_matches"]


# Another number of buckets


def slots_of(*buckets):
    return np.array(buckets, dtype=np.int64)


def test_change_of_n_counts_as_migration():
    """By hand: 16 slots of cost 1 and 10 bytes; four go to a third bucket and come back."""
    before = PartitioningFunction(key_type="int", n_buckets=2, slots=slots_of(*[0] * 8, *[1] * 8))
    after = PartitioningFunction(key_type="int", n_buckets=3, slots=slots_of(*[0] * 8, *[1] * 4, *[2] * 4))
    items = [
        {"kind": "slot", "slot": slot, "key": None, "cost": 1.0, "state": 10.0, "window_end": None}
        for slot in range(16)
    ]
    grown = Figures(items=items, before=before, after=after, by_hash=before, n_wanted=3, n_windows=5)
    shrunk = Figures(items=items, before=after, after=before, by_hash=before, n_wanted=2, n_windows=5)

    assert (grown.migration, grown.total_state, shrunk.migration) == (40, 160, 40)
    assert (grown.load_before, grown.load_after) == ([8, 8, 0], [8, 4, 4])
    assert (shrunk.load_before, shrunk.load_after) == ([8, 4, 4], [8, 8, 0])
    assert grown.predictions["imbalance_before"] == grown.predictions["imbalance_after"] == 0.5
    assert shrunk.predictions["imbalance_after"] == 0
    assert set(grown.moves) == {("slot", slot, None, 1, 2, 1.0, 10.0) for slot in range(12, 16)}


@pytest.mark.spark
@pytest.mark.parametrize("n_buckets", [3, 5])
def test_plan_to_another_number_of_buckets_is_judged_by_the_same_rules(task, planned, n_buckets):
    """What the ring moves is migration like any other: a bucket that goes is emptied within the budget, window by window."""
    planned(0)
    given = task(0)
    resized = replace(given, dataset=replace(given.dataset, n_buckets=n_buckets))
    before = current_function(given.dataset)
    plan = write_honest_plan(resized, before, before.with_n_buckets(n_buckets))
    result = validate_plan(replace(resized, plan=plan))

    assert result["misplaced_moves"] == result["migration_over_budget"] == 0
    tight = write_honest_plan(resized, before, before.with_n_buckets(n_buckets), max_migration=0.0)
    with pytest.raises(JobError, match=r"migration_over_budget is 0\.\d+"):
        validate_plan(replace(resized, plan=tight))


@pytest.mark.spark
def test_more_buckets_are_no_excuse_for_a_hotter_one(task, planned):
    """What is compared with is where the ring alone leads; a plan has to do no worse than that."""
    planned(0)
    resized = replace(task(0), dataset=replace(task(0).dataset, n_buckets=5))
    before = current_function(task(0).dataset)
    crowd = dict.fromkeys(range(0, 64, 2), 4)
    after = before.with_n_buckets(5).with_changes(slots=crowd)
    plan = write_honest_plan(resized, before, after, max_migration=None)

    with pytest.raises(JobError, match=r"Got: imbalance_gained is [0-9.]+ "):
        validate_plan(replace(resized, plan=plan))


@pytest.mark.spark
def test_too_many_routes_may_become_fewer_at_the_price_of_balance(task, planned):
    """Where max_routes was lowered, a plan that mends it is let through though θ gets worse; one that adds a route is not."""
    planned(0)
    given = task(0)
    here = current_function(given.dataset)
    heavy = [
        item["key"]
        for item in read_rows(ITEM_STATS, dataset="visits").to_pylist()
        if item["kind"] == "key" and item["key"]
    ]
    even = sorted(heavy)[:4]
    routed = here.with_changes(routes={key: (here.bucket_of(key) + 1) % 4 for key in even})
    fewer = here.with_changes(routes={key: (here.bucket_of(key) + 1) % 4 for key in even[:3]})
    save_function("visits", routed)
    properties = {FUNCTION: routed.digest}
    deltalake.DeltaTable(given.dataset.state).alter.set_table_properties(
        properties, raise_if_not_exists=False
    )

    plan = write_honest_plan(given, routed, fewer, max_routes=2)
    result = validate_plan(replace(given, plan=plan))
    assert (result["routes_over_budget"], result["budgets_broken_before"]) == (0, "max_routes")
    more = routed.with_changes(routes={sorted(heavy)[4]: (here.bucket_of(sorted(heavy)[4]) + 1) % 4})
    with pytest.raises(JobError, match=r"routes_over_budget is 1 "):
        validate_plan(replace(given, plan=write_honest_plan(given, routed, more, max_routes=2)))


# The table


@pytest.mark.spark
def test_applied_plan_is_judged_by_checksum_and_functions_only(task, planned):
    """A cleared step after the migration: the statistics may be newer by now, the proof is with the next step."""
    plan = planned(0)
    migrate_layout(task(0, plan))
    overwrite(ITEM_STATS, [])
    assert validate_plan(task(0, plan))["applied"] is True

    edit(PLANS, "n_routes", lambda value: value + 1)
    with pytest.raises(JobError, match=r"checksum_matches is false"):
        validate_plan(task(0, plan))


@pytest.mark.spark
def test_plan_that_changes_nothing_is_not_taken_for_an_applied_one(task, planned):
    """Its two functions are the table's: its figures must be right all the same."""
    planned(0)
    here = current_function(task(0).dataset)
    plan = write_honest_plan(task(0), here, here, verdict="cannot improve within the budgets")
    assert validate_plan(task(0, plan))["applied"] is False

    plan = write_honest_plan(task(0), here, here, verdict="balanced already")
    with pytest.raises(JobError, match=r"verdict_matches is false"):
        validate_plan(task(0, plan))


@pytest.mark.spark
def test_plan_for_another_function_of_the_table_is_rejected(spark, dataset, task, planned):
    """The table has moved on: the plan's moves begin where nothing is any more."""
    plan = planned(0)
    spark.sql(f"ALTER TABLE delta.`{dataset.state}` SET TBLPROPERTIES ('{FUNCTION}' = '{'0' * 64}')")

    with pytest.raises(JobError, match=r"Got: table_matches is false"):
        validate_plan(task(0, plan))


@pytest.mark.spark
def test_plan_is_judged_by_its_own_window_whatever_run_applies_it(task, planned):
    """A plan that is applied by its name days later was made for the window that it says."""
    plan = planned(0)

    assert validate_plan(task(1, plan)) == validate_plan(task(0, plan))


@pytest.mark.spark
def test_statistics_of_a_window_that_ends_elsewhere_are_not_the_plans(task, planned):
    """Hourly and daily windows may start at the same moment."""
    plan = planned(0)
    items = deltalake.DeltaTable(ITEM_STATS.path).to_pyarrow_table().to_pylist()
    overwrite(ITEM_STATS, [item | {"window_end": item["window_end"] + timedelta(days=1)} for item in items])

    with pytest.raises(JobError, match=r"Got: window_matches is false \(expect_\S+\)\. Mend"):
        validate_plan(task(0, plan))


@pytest.mark.parametrize(
    ("given", "expected", "same"),
    [
        (1.0, 1.0 + 1e-10, True),
        (1.0, 1.0 + 1e-8, False),
        (1e12, 1e12 + 1, True),
        (None, 0.0, False),
        (math.nan, math.nan, False),
        ([1.0], [1.0, 2.0], False),
        (None, [1.0], False),
        ([1.0, 2.0], [1.0, 2.0], True),
    ],
)
def test_figures_are_the_same_as_far_as_sums_of_floats_can_tell(given, expected, same):
    """Nothing is equal to NaN, and a missing number is no number."""
    assert is_same(given, expected) is same
