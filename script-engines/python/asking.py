"""The module `scorebox.judge`: a script's questions to a language model, and its answers. Part of the component for
scripts that import it. It knows no model and reads no verdict; scorebox asks, and ends the score if there is no
answer."""

import dataclasses
import json
import re
import sys

from wit_world.imports import embedder, judge

ROLES = {"user": judge.Role.USER, "assistant": judge.Role.ASSISTANT}
MESSAGE_KEYS = ("role", "text")
QUESTION_KEYS = ("prompt", "system", "messages", "schema", "model", "temperature", "max_output_tokens", "sample")
# How much of an answer that cannot be read is shown, in characters.
SHOWN_CHARACTERS = 200
MAX_COUNT = 2**32 - 1
# The most bytes of an answer that are read, and how many positions of it are tried as the beginning of JSON.
MAX_ANSWER_BYTES = 256 << 10
MAX_STARTS = 64
# The tags between which a model drafts its answer; and the start of a tag that is left if the draft cannot be separated
# from the answer.
DRAFTS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
TAGS = ("<think", "</think")
# How the words before a value end if they announce it, such as `My verdict:`, and the only other words that may be in a
# label.
LABELS = frozenset(
    "answer choice choose conclusion decision grade judgement judgment label rating result score verdict winner".split()
)
LEADS = frozenset("final hence here i in is my our overall s so the therefore thus total".split())
# The longest label, in bytes.
MAX_LABEL = 80
# What separates the words of a line.
SPACES = " \t\r\f\v\u00a0"
# Markdown's marks around words.
MARKS = f"{SPACES}\n*_`#-."


class Unread(Exception):
    """An answer has no JSON that can be read; the message says why."""


def no_number(name):
    raise ValueError(f"{name} is not JSON")


def members(pairs):
    """An object. It is unclear which of two members with the same key counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unread("that of the answer has a key twice in an object")
    return found


# What this module itself needs of the language, saved before a script can change it.
dumps, compared = json.JSONEncoder(allow_nan=False).encode, json.JSONEncoder(sort_keys=True).encode
# Not strict, because models often write line breaks inside strings.
json_at = json.JSONDecoder(strict=False, parse_constant=no_number, object_pairs_hook=members).raw_decode
bracket_from, mark_from = re.compile(r"[{\[]").search, re.compile(r'["\\{}\[\]]').search
words_of, ends_at = re.compile(r"[^\W_]+").findall, re.compile(r"[\s*_]*\Z").match

# Whether a score is being computed: only then can the host answer.
may_ask = False


@dataclasses.dataclass
class Answer:
    """A model's answer."""

    text: str
    truncated: bool
    model: str
    usage: dict

    def json(self):
        """The JSON of the answer. Ends the score as `judge-unreadable` if there is none, or more than one."""
        said = text_of(self.text, "text")
        try:
            return only_json(said, not self.truncated)
        except Unread as why:
            judge.unreadable(f"JSON was expected, but {why}; it begins with {said[:SHOWN_CHARACTERS]!r}")


def ask(prompt=None, **question):
    """Asks once."""
    asked = request("the question", {"prompt": prompt, **question})
    must_be_in_a_score("ask")
    return answer(judge.generate(asked))


def ask_all(questions):
    """Asks several questions at the same time; the answers are in their order. A question is a text, or a dict with
    what `ask` takes."""
    asked = []
    for index, question in enumerate(items(questions, "questions")):
        path = f"questions[{index}]"
        if not isinstance(question, (str, dict)):
            raise TypeError(f"`{path}` is {a_type(question)}, not a str or a dict")
        asked.append(request(f"`{path}`", {"prompt": question} if isinstance(question, str) else question))
    must_be_in_a_score("ask_all")
    return [answer(response) for response in judge.generate_all(asked)] if asked else []


def embed(texts, model=None):
    """One list of numbers for each text, all of one length."""
    texts = [text_of(text, f"texts[{index}]") for index, text in enumerate(items(texts, "texts"))]
    model = optional_text(model, "model")
    must_be_in_a_score("embed")
    return [list(vector) for vector in embedder.embed(texts, model)] if texts else []


def unreadable(why=None):
    """Ends the score with the error `judge-unreadable`: the answer does not have the requested form. Whatever `why` is:
    a script could catch an exception."""
    must_be_in_a_score("unreadable")
    if why is None:
        why = "the answer is not in the form that was asked for"
    elif not isinstance(why, str):
        why = f"`why` is {a_type(why)}, not a str"
    judge.unreadable(str.encode(why, "utf-8", "replace").decode("utf-8"))


def must_be_in_a_score(function):
    if not may_ask:
        raise RuntimeError(f"`{function}` is called where no case is scored; a judge is asked in the function that scores one")


