//! Writes a case that `--map` found in a line of another shape as a line that is the same case without `--map`. Values
//! are copied as they were read.

use std::fmt;

use scorebox::case::{Case, Key};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Writes each key under its own name; the member that a mapping read stays beside it.
pub(super) fn mapped_line(case: &Case) -> Result<String, serde_json::Error> {
    let mut line = String::new();
    let mut separator = "{";
    for key in Key::ALL {
        if let Some(value) = case.raw(key) {
            line.push_str(&format!("{separator}\"{}\":{value}", key.name()));
            separator = ",";
        }
    }
    let others = case.other_json().map(serde_json::from_str::<Members<'_>>).transpose()?;
    for (name, value) in others.into_iter().flat_map(|others| others.0) {
        if !changes_the_case(case, &name) {
            line.push_str(&format!("{separator}{}:{}", serde_json::to_string(&name)?, value.get()));
            separator = ",";
        }
    }
    line.push('}');
    Ok(line)
}

/// Whether a member of this name, beside the keys under their own names, would change the case: it has the name of a
/// key that has a value, or of a key that is absent because its mapping found nothing.
fn changes_the_case(case: &Case, name: &str) -> bool {
    let key = Key::ALL.into_iter().find(|key| key.spellings().contains(&name));
    key.is_some_and(|key| case.raw(key).is_none() || name == key.name())
}

/// The members of an object in their order, with their values as written.
struct Members<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Members<'t>, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'t> Visitor<'t> for MembersVisitor {
    type Value = Members<'t>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<Members<'t>, A::Error> {
        let mut all = Vec::new();
        while let Some(member) = members.next_entry()? {
            all.push(member);
        }
        Ok(Members(all))
    }
}

#[cfg(test)]
mod tests {
    use scorebox::case::{Location, Mapping};

    use super::*;

    /// Converts `line`, read with these rules, and checks that the result is the same case without them.
    fn mapped(line: &str, rules: &[&str]) -> String {
        let read = |line: &str, mapping: &Mapping| {
            Case::parse(line, 0, mapping, Location::new("cases", 1)).unwrap()
        };
        let case = read(line, &Mapping::parse(rules).unwrap());
        let written = mapped_line(&case).unwrap();
        let again = read(&written, &Mapping::NONE);
        for key in Key::ALL {
            assert_eq!(again.raw(key), case.raw(key), "{key} of {line}");
        }
        written
    }

    #[test]
    fn a_key_that_its_mapping_does_not_find_stays_absent() {
        for spelling in Key::GroundTruth.spellings() {
            let line = format!(r#"{{"output":"x","{spelling}":"old","note":1}}"#);
            let written = mapped(&line, &["groundTruth=/correct"]);
            assert_eq!(written, r#"{"output":"x","note":1}"#);
        }
    }

    #[test]
    fn other_members_are_written_in_their_order_as_they_were_read() {
        let line = r#"{"z":1.50,"answer":"x","big":123456789012345678901234567890,"é\"":1e400,"half":["\ud800",{"k":1,"k":2}],"a":-0}"#;
        let others = r#""z":1.50,"big":123456789012345678901234567890,"é\"":1e400,"half":["\ud800",{"k":1,"k":2}],"a":-0}"#;
        assert_eq!(mapped(line, &["output=/answer"]), format!(r#"{{"output":"x",{others}"#));
    }

    #[test]
    fn a_spelling_that_a_mapping_beats_stays_unless_it_is_the_name_of_the_key() {
        let line = r#"{"output":"x","correct":"new","expected":"old","groundTruth":"older"}"#;
        let expected = r#"{"output":"x","groundTruth":"new","expected":"old"}"#;
        assert_eq!(mapped(line, &["groundTruth=/correct"]), expected);
        let within = r#"{"output":{"text":"x","logprobs":[ 0.10 ]}}"#;
        assert_eq!(mapped(within, &["output=/output/text"]), r#"{"output":"x"}"#);
    }
}
