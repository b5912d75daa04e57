//! Which cases a scorer scores: all, those of some nodes, a sample. It decides by names and a hash, so the decision is
//! always the same.

use std::borrow::Cow;

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::{Draw, Sampling};

/// Which cases a scorer scores; by default all.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// How often it runs.
    pub sampling: Sampling,
    /// The tasks whose cases it scores; `None`: all tasks.
    pub nodes: Option<Nodes>,
}

/// Patterns of node ids.
#[derive(Clone, Debug)]
pub struct Nodes {
    patterns: Vec<String>,
    set: GlobSet,
}

/// A pattern that is not a valid glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a pattern of node ids: {reason}", pattern.escape_debug())]
#[non_exhaustive]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// The reason.
    pub reason: String,
}

/// Why a scorer skips a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skip {
    /// The case states that it must not be judged.
    Case,
    /// Its node is not one of the scorer's.
    Node,
    /// Sampling left it out.
    Sampling,
    /// Its `when` does not hold for the case.
    Condition,
    /// Its subject has no result for the case.
    NoResult,
}

impl Skip {
    /// The reason in the row. `of_case` is the reason in the case, if there is one.
    pub fn reason(self, of_case: Option<&str>) -> Cow<'static, str> {
        match (self, of_case) {
            (Skip::Case, Some(why)) if !why.is_empty() => {
                format!("the case is skipped: {why}").into()
            }
            (Skip::Case, _) => "the case is skipped".into(),
            (Skip::Node, _) => "not one of the scorer's nodes".into(),
            (Skip::Sampling, _) => "left out by sampling".into(),
            (Skip::Condition, _) => "`when` does not hold".into(),
            (Skip::NoResult, _) => "there is no result to score".into(),
        }
    }
}

impl Nodes {
    /// The nodes that match one of these globs; `*` matches any characters.
    ///
    /// # Errors
    /// The first pattern that is not a valid glob.
    pub fn new(patterns: Vec<String>) -> Result<Nodes, BadPattern> {
        let mut set = GlobSetBuilder::new();
        for pattern in &patterns {
            let bad = |reason: String| BadPattern { pattern: pattern.clone(), reason };
            if pattern.is_empty() {
                return Err(bad("it is empty".to_owned()));
            }
            set.add(Glob::new(pattern).map_err(|error| bad(error.kind().to_string()))?);
        }
        let whole = |error: globset::Error| BadPattern {
            pattern: patterns.join(", "),
            reason: error.kind().to_string(),
        };
        let set = set.build().map_err(whole)?;
        Ok(Nodes { patterns, set })
    }

    /// The patterns as written.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Whether the node matches one of them.
    pub fn contains(&self, node_id: &str) -> bool {
        self.set.is_match(node_id)
    }
}

impl Selection {
    /// Whether it selects every case.
    pub fn is_all(&self) -> bool {
        self.nodes.is_none() && self.sampling == Sampling::All
    }

    /// Why the scorer skips a case of this node; `None` if it does not.
    pub fn skips(&self, node_id: &str, draw: &Draw<'_>) -> Option<Skip> {
        if self.nodes.as_ref().is_some_and(|nodes| !nodes.contains(node_id)) {
            return Some(Skip::Node);
        }
        (!self.sampling.takes(draw)).then_some(Skip::Sampling)
    }

    /// The sampling as JSON; `None` if it includes every case.
    pub fn sampling_json(&self) -> Option<String> {
        (self.sampling != Sampling::All).then(|| json(&self.sampling))
    }

    /// The patterns of nodes as a JSON array; `None` if all nodes match.
    pub fn nodes_json(&self) -> Option<String> {
        self.nodes.as_ref().map(|nodes| json(&nodes.patterns))
    }

    /// Reads a selection from this JSON.
    ///
    /// # Errors
    /// Why it is not valid, in a sentence.
    pub fn from_json(sampling: Option<&str>, nodes: Option<&str>) -> Result<Selection, String> {
        let no_json = |error: serde_json::Error| error.to_string();
        let sampling = sampling.map(serde_json::from_str).transpose().map_err(no_json)?;
        let nodes: Option<Vec<String>> =
            nodes.map(serde_json::from_str).transpose().map_err(no_json)?;
        let nodes = nodes.map(Nodes::new).transpose().map_err(|error| error.to_string())?;
        Ok(Selection { sampling: sampling.unwrap_or_default(), nodes })
    }
}

/// JSON of words and numbers, which cannot fail.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(case_id: &str) -> Draw<'_> {
        Draw { seed: "s", case_id, iteration: 0, attempt: 0, scorer_id: "a" }
    }

    #[test]
    fn nodes_are_globs_over_the_whole_id() {
        let patterns = ["analyze", "write-*", "step-[12]"].map(str::to_owned).to_vec();
        let nodes = Nodes::new(patterns).unwrap();
        for node in ["analyze", "write-", "write-a/b", "step-2"] {
            assert!(nodes.contains(node), "{node}");
        }
        for node in ["analyze2", "Analyze", "rewrite-a", "step-3", ""] {
            assert!(!nodes.contains(node), "{node}");
        }
        for bad in ["", "a[", "{a"] {
            assert!(Nodes::new(vec![bad.to_owned()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_selection_is_the_same_after_it_was_stored() {
        let selection = Selection {
            sampling: Sampling::Ratio { rate: 0.25.try_into().unwrap() },
            nodes: Some(Nodes::new(vec!["a*".to_owned()]).unwrap()),
        };
        let (sampling, nodes) = (selection.sampling_json(), selection.nodes_json());
        assert_eq!(sampling.as_deref(), Some(r#"{"type":"ratio","rate":0.25}"#));
        assert_eq!(nodes.as_deref(), Some(r#"["a*"]"#));
        let read = Selection::from_json(sampling.as_deref(), nodes.as_deref()).unwrap();
        for case_id in ["1", "2", "3", "4", "5", "6", "7", "8"] {
            for node in ["a", "b"] {
                let draw = draw(case_id);
                assert_eq!(read.skips(node, &draw), selection.skips(node, &draw));
            }
        }
        assert_eq!(read.skips("b", &draw("1")), Some(Skip::Node));
        let all = Selection::from_json(None, None).unwrap();
        assert!(all.is_all() && all.sampling_json().is_none() && all.nodes_json().is_none());
        for bad in [r#"{"type":"ratio","rate":2}"#, r#"{"type":"some"}"#, "7"] {
            assert!(Selection::from_json(Some(bad), None).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_reason_of_a_skipped_row_says_what_the_case_says() {
        assert_eq!(Skip::Case.reason(Some("flaky")), "the case is skipped: flaky");
        assert_eq!(Skip::Case.reason(Some("")), "the case is skipped");
        assert_eq!(Skip::Sampling.reason(None), "left out by sampling");
    }
}
