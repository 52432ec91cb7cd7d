"""What a run's params mean for each step."""

import pytest
from airflow.sdk.exceptions import AirflowFailException

from dags.asked import arguments_asked_for, known, rebalance_params, refuse_contradiction

pytestmark = pytest.mark.airflow

NOTHING = dict.fromkeys(
    ("dry_run", "plan", "planner", "max_imbalance", "max_routes", "max_migration", "buckets", "mover")
) | {"approve": False, "resume": False}


@pytest.mark.parametrize(
    ("given", "is_by_hand", "is_dry"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"dry_run": False}, True, False),
        ({"dry_run": True}, False, True),
        ({"plan": "0" * 16}, True, False),
    ],
)
def test_run_by_hand_is_a_dry_run_unless_it_says_otherwise(given, is_by_hand, is_dry):
    """What nobody asked for by name must not change a table."""
    asked = arguments_asked_for(NOTHING | given, is_by_hand=is_by_hand)

    assert asked["is_dry"] is is_dry
    assert ("--dry-run" in asked["for_gate"]) is is_dry
    assert asked["for_profile"] == (["--dry-run"] if is_dry else [])


def test_settings_reach_the_step_that_uses_them():
    """As text arguments: nothing of a param is ever evaluated."""
    given = {
        "planner": "mixed",
        "max_imbalance": 0.3,
        "max_routes": 0,
        "buckets": 5,
        "mover": "merge",
        "resume": True,
    }
    asked = arguments_asked_for(NOTHING | given, is_by_hand=False)

    assert asked["for_plan"] == [
        "--planner",
        "mixed",
        "--max-imbalance",
        "0.3",
        "--max-routes",
        "0",
        "--buckets",
        "5",
    ]
    assert asked["for_migrate"] == ["--mover", "merge"]
    assert asked["for_gate"] == ["--resume"]


def test_named_plan_is_applied_with_nothing_else():
    """The plan says what it was made with; other settings beside it would be ignored, so they are refused."""
    named = NOTHING | {"plan": "0" * 16}
    asked = arguments_asked_for(named, is_by_hand=True)

    assert asked["for_plan"] == ["--plan", "0" * 16]
    assert asked["for_gate"] == ["--apply"]
    refuse_contradiction(named | {"dry_run": False, "mover": "merge"})
    for other in ({"max_routes": 0}, {"dry_run": True}):
        with pytest.raises(AirflowFailException, match=rf"plan must be given without {next(iter(other))}"):
            refuse_contradiction(named | other)


def test_params_know_the_names_that_dataset_files_know():
    """One list of planners and movers."""
    params = rebalance_params()

    assert params["planner"].schema["enum"][1:] == known("planner")
    assert params["mover"].schema["enum"][1:] == known("mover")
