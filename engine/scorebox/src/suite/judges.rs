//! Reads the judges in a suite file: `[judges.NAME]`. It connects to nothing, and reads no API key.

use std::{collections::BTreeMap, path::Path, time::Duration};

use crate::judge::{
    Budget, JudgeSettings, Price, ProviderSettings, StructuredOutput, check_extra_body,
    check_extra_headers, check_key_header,
};

use super::{
    Location,
    document::{Member, Node, Value},
    parse_duration,
    reading::Reading,
};

/// The keys of a judge.
const KEYS: [&str; 19] = [
    "provider",
    "base_url",
    "key_env",
    "key_header",
    "command",
    "file",
    "model",
    "embedding_model",
    "temperature",
    "max_output_tokens",
    "extra_body",
    "extra_headers",
    "structured_output",
    "concurrency",
    "requests_per_minute",
    "retries",
    "timeout",
    "price",
    "budget",
];

/// The maximum of `concurrency`: calls at the same time.
const MAX_CONCURRENCY: u64 = 4096;
/// The maximum of `retries` for a call.
const MAX_RETRIES: u64 = 20;
/// How deep a member of `extra_body` can be nested.
const MAX_LEVELS: usize = 32;
/// The maximum time for an attempt.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// A judge of a suite.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SuiteJudge {
    /// Its provider, model and settings.
    pub settings: JudgeSettings,
    /// Its location in the file.
    pub location: Option<Location>,
}

impl SuiteJudge {
    /// A judge that is not from a file.
    pub fn new(settings: JudgeSettings) -> SuiteJudge {
        SuiteJudge { settings, location: None }
    }
}

/// Reads `[judges]`; paths are relative to `folder`.
pub(super) fn judges(
    reading: &mut Reading<'_>,
    node: &Node,
    folder: &Path,
) -> BTreeMap<String, SuiteJudge> {
    let mut judges = BTreeMap::new();
    for member in reading.any_members(node, "judges") {
        let Some(settings) = judge(reading, member, folder) else { continue };
        let location = Some(reading.location(&member.key_span));
        if !is_name(&member.key) {
            let key = member.key.escape_debug();
            let reason = format!(
                "`{key}` is not a name of a judge: it has 1 to 64 letters, digits, `-`, `_` and `.`"
            );
            reading.wrong(&member.key_span, reason);
            continue;
        }
        judges.insert(member.key.clone(), SuiteJudge { settings, location });
    }
    judges
}

fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}

