"""The experiments of the papers we build on, and of ours beside them. ``python -m benchmarks.papers`` runs them."""