def request(what, question):
    """A question, as the contract has it."""
    for key in question:
        if key not in QUESTION_KEYS:
            raise TypeError(f"{what} has the unknown key `{key}`; the keys are `{'`, `'.join(QUESTION_KEYS)}`")
    prompt, messages = optional_text(question.get("prompt"), "prompt"), question.get("messages")
    if (prompt is None) == (messages is None):
        raise TypeError(f"{what} has {'neither' if prompt is None else 'both'} `prompt` {'nor' if prompt is None else 'and'} `messages`")
    if messages is None:
        messages = [judge.Message(judge.Role.USER, prompt)]
    else:
        messages = [message(item, f"messages[{index}]") for index, item in enumerate(items(messages, "messages"))]
    schema, temperature = question.get("schema"), question.get("temperature")
    if temperature is not None and (isinstance(temperature, bool) or not isinstance(temperature, (int, float))):
        raise TypeError(f"`temperature` is {a_type(temperature)}, not a number")
    return judge.Request(
        optional_text(question.get("system"), "system"),
        messages,
        None if schema is None else dumps(schema),
        optional_text(question.get("model"), "model"),
        None if temperature is None else float(temperature),
        count(question.get("max_output_tokens"), "max_output_tokens"),
        count(question.get("sample"), "sample") or 0,
    )


def message(given, path):
    if not isinstance(given, dict):
        raise TypeError(f"`{path}` is {a_type(given)}, not a dict")
    for key in given:
        if key not in MESSAGE_KEYS:
            raise TypeError(f"`{path}` has the unknown key `{key}`; the keys are `{'`, `'.join(MESSAGE_KEYS)}`")
    role = given.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise TypeError(f"`{path}['role']` is {role!r}; it must be 'user' or 'assistant'")
    return judge.Message(ROLES[role], text_of(given.get("text"), f"{path}['text']"))


def answer(response):
    usage = {
        "inputTokens": response.usage.input_tokens,
        "outputTokens": response.usage.output_tokens,
        "totalTokens": response.usage.total_tokens,
        "costUsd": response.usage.cost_usd,
    }
    usage = {key: value for key, value in usage.items() if value is not None}
    return Answer(response.text, response.truncated, response.model, usage)


def only_json(answer, is_whole):
    """The only JSON in an answer, outside drafts and quotations; `is_whole` says that nothing of the answer was cut
    off. Reads an answer as the built-in scorers do (`sdk/rust/judges/src/reading`); `javascript/src/reading.rs` has the same
    rules."""
    size = len(answer.encode())
    if size > MAX_ANSWER_BYTES:
        raise Unread(f"the answer has {size} bytes; the limit is {MAX_ANSWER_BYTES}")
    text = after_draft(answer)
    value, is_json = whole(text)
    # A number or a text that is cut off is JSON too, so these count only if the answer is complete.
    if is_json and (is_whole or isinstance(value, (dict, list))):
        return value
    found = outermost(text)
    if has_tag_beside(text, found):
        raise Unread("the answer is a draft")
    return only(text, found)


def after_draft(answer):
    """The text after the draft of an answer, if there is one. Some servers leave out the opening tag."""
    text, has_draft = answer.strip(), False
    while close := next((close for tag, close in DRAFTS if text.startswith(tag)), None):
        _, closed, text = text.partition(close)
        if not closed:
            raise Unread("the answer is a draft")
        text, has_draft = text.lstrip(), True
    # JSON may contain the tags as text.
    if has_draft or text.startswith(("{", "[", "`")):
        return text
    close = next((close for _, close in DRAFTS if close in text), None)
    return text.partition(close)[2].lstrip() if close else text


def unfenced(text):
    """The content of a fence that encloses the whole text."""
    block = text.removeprefix("```").removesuffix("```")
    if len(text) != len(block) + 6:
        return ""
    # The first line of a block may name its language.
    first, _, rest = block.partition("\n")
    return rest if rest and (not first.strip() or first.strip().isalnum()) else block


def whole(text):
    """The whole text as JSON, in a fence or not, and whether it is JSON."""
    for candidate in (text, unfenced(text).strip()):
        value, end = json_from(candidate, 0)
        if end and end == len(candidate):
            return value, True
    return None, False


def json_from(text, start):
    """The value that begins at this position, and its end; 0 if there is none."""
    try:
        return json_at(text, start)
    except (ValueError, RecursionError):
        return None, 0


