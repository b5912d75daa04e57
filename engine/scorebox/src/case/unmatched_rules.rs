//! Which rules of a mapping have found nothing in any case so far, with the closest pointers that exist. It applies no
//! rules; `line` does.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    key::Key,
    mapping::Mapping,
    members::{each_member, element},
    pointer::{Pointer, array_index, escaped},
    record::Case,
};
use crate::{
    advice::{Advice, Advised},
    suggest::Closest,
};

/// How many keys of the first case a message lists.
const LISTED_KEYS: usize = 12;
/// The longest key that the message lists, in bytes.
const LONGEST_KEY: usize = 64;

/// A rule of a [`Mapping`] that found nothing, not even `null`. Rules for `error` and `skip` need not find anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}={pointer}` finds nothing in any case{}", found(.in_first))]
#[non_exhaustive]
pub struct UnmatchedRule {
    /// The key that was mapped.
    pub key: Key,
    /// The pointer to its value.
    pub pointer: String,
    /// The place in the first case up to which the pointer leads.
    in_first: Option<InFirst>,
}

/// The content of the first case at the value up to which a pointer leads.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InFirst {
    /// The pointer to that value.
    pointer: String,
    /// The first keys of that value, and whether these are all.
    keys: Vec<String>,
    are_all: bool,
    /// The closest pointers that exist, the best first.
    closest: Vec<String>,
}

fn found(in_first: &Option<InFirst>) -> String {
    let Some(InFirst { pointer, keys, are_all, .. }) = in_first else { return String::new() };
    let place = match pointer.as_str() {
        "" => "the first".to_owned(),
        pointer => format!("`{pointer}` of the first"),
    };
    let mut keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    if keys.is_empty() {
        return format!("; {place} is empty");
    }
    if !are_all {
        keys.push("…".to_owned());
    }
    format!("; {place} has the keys {}", keys.join(", "))
}

impl Advised for UnmatchedRule {
    fn advice(&self) -> Option<Advice> {
        let closest = &self.in_first.as_ref()?.closest;
        let rules = closest.iter().map(|pointer| format!("{}={pointer}", self.key));
        (!closest.is_empty()).then(|| Advice::DidYouMean(rules.collect()))
    }
}

/// The rules that have found nothing so far. They can be read while, and after, cases are read.
#[derive(Clone, Default)]
pub struct UnmatchedRules(Arc<Mutex<Rules>>);

#[derive(Default)]
struct Rules {
    rules: Vec<(Pointer, UnmatchedRule)>,
    /// Whether a case was read.
    began: bool,
}

impl UnmatchedRules {
    pub(super) fn of(mapping: &Mapping) -> UnmatchedRules {
        let rule = |(key, pointer): &(Key, Pointer)| {
            let of_rule =
                UnmatchedRule { key: *key, pointer: pointer.as_str().to_owned(), in_first: None };
            (pointer.clone(), of_rule)
        };
        // The whole line always exists; and it is normal that no task failed and no case is skipped.
        let is_expected = |(key, pointer): &&(Key, Pointer)| {
            pointer.first().is_some() && !matches!(key, Key::Error | Key::Skip)
        };
        let rules = mapping.rules().iter().filter(is_expected);
        let rules = Rules { rules: rules.map(rule).collect(), began: false };
        UnmatchedRules(Arc::new(Mutex::new(rules)))
    }

    /// The rules that found nothing in any of the cases that were read; empty if no case was read.
    pub fn get(&self) -> Vec<UnmatchedRule> {
        let rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match rules.began {
            true => rules.rules.iter().map(|(_, unmatched)| unmatched.clone()).collect(),
            false => Vec::new(),
        }
    }

    /// Applies the rules to a case; returns whether a rule has still found nothing.
    pub(super) fn note(&self, case: &Case) -> bool {
        let mut rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = !std::mem::replace(&mut rules.began, true);
        rules.rules.retain_mut(|(pointer, unmatched)| {
            if case.raw(unmatched.key).is_some() {
                return false;
            }
            match end_of(pointer, case.json()) {
                None => false,
                Some(end) => {
                    if is_first {
                        unmatched.in_first = in_first(pointer, end);
                    }
                    true
                }
            }
        });
        !rules.rules.is_empty()
    }
}

impl fmt::Debug for UnmatchedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.get()).finish()
    }
}

