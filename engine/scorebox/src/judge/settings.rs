//! What a suite says about a judge, read and checked. Connects to nothing, and reads no environment.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::Value;

use super::{TokenUsage, check_extra_body, check_extra_headers, check_key_header};

/// A judge of a suite: who answers, as which model, how often and at what price.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JudgeSettings {
    /// Who answers.
    pub provider: ProviderSettings,
    /// The model that is asked unless a scorer or its entry names another.
    pub model: Option<String>,
    /// The model that makes vectors; `None` for `model`.
    pub embedding_model: Option<String>,
    /// 0 to 2; what is asked with unless the scorer says otherwise.
    pub temperature: Option<f64>,
    /// The most tokens of an answer unless the scorer says otherwise.
    pub max_output_tokens: Option<u32>,
    /// Further members of the document that asks for a text, such as `seed`, as the provider names them. Part of a
    /// call's digest.
    pub extra_body: BTreeMap<String, Value>,
    /// Further headers of requests to a server, by name; must not hold a secret. Not part of a call's digest.
    pub extra_headers: BTreeMap<String, String>,
    /// The header that a server's key is sent in as it is; `None` for that of the protocol.
    pub key_header: Option<String>,
    /// How an answer of a given form is asked for.
    pub structured_output: StructuredOutput,
    /// Calls at the same moment, at least 1.
    pub concurrency: usize,
    /// Calls that begin within a minute; `None` for as many as there are.
    pub requests_per_minute: Option<u32>,
    /// How often a call is tried again.
    pub retries: u32,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How long questions wait for the first one, which finds out how a server's model is asked.
    pub patience: Duration,
    /// How long calls wait at least, if more than `retries` times in a row the server asks all of them to wait and
    /// answers none.
    pub endurance: Duration,
    /// What tokens cost; `None` if that is not known.
    pub price: Option<Price>,
    /// What all calls of a run may consume together.
    pub budget: Budget,
}

impl JudgeSettings {
    /// Calls at the same moment, unless a suite says otherwise.
    pub const DEFAULT_CONCURRENCY: usize = 16;
    /// How often a call is tried again, unless a suite says otherwise.
    pub const DEFAULT_RETRIES: u32 = 4;
    /// How long an attempt may take, unless a suite says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
    /// How long questions wait for the first one. A server refuses at once what it does not understand; what takes
    /// longer than this is an answer most of the time, for which no other question need wait.
    pub const DEFAULT_PATIENCE: Duration = Duration::from_millis(100);

    /// How long calls wait at least for a server that asks to wait and answers no call: longer than quotas of a minute
    /// last.
    pub const DEFAULT_ENDURANCE: Duration = Duration::from_secs(300);

    /// Whether a model can have this name: 1 to 200 bytes, some of them no white space, and none a control character.
    pub fn can_have_model(name: &str) -> bool {
        (1..=200).contains(&name.len())
            && !name.trim().is_empty()
            && !name.contains(char::is_control)
    }

    /// A judge of this provider with all defaults.
    pub fn new(provider: ProviderSettings) -> JudgeSettings {
        JudgeSettings {
            provider,
            model: None,
            embedding_model: None,
            temperature: None,
            max_output_tokens: None,
            extra_body: BTreeMap::new(),
            extra_headers: BTreeMap::new(),
            key_header: None,
            structured_output: StructuredOutput::Detect,
            concurrency: JudgeSettings::DEFAULT_CONCURRENCY,
            requests_per_minute: None,
            retries: JudgeSettings::DEFAULT_RETRIES,
            timeout: JudgeSettings::DEFAULT_TIMEOUT,
            patience: JudgeSettings::DEFAULT_PATIENCE,
            endurance: JudgeSettings::DEFAULT_ENDURANCE,
            price: None,
            budget: Budget::default(),
        }
    }

    /// Checks what is sent beside what the protocol needs: `extra_body`, `extra_headers` and `key_header`.
    ///
    /// # Errors
    /// Which of it cannot be sent, and why.
    pub fn check_extras(&self) -> Result<(), String> {
        check_extra_body(&self.extra_body)?;
        check_extra_headers(&self.extra_headers)?;
        self.key_header.as_deref().map_or(Ok(()), check_key_header)
    }

