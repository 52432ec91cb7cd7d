"""Where things are. Everything that set-up and runs write lies below ROOT, in folders that git ignores."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
SPARK_HOME = VENV / "lib" / "python3.11" / "site-packages" / "pyspark"

PRIVATE = ROOT / ".evenkeel"
JARS = PRIVATE / "jars"
JAVA_SHIM = PRIVATE / "java"
CLASS_ARCHIVE = PRIVATE / "classes.jsa"
NO_SETTINGS = PRIVATE / "no_settings"  # stays empty: see conf/spark-env.sh
TMP = PRIVATE / "tmp"
CACHE = PRIVATE / "cache"
AIRFLOW = PRIVATE / "airflow"
SECRETS = AIRFLOW / "secrets.env"
PASSWORDS = AIRFLOW / "passwords.json"
ENV_FILE = PRIVATE / "env.sh"

REQUIREMENTS = ROOT / "requirements.txt"
JARS_LOCK = ROOT / "conf" / "jars.sha256"
WAREHOUSE = ROOT / "warehouse"
