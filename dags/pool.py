"""The pool of a dataset; imports nothing, so that set-up can read it too."""


def pool_of(dataset: str) -> str:
    """The pool with one slot through which every step of every Dag of the dataset goes: one writer at a time."""
    return f"evenkeel_{dataset}"
