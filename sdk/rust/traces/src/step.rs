//! What a trace is made of. Nothing here reads JSON or judges.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::names;
use crate::pattern::TextPattern;
use scorebox_sdk::Usage;

/// One thing that happened in a run, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// What happened.
    pub kind: StepKind,
    /// The turn that it belongs to: an index into [`Trace::turns`](crate::Trace::turns).
    pub turn: usize,
    /// The step inside which it happened (an agent, a tool), if the trace says so.
    pub parent: Option<usize>,
    /// When it began, in milliseconds since 1970, if the trace says so.
    pub start_ms: Option<f64>,
    /// How long it took, in milliseconds, if the trace says so.
    pub duration_ms: Option<f64>,
    /// Tokens and cost, if the trace says so: at the first step of a model's answer.
    pub usage: Option<Usage>,
}

/// What a step is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StepKind {
    /// A message.
    Message {
        /// Who.
        role: Role,
        /// What, without tool calls and reasoning.
        text: String,
    },
    /// The model's thinking, if it was recorded.
    Reasoning {
        /// The thought, or its summary.
        text: String,
    },
    /// A tool was called.
    ToolCall(ToolCall),
    /// Another agent was asked to do something.
    SubAgent(SubAgentCall),
    /// A skill's instructions were loaded.
    SkillLoad {
        /// The skill's name.
        skill: String,
        /// The tool call that loaded it: an index into the steps.
        call: Option<usize>,
    },
    /// The run asks a person for something: an answer, or leave to act.
    InputRequest(InputRequest),
    /// An error that is not a tool's result.
    Error {
        /// What went wrong.
        message: String,
    },
    /// Something that the trace names and that no other kind fits.
    Other {
        /// What the trace calls it.
        name: String,
    },
}

/// Who speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// The instructions of the run (`system`, `developer`).
    System,
    /// The user (`user`, `human`).
    User,
    /// The agent (`assistant`, `ai`, `model`, `agent`).
    Assistant,
    /// A tool that answers (`tool`, `function`).
    Tool,
    /// Anyone else, by the name that the trace gives.
    Other(String),
}

impl Role {
    /// The role that a trace's word means, whatever its case.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "system" | "developer" => Self::System,
            "user" | "human" => Self::User,
            "assistant" | "ai" | "model" | "agent" => Self::Assistant,
            "tool" | "function" | "environment" => Self::Tool,
            _ => Self::Other(name.to_owned()),
        }
    }

    /// The role in a word.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other(name) => name,
        }
    }
}

/// How a call ended, as far as the trace says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did what it was asked to do.
    #[serde(alias = "completed")]
    Succeeded,
    /// It failed.
    Failed,
    /// A person or a rule refused it.
    Rejected,
    /// The trace does not say: there is no result, or its format does not mark failures.
    #[default]
    #[serde(alias = "pending")]
    Unknown,
}

impl Status {
    /// The status in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

/// One call of a tool, with its result.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ToolCall {
    /// What results refer to it by. Traces reuse ids: it need not be the only one.
    pub id: Option<String>,
    /// The tool, as the trace names it; `unknown` for a result that belongs to no call.
    pub name: String,
    /// The arguments; an empty object if the trace names none. If they should be JSON and are
    /// not, the text.
    pub arguments: Value,
    /// Why the arguments are not JSON.
    pub arguments_error: Option<String>,
    /// What the tool answered; `None` if the trace has no result.
    pub result: Option<Value>,
    /// How it ended, only if the trace itself says so: most formats mark no failures. See
    /// [`status`](Self::status).
    pub stated_status: Status,
    /// What went wrong, if the trace states it beside the result.
    pub error: Option<String>,
    /// This is a result that belongs to no call: what was called, and with what, is not known.
    pub is_orphan: bool,
    /// What the tool does, if the trace itself says it in one of the words of
    /// [`ToolCall::canonical_name`].
    pub kind: Option<&'static str>,
}

impl ToolCall {
    /// How the call ended: what the trace states or, if it states nothing, what the result shows.
    /// A result reports a failure if it is text that begins as an error message does (`Error: …`,
    /// `Error executing …`, a traceback), an object with an `error`, `isError: true`, `success: false`
    /// or a `status` that says so, or if it has an exit code other than 0, which a text has in its
    /// first line.
    #[must_use]
    pub fn status(&self) -> Status {
        match (self.stated_status, &self.result) {
            (Status::Unknown, Some(result)) if names::reports_failure(result) => Status::Failed,
            (Status::Unknown, Some(_)) => Status::Succeeded,
            (status, _) => status,
        }
    }

