"""
Which planner, on which forecast, would have served a dataset best: a replay of its stored windows, scored out of sample.

The champion is what the dataset uses now; the challenger is the best of the others. A challenger should take over only if its ``net``
(see ``replay``) is ahead by more than ``MIN_EDGE``: a hair's breadth on the past says nothing about the future.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partitioning.forecast import ForecastOptions
from partitioning.item_forecast import LAST, forecast_items
from partitioning.replay import Belief, Contender, Score, Setting, replay

Floats = NDArray[np.float64]

CLAIRVOYANT = "next window"  # on the truth: what nobody can do better than
MIN_EDGE = 0.005  # of all cost: half a percent


@dataclass(frozen=True, kw_only=True)
class Backtest:
    """Scores, the best first; ties in the order of the contenders. The clairvoyant is no contender."""

    scores: tuple[Score, ...]
    champion: Score
    challenger: Score | None  # None: there is nobody else
    clairvoyant: Score  # the champion's planner, told the truth
    hash_imbalance: tuple[float, ...]  # of each judged window under the plain hash

    @property
    def should_change(self) -> bool:
        return self.challenger is not None and self.challenger.net > self.champion.net + MIN_EDGE

    @property
    def regret(self) -> float:
        """What not knowing the next window cost the champion: its mean θ above the clairvoyant's."""
        return self.champion.mean_imbalance - self.clairvoyant.mean_imbalance


def run_backtest(  # noqa: PLR0913  (one argument a thing to say)
    setting: Setting,
    contenders: Sequence[Contender],
    *,
    champion: Contender,
    options: ForecastOptions,
    n_history: int = 30,
    say: Callable[[str], None] = lambda _: None,
) -> Backtest:
    """
    Replay every contender, the champion among them, and one that knows the future.

    ``options`` give the period and all else but the method; a forecast is made from up to ``n_history`` windows. ``say`` hears of
    each contender when it is done.
    """
    asked = list(dict.fromkeys([champion, *contenders]))
    beliefs = _Beliefs(setting=setting, options=options, n_history=n_history)
    scores = []
    for number, contender in enumerate(asked, start=1):
        scores.append(replay(setting, contender, beliefs.named(contender.forecast)))
        say(f"{number} of {len(asked) + 1}: {contender}, mean θ {scores[-1].mean_imbalance:.4f}")
    told = Contender(planner=champion.planner, forecast=CLAIRVOYANT)
    clairvoyant = replay(setting, told, setting.windows.next_cost)
    say(f"{len(asked) + 1} of {len(asked) + 1}: {told}, mean θ {clairvoyant.mean_imbalance:.4f}")
    others = sorted(scores[1:], key=lambda score: -score.net)
    return Backtest(
        scores=tuple(sorted(scores, key=lambda score: -score.net)),
        champion=scores[0],
        challenger=others[0] if others else None,
        clairvoyant=clairvoyant,
        hash_imbalance=tuple(
            setting.hash_imbalance(window) for window in range(setting.first, setting.windows.n_windows)
        ),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Beliefs:
    """What can be believed about the next window, each from the windows before it alone."""

    setting: Setting
    options: ForecastOptions
    n_history: int
    made: dict[tuple[str, int], Floats] = field(default_factory=dict)  # planners share forecasts

    def named(self, name: str) -> Belief:
        return self.setting.windows.cost if name == LAST else partial(self._forecast, name)

    def _forecast(self, name: str, window: int) -> Floats:
        if (name, window) not in self.made:
            windows = self.setting.windows
            history = windows.history(window, self.n_history)
            self.made[name, window] = forecast_items(history, windows.n_slots, name, self.options).expected
        return self.made[name, window]
