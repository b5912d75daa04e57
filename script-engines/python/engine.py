"""Runs a scorer that is a Python script, which scorebox stores in this component's memory. The script is executed once,
in `configure`, and every score starts from what that leaves. It has no files and no network; `closed.py` closes what
CPython has of them before a script runs."""

import builtins
import codecs
import gc
import importlib.abc
import importlib.util
import inspect
import io
import json
import sys
import warnings

import closed

try:
    import asking
except ImportError:
    # This is the component for scripts that ask no model.
    asking = None
from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import log
from wit_world.imports.types import (
    Assertion,
    Direction,
    Fields,
    Scale,
    ScoreResult,
    ScorerError_Failed,
    ScorerError_InvalidInput,
    ScorerInfo,
    ScorerInput,
    Severity,
)

# Room for a script, and the record that says where it is: a mark, followed by the address of the room and its size.
# scorebox looks for the mark in this component's data, and writes the script after a length of four bytes. The content
# of a bytes object begins after a header of 16 bytes. The mark is joined from parts here, so that memory contains it
# only once: a constant would be a second one, without the record.
ROOM = bytes(1 << 20)
SLOT = b"".join(
    (b"scorebox: room ", b"for a script (1)\n", (id(ROOM) + 16).to_bytes(4, "little"), len(ROOM).to_bytes(4, "little"))
)

# How much of a line of a script is shown, in characters.
LINE_CHARACTERS = 200
# The message if memory runs out, whichever limit it is: only scorebox knows its own limit, and only Python knows about
# objects beyond 2 GiB.
OUT_OF_MEMORY = "out of memory; an object can have 2 GiB at most, and all together what the scorer's memory limit allows"
# How much of an exception's message is shown, in characters.
WORDS_CHARACTERS = 4000
ID_CHARACTERS = 64
INFO_KEYS = ("id", "name", "description", "version", "configSchema", "reads", "scale", "direction", "severity", "threshold")
RESULT_KEYS = ("score", "reason", "label", "meta", "assertions")
ASSERTION_KEYS = ("name", "score", "severity", "threshold", "reason")
EXPECTED = "a score is a number, True or False, None if the scorer does not apply, or a dict with `score`"
# The parts of a case that a script can name in `reads`.
PARTS = {
    "output": Fields(0),
    "input": Fields.INPUT,
    "groundTruth": Fields.GROUND_TRUTH,
    "context": Fields.CONTEXT,
    "latencyMs": Fields.LATENCY,
    "outputSchema": Fields.OUTPUT_SCHEMA,
    "trace": Fields.TRACE,
    "usage": Fields.USAGE,
    "metadata": Fields.METADATA,
    "baseline": Fields.BASELINE,
}
SEVERITIES = {"gate": Severity.GATE, "soft": Severity.SOFT}
# What this component itself needs of the language, saved before a script can change it.
dumps, loads = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode, json.JSONDecoder().decode
to_utf_16, of_utf_16 = codecs.utf_16_le_encode, codecs.utf_16_le_decode


class InvalidInput(Exception):
    """The case is what is wrong, not the script."""


class Wrong(Exception):
    """A mistake in a script, described for its author."""


class Printed(io.TextIOBase):
    """What a script prints: each line is a message of the log."""

    def __init__(self, level):
        self.level, self.begun = level, ""

    def writable(self):
        return True

    def write(self, text):
        *lines, self.begun = (self.begun + text).split("\n")
        for line in lines:
            log.log(self.level, sendable(line))
        return len(text)

    def end(self):
        if self.begun:
            self.write("\n")


def sendable(text):
    """The text with U+FFFD in place of each half of a surrogate pair, which UTF-8 has no place for."""
    try:
        return str.encode(text).decode()
    except UnicodeEncodeError:
        return of_utf_16(to_utf_16(text, "surrogatepass")[0], "replace", True)[0]


