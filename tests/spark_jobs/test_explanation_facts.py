"""An explanation that lies is found out, figure by figure, by code that never saw a planner."""

import json
from functools import cache

import numpy as np
import pytest

from partitioning import Budgets, PlanRequest, make_plan
from partitioning.explain import explain_plan
from partitioning.function import PartitioningFunction
from spark_jobs.explanation_facts import wrong_explanations
from spark_jobs.item_names import item_name
from spark_jobs.item_stats import ItemStats
from spark_jobs.plan_explanation import explanation_json, name_items
from spark_jobs.plan_figures import Figures

BEFORE = PartitioningFunction.initial(key_type="bigint", n_buckets=4, n_slots=64)
COST = np.random.default_rng(7).pareto(1.5, 64) * 10
STATS = ItemStats(slot=np.arange(64), key=[], cost=COST, state=np.ones(64))


CAPACITY = {
    "unit": "rows", "expected": float(COST.sum()), "high": 2.0 * float(COST.sum()), "seconds": float(COST.sum()), "headroom": 0.2,
    "load": {"seconds": 2.0, "source": "declared"}, "process": {"seconds": 4.0, "source": "declared"},
    "merge": {"seconds": 0.5, "source": "declared"}, "sent_on": 1.6,
    "lines": [
        {"what": "loaders", "present": 2, "needed": 3, "enough": 5, "verdict": "under-provisioned", "reason": ""},
        {"what": "buckets", "present": 4, "needed": 5, "enough": 10, "verdict": "under-provisioned", "reason": ""},
        {"what": "mergers", "present": 11, "needed": 5, "enough": 10, "verdict": "over-provisioned", "reason": ""},
    ],
    "useful_buckets": None, "unknown": [],
}  # fmt: skip


@cache
def explained(**budgets):
    """Made once: explaining takes seconds, and nothing here changes it."""
    owner = STATS.buckets(BEFORE)
    request = PlanRequest.of_items(
        cost=COST, state=STATS.state, owner=owner, home=owner, n_buckets=4, is_slot=STATS.is_slot, slot=STATS.slot_position,
        budgets=Budgets(**budgets),
    )  # fmt: skip
    plan = make_plan(request)
    return plan, explain_plan(plan)


def told(**budgets):
    """A plan's row, its moves and its figures, all true."""
    plan, explanation = explained(**budgets)
    after = BEFORE.with_changes(slots=dict(enumerate(plan.owner.tolist())), routes={})
    items = [
        {"kind": "slot", "slot": i, "key": None, "cost": float(COST[i]), "state": 1.0} for i in range(64)
    ]
    figures = Figures(items=items, before=BEFORE, after=after, by_hash=BEFORE, n_wanted=4, n_windows=5)
    row = {
        "explanation": explanation_json(explanation, STATS, capacity=CAPACITY),
        "max_imbalance": budgets["max_imbalance"],
    }
    moves = [
        {
            "from_bucket": move.source,
            "to_bucket": move.target,
            "cost": move.cost,
            "cause": move.cause,
            "imbalance_without": move.imbalance_without,
        }
        for move in explanation.moves
    ]
    return row, moves, figures


@pytest.mark.parametrize("budgets", [{"max_imbalance": 0.3}, {"max_imbalance": 0.0, "max_migration": 0.05}])
def test_what_the_planner_says_is_so(budgets):
    """Two computations that share no code agree on every figure, with the goal reached and without."""
    row, moves, figures = told(**budgets)

    assert moves
    assert wrong_explanations(row, moves, figures) == ""


@pytest.mark.parametrize(
    ("part", "field", "name"),
    [
        ("certificate", "imbalance", "certificate.imbalance"),
        ("certificate", "migration", "certificate.migration"),
        ("certificate", "imbalance_bound", "certificate.imbalance_bound"),
        ("payback", "saved", "payback.saved"),
        ("payback", "spent", "payback.spent"),
    ],
)
def test_changed_figure_is_named(part, field, name):
    """Whoever reads the report trusts these figures: a plan that embellishes one is not carried out."""
    row, moves, figures = told(max_imbalance=0.0, max_migration=0.05)
    said = json.loads(row["explanation"])
    said[part][field] += 0.5

    assert wrong_explanations(row | {"explanation": json.dumps(said)}, moves, figures) == name


