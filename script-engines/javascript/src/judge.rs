//! The module `scorebox:judge`: a script's questions to a language model, and its answers. It knows no model and reads
//! no verdict; scorebox asks, and ends the score if there is no answer.

use std::cell::Cell;

use rquickjs::{
    Array, Ctx, Error, Exception, Function, Object, Result, TypedArray, Value,
    function::{Opt, This},
    module::{Declarations, Exports, ModuleDef},
};

use self::contract::scorebox::scorer::{
    embedder,
    judge::{self, Message, Request, Response, Role},
};
use crate::{reading, type_name::type_name};

mod contract {
    // A separate world: the component for other scripts does not import these.
    wit_bindgen::generate!({
        path: "../../wit/0.1.0",
        inline: "
            package scorebox:scripts;

            world asking {
                import scorebox:scorer/judge@0.1.0;
                import scorebox:scorer/embedder@0.1.0;
            }
        ",
        generate_all,
    });
}

const QUESTION_KEYS: [&str; 8] =
    ["prompt", "system", "messages", "schema", "model", "temperature", "maxOutputTokens", "sample"];
const MESSAGE_KEYS: [&str; 2] = ["role", "text"];
/// How much of an answer that cannot be read is shown, in characters.
const SHOWN_CHARACTERS: usize = 200;

thread_local! {
    /// Whether a score is being computed: only then can the host answer.
    static MAY_ASK: Cell<bool> = const { Cell::new(false) };
}

/// Allows questions from now on, because a score is being computed.
pub(crate) fn allow() {
    MAY_ASK.set(true);
}

/// The module.
pub(crate) struct Judge;

impl ModuleDef for Judge {
    fn declare<'js>(names: &Declarations<'js>) -> Result<()> {
        for name in ["ask", "askAll", "embed", "unreadable"] {
            names.declare(name)?;
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        exports.export("ask", Function::new(ctx.clone(), ask)?.with_name("ask")?)?;
        exports.export("askAll", Function::new(ctx.clone(), ask_all)?.with_name("askAll")?)?;
        exports.export("embed", Function::new(ctx.clone(), embed)?.with_name("embed")?)?;
        exports.export(
            "unreadable",
            Function::new(ctx.clone(), unreadable)?.with_name("unreadable")?,
        )?;
        Ok(())
    }
}

fn ask<'js>(ctx: Ctx<'js>, question: Opt<Value<'js>>) -> Result<Object<'js>> {
    let request = request(&ctx, question.0, "question")?;
    must_be_in_a_score(&ctx, "ask")?;
    answer(&ctx, judge::generate(&request))
}

fn ask_all<'js>(ctx: Ctx<'js>, questions: Opt<Value<'js>>) -> Result<Array<'js>> {
    let mut requests = Vec::new();
    for (index, question) in items(&ctx, questions.0, "questions")?.enumerate() {
        requests.push(request(&ctx, Some(question?), &format!("questions[{index}]"))?);
    }
    must_be_in_a_score(&ctx, "askAll")?;
    let responses = match requests.as_slice() {
        [] => Vec::new(),
        requests => judge::generate_all(requests),
    };
    let answers = Array::new(ctx.clone())?;
    for (index, response) in responses.into_iter().enumerate() {
        answers.set(index, answer(&ctx, response)?)?;
    }
    Ok(answers)
}

fn embed<'js>(ctx: Ctx<'js>, texts: Opt<Value<'js>>, model: Opt<Value<'js>>) -> Result<Array<'js>> {
    let mut written = Vec::new();
    for (index, item) in items(&ctx, texts.0, "texts")?.enumerate() {
        written.push(text(&ctx, &item?, &format!("texts[{index}]"))?);
    }
    let model = model.0.filter(is_given).map(|model| text(&ctx, &model, "model")).transpose()?;
    must_be_in_a_score(&ctx, "embed")?;
    let vectors = match written.as_slice() {
        [] => Vec::new(),
        texts => embedder::embed(texts, model.as_deref()),
    };
    let list = Array::new(ctx.clone())?;
    for (index, vector) in vectors.into_iter().enumerate() {
        list.set(index, TypedArray::<f32>::new(ctx.clone(), vector)?)?;
    }
    Ok(list)
}

