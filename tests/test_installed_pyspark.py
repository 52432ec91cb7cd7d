"""The lock keeps pyspark-client out: its files would overwrite pyspark's."""

import base64
import hashlib
from importlib.metadata import distribution, distributions


def test_every_file_of_pyspark_is_the_one_its_record_names():
    """An installer that lets another package overwrite some of them gives errors that nobody can explain."""
    damaged = []
    for file in distribution("pyspark").files:
        if file.hash is None or "__pycache__" in str(file):
            continue
        digest = hashlib.new(file.hash.mode, file.locate().read_bytes()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
            damaged.append(str(file))

    assert damaged == []


def test_pyspark_client_is_not_installed():
    """The Spark provider asks for it; the lock must win."""
    assert "pyspark-client" not in {d.metadata["Name"].lower() for d in distributions()}
