"""The module `scorebox.judge`: questions of a script to a language model, and what it answers. A part of the component for
scripts that import it. Knows no model and reads no verdict; scorebox asks, and ends the score where there is no answer."""

import dataclasses
import json
import sys

from wit_world.imports import embedder, judge

ROLES = {"user": judge.Role.USER, "assistant": judge.Role.ASSISTANT}
MESSAGE_KEYS = ("role", "text")
QUESTION_KEYS = ("prompt", "system", "messages", "schema", "model", "temperature", "max_output_tokens", "sample")
# Characters of an answer that are shown where it cannot be read.
SHOWN_CHARACTERS = 200
MOST_COUNT = 2**32 - 1
# What this module itself needs of the language, whatever a script does to it.
dumps, loads = json.JSONEncoder(allow_nan=False).encode, json.JSONDecoder().decode

# Whether a score is computed: at other times nobody is there to ask.
may_ask = False


@dataclasses.dataclass
class Answer:
    """What a model answered."""

    text: str
    truncated: bool
    model: str
    usage: dict

    def json(self):
        """The JSON of the answer. Ends the score as `judge-unreadable` where there is none."""
        said = text_of(self.text, "text")
        for candidate in candidates(said):
            try:
                return loads(candidate)
            except (ValueError, RecursionError):
                pass
        judge.unreadable(f"JSON was expected; the answer begins with {said[:SHOWN_CHARACTERS]!r}")


def ask(prompt=None, **question):
    """Asks once."""
    asked = request("the question", {"prompt": prompt, **question})
    must_be_in_a_score("ask")
    return answer(judge.generate(asked))


def ask_all(questions):
    """Asks several questions at the same time; the answers are in their order. A question is a text, or a dict with what `ask`
    takes."""
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
    """Ends the score with the error `judge-unreadable`: the answer is not in the form that was asked for."""
    why = optional_text(why, "why") or "the answer is not in the form that was asked for"
    must_be_in_a_score("unreadable")
    judge.unreadable(why)


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


def candidates(answer):
    """What may be the JSON of an answer: all of it; a fenced block, if it is the only one; an object or a list with prose
    around, but nothing from inside of an object."""
    yield answer
    fences = answer.split("```")
    if len(fences) == 3:
        # The first line of a block may name its language.
        first, _, rest = fences[1].partition("\n")
        yield rest if not first.strip() or first.strip().isalnum() else fences[1]
    brace, bracket = answer.find("{"), answer.find("[")
    if bracket >= 0 and not 0 <= brace < bracket:
        yield answer[bracket : answer.rfind("]") + 1]
    if brace >= 0:
        yield answer[brace : answer.rfind("}") + 1]


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
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= MOST_COUNT:
        raise TypeError(f"`{path}` is {given!r}; it must be a whole number from 0")
    return given


def a_type(value):
    name = type(value).__name__
    if value is None:
        return "None"
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


def install():
    """Makes it a module that scripts can import."""
    package, module = type(sys)("scorebox"), type(sys)("scorebox.judge")
    package.__path__, package.judge = [], module
    for function in (ask, ask_all, embed, unreadable, Answer):
        setattr(module, function.__name__, function)
    sys.modules["scorebox"], sys.modules["scorebox.judge"] = package, module
