"""What this package raises. Every message names the field, the rule, what it got and what to do."""


class PartitioningError(ValueError):
    """Base of everything this package raises about its input."""


class PlanRequestError(PartitioningError):
    """A plan was asked for with input that cannot be planned on."""


class FunctionError(PartitioningError):
    """A partitioning function was described wrongly, or applied to keys it cannot route."""


class ForecastError(PartitioningError):
    """A forecast was asked for with a history, options or expectations that make no sense."""


class CapacityError(PartitioningError):
    """A size was asked for with rows, costs or numbers of workers that cannot be."""


class FeedError(PartitioningError):
    """Feeds were described wrongly, or are to be given to loaders that cannot be."""


class PaneError(PartitioningError):
    """Panes or sub-keys were asked for with sizes that do not fit together."""


class SplitRequestError(PartitioningError):
    """Rows were to be split over buckets with input or options that no splitter can work with."""
