"""Files of a folder that is a path or a URI: the warehouse, where reports are kept."""

from typing import Any


def write_text(uri: str, text: str) -> None:
    """Write a small file, in the place of an earlier one; its folder is made where it is missing."""
    store, path = _open(uri)
    store.create_dir(path.rpartition("/")[0], recursive=True)
    with store.open_output_stream(path) as stream:
        stream.write(text.encode())


def read_bytes(uri: str) -> bytes | None:
    """The file's content, or None where there is no such file."""
    from pyarrow import fs

    store, path = _open(uri)
    if store.get_file_info(path).type != fs.FileType.File:
        return None
    with store.open_input_stream(path) as stream:
        return bytes(stream.read())


def folders(uri: str) -> list[str]:
    """Names of the folders in this one, sorted; none where it does not exist."""
    from pyarrow import fs

    store, path = _open(uri)
    inside = store.get_file_info(fs.FileSelector(path, allow_not_found=True))
    return sorted(info.base_name for info in inside if info.type == fs.FileType.Directory)


def _open(uri: str) -> tuple[Any, str]:
    """A path without a scheme is local."""
    from pyarrow import fs  # brings NumPy: not for who only imports this module

    uri = (
        uri.replace("s3a://", "s3://", 1) if uri.startswith("s3a://") else uri
    )  # Hadoop's name for the same store
    return fs.FileSystem.from_uri(uri) if "://" in uri else (fs.LocalFileSystem(), uri)
