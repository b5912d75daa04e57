//! The functions that `export!` calls: a scorer's functions in the types of the contract. Not for authors.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use serde_json::Value;

use crate::bindings::exports::scorebox::scorer::scoring as wire;
use crate::bindings::of_run::exports::scorebox::scorer::summary as wire_summary;
use crate::bindings::scorebox::scorer::types as wire_types;
use crate::part::json_text;
use crate::{
    Assertion, Case, ConfigError, Direction, Fields, Info, Meta, Scale, Score, ScoreError, Scored,
    Scorer, Severity, Summarizer, Usage,
};
use crate::{config, panic, schema};

/// The configured scorer of a component. `export!` keeps it in a thread-local static: a component has
/// one thread, and a scorer need not be `Sync`.
pub type Slot<S> = RefCell<Option<S>>;

/// What `scorebox build` passes in `SCOREBOX_CONFIG_SCHEMA` to the crate that it compiles.
///
/// It compiles a crate twice: first with the variable empty, to ask the component for the schema of its configuration,
/// then with that schema, which replaces the code that derives it. Without the variable, the component derives the
/// schema each time it needs it.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// Whether only `describe` is called, so that nothing else needs to be compiled.
    pub only_describes: bool,
    /// The schema; empty if it is not known.
    pub schema: &'static str,
}

impl Build {
    /// Reads the value of the variable.
    #[must_use]
    pub const fn of(variable: Option<&'static str>) -> Self {
        match variable {
            None => Self { only_describes: false, schema: "" },
            Some(schema) => Self { only_describes: schema.is_empty(), schema },
        }
    }
}

/// The export `describe` of a component that derives its schema.
#[must_use]
pub fn describe<S: Scorer>() -> wire::ScorerInfo {
    describe_as(S::INFO, &schema::config_schema::<S::Config>().to_string())
}

/// The export `describe` of a component that knows its schema.
#[must_use]
pub fn describe_as(info: Info, schema: &str) -> wire::ScorerInfo {
    panic::report_panics();
    let Info { id, name, version, description, reads, scale, direction, severity, threshold } =
        info;
    let description = description.map_or_else(|| schema::description(schema), str::to_owned);
    wire::ScorerInfo {
        id: id.to_owned(),
        name: name.to_owned(),
        description,
        version: version.to_owned(),
        config_schema: Some(schema.to_owned()),
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

/// The export `configure` of a component that derives its schema.
///
/// # Errors
/// The text of the `ConfigError`.
pub fn configure<S: Scorer>(slot: &Slot<S>, config: &str) -> Result<(), String> {
    panic::report_panics();
    let settled = config::settled_text(config, &schema::config_schema::<S::Config>());
    keep(slot, settled)
}

/// The export `configure` of a component that knows its schema, given as text.
///
/// # Errors
/// The text of the `ConfigError`.
pub fn configure_as<S: Scorer>(slot: &Slot<S>, config: &str, schema: &str) -> Result<(), String> {
    panic::report_panics();
    keep(slot, config::settled_texts(config, schema))
}

fn keep<S: Scorer>(slot: &Slot<S>, settled: Result<Value, ConfigError>) -> Result<(), String> {
    let scorer = config::scorer(settled);
    *slot.borrow_mut() = Some(scorer.map_err(|error| error.to_string())?);
    // Must come last: every score starts from the memory that this leaves.
    #[cfg(all(target_arch = "wasm32", feature = "allocator"))]
    crate::heap::reserve_for_a_score();
    Ok(())
}

/// The export `score`.
///
/// # Errors
/// The scorer's own, or `failed` if `configure` was never called.
// Inlined, because it is called in one place: as a separate function it would copy its arguments and its result.
#[inline(always)]
pub fn score<S: Scorer>(
    slot: &Slot<S>,
    input: wire::ScorerInput,
) -> Result<wire::ScoreResult, wire::ScorerError> {
    let slot = slot.borrow();
    let scorer = configured(&slot, "score")?;
    // The sandbox ends with this score, so freeing the case would be wasted work.
    let mut case = ManuallyDrop::new(Case::from(input));
    case.reads = Some(S::INFO.reads);
    Ok(scorer.score(&case)?.into())
}

/// The export `score` of a component that was built only to describe itself.
#[must_use]
pub fn only_describes() -> wire::ScorerError {
    wire::ScorerError::Failed("this component was built only to describe itself".to_owned())
}

/// The export `summarize`.
///
/// # Errors
/// The message of the scorer's own error, or of `failed` if `configure` was never called.
pub fn summarize<S: Summarizer>(
    slot: &Slot<S>,
    scores: Vec<wire_summary::Scored>,
) -> Result<String, String> {
    panic::report_panics();
    let scores: Vec<Scored> = scores.into_iter().map(Into::into).collect();
    let slot = slot.borrow();
    let summary = configured(&slot, "summarize").and_then(|scorer| scorer.summarize(&scores));
    summary.map(|summary| json_text(&summary)).map_err(|error| error.to_string())
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
                // The contract has no field for tokens of a cache.
                ..Usage::default()
            }),
            #[cfg(not(target_arch = "wasm32"))]
            granted: Vec::new(),
            reads: None,
        }
    }
}

