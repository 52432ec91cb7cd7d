"""The architecture, held by a test: imports point inwards."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "partitioning": {"datasketches", "numpy", "partitioning", "xxhash"},
    "pages": {"pages", "pyarrow", "schemas"},
    "plugins": {"airflow", "fastapi", "pages", "schemas"},
    "schemas": {"croniter", "jsonschema", "pyarrow", "schemas", "yaml"},
    "spark_jobs": {
        "delta", "deltalake", "great_expectations", "matplotlib", "numpy", "pages", "pandas", "partitioning", "pyarrow", "pyspark",
        "schemas", "spark_jobs",
    },
    "dags": {"airflow", "dags", "pendulum", "schemas"},
    "bootstrap": {"bootstrap", "cryptography"},
    "cli": {"cli", "partitioning", "pyspark", "schemas", "spark_jobs"},
    "demo": {"airflow", "dags", "demo", "schemas", "spark_jobs"},
}  # fmt: skip
FILES = [path.relative_to(ROOT) for folder in ALLOWED for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_point_inwards(path):
    """dags → (spark-submit) → spark_jobs → partitioning, schemas. Never back, or the core stops being testable alone."""
    nodes = list(ast.walk(ast.parse((ROOT / path).read_text())))
    imported = {alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names}
    imported |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
    outside = {name.partition(".")[0] for name in imported} - sys.stdlib_module_names

    assert outside <= ALLOWED[path.parts[0]]


@pytest.mark.parametrize("path", [path for path in FILES if path.parts[0] == "spark_jobs"], ids=str)
def test_no_job_is_named_like_a_standard_module(path):
    """spark-submit puts the job's folder first on the path: a profile.py there breaks PySpark's own imports."""
    assert path.stem == "__init__" or path.stem not in sys.stdlib_module_names