    /// The exit code that the result has, for calls that run a command.
    #[must_use]
    pub fn exit_code(&self) -> Option<i64> {
        names::exit_code(self.result.as_ref()?)
    }

    /// What the result says in words, or why there is none.
    #[must_use]
    pub fn result_text(&self) -> Option<Cow<'_, str>> {
        if let Some(error) = &self.error {
            return Some(Cow::Borrowed(error));
        }
        self.result.as_ref().filter(|result| !result.is_null()).map(names::words)
    }

    /// What the tool does, in a word that is the same for every agent: `shell`, `file_read`,
    /// `file_write`, `file_edit`, `web_fetch`, `web_search`, `glob`, `grep`, `list_dir`,
    /// `agent_task`. None for every other tool.
    #[must_use]
    pub fn canonical_name(&self) -> Option<&'static str> {
        self.kind.or_else(|| names::canonical(&self.name))
    }

    /// Whether this is a call of the tool `name`: its own name, or its canonical one.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.canonical_name() == Some(name)
    }

    /// Whether the tool is the one that a text names, as in [`ToolCall::is`], or one in whose own
    /// name a regular expression matches.
    #[must_use]
    pub fn is_named(&self, pattern: &TextPattern) -> bool {
        match pattern {
            TextPattern::Text(name) => self.is(name),
            TextPattern::Regex(regex) => regex.is_match(&self.name),
        }
    }
}

/// A call of another agent, with its result.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SubAgentCall {
    /// What its result refers to it by.
    pub id: Option<String>,
    /// The agent's name.
    pub name: String,
    /// Where the agent runs, if elsewhere.
    pub remote_url: Option<String>,
    /// What it was asked, if the trace says so.
    pub input: Option<Value>,
    /// What it answered; `None` if the trace has no result.
    pub result: Option<Value>,
    /// How it ended, only if the trace itself says so; see [`Trace::ending_of`](crate::Trace::ending_of). An agent that
    /// a tool call started has its result there.
    pub status: Status,
    /// What went wrong, if the trace states it.
    pub error: Option<String>,
    /// The tool call that it was made by: an index into the steps.
    pub call: Option<usize>,
    /// This is the run's own agent, which nothing in the trace called.
    pub is_root: bool,
}

/// A request to a person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InputRequest {
    /// What answers refer to it by.
    pub id: Option<String>,
    /// The question.
    pub prompt: Option<String>,
    /// What leave is asked for, such as a tool's name.
    pub action: Option<String>,
}

/// One message of the run, or one answer of a tool: what the steps came from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// Whose it is.
    pub role: Role,
    /// The tool calls in it: indices into the steps.
    pub calls: Vec<usize>,
}

/// One event of the run's stream. A tool call makes two: the call, and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// `message`, `thinking`, `action.called`, `action.result`, `subagent.called`,
    /// `subagent.completed`, `skill.loaded`, `input.requested`, `input.answered`, `compaction`,
    /// `error`; or what the trace calls it, if it is something else.
    pub name: Cow<'static, str>,
    /// What the trace itself calls the item that it comes from: its `type`, `event` or `role`. Only the first event of an
    /// item has it.
    pub raw_name: Option<String>,
}

impl Event {
    /// The common types, which every kind of trace is mapped to.
    pub const COMMON: [&'static str; 11] = [
        "message",
        "thinking",
        "action.called",
        "action.result",
        "subagent.called",
        "subagent.completed",
        "skill.loaded",
        "input.requested",
        "input.answered",
        "compaction",
        "error",
    ];

    /// Whether it goes by this name: the common one, or the trace's own.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.raw_name.as_deref() == Some(name)
    }

    /// As [`Event::is`], or a regular expression matches in one of the two.
    #[must_use]
    pub fn is_named(&self, pattern: &TextPattern) -> bool {
        pattern.is(&self.name) || self.raw_name.as_deref().is_some_and(|name| pattern.is(name))
    }
}

/// How the whole run ended, as the trace states it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It came to its end.
    Completed,
    /// It broke off, with the reason if there is one.
    Failed(Option<String>),
    /// It waits for a person.
    Waiting,
    /// It has not ended, in the trace's word.
    Unfinished(String),
    /// The trace has a word for it that is not known.
    Unknown(String),
}