/// A judge's keys, before it is known which of them its provider supports.
#[derive(Default)]
struct Said<'n> {
    provider: Option<&'static str>,
    base_url: Option<(String, &'n Node)>,
    key_env: Option<(String, &'n Node)>,
    key_header: Option<(String, &'n Node)>,
    extra_headers: Option<&'n Node>,
    command: Option<(Vec<String>, &'n Node)>,
    file: Option<(String, &'n Node)>,
}

fn judge(reading: &mut Reading<'_>, member: &Member, folder: &Path) -> Option<JudgeSettings> {
    const PROVIDERS: [&str; 4] = ["openai", "anthropic", "command", "recorded"];
    let node = &member.node;
    let mut said = Said::default();
    let mut settings = JudgeSettings::new(ProviderSettings::Command { command: Vec::new() });
    let mut has_provider = false;
    for (key, member) in reading.members(node, "judge", "of a judge", &KEYS) {
        let node = &member.node;
        match key {
            "provider" => {
                has_provider = true;
                let Some(word) = reading.word(node, key) else { continue };
                let meant = PROVIDERS.into_iter().find(|known| *known == word);
                said.provider = reading.one_of(node, meant, "provider", &PROVIDERS);
            }
            "base_url" => said.base_url = base_url(reading, node).map(|url| (url, node)),
            "key_env" => {
                said.key_env = reading.word(node, key).map(|name| (name.to_owned(), node));
            }
            "key_header" => {
                said.key_header = key_header(reading, node).map(|name| (name, node));
            }
            "extra_body" => settings.extra_body = extra_body(reading, node),
            "extra_headers" => {
                settings.extra_headers = extra_headers(reading, node);
                said.extra_headers = Some(node);
            }
            "command" => said.command = command(reading, node).map(|words| (words, node)),
            "file" => said.file = reading.text(node, key).map(|file| (file, node)),
            "model" => settings.model = name(reading, node, key),
            "embedding_model" => settings.embedding_model = name(reading, node, key),
            "temperature" => settings.temperature = temperature(reading, node),
            "structured_output" => {
                settings.structured_output = structured(reading, node).unwrap_or_default();
            }
            "price" => settings.price = price(reading, node),
            "budget" => settings.budget = budget(reading, node).unwrap_or_default(),
            _ => numbers(reading, key, node, &mut settings),
        }
    }
    if !has_provider && matches!(node.value, Value::Table(_)) {
        reading.wrong(
            &member.key_span,
            "a judge needs a `provider`: `openai`, `anthropic`, `command` or `recorded`",
        );
    }
    settings.key_header = said.key_header.as_ref().map(|(name, _)| name.clone());
    settings.provider = provider(reading, member, said, folder)?;
    let names_its_own = settings.provider.needs_no_model();
    if let Some(node) = budget_in_dollars(node).filter(|_| !settings.knows_cost()) {
        reading.wrong(&node.span, "a budget in US dollars needs the judge's `price`");
    }
    if settings.model.is_none() && !names_its_own {
        reading.wrong(&member.key_span, "a judge of this provider needs a `model`");
    }
    Some(settings)
}

/// The keys with numbers and times.
fn numbers(reading: &mut Reading<'_>, key: &str, node: &Node, settings: &mut JudgeSettings) {
    match key {
        "timeout" => settings.timeout = timeout(reading, node).unwrap_or(settings.timeout),
        "max_output_tokens" => {
            settings.max_output_tokens = within(reading, key, node, (1, u32::MAX.into()));
        }
        "requests_per_minute" => {
            settings.requests_per_minute = within(reading, key, node, (1, u32::MAX.into()));
        }
        "retries" => {
            let retries = within(reading, key, node, (0, MAX_RETRIES));
            settings.retries = retries.unwrap_or(settings.retries);
        }
        _ => {
            let most = within(reading, key, node, (1, MAX_CONCURRENCY));
            settings.concurrency = most.map_or(settings.concurrency, |most| most as usize);
        }
    }
}

/// A time to wait for answers.
pub(super) fn timeout(reading: &mut Reading<'_>, node: &Node) -> Option<Duration> {
    let written = reading.word(node, "timeout")?;
    let time = reading.said(&node.span, parse_duration(written))?;
    if time.is_zero() || time > MAX_TIMEOUT {
        reading.wrong(&node.span, "`timeout` must be more than 0 and at most 1 h");
        return None;
    }
    Some(time)
}

/// A whole number from `least` to `most`.
pub(super) fn within(
    reading: &mut Reading<'_>,
    key: &str,
    node: &Node,
    (least, most): (u64, u64),
) -> Option<u32> {
    let number = reading.count(node, key)?;
    if !(least..=most).contains(&number) {
        reading
            .wrong(&node.span, format!("`{key}` must be from {least} to {most}; found {number}"));
        return None;
    }
    u32::try_from(number).ok()
}

fn provider(
    reading: &mut Reading<'_>,
    member: &Member,
    said: Said<'_>,
    folder: &Path,
) -> Option<ProviderSettings> {
    let kind = said.provider?;
    let is_server = matches!(kind, "openai" | "anthropic");
    let strange = [
        ("base_url", said.base_url.as_ref().filter(|_| !is_server).map(|(_, node)| *node)),
        ("key_env", said.key_env.as_ref().filter(|_| !is_server).map(|(_, node)| *node)),
        ("key_header", said.key_header.as_ref().filter(|_| !is_server).map(|(_, node)| *node)),
        ("extra_headers", said.extra_headers.filter(|_| !is_server)),
        ("command", said.command.as_ref().filter(|_| kind != "command").map(|(_, node)| *node)),
        ("file", said.file.as_ref().filter(|_| kind != "recorded").map(|(_, node)| *node)),
    ];
    for (key, node) in strange {
        if let Some(node) = node {
            reading.wrong(&node.span, format!("a judge of provider `{kind}` has no `{key}`"));
        }
    }
    let (own_url, own_key) = match kind {
        "anthropic" => ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        _ => ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    };
    // A user's own server has a key only if one is set; a provider always has one.
    let key_env = match (&said.key_env, &said.base_url) {
        (Some((name, _)), _) => Some(name.clone()),
        (None, None) => Some(own_key.to_owned()),
        (None, Some((url, _))) => (url == own_url).then(|| own_key.to_owned()),
    };
    let base_url = said.base_url.map_or_else(|| own_url.to_owned(), |(url, _)| url);
    match kind {
        "openai" => Some(ProviderSettings::OpenAi { base_url, key_env }),
        "anthropic" => Some(ProviderSettings::Anthropic { base_url, key_env }),
        "command" => match said.command {
            Some((command, _)) => Some(ProviderSettings::Command { command }),
            None => {
                let reason = "a judge of provider `command` needs `command`: a list of words";
                reading.wrong(&member.key_span, reason);
                None
            }
        },
        _ => match said.file {
            Some((file, _)) => Some(ProviderSettings::Recorded { file: folder.join(file) }),
            None => {
                let reason =
                    "a judge of provider `recorded` needs `file`: JSON Lines of recordings";
                reading.wrong(&member.key_span, reason);
                None
            }
        },
    }
}

/// An HTTP address, without parts that could be secret; a slash at its end is removed.
fn base_url(reading: &mut Reading<'_>, node: &Node) -> Option<String> {
    let url = reading.text(node, "base_url")?;
    let behind = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let why = match behind {
        None => "`base_url` must begin with `http://` or `https://`",
        Some(behind) if behind.split('/').next().unwrap_or_default().is_empty() => {
            "`base_url` names no host"
        }
        Some(behind) if behind.contains(['@', '?', '#']) => {
            "`base_url` must not contain a user name, password or query; name the variable with the key in `key_env`"
        }
        Some(behind) if behind.contains(|it: char| it.is_whitespace() || it.is_control()) => {
            "`base_url` has a space or a control character"
        }
        Some(_) => return Some(url.trim_end_matches('/').to_owned()),
    };
    reading.wrong(&node.span, why);
    None
}

fn command(reading: &mut Reading<'_>, node: &Node) -> Option<Vec<String>> {
    let items = reading.list(node, "command");
    let words: Option<Vec<String>> =
        items.iter().map(|item| reading.text(item, "command")).collect();
    let words = words?;
    if words.first().is_none_or(String::is_empty) {
        reading.wrong(&node.span, "`command` must be a list: the program and its arguments");
        return None;
    }
    Some(words)
}

fn key_header(reading: &mut Reading<'_>, node: &Node) -> Option<String> {
    let name = reading.word(node, "key_header")?;
    reading.said(&node.span, check_key_header(name)).map(|()| name.to_owned())
}

/// Additional members of the JSON document that is sent to request a text.
fn extra_body(reading: &mut Reading<'_>, node: &Node) -> BTreeMap<String, serde_json::Value> {
    let members = reading.any_members(node, "extra_body").into_iter();
    let members = members.map(|member| {
        let value = reading.json(&member.node, &member.key, MAX_LEVELS)?;
        Some((member.key.clone(), value))
    });
    let read: Vec<_> = members.collect();
    let body = read.into_iter().flatten().collect();
    reading.said(&node.span, check_extra_body(&body));
    body
}

/// Additional headers of requests to a server.
fn extra_headers(reading: &mut Reading<'_>, node: &Node) -> BTreeMap<String, String> {
    let members = reading.any_members(node, "extra_headers").into_iter();
    let members =
        members.map(|member| Some((member.key.clone(), reading.text(&member.node, &member.key)?)));
    let read: Vec<_> = members.collect();
    let headers = read.into_iter().flatten().collect();
    reading.said(&node.span, check_extra_headers(&headers));
    headers
}

/// The name of a model.
pub(super) fn name(reading: &mut Reading<'_>, node: &Node, key: &str) -> Option<String> {
    let name = reading.text(node, key)?;
    if !JudgeSettings::can_have_model(&name) {
        reading.wrong(
            &node.span,
            format!("`{key}` must be a name of 1 to 200 bytes, without control characters and not of white space alone"),
        );
        return None;
    }
    Some(name)
}

fn temperature(reading: &mut Reading<'_>, node: &Node) -> Option<f64> {
    let temperature = reading.amount(node, "temperature")?;
    if temperature > 2.0 {
        reading.wrong(&node.span, format!("`temperature` must be 0 to 2; found {temperature}"));
        return None;
    }
    Some(temperature)
}

fn structured(reading: &mut Reading<'_>, node: &Node) -> Option<StructuredOutput> {
    const WORDS: [&str; 4] = ["detect", "schema", "tool", "prompt"];
    let word = reading.word(node, "structured_output")?;
    let meant = match word {
        "detect" => Some(StructuredOutput::Detect),
        "schema" => Some(StructuredOutput::Schema),
        "tool" => Some(StructuredOutput::Tool),
        "prompt" => Some(StructuredOutput::Prompt),
        _ => None,
    };
    reading.one_of(node, meant, "way to structured output", &WORDS)
}

fn price(reading: &mut Reading<'_>, node: &Node) -> Option<Price> {
    let (mut input, mut output, mut given) = (None, None, 0);
    for (key, member) in reading.members(node, "price", "of `price`", &["input", "output"]) {
        given += 1;
        let dollars = reading.amount(&member.node, key);
        match key {
            "input" => input = dollars,
            _ => output = dollars,
        }
    }
    match (input, output) {
        (Some(input), Some(output)) => Some(Price::new(input, output)),
        // The mistake in one of them is already reported.
        _ if given == 2 => None,
        _ => {
            let reason = "`price` needs `input` and `output`: US dollars for a million tokens";
            reading.wrong(&node.span, reason);
            None
        }
    }
}

/// The budget for calls.
pub(super) fn budget(reading: &mut Reading<'_>, node: &Node) -> Option<Budget> {
    let mut budget = Budget::default();
    for (key, member) in reading.members(node, "budget", "of `budget`", &["calls", "cost_usd"]) {
        match key {
            "calls" => budget.calls = reading.count(&member.node, key),
            _ => budget.cost_usd = reading.amount(&member.node, key),
        }
    }
    Some(budget)
}

/// The location of a judge's budget, if it is in dollars.
fn budget_in_dollars(judge: &Node) -> Option<&Node> {
    let member = |node: &'_ Node, key: &str| match &node.value {
        Value::Table(members) => members.iter().position(|member| member.key == key),
        _ => None,
    };
    let budget = match &judge.value {
        Value::Table(members) => &members[member(judge, "budget")?].node,
        _ => return None,
    };
    match &budget.value {
        Value::Table(members) => Some(&members[member(budget, "cost_usd")?].node),
        _ => None,
    }
}
