"""Closes what a script must not reach in CPython, or what would differ between machines: files, the clock, randomness.
Without this, calling them would end the component without a message, because they are not imported. It also imports
what a script may import, because later there are no files to import from."""

import builtins
import errno
import importlib
import os
import random
import sys
import time

# Modules of the standard library that a script can import, including everything that these import.
MODULES = """
_pydatetime _strptime abc array ast base64 binascii bisect calendar cmath codecs collections collections.abc colorsys contextlib copy csv
dataclasses datetime decimal difflib encodings.ascii encodings.cp1252 encodings.idna encodings.latin_1 encodings.unicode_escape
encodings.utf_16 encodings.utf_32 enum fnmatch fractions functools graphlib hashlib heapq hmac html html.entities html.parser inspect io
itertools json keyword linecache logging math numbers operator pprint queue random re reprlib secrets shlex statistics string stringprep
struct textwrap threading time token tokenize tomllib traceback types typing unicodedata urllib.parse uuid warnings weakref
xml.etree.ElementTree zlib
""".split()

FINDERS = [finder for finder in sys.meta_path if getattr(finder, "__name__", "") in ("BuiltinImporter", "FrozenImporter")]


# Accesses that CPython announces as audit events, in C code too: a hook for these events cannot be removed.
EVENTS = frozenset(
    """
    open os.chdir os.chmod os.chown os.exec os.fork os.getxattr os.kill os.link os.listdir os.mkdir os.putenv os.remove os.rename
    os.rmdir os.scandir os.spawn os.symlink os.system os.truncate os.unsetenv os.utime os.walk
    """.split()
)


def refused(*_arguments, **_named):
    raise OSError(errno.ENOSYS, "a script has neither files nor processes")


def watch(event, _arguments):
    if event in EVENTS:
        refused()


def begin():
    """Call it before a script runs, but not while this component is built, which reads files."""
    sys.addaudithook(watch)


def stop():
    """Ends the component."""
    abort()


abort = os.abort


def close():
    for name in MODULES:
        try:
            importlib.import_module(name)
        except ImportError:
            # Some of them are not in every build of CPython.
            pass
    close_files()
    fix_time()
    fix_randomness()
    sys.path[:] = []
    sys.path_hooks[:] = []
    sys.path_importer_cache.clear()
    sys.argv[:] = [""]


def close_files():
    import io
    import linecache

    io.open = io.open_code = builtins.open = builtins.input = refused
    sys.stdin = None
    for name in """
        access chdir chmod chown close closerange copy_file_range dup dup2 fchmod fchown fdatasync fdopen fstat fstatvfs fsync ftruncate
        get_terminal_size getcwd getcwdb getppid isatty link listdir lseek lstat mkdir mkfifo mknod open pipe pread preadv
        pwrite pwritev read readlink readv remove rename replace rmdir scandir sendfile set_blocking stat statvfs symlink sync
        system truncate umask uname unlink urandom utime walk write writev
    """.split():
        if hasattr(os, name):
            setattr(os, name, refused)
            if hasattr(sys.modules.get("posix"), name):
                setattr(sys.modules["posix"], name, refused)
    # What `logging` puts into each of its records.
    os.getpid = lambda: 1
    # There are no files, so nothing is looked up.
    linecache.updatecache = lambda *_arguments: []
    linecache.lazycache = lambda *_arguments: False
    linecache.checkcache = lambda *_arguments: None


def fix_time():
    """It is always 1970-01-01T00:00:00Z."""
    import datetime

    import _pydatetime

    utc, strftime = time.gmtime, time.strftime
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, lambda: 0.0)
        setattr(time, f"{name}_ns", lambda: 0)
    time.sleep = lambda _seconds: None
    time.clock_gettime, time.clock_gettime_ns = (lambda _clock: 0.0), (lambda _clock: 0)
    time.gmtime = time.localtime = lambda seconds=None: utc(0 if seconds is None else seconds)
    time.strftime = lambda form, at=None: strftime(form, utc(0) if at is None else at)
    time.asctime = lambda at=None: strftime("%a %b %e %H:%M:%S %Y", utc(0) if at is None else at)
    time.ctime = lambda seconds=None: time.asctime(time.gmtime(seconds))
    calendar = importlib.import_module("calendar")
    time.mktime = lambda at: float(calendar.timegm(at))
    time.tzname, time.timezone, time.altzone, time.daylight = ("UTC", "UTC"), 0, 0, 0
    # The C function reads the clock directly.
    for name in ("date", "datetime", "time", "timedelta", "timezone", "tzinfo", "UTC"):
        setattr(datetime, name, getattr(_pydatetime, name))
    strptime = importlib.import_module("_strptime")
    for name, value in list(vars(strptime).items()):
        if name.startswith("datetime_"):
            setattr(strptime, name, getattr(_pydatetime, name.removeprefix("datetime_"), value))


def fix_randomness():
    """The same numbers in every score."""
    source = random.Random

    class Random(source):
        def __new__(cls, seed=0, *_arguments, **_named):
            return super().__new__(cls, 0)

        def __init__(self, seed=0):
            super().__init__(0 if seed is None else seed)

        def seed(self, a=0, version=2):
            super().seed(0 if a is None else a, version)

    Random.__qualname__ = Random.__name__ = "Random"
    shared = Random(0)
    random.Random = Random
    random._inst = shared
    for name in random.__all__:
        if name not in ("Random", "SystemRandom") and hasattr(shared, name):
            setattr(random, name, getattr(shared, name))
    os.urandom = shared.randbytes
    random._urandom = os.urandom
    random.SystemRandom = Random
    secrets = importlib.import_module("secrets")
    secrets._sysrand = shared
    for name in ("randbits", "choice"):
        setattr(secrets, name, getattr(shared, name if name == "choice" else "getrandbits"))
    secrets.token_bytes = lambda size=None: shared.randbytes(32 if size is None else size)
    uuid = importlib.import_module("uuid")
    uuid.getnode = lambda: 0
    uuid._generate_time_safe = uuid._UuidCreate = None
