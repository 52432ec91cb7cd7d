"""The control tables: one Delta table each, partitioned by dataset, readable with plain SQL."""

from dataclasses import dataclass

import pyarrow as pa

from schemas.places import warehouse

TEXT, WHOLE, BIG, NUMBER, YES_NO = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.bool_()
MOMENT = pa.timestamp("us", tz="UTC")
NUMBERS, TEXTS = pa.list_(NUMBER), pa.list_(TEXT)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A declared table. ``identity`` names the columns that tell one write's rows from another's."""

    name: str
    identity: tuple[str, ...]
    columns: dict[str, pa.DataType]
    comments: dict[str, str]

    @property
    def path(self) -> str:
        return f"{warehouse().rstrip('/')}/control/{self.name}"

    @property
    def schema(self) -> pa.Schema:
        notes = {name: {"comment": text} for name, text in self.comments.items()}
        return pa.schema(
            [pa.field(name, kind, metadata=notes.get(name)) for name, kind in self.columns.items()]
        )


FUNCTIONS = Table(
    name="functions",
    identity=("dataset", "function"),
    columns={
        "dataset": TEXT,
        "function": TEXT,
        "n_buckets": WHOLE,
        "n_slots": WHOLE,
        "n_routes": WHOLE,
        "body": TEXT,
    },
    comments={
        "function": "digest: the name that the state table carries in evenkeel.function",
        "body": "the function itself, as versioned JSON",
    },
)

ITEM_STATS = Table(
    name="item_stats",
    identity=("dataset", "window_start"),
    columns={
        "dataset": TEXT,
        "window_start": MOMENT,
        "window_end": MOMENT,
        "kind": TEXT,
        "slot": WHOLE,
        "key": TEXT,
        "cost": NUMBER,
        "state": NUMBER,
    },
    comments={
        "window_end": "exclusive",
        "kind": "key: a heavy key; slot: all other keys of the slot together",
        "slot": "the slot, or the key's slot",
        "key": "the heavy key as text; NULL is the NULL key",
        "cost": "the work it caused in the window",
        "state": "bytes that move with it",
    },
)

FORECASTS = Table(
    name="forecasts",
    identity=("dataset", "plan"),
    columns={
        "dataset": TEXT,
        "plan": TEXT,
        "kind": TEXT,
        "slot": WHOLE,
        "key": TEXT,
        "expected": NUMBER,
        "low": NUMBER,
        "high": NUMBER,
    },
    comments={
        "plan": "the plan that was made on it, for the window after the plan's own",
        "expected": "cost that a plan was made on, declared peaks included",
        "low": "four windows of five cost between low and high, if errors stay as they were",
        "high": "infinite where nothing is known",
    },
)

FEED_ASSIGNMENTS = Table(
    name="feed_assignments",
    identity=("dataset", "window_start"),
    columns={
        "dataset": TEXT,
        "window_start": MOMENT,
        "window_end": MOMENT,
        "feed": TEXT,
        "location": TEXT,
        "loader": WHOLE,
        "expected": NUMBER,
        "rows": BIG,
        "strategy": TEXT,
        "capacity": NUMBER,
    },
    comments={
        "window_end": "exclusive",
        "loader": "number of the task that reads the feed in this window; written once, before the load",
        "expected": "rows that the assignment counted on",
        "rows": "that it brought; NULL until the window was loaded",
        "strategy": "by which feeds were given to loaders",
        "capacity": "rows that a loader reads in a window",
    },
)

PLANS = Table(
    name="plans",
    identity=("dataset", "plan"),
    columns={
        "dataset": TEXT,
        "plan": TEXT,
        "window_start": MOMENT,
        "window_end": MOMENT,
        "from_function": TEXT,
        "to_function": TEXT,
        "planner": TEXT,
        "planned_on": TEXT,
        "max_imbalance": NUMBER,
        "target_imbalance": NUMBER,
        "max_routes": WHOLE,
        "max_migration": NUMBER,
        "n_buckets": WHOLE,
        "payback_windows": WHOLE,
        "imbalance_hash": NUMBER,
        "imbalance_before": NUMBER,
        "imbalance_after": NUMBER,
        "load_before": NUMBERS,
        "load_after": NUMBERS,
        "n_routes": WHOLE,
        "n_moves": WHOLE,
        "migration": NUMBER,
        "total_state": NUMBER,
        "bound_imbalance": NUMBER,
        "bound_migration": NUMBER,
        "cost_saved": NUMBER,
        "cost_spent": NUMBER,
        "verdict": TEXT,
        "reasons": TEXTS,
        "explanation": TEXT,
        "checksum": TEXT,
    },
    comments={
        "plan": "name of the plan, made from what it does",
        "from_function": "the function the table must have for the plan to apply",
        "to_function": "the function it has afterwards",
        "planned_on": "last: what the window cost; otherwise the next window's cost as forecasts has it, and by which forecast",
        "n_buckets": "wanted in the end; those above it are being emptied",
        "imbalance_hash": "θ under the plain hash, as if nothing had ever been done; this and the next two are of the cost that was planned on",
        "imbalance_after": "predicted",
        "migration": "bytes of state that change bucket",
        "bound_imbalance": "no plan is more even",
        "bound_migration": "no plan as even as this one moves less",
        "cost_saved": "over the windows of the payback rule, if the load stays as it is",
        "cost_spent": "on moving, in the same unit",
        "explanation": "JSON: buckets that stay hot and what would help, the frontier, the certificate, the payback, the capacity",
        "checksum": "over the plan, its function and its moves",
    },
)

MOVES = Table(
    name="moves",
    identity=("dataset", "plan"),
    columns={
        "dataset": TEXT,
        "plan": TEXT,
        "kind": TEXT,
        "slot": WHOLE,
        "key": TEXT,
        "from_bucket": WHOLE,
        "to_bucket": WHOLE,
        "cost": NUMBER,
        "state": NUMBER,
        "cause": TEXT,
        "imbalance_without": NUMBER,
    },
    comments={
        "kind": "key: a heavy key; part: some rows of a split key; slot: all other keys of the slot together",
        "key": "the heavy key as text; NULL is the NULL key",
        "cause": "relief, room, drain, cleaning, change of N or split",
        "imbalance_without": "θ of the plan with this one move not made",
    },
)

CHECKS = Table(
    name="checks",
    identity=("dataset", "subject", "window_start"),
    columns={
        "dataset": TEXT,
        "subject": TEXT,
        "window_start": MOMENT,
        "expectation": TEXT,
        "column": TEXT,
        "severity": TEXT,
        "success": YES_NO,
        "observed": TEXT,
        "sentence": TEXT,
    },
    comments={
        "subject": "window, plan, or what an audit looked at",
        "severity": "critical: the run stops; hold: the layout stays; warning: somebody should know",
        "observed": "what was found, as JSON",
        "sentence": "what was wrong and what to do; NULL if nothing was",
    },
)

RUNS = Table(
    name="runs",
    identity=("dataset", "run"),
    columns={
        "dataset": TEXT,
        "run": TEXT,
        "window_start": MOMENT,
        "window_end": MOMENT,
        "outcome": TEXT,
        "reasons": TEXTS,
        "plan": TEXT,
        "verdict": TEXT,
        "imbalance_hash": NUMBER,
        "imbalance_before": NUMBER,
        "imbalance_after": NUMBER,
        "n_routes": WHOLE,
        "n_moves": WHOLE,
        "rows_moved": BIG,
        "migration": NUMBER,
        "migration_share": NUMBER,
        "bytes_written": BIG,
        "seconds": NUMBER,
        "start_seconds": NUMBER,
        "steps": TEXT,
        "report": TEXT,
    },
    comments={
        "run": "id of the Dag run, or the window's name for one by hand",
        "outcome": "migrated, held, dry run or failed",
        "reasons": "why it was held, or what failed",
        "plan": "NULL where the run came to none",
        "imbalance_after": "of the plan, whether or not it was applied",
        "bytes_written": "bytes physically written to move the state",
        "seconds": "that its jobs worked",
        "start_seconds": "that Spark took to start, in all",
        "steps": "JSON: name, state, seconds and start_seconds of each step, and what loading and profiling took",
        "report": "path of the page",
    },
)

SCORES = Table(
    name="scores",
    identity=("dataset", "plan"),
    columns={
        "dataset": TEXT,
        "plan": TEXT,
        "window_start": MOMENT,
        "imbalance_before": NUMBER,
        "imbalance_predicted": NUMBER,
        "imbalance_unmoved": NUMBER,
        "imbalance_realised": NUMBER,
        "imbalance_last": NUMBER,
        "imbalance_clairvoyant": NUMBER,
        "is_effective": YES_NO,
        "is_forgiven": YES_NO,
    },
    comments={
        "window_start": "of the window after the plan's own",
        "imbalance_before": "of the plan's window, without the plan",
        "imbalance_predicted": "of the plan's window, with it",
        "imbalance_unmoved": "of the next window, without the plan",
        "imbalance_realised": "of the next window, with it",
        "imbalance_last": "of the next window, had the plan been made on the last one; NULL where it was",
        "imbalance_clairvoyant": "of the next window, had it been known; NULL where the plan was made on the last one",
        "is_effective": "kept at least a fourth of what it promised",
        "is_forgiven": "somebody has looked and gone on",
    },
)

BACKTESTS = Table(
    name="backtests",
    identity=("dataset", "backtest"),
    columns={
        "dataset": TEXT,
        "backtest": TEXT,
        "first_window": MOMENT,
        "last_window": MOMENT,
        "place": WHOLE,
        "role": TEXT,
        "planner": TEXT,
        "forecast": TEXT,
        "net": NUMBER,
        "payback": NUMBER,
        "mean_imbalance": NUMBER,
        "worst_imbalance": NUMBER,
        "migration": NUMBER,
        "n_routes": WHOLE,
        "n_thrash": WHOLE,
        "imbalance": NUMBERS,
        "caveat": TEXT,
    },
    comments={
        "backtest": "name, made from the windows and from who took part",
        "first_window": "that was judged; those before it were only history",
        "place": "1 is the best by net; NULL for those who do not compete",
        "role": "champion: what the dataset uses; challenger: the best of the others that its file can name, none where there is a caveat; contender; clairvoyant; hash",
        "net": "cost saved against the plain hash less cost of moving, as a share of all cost",
        "payback": "windows for which plans have to gain what they gained in the first, until their moves are paid; NULL: never, or an older backtest",
        "migration": "mean share of all state that moved before a window",
        "n_routes": "in the end",
        "n_thrash": "moves back to a bucket that the item had left in the last few windows",
        "imbalance": "of each judged window as it turned out, oldest first",
        "caveat": "why these figures are not what the dataset would come to, so that nothing is advised; NULL: they are",
    },
)
