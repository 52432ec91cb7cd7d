"""Spark needs Java 17 or 21. Whoever has another, or none, must be told in one sentence or helped in silence."""

from pathlib import Path

import pytest

from bootstrap import java
from bootstrap.errors import SetupError


def fake_java(home: Path, version: str) -> Path:
    """A program that speaks of itself as Java does."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    settings = f"    java.home = {home}\\n    java.specification.version = {version}\\n"
    program.write_text(f"#!/bin/sh\nprintf '{settings}' >&2\n")
    program.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def no_java(monkeypatch, tmp_path):
    """A machine with no Java at all, until a test puts one there."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(java, "JAVA_SHIM", tmp_path / "shim")


@pytest.mark.parametrize("version", ["17", "21"])
def test_java_home_comes_first(monkeypatch, tmp_path, version):
    """Who sets JAVA_HOME means it."""
    home = fake_java(tmp_path / "chosen", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "other", "17") / "bin"))

    assert java.find_java_home() == home


@pytest.mark.parametrize("version", ["25", "11", "1.8"])
def test_java_home_of_another_version_is_refused(monkeypatch, tmp_path, version):
    """Java 25 starts Spark and then fails at the first write: say it before."""
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "chosen", version)))

    with pytest.raises(
        SetupError, match=r"JAVA_HOME must be Java 17 or 21\. Got Java .* Point it to Java 17 or 21, or"
    ):
        java.find_java_home()


def test_java_home_that_is_nothing_is_refused(monkeypatch, tmp_path):
    """A stale JAVA_HOME is the most common broken set-up of all."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))

    with pytest.raises(SetupError, match=r"JAVA_HOME must be a folder that holds bin/java\. Got .*gone'"):
        java.find_java_home()


def test_java_of_the_path_is_found_behind_a_wrapper(monkeypatch, tmp_path):
    """Version managers put a wrapper on the PATH: what counts is the home that Java itself names."""
    home = fake_java(tmp_path / "real", "21")
    wrapper = tmp_path / "wrappers" / "java"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {home}/bin/java "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent))

    assert java.find_java_home() == home


@pytest.mark.parametrize("path_version", [None, "25"])
def test_packaged_runtime_serves_where_no_usable_java_is(monkeypatch, tmp_path, path_version):
    """A machine without Java, or with one that Spark cannot use, works too."""
    if path_version:
        monkeypatch.setenv("PATH", str(fake_java(tmp_path / "other", path_version) / "bin"))

    assert java.find_java_home() == tmp_path / "shim"


def test_shim_runs_the_packaged_java_without_the_module_it_lacks(monkeypatch):
    """Spark always asks for the vector module; the packaged runtime was built without it and would not start."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    shim = java.packaged_java_home() / "bin" / "java"
    text = shim.read_text()
    shim.write_text(
        text.replace(
            "kept=()", 'kept=(--add-modules=java.base)\nset -- "$@" --add-modules=jdk.incubator.vector'
        )
    )

    settings = java.ask_java(shim)

    assert java.version_of(settings) == 17
