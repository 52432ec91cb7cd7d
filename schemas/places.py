"""Where tables and files lie: from the names that dataset files give them, and in one way, so that two names of one place are seen to be one."""

import os
import posixpath
import re
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_CATALOG_NAME = re.compile(r"\w+(\.\w+){1,2}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|file:/")  # Hadoop writes local ones with a single slash
_SAME_STORE = {"s3": "s3a", "s3n": "s3a"}  # Hadoop's names for one store


def warehouse() -> str:
    """Where relative names begin: EVENKEEL_WAREHOUSE, a folder or a URI."""
    return os.environ.get("EVENKEEL_WAREHOUSE", str(_ROOT / "warehouse"))


def is_catalog_name(table: str) -> bool:
    """Whether this is ``schema.table`` or ``catalog.schema.table``; what has a slash in it is a path or URI."""
    return _CATALOG_NAME.fullmatch(table) is not None


def locate(table: str) -> str:
    """A table's path, URI or catalog name; a relative path lies in the warehouse."""
    return table if is_catalog_name(table) else locate_files(table)


def locate_files(name: str) -> str:
    """A path or URI of files, which no catalog knows: ``clicks.parquet`` is a relative path, and lies in the warehouse."""
    is_whole = name.startswith("/") or _URI.match(name)
    return name if is_whole else f"{warehouse().rstrip('/')}/{name}"


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
