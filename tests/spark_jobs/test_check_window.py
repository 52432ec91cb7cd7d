"""Each fault that a window of events can have is found, said, and has the severity that the dataset gives it."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

from schemas.tables import CHECKS, ITEM_STATS
from spark_jobs import check_window as module
from spark_jobs.check_window import check_window, is_newest
from spark_jobs.control_tables import read_rows, replace_rows
from spark_jobs.expectations import CRITICAL, HOLD, WARNING
from spark_jobs.job import JobError, Window
from spark_jobs.window_history import completeness_note, median_rows
from tests.spark_jobs.conftest import DAY, START, rows_of_day, window_of

ROWS = len(rows_of_day(0))
DEFAULTS = {
    "completeness": HOLD, "rows": HOLD, "null_keys": WARNING, "event_times": WARNING, "duplicates": CRITICAL, "cost": CRITICAL,
}  # fmt: skip


@contextmanager
def quick_judge():
    """The judge in this process, where Great Expectations is imported once for all tests."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(module, "early_judge", quick_judge)


@pytest.fixture
def with_fields(task, quick, dataset):
    """``with_fields(day, **fields)``: the day's task, for a dataset with these fields."""
    return lambda day=0, **fields: replace(task(day), dataset=replace(dataset, **fields))


def plant(spark, dataset, *rows):
    """Append events (key, time, page)."""
    frame = spark.createDataFrame(list(rows), '`who``s"it` string, at timestamp, page string')
    frame.write.format("delta").mode("append").save(dataset.events)


def kept():
    """What was judged of the events. That days 1 and 2 make day 0 an old window is another matter."""
    rows = read_rows(CHECKS, subject="window").to_pylist()
    return {row["column"]: row for row in rows if row["column"] != "newest"}


def of_the_events(sentences):
    return [sentence for sentence in sentences if "is not the newest" not in sentence]


def outcome(task):
    """The sentences by severity."""
    try:
        result = check_window(task)
    except JobError as error:
        return {CRITICAL: [str(error)], HOLD: [], WARNING: []}
    return {CRITICAL: [], HOLD: of_the_events(result["held"]), WARNING: result["warned"]}


@pytest.mark.spark
def test_good_window_passes_and_its_checks_are_kept(task):
    """As a job runs it, the judge in a process of its own. The NULL keys are a warning: kept, said, no reason to stop."""
    result = check_window(task(0))

    assert (result["rows"], result["completeness"]) == (ROWS, None)
    assert result["held"] == [
        "the window 2026-01-03T00:00 is not the newest: a later one decides about the layout"
    ]
    assert [sentence.split(" must")[0] for sentence in result["warned"]] == ["key.column"]
    assert {name: row["success"] for name, row in kept().items()} == {
        "completeness": True,
        "rows": True,
        "null_keys": False,
        "event_times": True,
    }
    assert {name: row["severity"] for name, row in kept().items()} == {
        name: DEFAULTS[name] for name in kept()
    }


PAGES = [page for _, _, page in rows_of_day(0)]
N_NULL = sum(key is None for key, _, _ in rows_of_day(0))
N_BAD = sum(page in ("page 1", "page 2", "page 3", "page 4") for page in PAGES)
BAD_COST = (
    "CASE page WHEN 'page 1' THEN -1D WHEN 'page 2' THEN double('NaN') WHEN 'page 3' THEN double('inf')"
    " WHEN 'page 4' THEN NULL ELSE 1D END"
)
FAULTS = {
    "rows": ({"min_rows": 10**6}, rf"checks\.min_rows must be reached: .* Got {ROWS}\. Let the missing"),
    "null_keys": (
        {"max_null_keys": 0.001},
        rf"key\.column must not be NULL in more than 0\.100% .* Got {N_NULL / ROWS:.3%} of {ROWS} events\. Mend",
    ),
    "event_times": (
        {},
        r"events\.time must be given and not lie in the future.* Got 2 such events\. Mend 'at'",
    ),
    "duplicates": (
        {"event_id": "page"},
        rf"events\.id must .* differ .* Got {ROWS - len(set(PAGES))} of {ROWS} events without a 'page' of their own\. Remove",
    ),
    "cost": (
        {"cost": BAD_COST},
        rf"events\.cost must be a finite number.* Got {N_BAD} of {ROWS} events .* Mend the events or the expression",
    ),
}


@pytest.mark.spark
@pytest.mark.parametrize("severity", [CRITICAL, HOLD, WARNING])
@pytest.mark.parametrize("fact", FAULTS)
def test_fault_has_the_severity_that_the_dataset_gives_it(spark, with_fields, fact, severity):
    """One planted fault a test: found, said with field, count and remedy, kept, and stopping the run only if critical."""
    fields, sentence = FAULTS[fact]
    task = with_fields(**{
        "max_null_keys": 1.0, **fields, "severity": {"min_rows" if fact == "rows" else fact: severity}
    })  # fmt: skip
    if fact == "event_times":
        plant(spark, task.dataset, ("late", None, "x"), ("early", START + 10**4 * DAY, "x"))
    said = outcome(task)

    assert [name for name, sentences in said.items() if sentences] == [severity]
    assert len(said[severity]) == 1
    assert re.match(sentence, said[severity][0])
    assert (kept()[fact]["severity"], kept()[fact]["success"]) == (severity, False)
    assert all(row["success"] for name, row in kept().items() if name != fact)


@pytest.mark.spark
def test_sound_ids_and_costs_pass(spark, with_fields):
    """The checks that a dataset asks for by naming a column or a cost are made, and are not against everybody."""
    task = with_fields(event_id="page", cost="length(page)", key="page", max_null_keys=0.0)
    for page in ("a", "b"):
        plant(spark, task.dataset, (page, START + 5 * DAY, page))
    result = check_window(replace(task, given_window=window_of(5)))

    assert (result["duplicates"], result["cost"], result["null_keys"]) == (0, 0, 0)
    assert result["held"] == result["warned"] == []


