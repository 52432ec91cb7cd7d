"""
Which planner, on which forecast, would have served a dataset best: a replay of its stored windows, scored out of sample.

The champion is what the dataset uses now; the challenger is the best of the others that may be chosen. A challenger should take over only if its ``net``
(see ``replay``) is ahead by more than ``MIN_EDGE``: a hair's breadth on the past says nothing about the future.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partitioning.forecast import ForecastOptions
from partitioning.item_forecast import LAST, forecast_items
from partitioning.replay import Belief, Contender, Score, Setting, replay

Floats = NDArray[np.float64]
Each = Callable[[Callable[[Contender], Score], Sequence[Contender]], Iterable[Score]]

CLAIRVOYANT = "next window"  # on the truth: what a perfect forecast would come to
MIN_EDGE = 0.005  # of all cost: half a percent


@dataclass(frozen=True, kw_only=True)
class Backtest:
    """Scores, the best first; ties in the order of the contenders. The clairvoyant is no contender."""

    scores: tuple[Score, ...]
    champion: Score
    challenger: Score | None  # None: there is nobody else who may be chosen
    clairvoyant: Score  # the champion's planner, told the truth
    hash_imbalance: tuple[float, ...]  # of each judged window under the plain hash

    @property
    def should_change(self) -> bool:
        return self.challenger is not None and self.challenger.net > self.champion.net + MIN_EDGE

    @property
    def regret(self) -> float:
        """What not knowing the next window cost the champion: its mean θ above the clairvoyant's."""
        return self.champion.mean_imbalance - self.clairvoyant.mean_imbalance


def run_backtest(
    replays: "Replays",
    contenders: Sequence[Contender],
    *,
    champion: Contender,
    each: Each = map,
    say: Callable[[str], None] = lambda _: None,
) -> Backtest:
    """
    Replay every contender, the champion among them, and one that knows the future.

    A contender that nobody may choose is scored and ranked like the others, but is no challenger.
    ``each`` calls a function on every contender and gives the scores in their order: several at once, if whoever calls has the
    processors for it. ``say`` hears of each contender when it is done.
    """
    setting = replays.setting
    told = Contender(planner=champion.planner, forecast=CLAIRVOYANT)
    asked = [*dict.fromkeys([champion, *contenders]), told]
    scores = []
    for number, score in enumerate(each(replays.score, asked), start=1):
        scores.append(score)
        say(f"{number} of {len(asked)}: {score.contender}, mean θ {score.mean_imbalance:.4f}")
    clairvoyant = scores.pop()
    eligible = [score for score in scores[1:] if score.contender.is_choosable]
    return Backtest(
        scores=tuple(sorted(scores, key=lambda score: -score.net)),
        champion=scores[0],
        challenger=max(eligible, key=lambda score: score.net, default=None),
        clairvoyant=clairvoyant,
        hash_imbalance=tuple(setting.hash_imbalance(window) for window in setting.judged),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Replays:
    """
    Replays of one setting. What can be believed about a window is made from the windows before it alone, and once for all planners.

    ``options`` give the period and all else but the method; a forecast is made from up to ``n_history`` windows.
    """

    setting: Setting
    options: ForecastOptions = field(default_factory=ForecastOptions)
    n_history: int = 30
    made: dict[tuple[str, int], Floats] = field(default_factory=dict)

    def score(self, contender: Contender) -> Score:
        return replay(self.setting, contender, self._belief(contender.forecast))

    def _belief(self, name: str) -> Belief:
        windows = self.setting.windows
        known: dict[str, Belief] = {LAST: windows.cost, CLAIRVOYANT: windows.next_cost}
        return known.get(name, partial(self._forecast, name))

    def _forecast(self, name: str, window: int) -> Floats:
        if (name, window) not in self.made:
            windows = self.setting.windows
            history = windows.history(window, self.n_history)
            self.made[name, window] = forecast_items(history, windows.n_slots, name, self.options).expected
        return self.made[name, window]
