//! One question to a model, and its answer. How it is asked is up to the host.

use scorebox_sdk::Usage;

/// Whose turn it is in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The side that asks.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// One question to a model. What it leaves open is decided by the suite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// The system prompt.
    pub system: Option<String>,
    /// The conversation so far, oldest message first; the last one is the user's.
    pub messages: Vec<Message>,
    /// A JSON Schema that the answer should match, as text. It describes an object; models write its keys in this
    /// order.
    pub schema: Option<String>,
    /// The model, if not the suite's.
    pub model: Option<String>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// The maximum number of tokens of the answer.
    pub max_output_tokens: Option<u32>,
    /// Which independent answer to the same question this is: 0, 1, 2 …
    pub sample: u32,
}

impl Question {
    /// A question with one message.
    pub fn new(text: impl Into<String>) -> Self {
        let message = Message { role: Role::User, text: text.into() };
        Self { messages: vec![message], ..Self::default() }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// Sets the JSON Schema of the answer, such as one from [`schema`](crate::schema).
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Sets the model, if one is given, in place of the suite's.
    #[must_use]
    pub fn model(mut self, model: Option<String>) -> Self {
        self.model = model;
        self
    }

    /// Sets the temperature, 0 to 2, in place of the suite's.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the limit of tokens in place of the suite's.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// The same question, for one more independent answer.
    #[must_use]
    pub fn sample(mut self, sample: u32) -> Self {
        self.sample = sample;
        self
    }

    /// The conversation, continued with the model's answer and a reply to it.
    #[must_use]
    pub fn continued(&self, answer: impl Into<String>, reply: impl Into<String>) -> Self {
        let mut next = self.clone();
        next.messages.push(Message { role: Role::Assistant, text: answer.into() });
        next.messages.push(Message { role: Role::User, text: reply.into() });
        next
    }
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Whether it ended at the limit of tokens.
    pub truncated: bool,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// What the answer consumed.
    pub usage: Usage,
    /// Parts of its text that also occur in a text of the case, and may be quotations: no verdict is read from them
    /// unless the whole answer is one. [`ask`](crate::ask) and [`ask_all`](crate::ask_all) fill them in.
    pub quotations: Vec<String>,
}

impl From<&str> for Answer {
    /// A complete answer with this text.
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}
