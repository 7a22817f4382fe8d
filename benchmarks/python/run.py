"""Measures Python code, compared with other libraries that run it."""

from __future__ import annotations

import shutil
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.cluster import Cluster, Gate
from benchmarks.kafka.cores import share_cores
from benchmarks.kafka.workloads import PARTITIONS
from benchmarks.python.contestants import CONTESTANTS, MEMORY, OWN, PROCESSES, prepare
from benchmarks.python.measuring import Result, measure
from benchmarks.python.report import Report
from benchmarks.python.workloads import Workload
from brookmere.broker import Broker
from brookmere.kernel.build import kernel_jar

Tell = Callable[[str], None]


def run(options: Namespace, tell: Tell) -> Report:
    """Start a broker, let all contestants work through the same records in turn, and remove everything.

    Raises:
        WrongResultError: a contestant produced wrong results.
        QueryFailedError: Brookmere failed. A rival that fails has no number.
    """
    directory = Path(tempfile.mkdtemp(prefix="brookmere-bench-"))
    share_cores()
    kernel_jar()
    contestants = [one for one in CONTESTANTS if one.short in options.python_by]
    for one in contestants:
        prepare(one)
    warm, seconds = (1.0, 3.0) if options.quick else (15.0, 15.0)
    results: list[Result] = []
    try:
        with Broker(directory / "kafka", heap="1g", tied=True) as broker:
            cluster = Cluster.at(broker.bootstrap_servers)
            for workload in _workloads(options):
                _fill(cluster, workload, tell)
                for one in contestants:
                    try:
                        found = measure(cluster, one, workload, directory, warm, seconds)
                    except QueryFailedError as error:
                        if one is OWN:
                            raise
                        tell(f"python  {error}")
                        continue
                    results.append(found)
                    tell(
                        f"python  {workload.name}  {one.name}: {found.per_second:,.0f} records/s, "
                        f"{found.per_cpu_second:,.0f} per CPU s"
                    )
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return Report(
        settings={
            "records": f"{options.python_records:,} wait in {PARTITIONS} partitions",
            "clock": f"after {warm:.0f} s of results, for {seconds:.0f} s or to the last record",
            OWN.name: f"one JVM with two threads, heap {MEMORY}, and two workers",
            "each of the others": f"{PROCESSES} processes of one group, with their own defaults",
        },
        results=results,
        is_trial=options.quick,
    )


def _workloads(options: Namespace) -> list[Workload]:
    most = options.python_keys
    between = sorted(most)[len(most) // 2]
    records = options.python_records
    found = [Workload("count", keys, records) for keys in most]
    others = [Workload("map", between, records), Workload("windows", between, records)]
    return [one for one in (*others[:1], *found, *others[1:]) if one.program in options.python_programs]


def _fill(cluster: Cluster, workload: Workload, tell: Tell) -> None:
    if workload.source in cluster.admin.list_topics(timeout=60.0).topics:
        return
    tell(f"python  filling {workload.records:,} records with {workload.keys:,} keys")
    cluster.create(workload.source)
    gate = Gate(cluster, workload.source)
    gate.fill(workload.load())
    gate.show()
