# Sourced by every Spark program before it starts. Paths are relative to this folder, so a clone can move.
_repository="$(cd "${SPARK_CONF_DIR}/.." && pwd)"
export SPARK_DIST_CLASSPATH="${_repository}/.evenkeel/jars/*"
export SPARK_LOCAL_IP=127.0.0.1
export SPARK_LOCAL_DIRS="${_repository}/.evenkeel/tmp"
export SPARK_LAUNCHER_OPTS="-XX:-UsePerfData"                                      # no files in the system's /tmp
export SPARK_SUBMIT_OPTS="-Djava.io.tmpdir=\"${_repository}/.evenkeel/tmp\" ${SPARK_SUBMIT_OPTS:-}"
unset _repository