def outermost(text):
    """The outermost objects and lists in a text, in their order, each with its start, its end, and whether it is set
    apart, and not within a sentence or other brackets."""
    found, at, within = [], 0, 0
    for _ in range(MAX_STARTS):
        bracket = bracket_from(text, at)
        if not bracket:
            return found
        start = bracket.start()
        value, end = json_from(text, start)
        if end:
            found.append((value, start, end, start >= within and stands_apart(text, start, end)))
            at = end
            continue
        end = closing(text, start)
        if not end and begins_json(text, start):
            raise Unread("that of the answer is not closed")
        within, at = max(within, end), start + 1
    if bracket_from(text, at):
        raise Unread("the answer has too many brackets in it")
    return found


def has_tag_beside(text, found):
    """Whether a text contains the tag of a draft outside its values: JSON may contain the tags as text."""
    starts, ends = [start for _, start, _, _ in found], [end for _, _, end, _ in found]
    beside = [text[end:start] for end, start in zip([0, *ends], [*starts, len(text)])]
    return any(tag in words for words in beside for tag in TAGS)


def only(text, found):
    """The only value. Brackets around numbers, such as `[1]`, are a mark in prose if there is another value."""
    values = [it for it in found if any(sign in text[it[1] : it[2]] for sign in '{"')] or found
    if not values:
        raise Unread("the answer has none")
    if len({compared(value) for value, _, _, _ in values}) > 1:
        raise Unread("the answer has several values in it that differ")
    if not any(is_apart for _, _, _, is_apart in values):
        raise Unread("that of the answer stands within or between sentences, as a quotation does")
    return values[0][0]


def closing(text, start):
    """Where the bracket at this position is closed; 0 if it is not."""
    depth, in_text, at = 0, False, start
    while mark := mark_from(text, at):
        at, letter = mark.end(), mark.group()
        if letter == '"':
            in_text = not in_text
        elif in_text:
            at += letter == "\\"
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
            if depth == 0:
                return at
    return 0


def begins_json(text, start):
    """Whether a text continues at this position as JSON with content does; brackets in prose do not."""
    inside = text[start + 1 :].lstrip()
    return inside.startswith('"') or (text[start] == "[" and inside.startswith(("{", "[")))


def stands_apart(text, start, end):
    """Whether a value ends the text, or is on separate lines and begins the text or follows a label. Between other
    words it may be a quotation that they introduce and comment on."""
    if ends_at(text, end):
        return True
    line = text[text.rfind("\n", 0, start) + 1 : start].strip(MARKS)
    begins_line = not line or line.lower() == "json" or ends_in_label(line)
    ends_line = not text[end:].partition("\n")[0].strip(MARKS)
    words = before_fence(text[:start])
    is_own = not words or ends_in_label(words) or not text[end:].strip(MARKS)
    return begins_line and ends_line and is_own


def before_fence(before):
    """The words before a value, without those of a code fence."""
    words = before.rstrip(MARKS)
    if words[-5:].lower() == "`json":
        return words[:-4].rstrip(MARKS)
    return words.lstrip(MARKS)


def ends_in_label(words):
    """Whether the last line of words is a label."""
    line = words.rpartition("\n")[2].strip(MARKS)
    return line.endswith(":") and is_label(line[:-1])


def is_label(words):
    """Whether words announce a value: a heading, a short sentence, or one that ends a longer text."""
    words = words.rstrip(f"{SPACES}*_`#")
    end = max(words.rfind(end) for end in (". ", "! ", "? "))
    words = words if end < 0 else words[end + 2 :]
    if len(words.encode()) > MAX_LABEL:
        return False
    # `Score (1-5)`
    before, opened, scale = words.rpartition("(")
    if opened and scale.endswith(")") and any(letter in "0123456789" for letter in scale):
        words = before
    words = [word.lower() for word in words_of(words)]
    named = [word for word in words if word != "is"]
    return bool(named) and named[-1] in LABELS and all(word in LABELS or word in LEADS for word in words)


def items(given, path):
    if not isinstance(given, (list, tuple)):
        raise TypeError(f"`{path}` is {a_type(given)}, not a list")
    return given


def text_of(given, path):
    if not isinstance(given, str):
        raise TypeError(f"`{path}` is {a_type(given)}, not a str")
    try:
        return str(given.encode(), "utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"`{path}` has half of a surrogate pair") from None


def optional_text(given, path):
    return None if given is None else text_of(given, path)


def count(given, path):
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= MAX_COUNT:
        raise TypeError(f"`{path}` is {given!r}; it must be a whole number from 0")
    return given


def a_type(value):
    name = type(value).__name__
    if value is None:
        return "None"
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


def install():
    """Makes this module importable as `scorebox.judge`."""
    package, module = type(sys)("scorebox"), type(sys)("scorebox.judge")
    package.__path__, package.judge = [], module
    for function in (ask, ask_all, embed, unreadable, Answer):
        setattr(module, function.__name__, function)
    sys.modules["scorebox"], sys.modules["scorebox.judge"] = package, module
