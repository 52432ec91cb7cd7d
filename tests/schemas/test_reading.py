"""Dataset files side by side: no two may share a state table, and who does hurts nobody else."""

import pytest
import yaml

from schemas.dataset import Dataset, DatasetError
from schemas.reading import read_together
from tests.schemas.test_dataset import changed


@pytest.fixture
def read(tmp_path, monkeypatch):
    """``read(name=state, …)``: what files of these names and state tables say together, by name."""
    monkeypatch.setenv("EVENKEEL_WAREHOUSE", "/lake")

    def read_files(**states):
        for name, state in states.items():
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(changed(name=name, state__table=state)))
        return {path.stem: one for path, one in read_together(sorted(tmp_path.glob("*.yaml"))).items()}

    return read_files


@pytest.mark.parametrize("state", ["shared/state", "shared/state/", "/lake/shared/./state", "file:///lake/shared/state"])  # fmt: skip
def test_datasets_that_share_a_state_table_are_both_refused(read, state):
    """Each would load the same day into it, and move rows by its own function. The third dataset is none the worse."""
    found = read(one="shared/state", two=state, three="other/state")

    assert isinstance(found["three"], Dataset)
    for name, other in (("one", "two"), ("two", "one")):
        assert isinstance(found[name], DatasetError)
        sentence = str(found[name])
        assert sentence.startswith(f"{name}.yaml: state.table must belong to one dataset. Got ")
        assert f"which is that of {other} too. Name another table in one of them." in sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            yaml.safe_dump(changed(name="torn", layout__slots=63)),
            "layout.slots must be a power of two. Got 63.",
        ),
        (
            yaml.safe_dump(changed(name="torn", layout__slots=64.0)),
            "layout.slots must be of type integer. Got 64.0.",
        ),
        ("start: 2026-02-30", "must be readable YAML. Got: day is out of range for month."),
    ],
)
def test_a_file_with_mistakes_keeps_them(read, tmp_path, text, sentence):
    """What cannot be read shares nothing yet, and takes no other dataset with it."""
    (tmp_path / "torn.yaml").write_text(text)
    found = read(one="one/state")

    assert isinstance(found["one"], Dataset)
    assert sentence in str(found["torn"])