def test_concealed_hot_bucket_is_missed():
    """A bucket that stays hot must be explained."""
    row, moves, figures = told(max_imbalance=0.0, max_migration=0.05)
    said = json.loads(row["explanation"])
    said["hot_buckets"].pop()

    assert wrong_explanations(row | {"explanation": json.dumps(said)}, moves, figures) == "hot_buckets"


@pytest.mark.parametrize(
    ("field", "value"), [("cause", "whim"), ("cause", "drain"), ("imbalance_without", 9.0)]
)
def test_move_for_another_reason_is_named(field, value):
    """Why a key moved is what its owner asks first."""
    row, moves, figures = told(max_imbalance=0.0, max_migration=0.05)

    assert wrong_explanations(row, [{**moves[0], field: value}], figures) == f"moves.{field}"


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        (0, "needed", 2), (0, "verdict", "right-provisioned"), (1, "enough", 9), (1, "present", 5), (2, "verdict", "under-provisioned"),
    ],
)  # fmt: skip
def test_recommendation_must_follow_from_its_numbers(line, field, value):
    """Who buys machines by it must get what Eq. 1 says, for the load that the plan was made on."""
    row, moves, figures = told(max_imbalance=0.0, max_migration=0.05)
    said = json.loads(row["explanation"])
    said["capacity"]["lines"][line][field] = value

    what = said["capacity"]["lines"][line]["what"]
    assert wrong_explanations(row | {"explanation": json.dumps(said)}, moves, figures) == f"capacity.{what}"


def test_recommendation_for_another_load_is_named_and_none_is_no_lie():
    """Plans that were made before there were recommendations can still be applied."""
    row, moves, figures = told(max_imbalance=0.0, max_migration=0.05)
    said = json.loads(row["explanation"])
    other = {**said, "capacity": {**said["capacity"], "expected": 1.0, "lines": []}}
    older = {name: part for name, part in said.items() if name != "capacity"}

    assert wrong_explanations(row | {"explanation": json.dumps(other)}, moves, figures) == "capacity.expected"
    assert wrong_explanations(row | {"explanation": json.dumps(older)}, moves, figures) == ""


@pytest.mark.parametrize("text", ["", "[]", "null", '{"certificate": 1}'])
def test_unreadable_explanation_is_named(text):
    """Neither an empty explanation nor one of another make is taken for a true one."""
    row, moves, figures = told(max_imbalance=0.3)

    assert wrong_explanations(row | {"explanation": text}, moves, figures) == "explanation"


def test_sentences_name_keys_and_slots():
    """Nobody but the planner knows what item 65 is."""
    stats = ItemStats(slot=np.array([0, 1, 1, 0]), key=["item 1", None], cost=np.ones(4), state=np.ones(4))

    assert name_items(["split item 2, not item 12th; item 3 and item 1 stay"], stats) == [
        "split key item 1, not item 12th; the NULL key and slot 1 stay"
    ]


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        pytest.param("user 17", "key user 17", id="plain"),
        pytest.param("", 'key ""', id="empty"),
        pytest.param(" x", 'key " x"', id="blank-first"),
        pytest.param("a\tb\u202ec", r"key a\x09b\u202ec", id="invisible"),
        pytest.param("x" * 60, "key " + "x" * 60, id="just-short-enough"),
        pytest.param("b" * 50 + "e" * 50, f"key {'b' * 40}…eeeeeeee (100 characters)", id="long"),
        pytest.param(None, "the NULL key", id="null"),
    ],
)
def test_item_name_is_fit_to_be_read(key, shown):
    """A key is whatever a customer typed: it must neither hide in a line nor fill a screen."""
    assert item_name({"kind": "key", "slot": 0, "key": key}) == shown


def test_item_name_shows_bytes_as_tables_do():
    """A binary key is hexadecimal in the tables, so also in sentences."""
    assert item_name({"kind": "key", "slot": 0, "key": b"\x00\xff"}) == "key 00ff"
