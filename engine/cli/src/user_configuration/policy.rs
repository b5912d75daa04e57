//! `[policy]`: the policy about published scorers, for all suites of the user. It does not apply the policy; `trust`
//! does.

use std::path::Path;

use scorebox::{
    sandbox::{Grant, Grants},
    suite::{TrustPolicy, parse_bytes},
};
use scorebox_community::Signer;
use toml::de::DeValue;

use super::reading::{Reading, Value};

/// The keys of a policy, the same as in a suite.
const KEYS: [&str; 4] = ["signers", "registries", "deny-grants", "max-size"];

/// The policy; parts with mistakes are left out.
pub(super) fn read(
    reading: &mut Reading<'_>,
    value: &Value<'_>,
    path: &Path,
) -> Option<TrustPolicy> {
    let table = reading.table(value, "policy")?;
    let (line, column) = reading.line_and_column(value.span().start);
    let mut policy = TrustPolicy::default().at(path.to_owned(), line, column);
    for (key, value) in reading.members(table, "of a policy", &KEYS) {
        policy = match key {
            "signers" => policy.with_signers(signers(reading, value)),
            "registries" => policy.with_registries(registries(reading, value)),
            "deny-grants" => policy.with_denied_grants(grants(reading, value)),
            _ => policy.with_max_bytes(size(reading, value, key)),
        };
    }
    Some(policy)
}

fn texts<'d>(
    reading: &mut Reading<'_>,
    value: &'d Value<'d>,
    what: &str,
) -> Vec<(&'d Value<'d>, &'d str)> {
    let items = reading.list(value, what).unwrap_or_default().iter();
    items.filter_map(|item| Some((item, reading.text(item, what)?))).collect()
}

fn registries(reading: &mut Reading<'_>, value: &Value<'_>) -> Vec<String> {
    let mut registries = Vec::new();
    for (item, text) in texts(reading, value, "registries") {
        match TrustPolicy::is_registry(text) {
            true => registries.push(text.to_owned()),
            false => reading.wrong(
                item.span(),
                &format!(
                    "`{}` is not the host of a registry, such as `registry.example.com` or `localhost:5000`",
                    text.escape_debug()
                ),
            ),
        }
    }
    registries
}

fn signers(reading: &mut Reading<'_>, value: &Value<'_>) -> Vec<String> {
    let mut signers = Vec::new();
    for (item, text) in texts(reading, value, "signers") {
        match text.parse::<Signer>() {
            Ok(_) => signers.push(text.to_owned()),
            Err(error) => reading.wrong(item.span(), &error.to_string()),
        }
    }
    signers
}

fn grants(reading: &mut Reading<'_>, value: &Value<'_>) -> Grants {
    let mut grants = Vec::new();
    for (item, text) in texts(reading, value, "deny-grants") {
        match text.parse::<Grant>() {
            Ok(grant) => grants.push(grant),
            Err(error) => reading.wrong(item.span(), &error.to_string()),
        }
    }
    grants.into_iter().collect()
}

fn size(reading: &mut Reading<'_>, value: &Value<'_>, what: &str) -> Option<u64> {
    if let DeValue::Integer(_) = value.get_ref() {
        let bytes = u64::try_from(reading.number(value, what)?).ok();
        if bytes.is_none() {
            reading.wrong(value.span(), &format!("`{what}` must be 0 or more"));
        }
        return bytes;
    }
    let bytes = parse_bytes(reading.text(value, what)?);
    bytes.map_err(|error| reading.wrong(value.span(), &error.to_string())).ok()
}
