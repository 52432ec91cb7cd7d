"""
Where a key, a slot or a bucket is, why, what it costs, and what it would take to change that; or how many workers there should be.

WHAT is a key as it stands, or `bucket:3`, or `slot:17`. A key whose own text begins with bucket:, slot: or key: is written with key:
before it, as `key:bucket:3`; the NULL key is asked for with --null, the number of workers with --capacity.
"""

import argparse
from typing import Any

from cli.arguments import UsageError, add_dataset, known_dataset
from cli.console import DONE, Console
from cli.text import bar, moment, number, paint, short, signed_percent, size, table
from schemas.dataset import Dataset
from spark_jobs.balance import newest_window
from spark_jobs.capacity_facts import capacity_sentences, newest_capacity
from spark_jobs.item_names import key_name
from spark_jobs.placement import (
    Scene,
    bucket_placement,
    key_of,
    key_placement,
    scene_of,
    slot_placement,
)

Facts = dict[str, Any]

EXAMPLES = """\
  evenkeel explain clicks 4711             # a key
  evenkeel explain clicks bucket:3
  evenkeel explain clicks slot:17
  evenkeel explain visits key:bucket:3     # the key whose text is bucket:3
  evenkeel explain visits --null           # the NULL key
  evenkeel explain clicks --capacity       # loaders, buckets and mergers for the next window
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("what", metavar="WHAT", nargs="?", help="KEY, bucket:N, slot:N or key:KEY")
    parser.add_argument("--null", action="store_true", help="the NULL key")
    parser.add_argument("--capacity", action="store_true", help="how many workers the next window needs")


def run(args: argparse.Namespace, console: Console) -> int:
    n_given = sum((args.what is not None, args.null, args.capacity))
    if n_given != 1:
        raise UsageError(
            "WHAT must be given, or --null or --capacity in its place. Got"
            f" {'more than one' if n_given else 'nothing'}. evenkeel explain --help shows how each is written."
        )
    dataset = known_dataset(args.dataset)
    if args.capacity:
        capacity = capacity_asked_for(dataset)
        console.show(capacity_sentences(capacity), capacity)
        return DONE
    scene = scene_of(dataset)
    facts = facts_about(scene, args.what)
    lines = bucket_lines(facts) if facts["kind"] == "bucket" else item_lines(facts)
    console.show(lines, facts)
    return DONE


def capacity_asked_for(dataset: Dataset) -> Facts:
    """What the plan for the newest profiled window recommends."""
    window = newest_window(dataset)
    capacity = newest_capacity(dataset, window.start) if window else None
    if capacity is None:
        raise UsageError(
            f"{dataset.name} must have a plan for its newest window that says how many workers it needs. Got none. Make one: evenkeel plan"
            f" {dataset.name}."
        )
    return capacity


def facts_about(scene: Scene, what: str | None) -> Facts:
    """What was asked for: None is the NULL key."""
    if what is None:
        return key_placement(scene, None)
    kind, text = parse_what(what)
    if kind == "key":
        return key_placement(scene, key_of(text, scene.function.key_type))
    place = bucket_placement if kind == "bucket" else slot_placement
    return place(scene, int(text))


def parse_what(what: str) -> tuple[str, str]:
    """The kind of what is asked for, and its text: a number for buckets and slots."""
    kind, colon, text = what.partition(":")
    if not colon or kind not in ("bucket", "slot", "key"):
        return "key", what
    if kind != "key" and not (text.isascii() and text.isdigit()):
        raise UsageError(
            f"{kind}:N must name a {kind} by its number. Got {what!r}. For the key of that text write key:{what}."
        )
    return kind, text


# A key or a slot


def item_lines(facts: Facts) -> list[str]:
    return [
        paint(f"{_name(facts)} is in {_where(facts)}", "bold"),
        f"  {_way(facts)}",
        f"  {_why(facts['moved_by'])}",
        "",
        *_cost_lines(facts),
        *_move_lines(facts["item"], facts["best_move"]),
    ]


def _name(facts: Facts) -> str:
    if facts["kind"] == "slot":
        return f"slot {facts['slot']}"
    return key_name(facts["key"])


def _where(facts: Facts) -> str:
    parts = facts.get("parts")
    if not parts:
        return f"bucket {facts['bucket']}"
    return "buckets " + ", ".join(f"{part['bucket']} ({part['share']:.1%} of its rows)" for part in parts)


def _way(facts: Facts) -> str:
    """By which way the function sends it there."""
    function = short(facts["function"])
    if facts["kind"] == "slot":
        routed = facts["routed_keys"]
        apart = (
            f"; {len(routed)} of its keys have routes of their own: {', '.join(map(key_name, routed[:5]))}"
            if routed
            else ""
        )
        return f"function {function} gives the slot to bucket {facts['bucket']}{apart}"
    if facts["parts"]:
        return f"function {function} splits this key: a hash of a row's id says in which of its {len(facts['parts'])} parts the row is"
    if facts["is_routed"]:
        return (
            f"slot {facts['slot']} lies in bucket {facts['slot_bucket']}, but function {function} has a route for this key: bucket"
            f" {facts['bucket']}"
        )
    return f"no route: it follows slot {facts['slot']}, which function {function} gives to bucket {facts['bucket']}"


def _why(moved: Facts | None) -> str:
    """Which change of function brought it there."""
    if moved is None:
        return (
            "the plain hash put it there; no change of function that the table's log still holds has moved it"
        )
    way = f"from bucket {moved['from_bucket']} to {moved['to_bucket']} on {moment(moved['at'])} UTC"
    if moved["plan"] is None:
        return f"a {moved['by']} moved it {way}"
    reason = f": {moved['why']}" if moved["why"] else ""
    without = moved["imbalance_without"]
    theta = f"; θ of that plan without this move: {without:.3f}" if without is not None else ""
    return f"plan {moved['plan']} moved it {way}{reason}{theta}"


def _cost_lines(facts: Facts) -> list[str]:
    item, load = facts["item"], facts["load"]
    if item is None:
        return ["No window was profiled yet: what it costs is not known."]
    apart = (
        ""
        if facts["kind"] == "slot" or facts["is_tracked"]
        else f" (the key is not tracked by itself; these are the figures of all other keys of slot {facts['slot']})"
    )
    share = item["cost"] / load["mean_load"] if load["mean_load"] else 0.0
    return [
        f"In the window {moment(facts['window_start'])}{apart}",
        f"  cost    {number(item['cost'], 0)}: {share:.3f} mean loads",
        f"  state   {size(item['state'])}: {item['state_share']:.2%} of all state",
        (
            f"  bucket  {number(load['load'], 0)} of cost, {signed_percent(load['excess'])} from the mean; goal"
            f" {signed_percent(facts['max_imbalance'])}; θ {number(facts['imbalance'])}"
        ),
    ]


def _move_lines(item: Facts | None, move: Facts | None) -> list[str]:
    """What moving the item, and nothing else, would do."""
    if item is None or move is None:
        return []
    lines = [
        "",
        f"Moved alone, {item['item']} would do best in bucket {move['to_bucket']}:",
        f"  bucket {move['from_bucket']}  {_change(move, 'source')}",
        f"  bucket {move['to_bucket']}  {_change(move, 'target')}",
        f"  θ         {move['imbalance_before']:.3f} → {move['imbalance']:.3f}, {size(move['migration'])} moved, routes then: {move['n_routes']}",
    ]
    return [*lines, *(f"  against it: {sentence}" for sentence in move["binds"])]


def _change(move: Facts, end: str) -> str:
    before, after = move[f"excess_{end}_before"], move[f"excess_{end}"]
    return f"{signed_percent(before)} → {signed_percent(after)} from the mean"


# A bucket


def bucket_lines(facts: Facts) -> list[str]:
    head = f"bucket {facts['bucket']}: its slots: {facts['n_slots']}, routes to it: {facts['n_routes']}"
    if "load" not in facts:
        return [paint(head, "bold"), "No window was profiled yet: its load is not known."]
    full = max(facts["load"], facts["mean_load"] * (1 + facts["max_imbalance"]))
    levels = {
        "load": facts["load"],
        "mean": facts["mean_load"],
        "goal": facts["mean_load"] * (1 + facts["max_imbalance"]),
    }
    rows = [
        [name, number(level, 0), paint(bar(level, full=full), _colour(facts, name))]
        for name, level in levels.items()
    ]
    return [
        paint(head, "bold"),
        (
            f"  in the window {moment(facts['window_start'])} its load is {signed_percent(facts['excess'])} from the mean; θ of the table"
            f" {facts['imbalance']:.3f}"
        ),
        "",
        *table((" ", "cost", ""), rows, right=("cost",)),
        "",
        *_heaviest_lines(facts),
        *_hot_lines(facts["hot"]),
    ]


def _colour(facts: Facts, name: str) -> str:
    if name != "load":
        return "dim"
    return "red" if facts["excess"] > facts["max_imbalance"] + 1e-9 else "green"


def _heaviest_lines(facts: Facts) -> list[str]:
    items = facts["heaviest"]
    full = max((item["cost"] for item in items), default=0.0)
    rows = [
        [
            item["item"],
            number(item["cost"], 0),
            f"{item['cost'] / facts['load']:.1%}" if facts["load"] else "-",
            size(item["state"]),
            paint(bar(item["cost"], full=full), "cyan"),
        ]
        for item in items
    ]
    title = f"heaviest of {facts['n_items']}"
    return table((title, "cost", "of the load", "state", ""), rows, right=("cost", "of the load", "state"))


def _hot_lines(hot: Facts | None) -> list[str]:
    if hot is None:
        return []
    return [
        "",
        f"Plan {hot['plan']} leaves it at {hot['load']:.3f} mean loads. What binds: {', '.join(hot['binds'])}.",
        *(f"  would help: {sentence}" for sentence in hot["helps"]),
    ]
