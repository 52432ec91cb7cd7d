"""Dataset files read together: what one of them alone cannot tell."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from schemas.dataset import Dataset, DatasetError, read_dataset
from schemas.places import place_of

Read = Dataset | DatasetError


def read_together(paths: Iterable[Path]) -> dict[Path, Read]:
    """
    What each file says, or all its mistakes, in the order of the paths.

    Two datasets that share a state table are a mistake of both: each would load its windows into it, and move rows by a function of its
    own. No other dataset is hurt by that.
    """
    found = {path: _read(path) for path in dict.fromkeys(paths)}
    names: defaultdict[str, set[str]] = defaultdict(set)
    for one in found.values():
        if isinstance(one, Dataset):
            names[place_of(one.state)].add(one.name)
    return {path: _refused_if_shared(path, one, names) for path, one in found.items()}


def _read(path: Path) -> Read:
    try:
        return read_dataset(path)
    except DatasetError as error:
        return error


def _refused_if_shared(path: Path, one: Read, names: Mapping[str, set[str]]) -> Read:
    others = names[place_of(one.state)] - {one.name} if isinstance(one, Dataset) else set()
    if not others or not isinstance(one, Dataset):
        return one
    return DatasetError(
        f"{path.name}: state.table must belong to one dataset. Got {one.state}, which is that of {', '.join(sorted(others))} too."
        " Name another table in one of them."
    )