/// Ends the score, whatever `why` is: an exception could be caught.
fn unreadable<'js>(ctx: Ctx<'js>, why: Opt<Value<'js>>) -> Result<()> {
    must_be_in_a_score(&ctx, "unreadable")?;
    let why = match why.0.filter(is_given) {
        None => "the answer is not in the form that was asked for".to_owned(),
        Some(why) => match why.as_string() {
            Some(why) => crate::text::of(why.clone())?,
            None => format!("`why` is {}, not a string", type_name(&why)),
        },
    };
    judge::unreadable(&why);
    Ok(())
}

fn must_be_in_a_score(ctx: &Ctx<'_>, function: &str) -> Result<()> {
    match MAY_ASK.get() {
        true => Ok(()),
        false => Err(Exception::throw_message(
            ctx,
            &format!(
                "`{function}` is called where no case is scored; a judge is asked in the function that scores one"
            ),
        )),
    }
}

/// Reads a question. Inherited properties do not count, so that what a case left on a prototype cannot choose the
/// model.
fn request<'js>(ctx: &Ctx<'js>, question: Option<Value<'js>>, path: &str) -> Result<Request> {
    let mut request = Request {
        system: None,
        messages: Vec::new(),
        response_schema: None,
        model: None,
        temperature: None,
        max_output_tokens: None,
        sample: 0,
    };
    let question = question.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    if question.is_string() {
        let text = text(ctx, &question, path)?;
        request.messages.push(Message { role: Role::User, text });
        return Ok(request);
    }
    let own = Own::of(ctx, &question, path, &QUESTION_KEYS, "a string or an object")?;
    request.system = own.text("system")?;
    request.model = own.text("model")?;
    request.temperature = own.number("temperature")?;
    request.max_output_tokens = own.count("maxOutputTokens")?;
    request.sample = own.count("sample")?.unwrap_or_default();
    if let Some(schema) = own.get("schema")? {
        let written = ctx.json_stringify(schema)?.map(|text| text.to_string()).transpose()?;
        let no_schema = || own.wrong("schema", "cannot be written as JSON");
        request.response_schema = Some(written.ok_or_else(no_schema)?);
    }
    match (own.text("prompt")?, own.get("messages")?) {
        (Some(text), None) => request.messages.push(Message { role: Role::User, text }),
        (None, Some(messages)) => {
            let path = format!("{path}.messages");
            for (index, message) in items(ctx, Some(messages), &path)?.enumerate() {
                request.messages.push(self::message(ctx, &message?, &format!("{path}[{index}]"))?);
            }
        }
        (Some(_), Some(_)) => {
            return Err(type_error(ctx, &format!("`{path}` has both `prompt` and `messages`")));
        }
        (None, None) => {
            return Err(type_error(ctx, &format!("`{path}` has neither `prompt` nor `messages`")));
        }
    }
    Ok(request)
}

fn message<'js>(ctx: &Ctx<'js>, message: &Value<'js>, path: &str) -> Result<Message> {
    let own = Own::of(ctx, message, path, &MESSAGE_KEYS, "an object")?;
    let role = match own.text("role")?.as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some(other) => {
            let wrong = format!("is {other:?}; it must be \"user\" or \"assistant\"");
            return Err(own.wrong("role", &wrong));
        }
        None => return Err(own.wrong("role", "is missing")),
    };
    let text = own.text("text")?.ok_or_else(|| own.wrong("text", "is missing"))?;
    Ok(Message { role, text })
}

/// The model's answer as an object.
fn answer<'js>(ctx: &Ctx<'js>, response: Response) -> Result<Object<'js>> {
    let usage = Object::new(ctx.clone())?;
    let counts = [
        ("inputTokens", response.usage.input_tokens.map(|count| count as f64)),
        ("outputTokens", response.usage.output_tokens.map(|count| count as f64)),
        ("totalTokens", response.usage.total_tokens.map(|count| count as f64)),
        ("costUsd", response.usage.cost_usd),
    ];
    for (key, count) in counts {
        if let Some(count) = count {
            usage.set(key, count)?;
        }
    }
    let answer = Object::new(ctx.clone())?;
    answer.set("text", response.text)?;
    answer.set("truncated", response.truncated)?;
    answer.set("model", response.model)?;
    answer.set("usage", usage)?;
    answer.set("json", Function::new(ctx.clone(), json)?.with_name("json")?)?;
    Ok(answer)
}