class Forgotten:
    """Coroutines that were not awaited: what they would have checked or computed did not happen."""

    def __init__(self):
        self.first = None

    def watch(self):
        # Python must record where a coroutine is made, or it is not known.
        sys.set_coroutine_origin_tracking_depth(1)
        # CPython calls this when it frees a coroutine that never began.
        warnings._warn_unawaited_coroutine = self.note

    def note(self, coroutine):
        if self.first is None:
            origin = coroutine.cr_origin
            self.first = coroutine.__name__, (origin[0][:2] if origin else None)

    def begin(self):
        self.first = None

    def refuse(self):
        if self.first is None:
            return
        (name, place), self.first = self.first, None
        where = f" in line {place[1]} of {place[0]}" if place else ""
        raise Wrong(f"the coroutine of `{name}`{where} was never awaited; write `await {name}(…)`")


class Files(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The script and the files that it imports, by paths from its folder."""

    def __init__(self, main, files):
        self.main, self.files = main, files

    def must_be_importable(self):
        """Refuses a file with the name of a module of Python, which would be imported instead."""
        for path in self.files:
            top = path.split("/")[0].removesuffix(".py")
            if path != self.main and top != "__main__" and top in sys.modules:
                raise Wrong(f"`{path}` has the name of a module that Python brings, which would be imported in its place; rename it")

    def path_of(self, module):
        stem = module.replace(".", "/")
        return next((path for path in (f"{stem}.py", f"{stem}/__init__.py") if path in self.files), None)

    def find_spec(self, name, path, target=None):
        found = self.path_of(name)
        if found is None:
            # A folder without `__init__.py` is a namespace package of its files.
            within = f"{name.replace('.', '/')}/"
            if not any(file.startswith(within) for file in self.files):
                if name == "scorebox":
                    # scorebox looks for this import before it chooses the component, and did not find it.
                    why = "there is no module `scorebox`; a script that asks a judge has `from scorebox.judge import ask` written out"
                    raise ModuleNotFoundError(why, name=name)
                return None
        spec = importlib.util.spec_from_loader(name, self, is_package=found is None or found.endswith("/__init__.py"))
        spec.origin = found
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        path = module.__spec__.origin
        if path is not None:
            exec(self.code(path), module.__dict__)

    def code(self, path):
        return compile(self.files[path], path, "exec", dont_inherit=True)

    def line(self, path, number):
        lines = self.files.get(path, "").splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else None

    def place(self, error):
        """The last place in one of the files that an exception passed through: path, line and column, from 1."""
        if isinstance(error, SyntaxError) and error.filename in self.files and error.lineno:
            return error.filename, error.lineno, error.offset or 1
        found = None
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename in self.files:
                positions = list(code.co_positions())[trace.tb_lasti // 2]
                line, column = positions[0] or trace.tb_lineno, positions[2]
                text = self.line(code.co_filename, line) or ""
                # Columns are counted in bytes.
                before = text.encode()[:column or 0].decode(errors="ignore")
                found = code.co_filename, line, len(before) + 1
            trace = trace.tb_next
        return found


def words(error):
    """Describes an exception."""
    if isinstance(error, Wrong):
        return str(error)
    try:
        text = error.msg if isinstance(error, SyntaxError) and error.msg else str(error)
    except BaseException:
        text = ""
    name = type(error).__name__
    if type(error) not in (Exception, InvalidInput) or not text:
        text = f"{name}: {text}" if text else name
    return sendable(text if len(text) <= WORDS_CHARACTERS else f"{text[:WORDS_CHARACTERS]}…")


def stop_if_out_of_memory(files, error):
    """Reports that memory ran out. scorebox knows the limit, but not the place, nor objects that are too large for any
    limit."""
    if not isinstance(error, MemoryError):
        return
    try:
        log.log(log.Level.ERROR, "{}:{}:{}: {}".format(*files.place(error), OUT_OF_MEMORY))
    except BaseException:
        # There is not even memory for this message.
        pass
    closed.stop()


def in_a_score(files, error):
    stop_if_out_of_memory(files, error)
    place = files.place(error)
    if place is None:
        return f"{files.main}: {words(error)}"
    return "{}:{}:{}: {}".format(*place, words(error))


def before_the_run(files, error):
    """Describes what is wrong with the script itself, with the line."""
    text, place = in_a_score(files, error), files.place(error)
    line = place and files.line(place[0], place[1])
    if not line:
        return text
    shown = sendable(line[:LINE_CHARACTERS].replace("\t", " "))
    text = f"{text}\n  {shown}"
    return f"{text}\n  {' ' * (place[2] - 1)}^" if place[2] - 1 <= len(shown) else text


def a_type(value):
    """The kind of a value, in a few words."""
    name = type(value).__name__
    if value is None:
        return "None"
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


def known_keys(given, what, known):
    """Refuses keys that nothing reads: most are misspelt."""
    for key in given:
        if key not in known:
            raise Wrong(f"{what} has the unknown key `{key}`; the keys are `{'`, `'.join(known)}`")


def number(value):
    """The score that a value is; None if it is not one."""
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            raise Wrong("the score is too large for a number") from None
    return None


def text(given, key, what):
    value = given.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise Wrong(f"{what} is {a_type(value)}, not a string")
    return sendable(value)


def as_json(value, what):
    try:
        return sendable(dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise Wrong(f"{what} cannot be written as JSON: {words(error)}") from None


def assertion(given, path):
    if not isinstance(given, dict):
        raise Wrong(f"`{path}` is {a_type(given)}, not a dict")
    known_keys(given, f"`{path}`", ASSERTION_KEYS)
    name, score = text(given, "name", f"`{path}.name`"), number(given.get("score"))
    if name is None:
        raise Wrong(f"`{path}` has no `name`")
    if score is None:
        raise Wrong(f"`{path}.score` is {a_type(given.get('score'))}; it must be a number, True or False")
    severity = text(given, "severity", f"`{path}.severity`")
    if severity is not None and severity not in SEVERITIES:
        raise Wrong(f"`{path}.severity` is {severity!r}; it must be 'gate' or 'soft'")
    threshold = given.get("threshold")
    if threshold is not None and (isinstance(threshold, bool) or number(threshold) is None):
        raise Wrong(f"`{path}.threshold` is {a_type(threshold)}, not a number")
    reason = text(given, "reason", f"`{path}.reason`")
    return Assertion(name, score, SEVERITIES.get(severity), None if threshold is None else number(threshold), reason)


def result(answer):
    """Converts what a script returned into the types of the contract."""
    if answer is None:
        return ScoreResult(None, None, None, None, [])
    score = number(answer)
    if score is not None:
        return ScoreResult(score, None, None, None, [])
    if not isinstance(answer, dict):
        raise Wrong(f"the script returned {a_type(answer)}; {EXPECTED}")
    known_keys(answer, "the result", RESULT_KEYS)
    if "score" not in answer:
        raise Wrong(f"the script returned a dict without `score`; {EXPECTED}")
    score = number(answer["score"])
    if score is None and answer["score"] is not None:
        found = a_type(answer["score"])
        raise Wrong(f"`score` is {found}; it must be a number, True or False, or None if the scorer does not apply")
    given = answer.get("assertions")
    if given is not None and not isinstance(given, (list, tuple)):
        raise Wrong(f"`assertions` is {a_type(given)}, not a list")
    assertions = [assertion(item, f"assertions[{index}]") for index, item in enumerate(given or [])]
    meta = as_json(answer["meta"], "`meta`") if "meta" in answer else None
    return ScoreResult(score, text(answer, "label", "`label`"), text(answer, "reason", "`reason`"), meta, assertions)


def id_of(stem):
    """A file's name as an id: lower-case words joined by hyphens."""
    letters = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in stem.lower())
    return "-".join(letters.split())[:ID_CHARACTERS].strip("-") or "script"