/// How far a pointer leads in a line: how many of its parts lead to a value, and that value. `None` if all of them do.
fn end_of<'t>(pointer: &Pointer, line: &'t str) -> Option<(usize, &'t str)> {
    let mut value = line.trim_ascii();
    for (at, token) in pointer.tokens().iter().enumerate() {
        let next = match value.as_bytes().first() {
            Some(b'{') => member(value, token),
            Some(b'[') => array_index(token).and_then(|index| element(value, index)),
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => return Some((at, value)),
        }
    }
    None
}

fn member<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let mut found = None;
    // Errors in it were reported when the line was read.
    let _ = each_member(object, |key, value| {
        if key == name {
            found = Some(value);
        }
        Ok::<(), ()>(())
    });
    found
}

/// The content of the value up to which `pointer` leads, after `at` parts; `None` if it is not an object.
fn in_first(pointer: &Pointer, (at, value): (usize, &str)) -> Option<InFirst> {
    let tokens = pointer.tokens();
    let (before, wanted) = (&tokens[..at], &tokens[at]);
    let to = |tokens: &[String]| tokens.iter().map(|it| format!("/{}", escaped(it))).collect();
    let (mut keys, mut are_all) = (Vec::new(), true);
    let mut closest = Closest::to(wanted);
    if !value.starts_with('{') {
        return None;
    }
    let _ = each_member(value, |key, _| {
        closest.see(&key);
        if keys.len() < LISTED_KEYS && key.len() <= LONGEST_KEY {
            keys.push(key.into_owned());
        } else {
            are_all = false;
        }
        Ok::<(), ()>(())
    });
    let prefix: String = to(before);
    let behind: String = to(&tokens[at + 1..]);
    let closest = closest.names().into_iter();
    let closest = closest.map(|name| format!("{prefix}/{}{behind}", escaped(&name))).collect();
    Some(InFirst { pointer: prefix, keys, are_all, closest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Location;

    /// The messages about the rules after these lines, each with its advice.
    fn said(rules: &[&str], lines: &[&str]) -> Vec<(String, Option<Advice>)> {
        let mapping = Mapping::parse(rules).unwrap();
        let unmatched = UnmatchedRules::of(&mapping);
        for line in lines {
            let case = Case::parse(*line, 0, &mapping, Location::new("cases", 1)).unwrap();
            unmatched.note(&case);
        }
        unmatched.get().iter().map(|rule| (rule.to_string(), rule.advice())).collect()
    }

    #[test]
    fn a_rule_that_finds_nothing_is_named_with_what_was_probably_meant() {
        let line = r#"{"output":"x","timing":{"ms":1,"s/t":2}}"#;
        assert_eq!(
            said(&["latencyMs=/timing/msec"], &[line, line]),
            [(
                "`latencyMs=/timing/msec` finds nothing in any case; `/timing` of the first has \
                 the keys `ms`, `s/t`"
                    .to_owned(),
                Some(Advice::DidYouMean(vec!["latencyMs=/timing/ms".to_owned()]))
            )]
        );
        let meant = |rule: &str| said(&[rule], &[line])[0].1.clone();
        let one = |rule: &str| Some(Advice::DidYouMean(vec![rule.to_owned()]));
        assert_eq!(meant("latencyMs=/timings/ms"), one("latencyMs=/timing/ms"));
        assert_eq!(meant("latencyMs=/timing/s~1"), one("latencyMs=/timing/s~1t"));
        assert_eq!(meant("id=/nope"), None);
        assert_eq!(
            said(&["context=/output/0"], &[line])[0].0,
            "`context=/output/0` finds nothing in any case"
        );
    }

    #[test]
    fn a_rule_that_finds_something_once_is_not_named() {
        let (without, with) = (r#"{"output":"x"}"#, r#"{"output":"x","ms":5,"expected":"a"}"#);
        assert!(said(&["latencyMs=/ms"], &[without, with]).is_empty());
        assert!(said(&["latencyMs=/ms"], &[r#"{"output":"x","ms":null}"#]).is_empty());
        assert!(said(&["input="], &[without]).is_empty());
        assert!(said(&["error=/failure", "skip=/left/out"], &[without]).is_empty());
        // Without cases, nothing is known about the rules.
        assert!(said(&["latencyMs=/ms"], &[]).is_empty());
    }

    #[test]
    fn a_key_of_that_name_is_not_a_value_of_a_rule() {
        let line = r#"{"output":"x","latencyMs":5}"#;
        assert_eq!(said(&["latencyMs=/ms"], &[line]).len(), 1);
    }
}
