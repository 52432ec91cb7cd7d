"""What a splitter may be told: how many candidates a key has, and what a source knows of the loads."""

from dataclasses import dataclass
from typing import Literal

from partitioning.errors import SplitRequestError
from partitioning.hashing import is_whole

MAX_CHOICES = 1_024
LOG2_REGISTERS = range(7, 22)  # what DataSketches can build


def _check_at_least(field: str, value: object, least: int, remedy: str) -> None:
    if not is_whole(value) or value < least:
        raise SplitRequestError(f"{field} must be a whole number, at least {least}. Got {value!r}. {remedy}")


@dataclass(frozen=True, kw_only=True)
class Estimation:
    """
    How a source knows the buckets' loads (Nasir et al., Sec. 3.2 and 6.2 Q2).

    Every source adds up what it sent itself. With ``probe_every`` = P, before rows 0, P, 2P, … of the whole stream
    each source's loads are replaced by the true ones; P = 1 is the oracle that always knows. ``is_in_turn``: every
    source still probes once in P rows, but one after the other, P / S rows apart, so that they do not all start anew from the same loads.
    That is P / S rounded down, and one row at least: S sources that are more than P probe once in S rows.
    """

    probe_every: int | None = None  # rows of the whole stream; None: never
    is_in_turn: bool = False

    def __post_init__(self) -> None:
        if self.probe_every is not None:
            _check_at_least(
                "Estimation.probe_every", self.probe_every, 1, "Give rows between probes, or None."
            )

    @property
    def is_global(self) -> bool:
        return self.probe_every == 1 and not self.is_in_turn


LOCAL = Estimation()
GLOBAL = Estimation(probe_every=1)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """The candidates of a key: H_1 … H_d of it (Nasir et al., Sec. 5)."""

    n_choices: int = 2  # d, or M
    # As printed the hashes may coincide, and a hot key has one candidate with probability n_buckets^(1 - d).
    is_distinct: bool = False

    def __post_init__(self) -> None:
        _check_at_least("n_choices", self.n_choices, 1, "Two is what the papers use; 1 is plain hashing.")
        if self.n_choices > MAX_CHOICES:
            raise SplitRequestError(
                f"n_choices must be at most {MAX_CHOICES}. Got {self.n_choices}."
                " Where every bucket may hold every key, use shuffle."
            )

    def check_fits(self, n_buckets: int) -> None:
        """Refuse to look for more different buckets than there are."""
        if self.is_distinct and self.n_choices > n_buckets:
            raise SplitRequestError(
                f"n_choices must be at most n_buckets ({n_buckets}) where candidates are distinct."
                f" Got {self.n_choices}. Ask for fewer choices, or let hashes coincide."
            )


@dataclass(frozen=True, kw_only=True)
class PkgOptions(Choices):
    """Options of ``pkg`` and ``potc``."""

    estimation: Estimation = LOCAL


@dataclass(frozen=True, kw_only=True)
class CardinalityOptions(Choices):
    """
    Options of ``cm``, ``am`` and ``cam``: how the keys sent to a bucket are remembered (Katsipoulakis et al., Sec. 3.2).

    ``exact`` keeps every key. ``hll`` keeps a HyperLogLog of 2^``log2_registers`` registers a bucket: constant memory,
    counts with a relative standard error of at most 1.04 / sqrt(registers), and now and then a key taken for seen.
    """

    counter: Literal["exact", "hll"] = "exact"
    log2_registers: int = 12  # 4096 registers, as in the paper's Sec. 5.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.counter not in ("exact", "hll"):
            raise SplitRequestError(
                f"CardinalityOptions.counter must be 'exact' or 'hll'. Got {self.counter!r}."
                " Take 'exact' unless the keys of a window do not fit memory."
            )
        if not is_whole(self.log2_registers) or self.log2_registers not in LOG2_REGISTERS:
            raise SplitRequestError(
                f"CardinalityOptions.log2_registers must be a whole number in [7, 21]. Got {self.log2_registers!r}."
                " 12 counts within 2 %."
            )


@dataclass(frozen=True, kw_only=True)
class LmOptions(CardinalityOptions):
    """Options of ``lm``."""

    row_weight: float = 0.5  # p of Eq. 9: 1 looks at rows alone, 0 at keys alone

    def __post_init__(self) -> None:
        super().__post_init__()
        check_row_weight("LmOptions.row_weight", self.row_weight)


@dataclass(frozen=True, kw_only=True)
class HeavyOptions:
    """Options of ``shuffle_heavy``."""

    heavy: tuple[int, ...] = ()  # hashes of the keys that are split

    def __post_init__(self) -> None:
        for value in self.heavy:
            if not is_whole(value) or not -(2**63) <= value < 2**63:
                raise SplitRequestError(
                    f"HeavyOptions.heavy must hold hashes, whole numbers that fit 64 bits, with a sign. Got {value!r}."
                    " Hash keys with hash_keys."
                )


def check_row_weight(field: str, value: float) -> None:
    """p of Eq. 9 is a share."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SplitRequestError(
            f"{field} must be a number in [0, 1]. Got {value!r}. 0.5 weighs rows and keys alike."
        )
