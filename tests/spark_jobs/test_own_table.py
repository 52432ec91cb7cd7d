"""A job works on its dataset's own state table, with the slots and the keys that it was made with, or not at all."""

import shutil
from dataclasses import replace

import pytest
from deltalake import DeltaTable

from schemas.places import locate
from schemas.tables import FUNCTIONS
from spark_jobs.audit_layout import audit_layout
from spark_jobs.control_tables import read_rows, save_function
from spark_jobs.create_layout import create_layout
from spark_jobs.gate_plan import gate_plan
from spark_jobs.job import JobError, RefusalError
from spark_jobs.load_window import load_window
from spark_jobs.plan_moves import plan_moves
from spark_jobs.profile_keys import profile_keys
from spark_jobs.purge_layout import purge_layout
from spark_jobs.repair_layout import repair_layout
from spark_jobs.roll_back_layout import roll_back_layout
from spark_jobs.settle_layout import settle_layout
from spark_jobs.table_log import (
    DATASET,
    FUNCTION,
    current_function,
    function_of,
    initial_function,
    properties_of,
)
from spark_jobs.validate_plan import validate_plan
from tests.faults.scenes import version_of
from tests.spark_jobs.conftest import task_of, visits
from tests.spark_jobs.oracle import rows_in, state_of

pytestmark = pytest.mark.spark

JOBS = [load_window, profile_keys, plan_moves, settle_layout, purge_layout, audit_layout, repair_layout, roll_back_layout, create_layout]  # fmt: skip


def refused_by_every_job(dataset, sentence):
    for job in JOBS:
        with pytest.raises(JobError, match=sentence):
            job(task_of(dataset, 2))


def test_table_names_its_dataset(settled):
    """What refuses another must be there from the first commit on."""
    assert properties_of(settled)[DATASET] == "visits"


def test_no_job_works_on_another_datasets_table(spark, settled):
    """Two files on one table would load each day twice, each under a mark of its own, and move rows by two functions."""
    before, version = rows_in(state_of(spark, settled)), version_of(settled)
    other = replace(settled, name="orders", state=f"{settled.state}/")
    save_function("orders", initial_function(other))

    refused_by_every_job(
        other, r"must be the table of dataset orders\. Got that of visits, .* cannot share one"
    )
    assert (version_of(settled), rows_in(state_of(spark, settled))) == (version, before)


def test_table_without_a_name_is_taken_for_the_datasets_own(spark, settled):
    """Tables are older than this property; they go on as they are."""
    spark.sql(f"ALTER TABLE delta.`{settled.state}` UNSET TBLPROPERTIES ('{DATASET}')")

    assert load_window(task_of(settled, 2))["rows"] > 0
    assert create_layout(task_of(settled, 2))["rows"] == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"n_slots": 128},
            r"layout\.slots must stay 64, .* Got 128\. Put 64 back into datasets/visits\.yaml",
        ),
        ({"n_slots": 32, "n_buckets": 2}, r"layout\.slots must stay 64, .* Got 32\."),
        (
            {"key_type": "binary"},
            r"key\.type must (stay string, .* Put string back|be the type of .* Got binary, but the column is string)",
        ),
    ],
    ids=["more-slots", "fewer-slots", "key-type"],
)
def test_no_job_works_with_other_slots_or_keys_than_the_table_has(spark, settled, changes, sentence):
    """Every slot number in the table would be read wrongly: files would be settled, sized and moved by it."""
    before, version = rows_in(state_of(spark, settled)), version_of(settled)

    refused_by_every_job(replace(settled, **changes), sentence)
    assert (version_of(settled), rows_in(state_of(spark, settled))) == (version, before)


def test_another_number_of_buckets_is_a_resize(settled):
    """Only what can never change is refused."""
    assert current_function(replace(settled, n_buckets=2)).n_buckets == 4


def test_decimals_may_be_written_with_spaces(warehouse):
    """Both forms are the same type."""
    dataset = visits(key_type="decimal(10,2)")
    function = initial_function(dataset)
    save_function(dataset.name, function)

    assert (
        function_of({FUNCTION: function.digest}, replace(dataset, key_type="decimal(10, 2)"))
        == function.digest
    )


@pytest.fixture
def foreign(spark, planned):
    """The dataset with a plan, and a file that points it to a Delta table of somebody else's."""
    plan = planned(0)
    dataset = visits(state=locate("foreign/state"))
    spark.range(3).selectExpr('cast(id as string) as `who``s"it`', "current_timestamp() as at").write.format(
        "delta"
    ).save(dataset.state)
    return dataset, plan


def test_a_table_that_we_did_not_make_is_refused_and_left_alone(foreign):
    """One sentence, and nothing written: no commit, and no function that would look as if it were in use."""
    dataset, plan = foreign
    functions = read_rows(FUNCTIONS).num_rows
    sentence = r"must carry the property evenkeel\.function\. Got a table without .* did not make it"

    refused_by_every_job(dataset, sentence)
    for job in (gate_plan, validate_plan):
        with pytest.raises(RefusalError, match=sentence):
            job(task_of(dataset, 0, plan))
    with pytest.raises(RefusalError, match=sentence):
        create_layout(task_of(replace(dataset, name="orders"), 0))
    assert read_rows(FUNCTIONS).num_rows == functions
    assert version_of(dataset) == 0


def test_copied_table_works_once_it_is_named_anew(spark, settled):
    """Copying a table is a way to try something: the copy is its own dataset's as soon as it says so."""
    copy = replace(settled, name="copied", state=locate("copied"))
    shutil.copytree(settled.state, copy.state)
    save_function("copied", initial_function(copy))
    DeltaTable(copy.state).alter.set_table_properties({DATASET: "copied"}, raise_if_not_exists=False)

    assert audit_layout(task_of(copy, 0))["rows"] == len(rows_in(state_of(spark, settled)))


def test_table_is_made_in_a_folder_of_another_one(settled):
    """Spark takes every folder inside a Delta table for a part of it; taken for made, it could never be."""
    inner = replace(settled, name="inner", state=f"{settled.events}/state")

    assert create_layout(task_of(inner, 2))["function"] == initial_function(inner).digest
    assert properties_of(inner)[DATASET] == "inner"
