"""Dataset files are the user's first contact with us: every mistake is named, all at once, with its remedy."""

import pytest
import yaml

from schemas.dataset import SEVERITIES, DatasetError, dataset_named, read_dataset

GOOD = {
    "name": "orders",
    "schedule": "@daily",
    "start": "2026-01-03",
    "key": {"column": "customer", "type": "string"},
    "events": {"table": "orders/events", "time": "at"},
    "state": {"table": "s3a://lake/orders", "keep_windows": 7},
    "layout": {"buckets": 4, "slots": 64},
}


@pytest.fixture
def write(tmp_path):
    def write_file(fields, name="orders"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(fields if isinstance(fields, str) else yaml.safe_dump(fields))
        return path

    return write_file


def changed(**fields):
    """GOOD with fields replaced; ``group__field`` reaches one level down, None removes."""
    result = {name: dict(value) if isinstance(value, dict) else value for name, value in GOOD.items()}
    for name, value in fields.items():
        group, _, inner = name.partition("__")
        target, key = (result.setdefault(group, {}), inner) if inner else (result, name)
        if value is None:
            target.pop(key)
        else:
            target[key] = value
    return result


def test_defaults_are_those_the_schema_states(write):
    """The schema is the documentation: what it calls the default must be what happens."""
    dataset = read_dataset(write(GOOD))

    assert (dataset.max_imbalance, dataset.max_routes, dataset.max_migration) == (0.08, 1000, 0.1)
    assert (dataset.planner, dataset.min_rows) == ("evenkeel", 1)
    assert (dataset.min_share, dataset.max_null_keys, dataset.event_id) == (0.5, 0, None)
    assert {check: dataset.severity_of(check) for check in SEVERITIES} == {
        "completeness": "hold",
        "min_rows": "hold",
        "null_keys": "warning",
        "event_times": "warning",
        "duplicates": "critical",
        "cost": "critical",
    }


def test_severity_of_one_check_leaves_the_others_alone(write):
    """Who makes one check critical has not thought about the others."""
    checks = {"severity": {"null_keys": "critical"}, "max_null_keys": 0.01, "min_share": 0.9}
    dataset = read_dataset(write(changed(checks=checks, events__id="event id")))

    assert (dataset.severity_of("null_keys"), dataset.severity_of("min_rows")) == ("critical", "hold")
    assert (dataset.min_share, dataset.max_null_keys, dataset.event_id) == (0.9, 0.01, "event id")
    assert hash(dataset) == hash(read_dataset(write(changed(checks=checks, events__id="event id"))))


def test_relative_tables_lie_in_the_warehouse_and_uris_stay(write, monkeypatch):
    """One setting moves all data to another store, and never touches what was named in full."""
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", "hdfs://nn/lake/")
    dataset = read_dataset(write(GOOD))

    assert dataset.events == "hdfs://nn/lake/orders/events"
    assert dataset.state == "s3a://lake/orders"


def test_null_means_no_limit(write):
    """None, never 0, is "no limit"."""
    dataset = read_dataset(write({**GOOD, "budgets": {"max_routes": None, "max_migration": 0}}))

    assert (dataset.max_routes, dataset.max_migration) == (None, 0)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        pytest.param(
            changed(name="Orders"), r"name must match .* Got 'Orders'\. Small letters", id="pattern"
        ),
        pytest.param(
            changed(name="other"), r"name must be the file's name .* Got 'other'\. Rename", id="file-name"
        ),
        pytest.param(
            changed(schedule="61 0 * * *"),
            r"schedule must be a cron expression of moments that come\. Got '61 0",
            id="cron",
        ),
        pytest.param(changed(start="2026-02-30"), r"start must be a date\. Got '2026-02-30'\.", id="date"),
        pytest.param(changed(key=None), r"key must be given\. Got nothing\. The column", id="missing"),
        pytest.param(
            changed(key__type="double"),
            r"key\.type must match .* Got 'double'\. .* binary or decimal\(p,s\)",
            id="key-type",
        ),
        pytest.param(
            changed(bugdets={}), r"bugdets must be a known field\. .* Did you mean budgets\?", id="unknown"
        ),
        pytest.param(
            changed(state__keep_windows=0), r"state\.keep_windows must be at least 1\. Got 0\.", id="minimum"
        ),
        pytest.param(
            changed(layout__slots=100),
            r"layout\.slots must be a power of two\. Got 100\. Take 128",
            id="slots",
        ),
        pytest.param(
            changed(budgets__max_imbalance=float("nan")),
            r"budgets\.max_imbalance must be a finite number\. Got nan",
            id="not-a-number",
        ),
        pytest.param(changed(layout__buckets=5), r"layout\.slots must be at least 16 times", id="few-slots"),
        pytest.param(
            changed(budgets__max_routes=-1), r"budgets\.max_routes must be at least 0\. Got -1", id="budget"
        ),
        pytest.param(
            changed(state__table="orders/events"), r"state\.table must differ from events\.table", id="same"
        ),
        pytest.param(
            changed(state__table="orders/./events/"),
            r"state\.table must differ from events\.table\. Got 'orders/\./events/' and 'orders/events'",
            id="same-written-otherwise",
        ),
        pytest.param(
            changed(checks={"severity": {"null_key": "hold"}}),
            r"checks\.severity\.null_key must be a known field\. Got 'null_key'\. Did you mean null_keys\?",
            id="unknown-check",
        ),
        pytest.param(
            changed(checks={"severity": {"cost": "fatal"}}),
            r"checks\.severity\.cost must be one of \['critical', 'hold', 'warning'\]\. Got 'fatal'\. critical: the run",
            id="severity",
        ),
        pytest.param(
            changed(checks={"min_share": 50}),
            r"checks\.min_share must be at most 1\. Got 50\. .* as a share",
            id="share",
        ),
        pytest.param(changed(events__id=""), r"events\.id must not be empty\. Got ''\.", id="no-id"),
        pytest.param("name: [", r"must be readable YAML\. Got: .* Mend the file", id="not-yaml"),
        pytest.param(
            "expect:\n- {key: a, from: 2026-11-31}",
            r"must be readable YAML\. Got: day is out of range",
            id="no-day",
        ),
        pytest.param("a: &x [*x]", r"must be readable YAML\. Got: Circular reference", id="in-itself"),
        pytest.param("a: " + "[" * 5000, r"must be readable YAML\. Got: .*recursion", id="deep"),
        pytest.param(
            changed(layout__slots=256.0),
            r"layout\.slots must be of type integer\. Got 256\.0\.",
            id="no-whole-slots",
        ),
        pytest.param(
            changed(forecast={"windows": 30.0}),
            r"forecast\.windows must be of type integer\. Got 30\.0\.",
            id="no-whole-windows",
        ),
        pytest.param(
            changed(schedule="0 0 30 2 *"),
            r"schedule must be a cron expression of moments that come\. Got '0 0 30 2 \*'\.",
            id="never",
        ),
        pytest.param("x: !!bool foo", r"must be readable YAML\. Got: 'foo'", id="no-bool"),
        pytest.param('x: !!int ""', r"must be readable YAML\. Got: string index", id="no-int"),
        pytest.param("x: !!timestamp foo", r"must be readable YAML\. Got: 'NoneType'", id="no-time"),
        pytest.param("- 1", r"must be a YAML mapping of fields\. Got \[1\]", id="not-a-mapping"),
        pytest.param("name: orders\nname: orders\n", r"Got: name is given twice", id="twice"),
    ],
)
def test_mistake_is_named_with_field_rule_value_and_remedy(write, fields, sentence):
    """Each case is a mistake that users make; the sentence must be enough to mend it."""
    with pytest.raises(DatasetError, match=sentence):
        read_dataset(write(fields))


