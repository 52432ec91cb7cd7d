"""The dataset files that can be used. The others are reported by dataset_errors.py, so that one cannot hurt another."""

from schemas.dataset import Dataset, DatasetError, dataset_files
from schemas.reading import read_together


def readable_datasets() -> list[Dataset]:
    return [one for one in read_together(dataset_files()).values() if isinstance(one, Dataset)]


def unreadable_datasets() -> list[DatasetError]:
    return [one for one in read_together(dataset_files()).values() if isinstance(one, DatasetError)]
