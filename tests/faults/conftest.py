"""Scenes to copy, and a home for other processes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.faults.scenes import Scene


@pytest.fixture(scope="session")
def scenes(spark, tmp_path_factory) -> "Callable[[str], Scene]":
    """``scenes(name)``: the scene as it was built, once. Copy it; whoever changes it changes it for all."""
    from tests.faults import scenes as found

    folder = tmp_path_factory.mktemp("scenes ü")
    built: dict[str, Scene] = {}

    def scene(name: str) -> "Scene":
        if name in built:
            return built[name]
        build = getattr(found, f"build_{name}")
        if name in ("settled", "balances", "fed", "small"):
            with found.Scene(folder=folder / name, dataset=found.dataset_in(folder)).entered() as empty:
                built[name] = build(spark, empty.folder)
        else:
            with scene("settled").copied_to(folder / name).entered() as copy:
                built[name] = build(spark, copy)
        return built[name]

    return scene


@pytest.fixture
def scene(request, scenes, tmp_path) -> "Iterator[Scene]":
    """A copy of its own for this test, entered; the settled scene, or the one that the test names by ``indirect``."""
    name = getattr(request, "param", "settled")
    with scenes(name).copied_to(tmp_path / "ware house ü").entered() as copy:
        yield copy


@pytest.fixture(scope="session")
def home(tmp_path_factory) -> Path:
    """Where other processes leave what they leave."""
    from tests.faults.children import own_home

    return own_home(tmp_path_factory.mktemp("home"))