def test_all_mistakes_are_listed_at_once(write):
    """Mending one mistake a run is what people hate about configuration files."""
    path = write(changed(schedule="daily", key__column="", state__keep_windows=0, layout__slots=100))

    with pytest.raises(DatasetError) as caught:
        read_dataset(path)

    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert [line.split()[1] for line in lines] == [
        "key.column",
        "schedule",
        "state.keep_windows",
        "layout.slots",
    ]


def test_unknown_dataset_lists_the_known_ones(write, monkeypatch):
    """A typo on the command line should not need a look into the folder."""
    monkeypatch.setenv("EVENKEEL_DATASETS", str(write(GOOD).parent))

    with pytest.raises(DatasetError, match=r"dataset must be one of orders\. Got 'ordres'"):
        dataset_named("ordres")


PEAK = {"key": "k", "from": "2026-11-27", "to": "2026-11-28T12:00", "factor": 5}


def test_declared_peaks_are_read_with_their_times(write):
    """Times without a zone are UTC, as windows are."""
    weekly = PEAK | {"key": "7", "every": "1w", "until": "2027-01-01T00:00+01:00"}
    peaks = read_dataset(write(changed(expect=[PEAK, weekly]))).expect

    assert (peaks[0].key, peaks[0].factor, peaks[0].rate) == ("k", 5, None)
    assert peaks[0].end.isoformat() == "2026-11-28T12:00:00+00:00"
    assert (peaks[1].key, peaks[1].every.days) == ("7", 7)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"from": "tomorrow"}, r"expect\.0\.from must be an ISO 8601 time\. Got 'tomorrow'"),
        ({"to": "2026-11-27"}, r"expect\.0\.to must be later than from"),
        ({"rate": 3}, r"expect\.0 must have a factor or a rate\. Got both"),
        ({"factor": float("nan")}, r"expect\.0\.factor must be a finite number\. Got nan"),
        ({"from": "0001-01-01T00:00+14:00"}, r"expect\.0\.from must be an ISO 8601 time\. Got '0001"),
        ({"factor": -1}, r"expect\.0\.factor must be at least 0\. Got -1"),
        ({"every": "1d"}, r"expect\.0\.every must be at least as long as the peak\. Got 1d for one of 1 day, 12:00:00"),
        ({"every": "often"}, r"expect\.0\.every must match"),
        ({"until": "2027-01-01"}, r"expect\.0\.until must come after the start of a peak that repeats"),
        ({"faktor": 2}, r"expect\.0\.faktor must be a known field.* Did you mean factor"),
    ],
)  # fmt: skip
def test_nonsense_about_peaks_is_refused(write, change, sentence):
    """A peak that cannot be meant would quietly never come."""
    with pytest.raises(DatasetError, match=sentence):
        read_dataset(write(changed(expect=[PEAK | change])))


