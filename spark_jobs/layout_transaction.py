"""
The layout transaction: everything that changes a state table happens in one of these, all of it or nothing.

It starts from one version of the table, remembers what was read, collects what is to be re-added, written and removed
and which properties change, and commits. Somebody else's commit in between that touches what was read, or changes the
function, makes the commit fail; ``in_transaction`` then does the work again from the newer version.

This module alone knows Delta's internals. They are not a public interface, so they are used only in the version that
they were tested with.
"""

import copy
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, TypeVar

import delta.exceptions  # gives Delta's refusals their own types
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from schemas.dataset import Dataset
from spark_jobs.data_files import DataFiles, collected, described
from spark_jobs.job import JobError
from spark_jobs.locations import uri_of
from spark_jobs.state_table import user_metadata
from spark_jobs.table_log import function_of, no_state_table, refuse_moving

TESTED_WITH = "4.4.0"  # of Delta
TRIES = 10  # how often the work is done again before we give up
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # seconds between tries, doubling

# In Python these share no base class of their own, as they do in Java.
CONFLICTS = (
    delta.exceptions.ConcurrentAppendException,
    delta.exceptions.ConcurrentDeleteDeleteException,
    delta.exceptions.ConcurrentDeleteReadException,
    delta.exceptions.ConcurrentTransactionException,
    delta.exceptions.ConcurrentWriteException,
    delta.exceptions.DeltaConcurrentModificationException,
    delta.exceptions.MetadataChangedException,
    delta.exceptions.ProtocolChangedException,
)
_WRITE_OPTIONS = 8  # of Delta's operation "write", all left out
_KEPT = (  # fields of an added file that its removal repeats
    "path", "partitionValues", "size", "tags", "deletionVector", "baseRowId", "defaultRowCommitVersion", "stats",
)  # fmt: skip

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Written:
    """What a write put down."""

    files: int = 0
    rows: int = 0
    n_bytes: int = 0


