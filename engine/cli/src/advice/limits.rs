//! How to raise a limit, or what to do about one that is fixed: keys of the suite file and options.

use scorebox::advice::{Bound, Limit};

use super::quoted;

/// The name of a limit in a suite file, in `limits`.
pub(super) fn key(limit: Limit) -> Option<&'static str> {
    Some(match limit {
        Limit::Fuel => "fuel",
        Limit::Memory => "memory",
        Limit::Timeout => "timeout",
        Limit::Reason => "reason",
        Limit::Meta => "meta",
        Limit::Assertions => "assertions",
        Limit::Log => "log",
        _ => return None,
    })
}

/// An example value of a limit, as a user writes it.
fn value(limit: Limit) -> &'static str {
    match limit {
        Limit::Memory | Limit::Meta => "…MiB",
        Limit::Timeout => "…s",
        Limit::Reason | Limit::Log => "…KiB",
        _ => "…",
    }
}

/// The option that sets a limit.
pub(super) fn option(limit: Limit) -> Option<String> {
    Some(match limit {
        Limit::Fuel | Limit::Memory | Limit::Timeout => format!("--{}", key(limit)?),
        Limit::CompileTime => "--compile-timeout".into(),
        Limit::CompileMemory => "--compile-memory".into(),
        Limit::MemoryBudget => "--memory-budget".into(),
        Limit::JudgeBudget => "--judge-budget".into(),
        _ => format!("--limit {}={}", key(limit)?, value(limit)),
    })
}

/// How to set a limit of one score: in the suite file, or with an option.
fn setting(limit: Limit) -> Option<String> {
    let (key, value) = (key(limit)?, value(limit));
    let quote = if value == "…" { "" } else { "\"" };
    let option = option(limit)?;
    Some(format!("`limits = {{ {key} = {quote}{value}{quote} }}` in the suite, or {option}"))
}

/// How to raise a limit.
pub(super) fn raise(limit: Limit) -> Option<String> {
    Some(match limit {
        Limit::Timeout => format!("if it needs longer, raise it: {}", setting(limit)?),
        Limit::Fuel | Limit::Memory => format!("if it needs more, raise it: {}", setting(limit)?),
        Limit::Assertions => {
            format!("if that many are wanted, raise the limit: {}", setting(limit)?)
        }
        Limit::JudgeBudget => {
            "if it may cost more, raise that budget: `budget` of the judge or of the scorer in the suite, or \
             --judge-budget"
                .into()
        }
        Limit::JudgeTimeout => {
            "if the answer is worth waiting for, raise `timeout` of the judge (one attempt) or of the \
             scorer's `judge` (all of a score) in the suite"
                .into()
        }
        _ if key(limit).is_some() => {
            format!("if that much is wanted, raise the limit: {}", setting(limit)?)
        }
        _ => format!("raise the limit: {}", option(limit)?),
    })
}

/// What to do about an answer that is longer than these limits.
pub(super) fn shorten(limits: &[Limit]) -> Option<String> {
    Some(match limits {
        [] => "have the scorer shorten it; this limit is fixed".into(),
        [limit] => format!("have the scorer shorten it, or raise the limit: {}", setting(*limit)?),
        [first, others @ ..] => {
            let names = others.iter().map(|limit| key(*limit)).collect::<Option<Vec<_>>>()?;
            format!(
                "have the scorer shorten it, or raise the limit of what is long: {}; likewise {}; the \
                 limit of a label is fixed",
                setting(*first)?,
                quoted(&names, ", ")
            )
        }
    })
}

/// The explanation of a bound that cannot be raised.
pub(super) fn fixed(bound: Bound) -> Option<String> {
    let (most, what) = match bound {
        Bound::Shape { core_instances, memories, tables, table_elements, .. } => {
            return Some(format!(
                "a sandbox has at most {core_instances} core instances, {memories} memories, {tables} \
                 tables of {table_elements} elements; these bounds are fixed"
            ));
        }
        Bound::Handles(most) => (most, "open handles"),
        Bound::PrintedBytes(most) => (most, "bytes of standard output or error"),
        Bound::RandomBytes(most) => (most, "random bytes of one call"),
        _ => return None,
    };
    Some(format!("a sandbox has at most {most} {what}; this bound is fixed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_raised_where_it_can_be_set() {
        let said = |limit| raise(limit).unwrap();
        assert_eq!(
            said(Limit::Memory),
            "if it needs more, raise it: `limits = { memory = \"…MiB\" }` in the suite, or --memory"
        );
        assert_eq!(
            said(Limit::Assertions),
            "if that many are wanted, raise the limit: `limits = { assertions = … }` in the suite, or \
             --limit assertions=…"
        );
        assert_eq!(said(Limit::CompileTime), "raise the limit: --compile-timeout");
    }
}