def test_peak_of_a_key_that_cannot_be_is_refused(write):
    """Whole-number keys are whole numbers, here too."""
    with pytest.raises(
        DatasetError, match=r"expect\.0\.key must be a whole number .*, as key\.type is bigint\. Got 'k'"
    ):
        read_dataset(write(changed(key__type="bigint", expect=[PEAK])))


def test_season_without_a_period_is_refused(write):
    """Periods are declared, never guessed."""
    with pytest.raises(DatasetError, match=r"forecast\.period must be given for seasonal_holt"):
        read_dataset(write(changed(forecast={"method": "seasonal_holt"})))


def test_season_that_is_not_seen_twice_is_refused(write):
    """A week of hours cannot be learned from a day of them."""
    with pytest.raises(
        DatasetError,
        match=r"forecast\.windows must be more than two periods\. Got 30 windows for a period of 168",
    ):
        read_dataset(write(changed(forecast={"method": "seasonal_naive", "period": 168})))


MERGE = {"amount": "sum", "page": "first"}


def test_merge_and_row_id_are_read(write):
    """Without them keys stay whole, and all columns tell rows apart."""
    dataset = read_dataset(write(changed(merge=MERGE, row_id=["order", "line"])))
    plain = read_dataset(write(GOOD))

    assert (dataset.merge, dataset.row_id) == (MERGE, ("order", "line"))
    assert (plain.merge, plain.row_id) == ({}, ())
    assert len({dataset, plain}) == 2, "a dataset can be looked up, whatever it declares"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"merge": {"amount": "avg"}}, r"merge\.amount must be one of .*'list'\]\. Got 'avg'\. How partial .* A mean is"),
        ({"merge": {}}, r"merge must not be empty\. Got \{\}\. Where a key's results"),
        ({"merge": "sum"}, r"merge must be of type object\. Got 'sum'\."),
        ({"merge": {"customer": "max"}}, r"merge\.customer must not be the key\. Got 'max'\. Leave it out"),
        ({"merge": {"at": "sum"}}, r"merge\.at must not be a sum of times\. Got 'sum'\. Take min"),
        ({"merge": {"bucket": "max"}}, r"merge\.bucket must not be a column of our own\. .* Rename"),
        ({"merge": {True: "max"}}, r"merge must name columns\. Got True\. .* in quotes"),
        ({"merge": MERGE, "state": {"table": "s", "rows_per_key": "one"}}, r"merge must be left out where state\.rows_per_key is one\. Got amount, page\."),
        ({"row_id": ["order"]}, r"merge must be given where row_id is\. Got nothing\. Where a key's"),
        ({"merge": MERGE, "row_id": []}, r"row_id must not be empty\. Got \[\]\. The columns that tell"),
        ({"merge": MERGE, "row_id": ["a", "a"]}, r"row_id must not name anything twice\. Got \['a', 'a'\]\."),
        ({"merge": MERGE, "row_id": ["customer"]}, r"row_id must have a column beside the key\. Got \['customer'\]\. Name"),
    ],
)  # fmt: skip
def test_nonsense_about_merging_is_refused(write, fields, sentence):
    """A result that merges wrongly would be wrong in silence, so what cannot be meant stops here."""
    with pytest.raises(DatasetError, match=sentence):
        read_dataset(write(changed(**fields)))


def test_mistake_in_merge_is_the_only_one_that_is_told(write):
    """A wrong merge is still one: who mends it must not also be told that row_id lacks it."""
    with pytest.raises(DatasetError) as caught:
        read_dataset(write(changed(merge={"amount": "avg"}, row_id=["order"])))

    assert len(str(caught.value).splitlines()) == 1