@dataclass(eq=False)
class LayoutTransaction:
    """
    One change of one dataset's state table. Use it through ``in_transaction``.

    A table that a merge still moves is refused, but for a move to the function ``moving_to``: whoever names it is that merge.
    """

    spark: SparkSession
    dataset: Dataset
    _: KW_ONLY
    moving_to: str = ""

    def __post_init__(self) -> None:
        jvm: Any = self.spark._jvm  # noqa: SLF001  (the way into the JVM)
        self._jvm = jvm
        check_delta_version(self._jvm)
        self._actions: Any = jvm.java.util.ArrayList()
        self._has_flips = False
        self._log = self._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(
            self.spark._jsparkSession,  # noqa: SLF001
            uri_of(self.dataset.state),
        )
        self._txn = self._log.startTransaction()
        if self.version < 0:
            raise no_state_table(self.dataset)
        refuse_moving(self.dataset, self.properties, but_to=self.moving_to)
        # Digest of the function that the rows of this version obey.
        self.function = function_of(self.properties, self.dataset)

    # What the table is

    @property
    def version(self) -> int:
        """The version that everything here is read from."""
        return int(self._txn.readVersion())

    @cached_property
    def properties(self) -> dict[str, str]:
        """The table's own, as this version has them."""
        return dict(self._metadata["metaData"]["configuration"])

    @cached_property
    def _metadata(self) -> dict[str, Any]:
        return dict(json.loads(self._txn.metadata().json()))

    @cached_property
    def _entries(self) -> DataFrame:
        return DataFrame(self._txn.snapshot().allFiles().toDF(), self.spark)

    def file_frame(self) -> DataFrame:
        """All files of the table with their statistics, as a frame: nothing has come to the driver yet."""
        return described(self._entries, n_slots=self.dataset.n_slots, time=self.dataset.event_time)

    def rows_of(self, files: DataFiles) -> DataFrame:
        """The rows of just these files."""
        entries = self._scala(self._parsed("AddFile", files.action))
        frame = self._log.createDataFrame(self._txn.snapshot(), entries, False, self._nothing)
        return DataFrame(frame, self.spark)

    # What is remembered as read

    def read_files(self, buckets: Collection[int]) -> DataFiles:
        """The files of these buckets. From now on a change of these buckets by anybody else refuses our commit."""
        numbers = sorted(int(bucket) for bucket in buckets)
        if not numbers:
            return collected(self.file_frame().limit(0))
        files = collected(self.file_frame().where(F.col("bucket").isin(numbers)))
        parser = self.spark._jsparkSession.sessionState().sqlParser()  # noqa: SLF001
        predicate = self._jvm.java.util.ArrayList()
        predicate.add(parser.parseExpression(f"bucket IN ({', '.join(map(str, numbers))})"))
        self._txn.trackReadPredicates(self._scala(predicate), True, True)  # of the partition column only
        self._txn.trackFilesRead(self._scala(self._parsed("AddFile", files.action)))
        return files

    def is_marked(self, mark: str) -> bool:
        """Whether a commit with this mark is in the table. A concurrent one refuses our commit."""
        return self.number_of(mark) > 0

    def number_of(self, mark: str) -> int:
        """The number that the last commit with this mark gave it, 0 if there is none. A concurrent one refuses our commit."""
        return max(0, int(self._txn.txnVersion(mark)))

    def marks(self) -> list[str]:
        """All marks of the table."""
        return list(self._converters.asJava(self._txn.snapshot().transactions()).keySet())

    # What is to change

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Must come before ``write``. Every writer that started before our commit will have to start again."""
        content = copy.deepcopy(self._metadata)
        content["metaData"]["configuration"] |= properties
        self._txn.updateMetadata(self._action(content), False)

    def mark(self, mark: str, *, number: int = 1) -> None:
        """Put a mark into the commit: ``is_marked`` and ``number_of`` find it for as long as the table lives."""
        self._actions.add(self._action({"txn": {"appId": mark, "version": number, "lastUpdated": _now()}}))

    def flip(self, files: DataFiles, buckets: Iterable[int]) -> None:
        """Re-add each file under another bucket: same path, same rows, no byte read or written."""
        entries = [
            json.dumps(
                json.loads(entry) | {"partitionValues": {"bucket": str(int(bucket))}, "dataChange": False}
            )
            for entry, bucket in zip(files.action, buckets, strict=True)
        ]
        self._actions.addAll(self._parsed("AddFile", entries))
        self._has_flips = self._has_flips or bool(entries)

    def write(self, frame: DataFrame, *, is_new_data: bool) -> Written:
        """Let Delta write these rows: it checks constraints and generated columns, and makes the statistics."""
        files = self._converters.asJava(self._txn.writeFiles(frame._jdf))  # noqa: SLF001
        entries = [json.loads(file.json())["add"] | {"dataChange": is_new_data} for file in files]
        self._actions.addAll(self._parsed("AddFile", [json.dumps(entry) for entry in entries]))
        return Written(
            files=len(entries),
            rows=sum(json.loads(entry["stats"])["numRecords"] for entry in entries),
            n_bytes=sum(entry["size"] for entry in entries),
        )

    def remove(self, files: DataFiles, *, is_data_lost: bool) -> None:
        """Take these files out of the table; earlier versions keep them until they are vacuumed."""
        news = {"deletionTimestamp": _now(), "dataChange": is_data_lost, "extendedFileMetadata": True}
        entries = [
            json.dumps({name: value for name, value in json.loads(entry).items() if name in _KEPT} | news)
            for entry in files.action
        ]
        self._actions.addAll(self._parsed("RemoveFile", entries))

    def commit(self, note: Mapping[str, Any]) -> int:
        """All of it or nothing; the new version. ``note`` is what DESCRIBE HISTORY shows as user metadata."""
        with user_metadata(self.spark, json.dumps(note)):
            return int(self._txn.commit(self._scala(self._actions), self._operation()))

    def _operation(self) -> Any:
        """
        What DESCRIBE HISTORY calls the commit.

        A flip re-adds a file that is there. Only for a manual update does Delta count all files anew for the table's
        checksum; for a write it adds and subtracts, which is right, and quicker, where nothing flips.
        """
        operations = self._jvm.org.apache.spark.sql.delta
        if self._has_flips:
            return getattr(getattr(operations, "DeltaOperations$ManualUpdate$"), "MODULE$")
        append = self._jvm.org.apache.spark.sql.SaveMode.Append
        return getattr(operations, "DeltaOperations$Write")(append, *[self._nothing] * _WRITE_OPTIONS)

    # Python and the JVM

    @property
    def _converters(self) -> Any:
        return self._jvm.scala.jdk.javaapi.CollectionConverters

    @property
    def _nothing(self) -> Any:
        return getattr(getattr(self._jvm.scala, "None$"), "MODULE$")

    def _scala(self, items: Any) -> Any:
        """A list of Java's as one of Scala's."""
        return self._converters.asScala(items).toSeq()

    def _parsed(self, kind: str, entries: list[str]) -> Any:
        """Log entries as Delta's own objects, all in one call: thousands of files are thousands of entries."""
        name = f"org.apache.spark.sql.delta.actions.{kind}"
        of_kind = self._jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)
        reader = self._jvm.org.apache.spark.sql.delta.util.JsonUtils.mapper().readerFor(of_kind)
        return reader.readValues("\n".join(entries)).readAll()

    def _action(self, content: dict[str, Any]) -> Any:
        return self._jvm.org.apache.spark.sql.delta.actions.Action.fromJson(json.dumps(content))


def in_transaction(
    spark: SparkSession, dataset: Dataset, work: Callable[[LayoutTransaction], Answer], *, moving_to: str = ""
) -> Answer:
    """
    Do the work in a transaction; if somebody else's commit gets in the way, do it again from the newer version.

    Until ``work`` commits, nothing has changed. Gives up as ``retrying`` does. ``moving_to`` lets a merge see its own table.
    """
    return retrying(dataset, lambda: work(LayoutTransaction(spark, dataset, moving_to=moving_to)))


def retrying(dataset: Dataset, work: Callable[[], Answer], *, tries: int = TRIES) -> Answer:
    """Do the work again while others' commits refuse ours, up to ``tries`` times in all; then an error says so."""
    wait = FIRST_WAIT
    for _ in range(tries):
        try:
            return work()
        except CONFLICTS as conflict:
            refusal = (str(conflict).strip().splitlines() or [type(conflict).__name__])[0]
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)
    raise JobError(
        f"a commit to {dataset.state} must get through within {tries} tries. Got a conflict each time, the last:"
        f" {refusal} Nothing of it was committed. Run the job again when the table has fewer writers."
    )


def check_delta_version(jvm: Any) -> None:
    """Refuse another version of Delta than the one whose internals are known."""
    version = getattr(getattr(jvm.io.delta, "package$"), "MODULE$").VERSION()
    if version != TESTED_WITH:
        raise JobError(
            f"Delta must be version {TESTED_WITH}: the layout transaction uses its internals and was tested with that"
            f" one. Got {version}. Install delta-spark {TESTED_WITH}."
        )


def _now() -> int:
    return int(time.time() * 1000)
