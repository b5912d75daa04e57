//! The bindings that wasmtime generates from `wit/`, and conversions to the engine's own types. Only `sandbox` uses the
//! generated types.

use wasmtime::component::{ComponentType, Lower};

use super::{
    Assertion, Direction, Field, Fields, LogLevel, Scale, ScoreResult, ScoredRow, ScorerError,
    ScorerInfo, ScorerInput, Severity, Usage,
};
use crate::judge::{Generation, Message, Recording, Reply, Request, Role, TokenUsage};

mod generated {
    #![allow(missing_docs, clippy::pedantic)]
    wasmtime::component::bindgen!({
        path: "wit/0.1.0",
        inline: "
            package scorebox:host;

            world scorer-of-any-kind {
                include scorebox:scorer/workspace-scorer@0.1.0;
                include scorebox:scorer/judging-scorer@0.1.0;
            }
        ",
        world: "scorebox:host/scorer-of-any-kind",
        imports: {
            "scorebox:scorer/judge": trappable,
            "scorebox:scorer/embedder": trappable,
        },
        exports: { default: async },
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(crate) use generated::exports::scorebox::scorer::scoring as wire;
pub(crate) use generated::scorebox::scorer::{
    embedder as wire_embedder, judge as wire_judge, log as wire_log, types as wire_types,
    workspace as wire_workspace,
};
pub(crate) use generated::{ScorerOfAnyKind as Scorer, ScorerOfAnyKindIndices as ScorerIndices};

/// The record `scored` of the interface `summary`, which is not in the generated bindings, because not every scorer
/// exports it.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct WireScored<'a> {
    #[component(name = "case-id")]
    case_id: &'a str,
    score: Option<f64>,
    label: Option<&'a str>,
    meta: Option<&'a str>,
}

impl<'a> From<&'a ScoredRow> for WireScored<'a> {
    fn from(row: &'a ScoredRow) -> WireScored<'a> {
        WireScored {
            case_id: &row.case_id,
            score: row.score,
            label: row.label.as_deref(),
            meta: row.meta.as_deref(),
        }
    }
}

impl From<wire_types::Fields> for Fields {
    fn from(wire: wire_types::Fields) -> Fields {
        use wire_types::Fields as Wire;
        [
            (Wire::INPUT, Field::Input),
            (Wire::GROUND_TRUTH, Field::GroundTruth),
            (Wire::CONTEXT, Field::Context),
            (Wire::LATENCY, Field::Latency),
            (Wire::OUTPUT_SCHEMA, Field::OutputSchema),
            (Wire::TRACE, Field::Trace),
            (Wire::USAGE, Field::Usage),
            (Wire::METADATA, Field::Metadata),
            (Wire::BASELINE, Field::Baseline),
        ]
        .into_iter()
        .filter(|(flag, _)| wire.contains(*flag))
        .map(|(_, field)| field)
        .collect()
    }
}

impl<'a> From<ScorerInput<'a>> for wire::ScorerInput<'a> {
    fn from(input: ScorerInput<'a>) -> wire::ScorerInput<'a> {
        let json = |field| input.json(field);
        wire::ScorerInput {
            output: input.output,
            input: json(Field::Input),
            ground_truth: json(Field::GroundTruth),
            context: json(Field::Context),
            latency_ms: input.latency_ms,
            output_schema: json(Field::OutputSchema),
            trace: json(Field::Trace),
            usage: input.usage.map(Into::into),
            metadata: json(Field::Metadata),
            baseline: json(Field::Baseline),
        }
    }
}

impl From<Usage> for wire_types::Usage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            total_tokens: usage.total_tokens,
            cost_usd: usage.cost_usd,
        }
    }
}

impl From<wire_types::Severity> for Severity {
    fn from(wire: wire_types::Severity) -> Severity {
        match wire {
            wire_types::Severity::Gate => Severity::Gate,
            wire_types::Severity::Soft => Severity::Soft,
        }
    }
}

impl From<wire::ScorerInfo> for ScorerInfo {
    fn from(wire: wire::ScorerInfo) -> ScorerInfo {
        ScorerInfo {
            id: wire.id,
            name: wire.name,
            description: wire.description,
            version: wire.version,
            config_schema: wire.config_schema,
            scale: match wire.scale {
                wire_types::Scale::Unit => Scale::Unit,
                wire_types::Scale::Points => Scale::Points,
            },
            direction: match wire.direction {
                wire_types::Direction::HigherIsBetter => Direction::HigherIsBetter,
                wire_types::Direction::LowerIsBetter => Direction::LowerIsBetter,
            },
            reads: wire.reads.into(),
            severity: wire.severity.into(),
            threshold: wire.threshold,
        }
    }
}

impl From<wire::ScoreResult> for ScoreResult {
    fn from(wire: wire::ScoreResult) -> ScoreResult {
        let assertions = wire.assertions.into_iter().map(|assertion| Assertion {
            name: assertion.name,
            score: assertion.score,
            severity: assertion.severity.map(Into::into),
            threshold: assertion.threshold,
            reason: assertion.reason,
        });
        ScoreResult {
            score: wire.score,
            label: wire.label,
            reason: wire.reason,
            meta: wire.meta,
            assertions: assertions.collect(),
        }
    }
}

impl From<wire::ScorerError> for ScorerError {
    fn from(wire: wire::ScorerError) -> ScorerError {
        match wire {
            wire::ScorerError::InvalidInput(message) => ScorerError::InvalidInput(message),
            wire::ScorerError::Failed(message) => ScorerError::Failed(message),
        }
    }
}

impl From<wire_judge::Request> for Request {
    fn from(wire: wire_judge::Request) -> Request {
        let messages = wire.messages.into_iter().map(|message| Message {
            role: match message.role {
                wire_judge::Role::User => Role::User,
                wire_judge::Role::Assistant => Role::Assistant,
            },
            text: message.text,
        });
        Request::Generate {
            generation: Generation {
                model: String::new(),
                system: wire.system,
                messages: messages.collect(),
                response_schema: wire.response_schema,
                temperature: wire.temperature,
                max_output_tokens: wire.max_output_tokens,
                extra_body: Default::default(),
                sample: wire.sample,
            },
            model: wire.model,
        }
    }
}

impl From<&Recording> for wire_judge::Response {
    fn from(recording: &Recording) -> wire_judge::Response {
        let (text, truncated) = match &recording.reply {
            Reply::Text { text, truncated } => (text.clone(), *truncated),
            Reply::Vectors(_) => Default::default(),
        };
        let TokenUsage { input_tokens, output_tokens } = recording.usage;
        wire_judge::Response {
            text,
            truncated,
            model: recording.model.clone(),
            usage: wire_types::Usage {
                input_tokens,
                output_tokens,
                total_tokens: None,
                cost_usd: recording.cost_usd,
            },
        }
    }
}

impl From<wire_log::Level> for LogLevel {
    fn from(wire: wire_log::Level) -> LogLevel {
        match wire {
            wire_log::Level::Debug => LogLevel::Debug,
            wire_log::Level::Info => LogLevel::Info,
            wire_log::Level::Warn => LogLevel::Warn,
            wire_log::Level::Error => LogLevel::Error,
        }
    }
}