impl From<Score> for wire::ScoreResult {
    #[inline(always)]
    fn from(score: Score) -> Self {
        Self {
            score: score.score,
            label: score.label,
            reason: score.reason,
            meta: score.meta.map(Meta::into_json),
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

/// Makes a type that implements [`Scorer`](crate::Scorer) the scorer of this component. Use it once in a
/// crate. In a native build it only checks that the type is a scorer.
///
/// `export!(Name, summary)` is for a [`Summarizer`](crate::Summarizer).
#[macro_export]
macro_rules! export {
    ($scorer:ty $(, $summary:ident)?) => {
        // The code that wit-bindgen generates for the exports is unsafe; it is sound by construction.
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code)]
        const _: () = {
            use $crate::bindings::exports::scorebox::scorer::scoring as wire;

            ::std::thread_local! {
                static SCORER: $crate::component::Slot<$scorer> =
                    const { $crate::component::Slot::new(::std::option::Option::None) };
            }

            const BUILD: $crate::component::Build =
                $crate::component::Build::of(::std::option_env!("SCOREBOX_CONFIG_SCHEMA"));

            struct Component;

            // A constant condition: the branch that is not taken is not compiled.
            impl wire::Guest for Component {
                fn describe() -> wire::ScorerInfo {
                    if const { BUILD.schema.is_empty() } {
                        $crate::component::describe::<$scorer>()
                    } else {
                        let info = <$scorer as $crate::Scorer>::INFO;
                        $crate::component::describe_as(info, BUILD.schema)
                    }
                }

                fn configure(
                    config: ::std::string::String,
                ) -> ::std::result::Result<(), ::std::string::String> {
                    if const { BUILD.only_describes } {
                        ::std::result::Result::Ok(())
                    } else if const { BUILD.schema.is_empty() } {
                        SCORER.with(|slot| $crate::component::configure(slot, &config))
                    } else {
                        SCORER.with(|slot| {
                            $crate::component::configure_as(slot, &config, BUILD.schema)
                        })
                    }
                }

                #[inline(always)]
                fn score(
                    input: wire::ScorerInput,
                ) -> ::std::result::Result<wire::ScoreResult, wire::ScorerError> {
                    if const { BUILD.only_describes } {
                        ::std::result::Result::Err($crate::component::only_describes())
                    } else {
                        SCORER.with(|slot| $crate::component::score(slot, input))
                    }
                }
            }

            $crate::bindings::export!(Component with_types_in $crate::bindings);
            $($crate::__export_of_run!(Component, SCORER, BUILD, $summary);)?
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
    ($component:ident, $scorer:ident, $build:ident, summary) => {
        impl $crate::bindings::of_run::exports::scorebox::scorer::summary::Guest for $component {
            fn summarize(
                scores: ::std::vec::Vec<
                    $crate::bindings::of_run::exports::scorebox::scorer::summary::Scored,
                >,
            ) -> ::std::result::Result<::std::string::String, ::std::string::String> {
                if const { $build.only_describes } {
                    ::std::result::Result::Ok(::std::string::String::new())
                } else {
                    $scorer.with(|slot| $crate::component::summarize(slot, scores))
                }
            }
        }

        $crate::bindings::of_run::export_summary!(
            $component with_types_in $crate::bindings::of_run
        );
    };
}

/// The matching check in a native build.
#[doc(hidden)]
#[macro_export]
macro_rules! __is_exported_for_the_run {
    ($scorer:ty, summary) => {
        fn is_a_summarizer<S: $crate::Summarizer>() {}
        is_a_summarizer::<$scorer>();
    };
}