/// `answer.json()`: the JSON of an answer. Ends the score as `judge-unreadable` if there is none, or more than one.
fn json<'js>(ctx: Ctx<'js>, answer: This<Value<'js>>) -> Result<Value<'js>> {
    let property = |key: &str| match answer.0.as_object() {
        Some(answer) => answer.get::<_, Value<'js>>(key),
        None => Ok(Value::new_undefined(ctx.clone())),
    };
    let said = text(&ctx, &property("text")?, "answer.text")?;
    let is_whole = property("truncated")?.as_bool() != Some(true);
    match reading::only_json(&said, is_whole) {
        Ok(json) => ctx.json_parse(json.as_bytes()),
        Err(why) => {
            let shown: String = said.chars().take(SHOWN_CHARACTERS).collect();
            judge::unreadable(&format!("JSON was expected, but {why}; it begins with {shown:?}"));
            Ok(Value::new_undefined(ctx))
        }
    }
}

/// The own properties of an object.
struct Own<'js, 'p> {
    ctx: Ctx<'js>,
    object: Object<'js>,
    keys: Vec<String>,
    path: &'p str,
}

impl<'js, 'p> Own<'js, 'p> {
    /// The properties of `value`, which must not have any but the `known` ones.
    fn of(
        ctx: &Ctx<'js>,
        value: &Value<'js>,
        path: &'p str,
        known: &[&str],
        expected: &str,
    ) -> Result<Own<'js, 'p>> {
        let object = value.as_object().filter(|_| type_name(value) == "an object");
        let Some(object) = object else {
            let wrong = format!("`{path}` is {}, not {expected}", type_name(value));
            return Err(type_error(ctx, &wrong));
        };
        let keys = object.keys::<String>().collect::<Result<Vec<String>>>()?;
        if let Some(key) = keys.iter().find(|key| !known.contains(&key.as_str())) {
            let known = known.join("`, `");
            let wrong = format!("`{path}` has the unknown key `{key}`; the keys are `{known}`");
            return Err(type_error(ctx, &wrong));
        }
        Ok(Own { ctx: ctx.clone(), object: object.clone(), keys, path })
    }

    /// A property that is present and neither `undefined` nor `null`.
    fn get(&self, key: &str) -> Result<Option<Value<'js>>> {
        if !self.keys.iter().any(|own| own == key) {
            return Ok(None);
        }
        self.object.get::<_, Value<'js>>(key).map(|value| Some(value).filter(is_given))
    }

    fn text(&self, key: &str) -> Result<Option<String>> {
        let path = || format!("{}.{key}", self.path);
        self.get(key)?.map(|value| text(&self.ctx, &value, &path())).transpose()
    }

    fn number(&self, key: &str) -> Result<Option<f64>> {
        let number = |value: Value<'js>| {
            let wrong = || self.wrong(key, &format!("is {}, not a number", type_name(&value)));
            value.as_number().ok_or_else(wrong)
        };
        self.get(key)?.map(number).transpose()
    }

    fn count(&self, key: &str) -> Result<Option<u32>> {
        let whole = |number: f64| {
            let fits = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
            let wrong =
                || self.wrong(key, &format!("is {number}; it must be a whole number from 0"));
            fits.then_some(number as u32).ok_or_else(wrong)
        };
        self.number(key)?.map(whole).transpose()
    }

    fn wrong(&self, key: &str, what: &str) -> Error {
        type_error(&self.ctx, &format!("`{}.{key}` {what}", self.path))
    }
}

/// The items of an array.
fn items<'js>(
    ctx: &Ctx<'js>,
    list: Option<Value<'js>>,
    path: &str,
) -> Result<impl Iterator<Item = Result<Value<'js>>> + use<'js>> {
    let list = list.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    match list.clone().into_array() {
        Some(array) => Ok(array.into_iter()),
        None => Err(type_error(ctx, &format!("`{path}` is {}, not an array", type_name(&list)))),
    }
}

fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>, path: &str) -> Result<String> {
    let Some(text) = value.as_string() else {
        return Err(type_error(ctx, &format!("`{path}` is {}, not a string", type_name(value))));
    };
    let halved = |_| type_error(ctx, &format!("`{path}` has half of a surrogate pair"));
    text.to_string().map_err(halved)
}

fn is_given(value: &Value<'_>) -> bool {
    !value.is_undefined() && !value.is_null()
}

fn type_error(ctx: &Ctx<'_>, message: &str) -> Error {
    Exception::throw_type(ctx, message)
}
