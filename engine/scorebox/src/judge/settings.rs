//! A suite's settings for a judge, read and checked. It connects to nothing, and reads no environment.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::Value;

use super::{TokenUsage, check_extra_body, check_extra_headers, check_key_header};

/// A judge of a suite: who answers, as which model, how often and at what price.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JudgeSettings {
    /// Who answers.
    pub provider: ProviderSettings,
    /// The model to ask, unless a scorer or its entry names another.
    pub model: Option<String>,
    /// The model that makes vectors; `None` for `model`.
    pub embedding_model: Option<String>,
    /// The temperature, 0 to 2, unless the scorer sets one.
    pub temperature: Option<f64>,
    /// The most tokens of an answer, unless the scorer sets a limit.
    pub max_output_tokens: Option<u32>,
    /// Additional members of the document that asks for a text, such as `seed`, as the provider names them. They are
    /// part of a call's digest.
    pub extra_body: BTreeMap<String, Value>,
    /// Additional headers of requests to a server, by name; they must not contain a secret. They are not part of a
    /// call's digest.
    pub extra_headers: BTreeMap<String, String>,
    /// The header in which a server's key is sent, without a prefix; `None` for the header of the protocol.
    pub key_header: Option<String>,
    /// How an answer of a given form is asked for.
    pub structured_output: StructuredOutput,
    /// How many calls run at the same time, at least 1.
    pub concurrency: usize,
    /// How many calls begin within a minute; `None` for no limit.
    pub requests_per_minute: Option<u32>,
    /// How often a call is tried again.
    pub retries: u32,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How long questions wait for the first one, which detects how a server's model must be asked.
    pub patience: Duration,
    /// The minimum time for which calls wait, if the server asks all of them to wait more than `retries` times in a
    /// row, and answers none.
    pub endurance: Duration,
    /// What tokens cost; `None` if that is unknown.
    pub price: Option<Price>,
    /// What all calls of a run may consume together.
    pub budget: Budget,
}

impl JudgeSettings {
    /// The default for how many calls run at the same time.
    pub const DEFAULT_CONCURRENCY: usize = 16;
    /// The default for how often a call is tried again.
    pub const DEFAULT_RETRIES: u32 = 4;
    /// The default for how long an attempt may take.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
    /// The default for how long questions wait for the first one. A server refuses at once what it does not understand;
    /// if it takes longer than this, it is probably answering, and no other question need wait.
    pub const DEFAULT_PATIENCE: Duration = Duration::from_millis(100);

    /// The default for the minimum time for which calls wait for a server that asks to wait and answers none of them:
    /// longer than quotas per minute last.
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

    /// Checks what is sent in addition to what the protocol needs: `extra_body`, `extra_headers` and `key_header`.
    ///
    /// # Errors
    /// What cannot be sent, and why.
    pub fn check_extras(&self) -> Result<(), String> {
        check_extra_body(&self.extra_body)?;
        check_extra_headers(&self.extra_headers)?;
        self.key_header.as_deref().map_or(Ok(()), check_key_header)
    }

    /// Whether the cost of its answers can be known: it has a price, or is a command, which may report it.
    pub fn knows_cost(&self) -> bool {
        self.price.is_some() || matches!(self.provider, ProviderSettings::Command { .. })
    }
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderSettings {
    /// A server with OpenAI's chat completions and embeddings.
    OpenAi {
        /// Its address, up to and including `/v1`.
        base_url: String,
        /// The environment variable with its key; `None` if it needs no key.
        key_env: Option<String>,
    },
    /// A server with Anthropic's messages.
    Anthropic {
        /// Its address, without `/v1`.
        base_url: String,
        /// The environment variable with its key; `None` if it needs no key.
        key_env: Option<String>,
    },
    /// A program that is started for each call.
    Command {
        /// The program and its arguments, at least one.
        command: Vec<String>,
    },
    /// Only recorded answers.
    Recorded {
        /// The JSON Lines file with them.
        file: PathBuf,
    },
    /// A provider that a program implements itself. A suite file cannot name it.
    Own {
        /// Its kind, which the program chooses. Part of a call's digest.
        kind: String,
        /// Its address, or anything else that distinguishes it from others of its kind. Part of a call's digest; it
        /// must not contain a secret.
        place: String,
    },
}

impl ProviderSettings {
    /// The name of its kind in suites and recordings.
    pub fn kind(&self) -> &str {
        match self {
            ProviderSettings::OpenAi { .. } => "openai",
            ProviderSettings::Anthropic { .. } => "anthropic",
            ProviderSettings::Command { .. } => "command",
            ProviderSettings::Recorded { .. } => "recorded",
            ProviderSettings::Own { kind, .. } => kind,
        }
    }

    /// Whether a question without a model's name can have an answer.
    pub(crate) fn needs_no_model(&self) -> bool {
        match self {
            ProviderSettings::OpenAi { .. } | ProviderSettings::Anthropic { .. } => false,
            // The recorded calls of a program may have no model.
            ProviderSettings::Command { .. }
            | ProviderSettings::Recorded { .. }
            | ProviderSettings::Own { .. } => true,
        }
    }

    /// Its address, as in recordings: the base URL, or the command as a JSON list. Recorded answers are the same
    /// wherever their file is.
    pub fn place(&self) -> String {
        match self {
            ProviderSettings::OpenAi { base_url, .. }
            | ProviderSettings::Anthropic { base_url, .. } => base_url.clone(),
            // These are strings: writing them as JSON cannot fail.
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
    /// In the best way that the server supports, which is detected with the first question that needs it.
    #[default]
    Detect,
    /// With the schema, which the server enforces.
    Schema,
    /// As the call of a tool whose arguments have the form.
    Tool,
    /// With an instruction in the prompt.
    Prompt,
}

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// The price of tokens in questions; 0 or more.
    pub input: f64,
    /// The price of tokens in answers; 0 or more.
    pub output: f64,
}

impl Price {
    /// A price for a million tokens of questions, and of answers.
    pub fn new(input: f64, output: f64) -> Price {
        Price { input, output }
    }

    /// What these tokens cost, in US dollars; `None` if the provider did not count tokens that are not free.
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

/// What calls may consume together; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// How many questions may be asked.
    pub calls: Option<u64>,
    /// Their maximum cost, in US dollars.
    pub cost_usd: Option<f64>,
}

impl Budget {
    /// This budget with at most this many calls.
    #[must_use]
    pub fn with_calls(self, calls: u64) -> Budget {
        Budget { calls: Some(calls), ..self }
    }

    /// This budget with at most this many US dollars.
    #[must_use]
    pub fn with_cost_usd(self, cost_usd: f64) -> Budget {
        Budget { cost_usd: Some(cost_usd), ..self }
    }
}
