"""Which keys to track: the threshold of Gedik's Sec. 4.1.3."""

import math

import numpy as np
import pytest

from partitioning.errors import PlanRequestError
from partitioning.tracking.delta import frequency_threshold, refined_threshold, tolerated_ratio
from partitioning.utilities import tolerated_deviation


def zipf(n_keys, skew=1.0):
    frequency = 1.0 / np.arange(1, n_keys + 1) ** skew
    return frequency / frequency.sum()


@pytest.mark.parametrize("alpha", [1.0, 1.1, 1.2, 1.28, 2.0, 4.0, 100.0])
@pytest.mark.parametrize("n_buckets", [2, 3, 10, 100])
def test_theta_agrees_with_its_unsimplified_form(alpha, n_buckets):
    """Eq. 15 and the line it is derived from are the same number; everything else rests on it."""
    unsimplified = alpha * n_buckets / (alpha + n_buckets - 1) - 1

    assert tolerated_deviation(alpha, n_buckets) == pytest.approx(unsimplified, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("alpha", [1.0, 1.2, 3.0])
@pytest.mark.parametrize("n_buckets", [2, 10, 40])
def test_tolerated_ratio_inverts_eq_15(alpha, n_buckets):
    """A budget given as θ and one given as alpha must lead to the same plan."""
    assert tolerated_ratio(tolerated_deviation(alpha, n_buckets), n_buckets) == pytest.approx(alpha)


def test_tolerated_ratio_at_its_ends():
    """θ = N - 1 is one bucket holding everything: then any ratio is tolerated. One bucket is always even."""
    assert tolerated_ratio(3.0, 4) == math.inf
    assert tolerated_ratio(0.0, 4) == 1.0
    assert tolerated_ratio(0.3, 1) == 1.0


def test_alpha_from_capacity():
    """Sec. 3.1: 10 GB over 4 channels of 3 GB; one full channel and three even ones are max/min 9/7 = 1.28 apart."""
    theta = 3.0 / (10.0 / 4) - 1

    assert tolerated_ratio(theta, 4) == pytest.approx(9 / 7)


def test_default_threshold_is_the_papers():
    """N = 10, alpha = 1.2, sigma = 0.1: δ = 0.1 · (0.2 / (1 + 1.2 / 9)) / 10 = 0.0018, about 50 keys of a Zipf million."""
    delta = frequency_threshold(n_buckets=10, n_keys=10**6)

    assert delta == pytest.approx(0.1 * 0.2 / (1 + 1.2 / 9) / 10, rel=1e-12)
    assert 30 <= np.count_nonzero(zipf(10**6) >= delta) <= 60


def test_threshold_of_each_resource_function():
    """Eq. 17, line by line: a constant resource is left to the hash, a quadratic one asks for far more keys."""
    theta = 0.2 / (1 + 1.2 / 9)
    constant, linear, quadratic = (
        frequency_threshold(n_buckets=10, n_keys=10**6, resources=(name,))
        for name in ("constant", "linear", "quadratic")
    )

    assert constant == 1.0
    assert linear == pytest.approx(0.1 * theta / 10)
    assert quadratic == pytest.approx(math.sqrt(0.1 * theta / (10**6 * 10)))


def test_threshold_is_the_least_of_all_resources():
    """Every resource must be balanced, so the most demanding one decides; each has its own alpha."""
    together = frequency_threshold(
        n_buckets=10, n_keys=1000, resources=("constant", "linear", "quadratic"), alpha=(1.1, 1.1, 3.0)
    )
    alone = [
        frequency_threshold(n_buckets=10, n_keys=1000, resources=(name,), alpha=alpha)
        for name, alpha in (("constant", 1.1), ("linear", 1.1), ("quadratic", 3.0))
    ]

    assert together == min(alone)
    assert len(set(alone)) == 3


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_own_function_agrees_with_the_closed_form(power):
    """A function of the caller's is solved by bisection: where the paper has a formula, both must agree."""
    name = {1.0: "linear", 2.0: "quadratic"}[power]
    ours = frequency_threshold(n_buckets=7, n_keys=500, resources=(lambda f: f**power,))

    assert ours == pytest.approx(frequency_threshold(n_buckets=7, n_keys=500, resources=(name,)), rel=1e-9)


def test_own_function_keeps_eq_16():
    """The promise of δ_k: the load of one untracked key is at most sigma · θ · mean, and no larger δ keeps it."""
    delta = frequency_threshold(n_buckets=5, n_keys=200, resources=(np.sqrt,), alpha=1.5, sigma=0.5)
    allowed = 0.5 * tolerated_deviation(1.5, 5) * 200 * math.sqrt(1 / 200) / 5

    assert math.sqrt(delta) <= allowed < math.sqrt(delta * (1 + 1e-9))


def test_own_function_that_is_always_small_enough_tracks_nothing_new():
    """A load that one key can never make too large needs no tracking: δ = 1, as for a constant."""
    assert frequency_threshold(n_buckets=2, n_keys=10**6, resources=(np.ones_like,), sigma=1, alpha=4) == 1.0


def test_one_bucket_tracks_nothing():
    """Eq. 15 divides by N - 1; with one bucket there is nothing to balance, not even for a key that is the stream."""
    assert frequency_threshold(n_buckets=1, n_keys=100) == math.inf
    assert refined_threshold([0.5], n_buckets=1, n_keys=100) == math.inf


def test_no_tolerance_tracks_everything():
    """alpha = 1 tolerates nothing, so no key is too rare."""
    assert frequency_threshold(n_buckets=4, n_keys=100, alpha=1.0) == 0.0


def test_post_filter_leaves_as_few_keys_as_the_linear_threshold():
    """Sec. 5.4: quadratic resources cost a larger counter, but not a larger explicit hash, since traffic is linear."""
    frequency = zipf(10**5)
    of = {"n_buckets": 10, "n_keys": 10**5, "resources": ("linear", "quadratic", "linear")}
    counted = frequency[frequency >= frequency_threshold(**of)]

    refined = refined_threshold(counted, **of)

    assert counted.size > 300
    assert refined == frequency_threshold(n_buckets=10, n_keys=10**5)


def test_post_filter_predicts_the_mean_load():
    """Eq. 16 asks for the mean: counted keys as they are, the rest spread evenly, divided by N."""
    refined = refined_threshold(
        [0.5, 0.1], n_buckets=4, n_keys=10, resources=("quadratic",), alpha=1.2, sigma=0.1
    )
    total = 0.5**2 + 0.1**2 + 8 * (0.4 / 8) ** 2

    assert refined == pytest.approx(math.sqrt(0.1 * tolerated_deviation(1.2, 4) * total / 4))


def test_post_filter_never_goes_below_the_first_threshold():
    """Keys below δ were not counted: a lower δ' would pretend they were."""
    of = {"n_buckets": 4, "n_keys": 100, "resources": (np.sqrt,)}

    assert refined_threshold([0.9], **of) == frequency_threshold(**of)


def test_post_filter_when_every_key_was_counted():
    """No key is left for the rest of the stream to be spread over."""
    refined = refined_threshold([0.5, 0.5], n_buckets=2, n_keys=2, resources=("quadratic",))

    assert refined == pytest.approx(math.sqrt(0.1 * tolerated_deviation(1.2, 2) * 0.5 / 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigma": 0}, r"sigma must lie in \(0, 1\]. Got 0"),
        ({"sigma": 1.5}, r"sigma must lie in \(0, 1\]. Got 1.5"),
        ({"sigma": math.nan}, r"sigma must lie in \(0, 1\]. Got nan"),
        ({"alpha": 0.9}, "alpha must be 1 or more. Got 0.9"),
        ({"alpha": math.nan}, "alpha must be 1 or more. Got nan"),
        ({"alpha": (1.2, 1.2)}, "alpha must be one number, or one a resource. Got 2 for 1"),
        ({"n_buckets": 0}, "n_buckets must be 1 or more. Got 0"),
        ({"n_keys": 0}, "n_keys must be 1 or more. Got 0"),
        (
            {"resources": ("cubic",)},
            "resource must be one of constant, linear, quadratic, or a function. Got 'cubic'",
        ),
        ({"resources": (np.negative,)}, "resources must be functions to finite loads, 0 or more. Got -"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    """A wrong δ shows only as bad balance, months later: refuse what cannot be meant."""
    with pytest.raises(PlanRequestError, match=message):
        frequency_threshold(**{"n_buckets": 4, "n_keys": 100, **change})


def test_counts_in_place_of_frequencies_are_refused():
    """The commonest mistake: counts, not shares."""
    with pytest.raises(
        PlanRequestError, match=r"frequency must lie in \[0, 1\]. Got 3.0 at position 1; keys outside: 2"
    ):
        refined_threshold([0.5, 3, 4], n_buckets=4, n_keys=100)


def test_more_counted_keys_than_keys_are_refused():
    """|D| too low would make the rest of the stream negative."""
    with pytest.raises(PlanRequestError, match=r"frequency must have at most n_keys = 1 entries. Got 2"):
        refined_threshold([0.5, 0.5], n_buckets=4, n_keys=1)
