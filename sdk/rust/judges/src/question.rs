//! One question to a model, and its answer. How it is asked is up to the host.

use scorebox_sdk::Usage;

/// Whose turn it is in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The one who asks.
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

/// One question to a model. What is left open is the suite's to decide.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// The system prompt.
    pub system: Option<String>,
    /// What was said so far, oldest first; the last one is the user's.
    pub messages: Vec<Message>,
    /// A JSON Schema that the answer should match, as text: an object, whose keys models answer in its order.
    pub schema: Option<String>,
    /// The model, if it is not the suite's.
    pub model: Option<String>,
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// The most tokens to answer with.
    pub max_output_tokens: Option<u32>,
    /// Which independent answer to the same question this is: 0, 1, 2 …
    pub sample: u32,
}

impl Question {
    /// A question of one message.
    pub fn new(text: impl Into<String>) -> Self {
        let message = Message { role: Role::User, text: text.into() };
        Self { messages: vec![message], ..Self::default() }
    }

    /// With a system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = Some(system.into());
        self
    }

    /// With a JSON Schema of the answer, such as one of [`schema`](crate::schema).
    #[must_use]
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// To this model, if there is one, in place of the suite's.
    #[must_use]
    pub fn model(mut self, model: Option<String>) -> Self {
        self.model = model;
        self
    }

    /// With a temperature, 0 to 2, in place of the suite's.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// With a limit of tokens in place of the suite's.
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

    /// The conversation, continued with what the model answered and what is said to that.
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
    /// What it said.
    pub text: String,
    /// Whether it ended because it had no more tokens.
    pub truncated: bool,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// What the answer consumed.
    pub usage: Usage,
    /// What of its text stands in a text of the case too, and may be a quotation: no verdict is read out of it unless the whole
    /// answer is that. [`ask`](crate::ask) and [`ask_all`](crate::ask_all) find it.
    pub quotations: Vec<String>,
}

impl From<&str> for Answer {
    /// A whole answer of these words.
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}
