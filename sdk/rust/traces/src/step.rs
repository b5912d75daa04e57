//! What a trace consists of. Nothing here reads JSON or judges.

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
    /// Tokens and cost, if the trace states them: at the first step of a model's answer.
    pub usage: Option<Usage>,
}

/// What a step is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum StepKind {
    /// A message.
    Message {
        /// Who said it.
        role: Role,
        /// The text, without tool calls and reasoning.
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
    /// The run asks a person for an answer or for permission.
    InputRequest(InputRequest),
    /// An error that is not a tool's result.
    Error {
        /// What went wrong.
        message: String,
    },
    /// Something that the trace names and that fits no other kind.
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
    /// The role that a trace's word means, in any case.
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

    /// The role as a word.
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
    /// The status as a word.
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
    /// The id by which results refer to it. Traces reuse ids, so it may not be unique.
    pub id: Option<String>,
    /// The tool, as the trace names it; `unknown` for a result that belongs to no call.
    pub name: String,
    /// The arguments; an empty object if the trace states none. The text if they should be JSON and are not.
    pub arguments: Value,
    /// Why the arguments are not JSON.
    pub arguments_error: Option<String>,
    /// What the tool answered; `None` if the trace has no result.
    pub result: Option<Value>,
    /// How it ended, only as the trace itself states: most formats do not mark failures. See [`status`](Self::status).
    pub stated_status: Status,
    /// What went wrong, if the trace states it next to the result.
    pub error: Option<String>,
    /// Whether this is a result that belongs to no call: the tool and the arguments are then not known.
    pub is_orphan: bool,
    /// What the tool does, if the trace itself states it with one of the words of [`ToolCall::canonical_name`].
    pub kind: Option<&'static str>,
}

impl ToolCall {
    /// How the call ended: what the trace states or, if it states nothing, what the result shows. A result reports a
    /// failure if it is a text that begins like an error message (`Error: …`, `Error executing …`, a traceback), an
    /// object with an `error`, `isError: true`, `success: false` or a `status` that says so, or if it has an exit code
    /// other than 0 (in a text, on the first line).
    #[must_use]
    pub fn status(&self) -> Status {
        match (self.stated_status, &self.result) {
            (Status::Unknown, Some(result)) if names::reports_failure(result) => Status::Failed,
            (Status::Unknown, Some(_)) => Status::Succeeded,
            (status, _) => status,
        }
    }

    /// The exit code in the result of a call that runs a command.
    #[must_use]
    pub fn exit_code(&self) -> Option<i64> {
        names::exit_code(self.result.as_ref()?)
    }

    /// The result in words, or why there is none.
    #[must_use]
    pub fn result_text(&self) -> Option<Cow<'_, str>> {
        if let Some(error) = &self.error {
            return Some(Cow::Borrowed(error));
        }
        self.result.as_ref().filter(|result| !result.is_null()).map(names::words)
    }

    /// What the tool does, in a word that is the same for every agent: `shell`, `file_read`, `file_write`, `file_edit`,
    /// `web_fetch`, `web_search`, `glob`, `grep`, `list_dir`, `agent_task`. `None` for every other tool.
    #[must_use]
    pub fn canonical_name(&self) -> Option<&'static str> {
        self.kind.or_else(|| names::canonical(&self.name))
    }

    /// Whether this is a call of the tool `name`, by its own name or its canonical one.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.canonical_name() == Some(name)
    }

    /// Whether the tool is the one that a text names, as in [`ToolCall::is`], or a regular expression matches in its
    /// own name.
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
    /// The id by which its result refers to it.
    pub id: Option<String>,
    /// The agent's name.
    pub name: String,
    /// Where the agent runs, if remotely.
    pub remote_url: Option<String>,
    /// Its input, if the trace states it.
    pub input: Option<Value>,
    /// What it answered; `None` if the trace has no result.
    pub result: Option<Value>,
    /// How it ended, only as the trace itself states; see [`Trace::ending_of`](crate::Trace::ending_of). If a tool call
    /// started the agent, the result is in that call.
    pub status: Status,
    /// What went wrong, if the trace states it.
    pub error: Option<String>,
    /// The tool call that started it: an index into the steps.
    pub call: Option<usize>,
    /// Whether this is the run's own agent, which nothing in the trace called.
    pub is_root: bool,
}

/// A request to a person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InputRequest {
    /// The id by which answers refer to it.
    pub id: Option<String>,
    /// The question.
    pub prompt: Option<String>,
    /// The action that needs permission, such as a tool's name.
    pub action: Option<String>,
}

/// One message of the run, or one tool result: the source of the steps.
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
    /// `message`, `thinking`, `action.called`, `action.result`, `subagent.called`, `subagent.completed`,
    /// `skill.loaded`, `input.requested`, `input.answered`, `compaction`, `error`; or the trace's own name for anything
    /// else.
    pub name: Cow<'static, str>,
    /// The trace's own name for the item that it comes from: its `type`, `event` or `role`. Only the first event of an
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

    /// Whether it has this name: the common one, or the trace's own.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name == name || self.raw_name.as_deref() == Some(name)
    }

    /// As [`Event::is`], or whether a regular expression matches in one of the two names.
    #[must_use]
    pub fn is_named(&self, pattern: &TextPattern) -> bool {
        pattern.is(&self.name) || self.raw_name.as_deref().is_some_and(|name| pattern.is(name))
    }
}

/// How the whole run ended, as the trace states it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It ended normally.
    Completed,
    /// It ended early, with the reason if there is one.
    Failed(Option<String>),
    /// It waits for a person.
    Waiting,
    /// It has not ended; the trace's word for that.
    Unfinished(String),
    /// The trace has a word for it that is not known; the word.
    Unknown(String),
}