@pytest.mark.spark
def test_half_a_window_is_held_by_what_was_usual(with_fields):
    """A half-loaded day looks like a day without skew. What is usual comes from the checks of earlier days."""
    rows = [check_window(with_fields(day, max_null_keys=1.0))["rows"] for day in (0, 1)]
    usual = sum(rows) / 2
    whole = check_window(with_fields(2, max_null_keys=1.0))
    short = replace(with_fields(2), given_window=Window(start=START + 2 * DAY, end=START + 2.5 * DAY))
    empty = check_window(with_fields(3, min_rows=0))

    assert (whole["usual_rows"], whole["completeness"]) == (usual, whole["rows"] / usual)
    assert whole["held"] == []
    assert check_window(short)["completeness"] is None  # no earlier window was as short
    assert empty["completeness"] == 0
    assert re.match(
        r"checks\.min_share must be reached: .* at least 0\.5 .* Got 0, 0 of the usual 9\d\d\. Let the missing",
        empty["held"][0],
    )


def checks_of(day, rows, length=DAY):
    """What an earlier check left."""
    start = START + day * DAY
    note = completeness_note(None, None, Window(start=start, end=start + length))
    return [
        {"window_start": start, "column": "rows", "observed": str(rows)},
        {"window_start": start, "column": "completeness", "observed": note},
    ]


@pytest.mark.parametrize(
    ("earlier", "usual"),
    [
        pytest.param([], None, id="no-history"),
        pytest.param([checks_of(8, 10), checks_of(9, 30)], 20, id="median"),
        pytest.param([checks_of(day, 100 - day) for day in range(10)], 94, id="last-seven"),
        pytest.param([checks_of(9, 10), checks_of(10, 99), checks_of(11, 99)], 10, id="earlier-ones-only"),
        pytest.param([checks_of(8, 10), checks_of(9, 99, DAY / 2)], 10, id="same-length-only"),
        pytest.param([checks_of(8, 10), checks_of(9, 0)], 10, id="empty-window-is-no-measure"),
        pytest.param([checks_of(8, 10), checks_of(9, 99)[:1]], 10, id="length-unknown"),
    ],
)
def test_usual_rows_are_the_median_of_seven_earlier_windows_of_this_length(earlier, usual):
    """Each case dies if one condition on what counts as earlier is removed. Day 10 is the window that is checked."""
    checks = [check for checks in earlier for check in checks]

    assert median_rows(checks, window_of(10)) == usual


@pytest.mark.spark
def test_empty_window_follows_the_severity_of_min_rows(with_fields):
    """No events at all: the events table lags behind the schedule, or the shop was closed. The dataset knows."""
    assert outcome(with_fields(9))[HOLD]
    assert "Got 0." in outcome(with_fields(9, severity={"min_rows": CRITICAL}))[CRITICAL][0]
    assert not any(outcome(with_fields(9, min_rows=0)).values())


@pytest.mark.spark
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        pytest.param(
            {"cost": "length("}, r"events\.cost must be .* Got 'length\(': .*PARSE", id="cost-syntax"
        ),
        pytest.param({"cost": "weight"}, r"events\.cost must be .* Got 'weight': .*weight", id="cost-column"),
        pytest.param({"cost": "sum(1)"}, r"events\.cost must be .* Got 'sum\(1\)'", id="cost-aggregate"),
        pytest.param(
            {"cost": "1 / (length(page) - 6)"}, r"events\.cost must be .*DIVIDE_BY_ZERO", id="cost-row"
        ),
        pytest.param(
            {"event_id": "i`d"},
            r"events\.id must be a column of .* Got 'i`d'; there are .*'page'\. Correct datasets/visits\.yaml",
            id="id",
        ),
        pytest.param({"key": "who"}, r"key\.column must be a column of .* Got 'who'; there are", id="key"),
        pytest.param({"event_time": "a t"}, r"events\.time must be a column of .* Got 'a t'", id="time"),
    ],
)
def test_dataset_that_does_not_fit_its_events_is_named(with_fields, fields, sentence):
    """Spark's own words are a page long and name no field of the dataset file."""
    with pytest.raises(JobError, match=sentence):
        check_window(with_fields(**fields))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("day", "now", "expected"),
    [
        pytest.param(0, START + 1.5 * DAY, True, id="next-window-not-over"),
        pytest.param(0, START + 2 * DAY, False, id="next-window-over-and-has-events"),
        pytest.param(2, START + 30 * DAY, True, id="nothing-came-after"),
        pytest.param(-2, START - 0.5 * DAY, True, id="only-events-still-to-come"),
        pytest.param(-2, START + 0.5 * DAY, False, id="events-long-after"),
    ],
)
def test_window_is_the_newest_unless_a_later_one_is_over_and_has_events(task, day, now, expected):
    """A backfill of an old window must not change the layout; a late run of the last window may."""
    assert is_newest(task(day), now=now) is expected


@pytest.mark.spark
def test_window_is_not_the_newest_once_a_later_one_was_profiled(task):
    """Whatever the clock says: the layout may already follow the later window."""
    row = {"window_end": START + 2 * DAY, "kind": "slot", "slot": 0, "key": None, "cost": 0.0, "state": 0.0}
    replace_rows([row], ITEM_STATS, dataset="visits", window_start=START + DAY)

    assert not is_newest(task(0), now=START + DAY)
    assert is_newest(task(1), now=START + 2 * DAY)
    assert is_newest(replace(task(0), dataset=replace(task(0).dataset, name="strangers")), now=START + DAY)