def default_info(main):
    """The defaults for a script without `info`: named after its file, it reads all of a case."""
    stem = main.rpartition(".")[0]
    reads = Fields(0)
    for part in PARTS.values():
        reads |= part
    name = sendable(stem) or "Script"
    return ScorerInfo(id_of(stem), name, "", "0.0.0", None, Scale.UNIT, Direction.HIGHER_IS_BETTER, reads, Severity.GATE, None)


def one_of(info, key, values, default):
    word = text(info, key, f"`info[{key!r}]`")
    if word is None:
        return default
    if word not in values:
        raise Wrong(f"`info[{key!r}]` is {word!r}; it must be {' or '.join(map(repr, values))}")
    return values[word]


def info_of(said, main):
    """Reads what a script says about itself."""
    info = default_info(main)
    if said is None:
        return info
    if not isinstance(said, dict):
        raise Wrong(f"`info` is {a_type(said)}, not a dict")
    known_keys(said, "`info`", INFO_KEYS)
    word = lambda key: text(said, key, f"`info[{key!r}]`")
    id = word("id")
    if id is not None:
        letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
        if not 0 < len(id) <= ID_CHARACTERS or any(letter not in letters for letter in id):
            raise Wrong(f"`info['id']` is {id!r}; it must be 1 to {ID_CHARACTERS} of a-z, 0-9 and -")
        info.id = info.name = id
    info.name = word("name") or info.name
    info.description = word("description") or ""
    info.version = word("version") or info.version
    info.scale = one_of(said, "scale", {"unit": Scale.UNIT, "points": Scale.POINTS}, info.scale)
    directions = {"higher-is-better": Direction.HIGHER_IS_BETTER, "lower-is-better": Direction.LOWER_IS_BETTER}
    info.direction = one_of(said, "direction", directions, info.direction)
    info.severity = one_of(said, "severity", SEVERITIES, info.severity)
    threshold = said.get("threshold")
    if threshold is not None:
        if isinstance(threshold, bool) or number(threshold) is None:
            raise Wrong(f"`info['threshold']` is {a_type(threshold)}, not a number")
        info.threshold = number(threshold)
    if said.get("configSchema") is not None:
        info.config_schema = as_json(said["configSchema"], "`info['configSchema']`")
    reads = said.get("reads")
    if reads is not None:
        if not isinstance(reads, (list, tuple)):
            raise Wrong(f"`info['reads']` is {a_type(reads)}, not a list of names")
        info.reads = Fields(0)
        for part in reads:
            if not isinstance(part, str) or part not in PARTS:
                raise Wrong(f"`info['reads']` has {part!r}; the parts of a case are `{'`, `'.join(PARTS)}`")
            info.reads |= PARTS[part]
    return info


