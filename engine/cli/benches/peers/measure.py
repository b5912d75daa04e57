"""Runs a command and measures the whole tree of its processes: time, processor time and peak memory. Linux only."""

import ctypes
import os
import signal
import subprocess
import time
from dataclasses import dataclass

# prctl: orphans of this process's children become its children, so that their time counts too.
PR_SET_CHILD_SUBREAPER = 36

# A short run is looked at often; a long one seldom, so that looking costs it nothing that shows.
CLOSE_LOOKS_S = 1.0
CLOSE_INTERVAL_S = 0.005
INTERVAL_S = 0.05

# A tool that takes longer hangs.
PATIENCE_S = 3600

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Failed(Exception):
    """The command did not end with 0, or not at all; the text has the end of what it printed."""


@dataclass
class Measured:
    """Of one run: seconds from start to exit, seconds of processor time, and bytes of resident memory at the peak."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def run(command, environment, folder, log):
    """Runs a command in a folder, with what it prints in the file `log`."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with open(log, "wb") as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        peak_bytes, status, used = _watch(process.pid, started)
        wall_s = time.perf_counter() - started
    # Popen must not wait for a process that has been waited for.
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu_s = used.ru_utime + used.ru_stime + _reap_orphans()
    if process.returncode != 0:
        raise Failed(f"{command[0]} ended with {process.returncode}:\n{_end_of(log)}")
    return Measured(wall_s, cpu_s, peak_bytes)


def _watch(child, started):
    """The peak of memory until the child ends, its status, and what it and the children that it waited for used.

    Waits on a signal, not on a clock, so that a run of some milliseconds is not rounded up to an interval.
    """
    peak_bytes = 0
    # Blocked before the first wait, which finds a child that ended earlier; and only after the start, because a child
    # would inherit it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        while True:
            ended, status, used = os.wait4(child, os.WNOHANG)
            if ended:
                return peak_bytes, status, used
            peak_bytes = max(peak_bytes, _memory_of_the_tree())
            elapsed_s = time.perf_counter() - started
            if elapsed_s > PATIENCE_S:
                os.kill(child, signal.SIGKILL)
            interval_s = CLOSE_INTERVAL_S if elapsed_s < CLOSE_LOOKS_S else INTERVAL_S
            signal.sigtimedwait({signal.SIGCHLD}, interval_s)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _memory_of_the_tree():
    """Bytes that are resident now in all descendants together, or at some time in one of them, if that is more."""
    now_bytes = max_bytes = 0
    found = _children(os.getpid())
    while found:
        process = found.pop()
        try:
            with open(f"/proc/{process}/statm", "rb") as numbers:
                now_bytes += int(numbers.read().split()[1]) * PAGE_BYTES
            with open(f"/proc/{process}/status", "rb") as lines:
                kib = next((int(line.split()[1]) for line in lines if line.startswith(b"VmHWM:")), 0)
            max_bytes = max(max_bytes, kib * 1024)
            found += _children(process)
        except (OSError, IndexError):
            # It ended meanwhile.
            continue
    return max(now_bytes, max_bytes)


def _children(process):
    children = []
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{thread}/children", "rb") as numbers:
                children += map(int, numbers.read().split())
        except OSError:
            continue
    return children


def _reap_orphans():
    """Seconds of processor time of what the command left behind; what still runs is ended."""
    cpu_s = 0.0
    for orphan in _children(os.getpid()):
        os.kill(orphan, signal.SIGKILL)
        _, _, used = os.wait4(orphan, 0)
        cpu_s += used.ru_utime + used.ru_stime
    return cpu_s


def _end_of(log):
    with open(log, "rb") as output:
        output.seek(max(0, os.path.getsize(log) - 4000))
        return output.read().decode(errors="replace")
