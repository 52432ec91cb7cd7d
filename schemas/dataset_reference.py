"""
The page about dataset files, made from their schema: ``python -m schemas.dataset_reference > docs/dataset-file.md``.

A test holds the page to it, so that the page cannot say anything else than what is checked.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from schemas.dataset import SCHEMA

HEAD = """# The dataset file

`datasets/<name>.yaml` describes one dataset: a keyed state table to keep balanced, and the events that feed it. Its four Dags appear by themselves.
`bin/evenkeel datasets check` tests all files; a mistake is named with its field, rule, value and remedy, all mistakes at once. This page is made from
[the schema](../schemas/dataset.schema.json) (`make reference`).

The shortest file that works:

```yaml
name: orders
schedule: "@daily"
start: "2026-01-01"
key: {column: customer, type: string}
events: {table: orders/events, time: ordered_at}
state: {table: orders/state}
layout: {buckets: 8, slots: 256}
```

[datasets/clicks.yaml](../datasets/clicks.yaml) is a longer one.
"""

Schema = dict[str, Any]


def reference() -> str:
    """The whole page: a table of the fields at the top, then one for each group of fields."""
    groups = {
        name: {**field.get("items", field), "description": field["description"]}
        for name, field in SCHEMA["properties"].items()
        if "properties" in field or "properties" in field.get("items", {})
    }
    plain = {name: field for name, field in SCHEMA["properties"].items() if name not in groups}
    parts = [HEAD, *_section("At the top", "", plain, SCHEMA)]
    for name, group in groups.items():
        title = f"`{name}`, a list" if SCHEMA["properties"][name]["type"] == "array" else f"`{name}`"
        parts += _section(title, group["description"], dict(_flat(group)), group)
    return "\n".join(parts)


def _flat(group: Schema, prefix: str = "") -> Iterator[tuple[str, Schema]]:
    """The fields of a group, those of a group within it by their whole names."""
    for name, field in group["properties"].items():
        if "properties" in field:
            yield from _flat(field, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _section(title: str, about: str, fields: dict[str, Schema], group: Schema) -> Iterator[str]:
    yield f"## {title}\n"
    if about:
        yield f"{about}\n"
    yield "| field | unless given | may be | meaning |\n|---|---|---|---|"
    required = group.get("required", ())
    for name, field in fields.items():
        stated = {**_referred(field), **field}
        default = "must be given" if name in required else f"`{json.dumps(stated.get('default'))}`"
        default = "left out" if default == "`null`" and "default" not in stated else default
        cells = (f"`{name}`", default, _values(stated), stated["description"])
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _referred(field: Schema) -> Schema:
    name = field.get("$ref", "").rpartition("/")[2]
    return SCHEMA["$defs"][name] if name else {}


def _values(field: Schema) -> str:
    """Which values are allowed, in words."""
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if field["type"] == "array":
        return "a list of names"
    if field["type"] == "object":
        return f"column → {_values(field['additionalProperties'])}"
    kinds = field["type"] if isinstance(field["type"], list) else [field["type"]]
    words = {
        "string": "text",
        "integer": "a whole number",
        "number": "a number",
        "null": "`null`",
        "boolean": "`true`, `false`",
    }
    limits = [
        f"{sign} {field[limit]:,}" for limit, sign in (("minimum", "≥"), ("maximum", "≤")) if limit in field
    ]
    return " or ".join(words[kind] for kind in kinds) + ("" if not limits else f", {' and '.join(limits)}")


if __name__ == "__main__":
    sys.stdout.write(reference())
