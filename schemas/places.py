"""Where a table lies, written in one way, so that two names of one table are seen to be one."""

import posixpath
from pathlib import Path

_SAME_STORE = {"s3": "s3a", "s3n": "s3a"}  # Hadoop's names for one store


def place_of(location: str) -> str:
    """
    One text for all the ways to write a located table.

    Of paths and URIs ``.``, ``..``, doubled and last slashes go, of local ones ``file:`` too; catalog names get small letters and lose
    Spark's own catalog. Nothing is asked: links, and paths that a catalog has a name for, look like other tables.
    """
    if "/" not in location:
        return location.lower().removeprefix("spark_catalog.")
    scheme, is_uri, path = location.partition("://")
    if is_uri and scheme.lower() != "file":
        store = _SAME_STORE.get(scheme.lower(), scheme.lower())
        return f"{store}://{posixpath.normpath(path)}"
    local = posixpath.join(Path.cwd(), path if is_uri else location.removeprefix("file:"))
    return "/" + posixpath.normpath(local).lstrip("/")
