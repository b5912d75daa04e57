//! What `export!` calls: a scorer's functions, in the types of the contract. Not for authors.

use std::cell::RefCell;

use crate::bindings::exports::scorebox::scorer::scoring as wire;
use crate::bindings::of_run::exports::scorebox::scorer::summary as wire_summary;
use crate::bindings::scorebox::scorer::types as wire_types;
use crate::{
    Assertion, Case, Direction, Fields, Info, Scale, Score, ScoreError, Scored, Scorer, Severity,
    Summarizer, Usage,
};
use crate::{config, panic, schema};

/// The configured scorer of a component. `export!` keeps it in a thread-local static: a component has
/// one thread, and a scorer need not be `Sync`.
pub type Slot<S> = RefCell<Option<S>>;

/// The export `describe`.
#[must_use]
pub fn describe<S: Scorer>() -> wire::ScorerInfo {
    panic::report_panics();
    let Info { id, name, version, description, reads, scale, direction, severity, threshold } =
        S::INFO;
    let schema = schema::config_schema::<S>();
    let description = description.or(schema::description(&schema)).unwrap_or("");
    wire::ScorerInfo {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        version: version.to_owned(),
        config_schema: Some(schema.to_string()),
        scale: match scale {
            Scale::Unit => wire_types::Scale::Unit,
            Scale::Points => wire_types::Scale::Points,
        },
        direction: match direction {
            Direction::HigherIsBetter => wire_types::Direction::HigherIsBetter,
            Direction::LowerIsBetter => wire_types::Direction::LowerIsBetter,
        },
        reads: reads.into(),
        severity: severity.into(),
        threshold,
    }
}

/// The export `configure`.
///
/// # Errors
/// The text of the `ConfigError`.
pub fn configure<S: Scorer>(slot: &Slot<S>, config: &str) -> Result<(), String> {
    panic::report_panics();
    let scorer = config::configure_text(config).map_err(|error| error.to_string())?;
    *slot.borrow_mut() = Some(scorer);
    Ok(())
}

/// The export `score`.
///
/// # Errors
/// The scorer's own, or `failed` where `configure` was never called.
pub fn score<S: Scorer>(
    slot: &Slot<S>,
    input: wire::ScorerInput,
) -> Result<wire::ScoreResult, wire::ScorerError> {
    let slot = slot.borrow();
    let scorer = configured(&slot, "score")?;
    let mut case = Case::from(input);
    case.reads = Some(S::INFO.reads);
    Ok(scorer.score(&case)?.into())
}

/// The export `summarize`.
///
/// # Errors
/// The message of the scorer's own, or of `failed` where `configure` was never called.
pub fn summarize<S: Summarizer>(
    slot: &Slot<S>,
    scores: Vec<wire_summary::Scored>,
) -> Result<String, String> {
    panic::report_panics();
    let scores: Vec<Scored> = scores.into_iter().map(Into::into).collect();
    let slot = slot.borrow();
    let summary = configured(&slot, "summarize").and_then(|scorer| scorer.summarize(&scores));
    summary.map(|summary| summary.to_string()).map_err(|error| error.to_string())
}

fn configured<'s, S>(slot: &'s Option<S>, function: &str) -> Result<&'s S, ScoreError> {
    slot.as_ref().ok_or_else(|| {
        ScoreError::failed(format!(
            "`{function}` was called before `configure`; configure once, with `{{}}` at least"
        ))
    })
}

impl From<wire_summary::Scored> for Scored {
    fn from(scored: wire_summary::Scored) -> Self {
        let wire_summary::Scored { case_id, score, label, meta } = scored;
        Self { case_id, score, label, meta }
    }
}

impl From<wire::ScorerInput> for Case {
    fn from(input: wire::ScorerInput) -> Self {
        Self {
            output: input.output,
            input: input.input,
            ground_truth: input.ground_truth,
            context: input.context,
            output_schema: input.output_schema,
            trace: input.trace,
            metadata: input.metadata,
            baseline: input.baseline,
            latency_ms: input.latency_ms,
            usage: input.usage.map(|usage| Usage {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                total_tokens: usage.total_tokens,
                cost_usd: usage.cost_usd,
            }),
            granted: Vec::new(),
            reads: None,
        }
    }
}

