"""The peaks that a dataset file declares, as the core takes them."""

from partitioning.peaks import Peak, Span
from schemas.dataset import Dataset
from schemas.peaks import DeclaredPeak

SLOT, KEY = True, False  # the core tells items by (is it a slot, its number or the key as text)


def peaks_of_keys(dataset: Dataset) -> list[Peak]:
    return [_peak(one, (KEY, one.key)) for one in dataset.expect if one.feed is None]


def peaks_of_feeds(dataset: Dataset) -> list[Peak]:
    """By the feeds' names."""
    return [_peak(one, one.feed) for one in dataset.expect if one.feed is not None]


def _peak(declared: DeclaredPeak, name: tuple[bool, str | None] | str | None) -> Peak:
    return Peak(
        name=name,
        during=Span(start=declared.start, end=declared.end),
        factor=declared.factor,
        rate=declared.rate,
        every=declared.every,
        until=declared.until,
    )
