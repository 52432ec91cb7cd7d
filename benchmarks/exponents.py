"""Series of measurements over growing sizes, and how fast they grow: the slope on logarithmic scales."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np


@dataclass(kw_only=True)
class Series:
    """One thing that was measured, over one thing that grew."""

    axis: str  # what grew
    what: str
    unit: str  # "s", "CPU s" or "bytes"
    sizes: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, size: float, value: float) -> None:
        self.sizes.append(float(size))
        self.values.append(float(value))

    @property
    def exponent(self) -> float:
        """e of value ≈ c · size^e, by least squares on logarithms over all points."""
        return fitted_exponent(self.sizes, self.values)

    @property
    def last_exponent(self) -> float:
        """The same between the last two points, where fixed costs weigh least."""
        return fitted_exponent(self.sizes[-2:], self.values[-2:])

    def at(self, size: float) -> float:
        """What the last point and the last exponent, never below 0, say of another size."""
        return float(self.values[-1] * (size / self.sizes[-1]) ** max(self.last_exponent, 0.0))


def fitted_exponent(sizes: list[float], values: list[float]) -> float:
    """The slope of the least-squares line through the logarithms. Sizes and values must be above 0."""
    if len(sizes) < 2 or min(*sizes, *values) <= 0:
        raise ValueError(
            f"a series must have two points or more, all above 0. Got sizes {sizes} and values {values}. Measure"
            " at more sizes."
        )
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)


class SeriesBook:
    """The series of a run, made as they are asked for and kept in that order."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str, str], Series] = {}

    def add(self, axis: str, what: str, unit: str, size: float, value: float) -> None:
        key = (axis, what, unit)
        if key not in self._series:
            self._series[key] = Series(axis=axis, what=what, unit=unit)
        self._series[key].add(size, value)

    @property
    def series(self) -> list[Series]:
        return list(self._series.values())


def continued(kept: Iterable[Series], series: Iterable[Series]) -> list[Series]:
    """The series, each after those points of its kept namesake that are of smaller sizes than its own."""
    before = {(one.axis, one.what, one.unit): one for one in kept}

    def whole(one: Series) -> Series:
        earlier = before.get((one.axis, one.what, one.unit), one)
        points = [(s, v) for s, v in zip(earlier.sizes, earlier.values, strict=True) if s < one.sizes[0]]
        return replace(
            one, sizes=[s for s, _ in points] + one.sizes, values=[v for _, v in points] + one.values
        )

    return [whole(one) for one in series]


def save_series(series: Iterable[Series], path: Path) -> None:
    """As JSON, with the exponents for whoever reads it without us."""
    exponents = ((one, {"exponent": one.exponent, "last_exponent": one.last_exponent}) for one in series)
    path.write_text(json.dumps([asdict(one) | both for one, both in exponents], indent=1) + "\n")


def read_series(path: Path) -> list[Series]:
    """What ``save_series`` kept."""
    fields = ("axis", "what", "unit", "sizes", "values")
    return [Series(**{name: saved[name] for name in fields}) for saved in json.loads(path.read_text())]