impl From<Score> for wire::ScoreResult {
    fn from(score: Score) -> Self {
        Self {
            score: score.score,
            label: score.label,
            reason: score.reason,
            meta: score.meta.map(|meta| meta.to_string()),
            assertions: score.assertions.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Assertion> for wire_types::Assertion {
    fn from(assertion: Assertion) -> Self {
        Self {
            name: assertion.name,
            score: assertion.score,
            severity: assertion.severity.map(Into::into),
            threshold: assertion.threshold,
            reason: assertion.reason,
        }
    }
}

impl From<ScoreError> for wire::ScorerError {
    fn from(error: ScoreError) -> Self {
        match error {
            ScoreError::InvalidInput(message) => Self::InvalidInput(message),
            ScoreError::Failed(message) => Self::Failed(message),
        }
    }
}

impl From<Severity> for wire_types::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Gate => Self::Gate,
            Severity::Soft => Self::Soft,
        }
    }
}

impl From<Fields> for wire_types::Fields {
    fn from(fields: Fields) -> Self {
        let flags = [
            (Fields::INPUT, Self::INPUT),
            (Fields::GROUND_TRUTH, Self::GROUND_TRUTH),
            (Fields::CONTEXT, Self::CONTEXT),
            (Fields::LATENCY, Self::LATENCY),
            (Fields::OUTPUT_SCHEMA, Self::OUTPUT_SCHEMA),
            (Fields::TRACE, Self::TRACE),
            (Fields::USAGE, Self::USAGE),
            (Fields::METADATA, Self::METADATA),
            (Fields::BASELINE, Self::BASELINE),
        ];
        let named = flags.into_iter().filter(|(field, _)| fields.contains(*field));
        named.fold(Self::empty(), |all, (_, flag)| all | flag)
    }
}

/// Makes a type that implements [`Scorer`](crate::Scorer) the scorer of this component. Once in a
/// crate. In a native build it only checks that the type is a scorer.
///
/// `export!(Name, summary)` is for a [`Summarizer`](crate::Summarizer).
#[macro_export]
macro_rules! export {
    ($scorer:ty $(, $summary:ident)?) => {
        // What wit-bindgen writes for the exports is unsafe, and sound by its making.
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code)]
        const _: () = {
            ::std::thread_local! {
                static SCORER: $crate::component::Slot<$scorer> =
                    const { $crate::component::Slot::new(::std::option::Option::None) };
            }

            struct Component;

            impl $crate::bindings::exports::scorebox::scorer::scoring::Guest for Component {
                fn describe() -> $crate::bindings::exports::scorebox::scorer::scoring::ScorerInfo {
                    $crate::component::describe::<$scorer>()
                }

                fn configure(
                    config: ::std::string::String,
                ) -> ::std::result::Result<(), ::std::string::String> {
                    SCORER.with(|slot| $crate::component::configure(slot, &config))
                }

                fn score(
                    input: $crate::bindings::exports::scorebox::scorer::scoring::ScorerInput,
                ) -> ::std::result::Result<
                    $crate::bindings::exports::scorebox::scorer::scoring::ScoreResult,
                    $crate::bindings::exports::scorebox::scorer::scoring::ScorerError,
                > {
                    SCORER.with(|slot| $crate::component::score(slot, input))
                }
            }

            $crate::bindings::export!(Component with_types_in $crate::bindings);
            $($crate::__export_of_run!(Component, SCORER, $summary);)?
        };

        #[cfg(not(target_arch = "wasm32"))]
        const _: fn() = || {
            fn is_a_scorer<S: $crate::Scorer>() {}
            is_a_scorer::<$scorer>();
            $($crate::__is_exported_for_the_run!($scorer, $summary);)?
        };
    };
}

/// The second part of `export!`, for a component that summarizes.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_of_run {
    ($component:ident, $scorer:ident, summary) => {
        impl $crate::bindings::of_run::exports::scorebox::scorer::summary::Guest for $component {
            fn summarize(
                scores: ::std::vec::Vec<
                    $crate::bindings::of_run::exports::scorebox::scorer::summary::Scored,
                >,
            ) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                $scorer.with(|slot| $crate::component::summarize(slot, scores))
            }
        }

        $crate::bindings::of_run::export_summary!(
            $component with_types_in $crate::bindings::of_run
        );
    };
}

/// In a native build, the check that goes with it.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_exported_for_the_run {
    ($scorer:ty, summary) => {
        fn is_a_summarizer<S: $crate::Summarizer>() {}
        is_a_summarizer::<$scorer>();
    };
}
