"""The dataset files that can be used. The others are reported by dataset_errors.py, so that one cannot hurt another."""

from pathlib import Path

from schemas.dataset import Dataset, DatasetError, dataset_files, read_dataset


def readable_datasets() -> list[Dataset]:
    return [dataset for dataset in map(_read, dataset_files()) if isinstance(dataset, Dataset)]


def unreadable_datasets() -> list[DatasetError]:
    return [error for error in map(_read, dataset_files()) if isinstance(error, DatasetError)]


def _read(path: Path) -> Dataset | DatasetError:
    try:
        return read_dataset(path)
    except DatasetError as error:
        return error
