# Sourced by every Spark program before it starts. Paths are relative to this folder, so a clone can move.
_repository="$(cd "${SPARK_CONF_DIR}/.." && pwd)"
export SPARK_DIST_CLASSPATH="${_repository}/.evenkeel/jars/*"
export SPARK_LOCAL_IP=127.0.0.1
export SPARK_LOCAL_DIRS="${_repository}/.evenkeel/tmp"
export SPARK_LAUNCHER_OPTS="-XX:-UsePerfData"                                      # no files in the system's /tmp
export SPARK_SUBMIT_OPTS="-Djava.io.tmpdir=\"${_repository}/.evenkeel/tmp\" ${SPARK_SUBMIT_OPTS:-}"
# Java maps the archive of Spark's classes that set-up made, but only if no folder with files is on the class path: Spark
# gets an empty one there, and its settings by name.
_empty="${_repository}/.evenkeel/no_settings"
if [[ -d "${_empty}" && "${1-}" == org.apache.spark.deploy.SparkSubmit && " $* " != *" --properties-file "* ]]; then
  set -- "$1" --properties-file "${SPARK_CONF_DIR}/spark-defaults.conf" "${@:2}"
  SPARK_SUBMIT_OPTS="-Dlog4j2.configurationFile=\"${SPARK_CONF_DIR}/log4j2.properties\" -Xlog:cds=off -Xlog:cds+dynamic=off ${SPARK_SUBMIT_OPTS}"
  _archive="${_repository}/.evenkeel/classes.jsa"
  [[ ! -e "${_archive}" ]] || SPARK_SUBMIT_OPTS="-XX:SharedArchiveFile=\"${_archive}\" ${SPARK_SUBMIT_OPTS}"
  SPARK_CONF_DIR="${_empty}"
fi
unset _repository _empty _archive
