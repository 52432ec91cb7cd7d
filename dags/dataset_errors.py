"""Holds no Dag: raises what is wrong with dataset files, so that it shows as one import error in Airflow's UI."""

from dags.readable_datasets import unreadable_datasets

if errors := unreadable_datasets():
    raise ValueError("\n".join(str(error) for error in errors))
