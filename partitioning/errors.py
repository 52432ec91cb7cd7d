"""What this package raises. Every message names the field, the rule, what it got and what to do."""


class PartitioningError(ValueError):
    """Base of everything this package raises about its input."""


class PlanRequestError(PartitioningError):
    """A plan was asked for with input that cannot be planned on."""


class FunctionError(PartitioningError):
    """A partitioning function was described wrongly, or applied to keys it cannot route."""