def settled(value):
    """The result of a coroutine; any other value as it is."""
    if not inspect.iscoroutine(value):
        return value
    try:
        value.send(None)
    except StopIteration as stop:
        return stop.value
    raise Wrong("the script waits for something that never happens; there are no timers")


def must_take_two(function):
    """Refuses a `score` that cannot score any case."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise Wrong(f"`score` cannot be called with a case and a configuration: {error}; write `def score(case, config): …`") from None


class Script:
    """A script that was executed."""

    def __init__(self, files):
        self.files = files
        sys.meta_path[:] = [files, *closed.FINDERS]
        files.must_be_importable()
        # It has its own name, like an imported file, so that code for running it directly is not executed. Modules that
        # come with Python keep their names.
        stem = files.main.rpartition("/")[2].removesuffix(".py")
        name = files.main if stem in sys.modules else stem
        module = sys.modules[name] = sys.modules["__main__"] = type(sys)(name)
        module.__file__ = files.main
        exec(files.code(files.main), module.__dict__)
        forgotten.refuse()
        self.score, self.summarize = getattr(module, "score", None), getattr(module, "summarize", None)
        if not callable(self.score):
            given = "no function `score`" if self.score is None else f"a `score` that is {a_type(self.score)}, not a function"
            raise Wrong(f"the script has {given}; write `def score(case, config): …`")
        must_take_two(self.score)
        if self.summarize is None and callable(getattr(module, "summarise", None)):
            raise Wrong("the script has `summarise`, which nothing calls; the name is `summarize`")
        if self.summarize is not None and not callable(self.summarize):
            raise Wrong(f"`summarize` is {a_type(self.summarize)}, not a function")
        self.info = info_of(getattr(module, "info", None), files.main)

    def config(self, document):
        """The configuration, completed with the defaults that the schema has for missing keys."""
        config = loads(document)
        schema = loads(self.info.config_schema or "{}")
        properties = schema.get("properties") if isinstance(schema, dict) else None
        for key, schema in (properties.items() if isinstance(properties, dict) else ()):
            if isinstance(schema, dict) and "default" in schema:
                config.setdefault(key, schema["default"])
        return config


def case_of(input: ScorerInput):
    """A case as a script gets it: a dict with the parts that the case has."""
    case = {"output": loads(input.output)}
    for key, value in (
        ("input", input.input),
        ("groundTruth", input.ground_truth),
        ("context", input.context),
        ("outputSchema", input.output_schema),
        ("trace", input.trace),
        ("metadata", input.metadata),
        ("baseline", input.baseline),
    ):
        if value is not None:
            case[key] = loads(value)
    if input.latency_ms is not None:
        case["latencyMs"] = input.latency_ms
    if input.usage is not None:
        usage = {
            "inputTokens": input.usage.input_tokens,
            "outputTokens": input.usage.output_tokens,
            "totalTokens": input.usage.total_tokens,
            "costUsd": input.usage.cost_usd,
        }
        case["usage"] = {key: value for key, value in usage.items() if value is not None}
    return case


def files_of_this_component():
    length = int.from_bytes(ROOM[:4], "little")
    if not length:
        raise Err("this component holds no script")
    content = loads(ROOM[4 : 4 + length].decode())
    return Files(content["main"], content["files"])


def executed():
    """The script; the error names file, line and column, and shows the line."""
    files = files_of_this_component()
    closed.begin()
    try:
        return Script(files)
    except BaseException as error:
        raise Err(before_the_run(files, error)) from None


script = None
config = None
forgotten = Forgotten()
forgotten.watch()
printed = [Printed(log.Level.INFO), Printed(log.Level.WARN)]
sys.stdout, sys.stderr = printed
builtins.InvalidInput = InvalidInput
closed.close()
if asking is not None:
    asking.install()


class Scoring(exports.Scoring):
    def describe(self) -> ScorerInfo:
        try:
            return executed().info
        except Err:
            # `configure` reports what is wrong.
            return default_info(files_of_this_component().main)

    def configure(self, document: str) -> None:
        global script, config
        script = executed()
        config = script.config(document)
        # A sandbox that scores once needs no garbage collection, which would touch every object.
        gc.collect()
        gc.freeze()
        gc.disable()

    def score(self, input: ScorerInput) -> ScoreResult:
        if asking is not None:
            asking.may_ask = True
        forgotten.begin()
        try:
            try:
                answer = result(settled(script.score(case_of(input), config)))
                forgotten.refuse()
                return answer
            finally:
                for stream in printed:
                    stream.end()
        except InvalidInput as error:
            raise Err(ScorerError_InvalidInput(words(error))) from None
        except BaseException as error:
            raise Err(ScorerError_Failed(in_a_score(script.files, error))) from None


class Summary(exports.Summary):
    def summarize(self, scores) -> str:
        if script.summarize is None:
            return "null"
        rows = [
            {"caseId": row.case_id, "score": row.score, "label": row.label, "meta": None if row.meta is None else loads(row.meta)}
            for row in scores
        ]
        try:
            forgotten.begin()
            summary = as_json(settled(script.summarize(rows)), "what `summarize` returned")
            forgotten.refuse()
            return summary
        except BaseException as error:
            raise Err(in_a_score(script.files, error)) from None
