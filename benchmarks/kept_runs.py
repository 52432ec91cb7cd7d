"""What ``make bench`` keeps: a file of JSON, all of it in one form (whole or quick), with the goals of each benchmark."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.goals import Goal


class KeptRunError(ValueError):
    """A file that is no kept run. Its text is one sentence for people."""


@dataclass(frozen=True, kw_only=True)
class KeptRun:
    """The benchmarks that a file holds, by name."""

    quick: bool
    benches: dict[str, list[Goal]] = field(default_factory=dict)

    @property
    def form(self) -> str:
        return "quick" if self.quick else "whole"


def read_run(path: Path) -> KeptRun:
    """Raises ``KeptRunError`` for whatever is not there, cannot be read or was not kept by ``write_run``."""
    try:
        kept = json.loads(path.read_text())
        benches = {str(name): [Goal(**row) for row in rows] for name, rows in dict(kept["benches"]).items()}
        return KeptRun(quick=bool(kept["quick"]), benches=benches)
    except FileNotFoundError:
        got = "no such file"
    except OSError as error:
        got = f"a file that cannot be read ({error.strerror})"
    except (ValueError, TypeError, KeyError):
        got = "something else"
    raise KeptRunError(
        f"{path} must be a result kept by `make bench`. Got {got}. Run `make bench OUT=...` with a new name, or give another file."
    )


def write_run(path: Path, run: KeptRun) -> None:
    """All or nothing: a file that was there stays whole until the new one is."""
    rows = {name: [asdict(goal) for goal in goals] for name, goals in sorted(run.benches.items())}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(json.dumps({"quick": run.quick, "benches": rows}, indent=1, ensure_ascii=False) + "\n")
    beside.replace(path)