    /// Whether it can be known what its answers cost: it has a price, or is a command, which may say so itself.
    pub fn knows_cost(&self) -> bool {
        self.price.is_some() || matches!(self.provider, ProviderSettings::Command { .. })
    }
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderSettings {
    /// A server that speaks OpenAI's chat completions and embeddings.
    OpenAi {
        /// Where it is, up to and including `/v1`.
        base_url: String,
        /// The environment variable with its key; `None` if it needs no key.
        key_env: Option<String>,
    },
    /// A server that speaks Anthropic's messages.
    Anthropic {
        /// Where it is, without `/v1`.
        base_url: String,
        /// The environment variable with its key; `None` if it needs no key.
        key_env: Option<String>,
    },
    /// A program that is started for each call.
    Command {
        /// The program and its arguments, at least one.
        command: Vec<String>,
    },
    /// Answers that were recorded, and nothing else.
    Recorded {
        /// The JSON Lines file with them.
        file: PathBuf,
    },
    /// A provider that a program brings itself. No suite file names one.
    Own {
        /// What kind it is, in the program's own word. Part of a call's digest.
        kind: String,
        /// Where it is, or else what distinguishes it from others of its kind. Part of a call's digest; must not hold a
        /// secret.
        place: String,
    },
}

impl ProviderSettings {
    /// The word for its kind, as suites and recordings have it.
    pub fn kind(&self) -> &str {
        match self {
            ProviderSettings::OpenAi { .. } => "openai",
            ProviderSettings::Anthropic { .. } => "anthropic",
            ProviderSettings::Command { .. } => "command",
            ProviderSettings::Recorded { .. } => "recorded",
            ProviderSettings::Own { kind, .. } => kind,
        }
    }

    /// Whether a question without the name of a model can have an answer.
    pub(crate) fn needs_no_model(&self) -> bool {
        match self {
            ProviderSettings::OpenAi { .. } | ProviderSettings::Anthropic { .. } => false,
            // Those of a program may be recorded without one.
            ProviderSettings::Command { .. }
            | ProviderSettings::Recorded { .. }
            | ProviderSettings::Own { .. } => true,
        }
    }

    /// Where it is, as recordings have it: the base URL, or the command as a JSON list. Recorded answers are the same
    /// wherever their file is.
    pub fn place(&self) -> String {
        match self {
            ProviderSettings::OpenAi { base_url, .. }
            | ProviderSettings::Anthropic { base_url, .. } => base_url.clone(),
            // Strings: writing them as JSON cannot fail.
            ProviderSettings::Command { command } => {
                serde_json::to_string(command).unwrap_or_default()
            }
            ProviderSettings::Recorded { .. } => String::new(),
            ProviderSettings::Own { place, .. } => place.clone(),
        }
    }
}

/// How an answer of a given form is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructuredOutput {
    /// As well as the server can: found out with the first question that needs it.
    #[default]
    Detect,
    /// With the schema, which the server enforces.
    Schema,
    /// As the call of a tool whose arguments have the form.
    Tool,
    /// In the words of the prompt.
    Prompt,
}

/// What tokens cost, in US dollars for a million.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// Those of questions; 0 or more.
    pub input: f64,
    /// Those of answers; 0 or more.
    pub output: f64,
}

impl Price {
    /// So much for a million tokens of questions, and of answers.
    pub fn new(input: f64, output: f64) -> Price {
        Price { input, output }
    }

    /// What so many tokens cost, in US dollars; `None` if the provider did not count some that cost something.
    pub fn of(self, usage: TokenUsage) -> Option<f64> {
        let cost = |tokens: Option<u64>, price: f64| match (tokens, price) {
            // No answer has 2^53 tokens.
            (Some(tokens), price) => Some(tokens as f64 * price / 1e6),
            (None, 0.0) => Some(0.0),
            (None, _) => None,
        };
        Some(cost(usage.input_tokens, self.input)? + cost(usage.output_tokens, self.output)?)
    }
}

/// What calls may consume together; `None` for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// How many questions may be asked.
    pub calls: Option<u64>,
    /// What they may cost, in US dollars.
    pub cost_usd: Option<f64>,
}

impl Budget {
    /// This budget with so many calls at most.
    #[must_use]
    pub fn with_calls(self, calls: u64) -> Budget {
        Budget { calls: Some(calls), ..self }
    }

    /// This budget with so many US dollars at most.
    #[must_use]
    pub fn with_cost_usd(self, cost_usd: f64) -> Budget {
        Budget { cost_usd: Some(cost_usd), ..self }
    }
}
