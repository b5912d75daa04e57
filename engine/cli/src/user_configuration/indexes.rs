//! `[index.NAME]`: the location of an index of scorers, and the key that must have signed it. It contacts no index.

use scorebox_community::{IndexPlace, Signer, Transport};
use toml::de::DeTable;

use super::reading::{Reading, Value};

/// The keys of an index.
const KEYS: [&str; 3] = ["url", "signer", "plain-http"];
/// The most characters of a name.
const MAX_NAME: usize = 64;

/// An index that the user has configured.
#[derive(Clone, Debug)]
pub(crate) struct ConfiguredIndex {
    /// The user's name for it: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Its location.
    pub place: IndexPlace,
    /// The key that must have signed it.
    pub signer: Signer,
    /// The transport to its location.
    pub transport: Transport,
}

/// Reads all indexes; those with mistakes are left out.
pub(super) fn read(reading: &mut Reading<'_>, value: &Value<'_>) -> Vec<ConfiguredIndex> {
    let Some(indexes) = reading.table(value, "index") else { return Vec::new() };
    let mut read = Vec::new();
    for (key, value) in indexes.iter() {
        let name: &str = key.get_ref();
        if !is_name(name) {
            let reason = format!("`{}` cannot be the name of an index", name.escape_debug());
            let hint = "a name has 1 to 64 letters, digits, `-`, `_` and `.`, and begins with a letter or a digit";
            reading.hinted(key.span(), &reason, hint);
            continue;
        }
        if let Some(table) = reading.table(value, &format!("index.{name}")) {
            read.extend(index(reading, name, value, table));
        }
    }
    read.sort_by(|one, other| one.name.cmp(&other.name));
    read
}

fn index(
    reading: &mut Reading<'_>,
    name: &str,
    value: &Value<'_>,
    table: &DeTable<'_>,
) -> Option<ConfiguredIndex> {
    let (mut url, mut signer, mut plain_http) = (None, None, None);
    for (key, value) in reading.members(table, "of an index", &KEYS) {
        match key {
            "url" => url = Some((value, place(reading, value))),
            "signer" => signer = Some(key_of(reading, value)),
            _ => plain_http = reading.truth(value, key).map(|is_plain| (value, is_plain)),
        }
    }
    for (key, is_missing) in [("url", url.is_none()), ("signer", signer.is_none())] {
        if is_missing {
            let reason = format!("the index `{name}` lacks `{key}`");
            reading.wrong(value.span(), &reason);
        }
    }
    let (url, place) = url?;
    let place = place?;
    let transport = match plain_http {
        Some((value, true)) if matches!(place, IndexPlace::Web(_)) && !place.is_plain_http() => {
            reading.hinted(
                value.span(),
                "`https://` has TLS",
                "leave `plain-http` out, or write `http://`",
            );
            return None;
        }
        Some((_, true)) => Transport::PlainHttp,
        _ if place.is_plain_http() => {
            reading.hinted(
                url.span(),
                "`http://` has no TLS: anyone in between can see what is searched, and withhold newer entries",
                "write `https://`, or `plain-http = true` if that is what you want",
            );
            return None;
        }
        _ => Transport::Tls,
    };
    Some(ConfiguredIndex { name: name.to_owned(), place, signer: signer??, transport })
}

fn place(reading: &mut Reading<'_>, value: &Value<'_>) -> Option<IndexPlace> {
    let written = reading.text(value, "url")?;
    let place = written.parse::<IndexPlace>();
    place.map_err(|error| reading.wrong(value.span(), &error.to_string())).ok()
}

fn key_of(reading: &mut Reading<'_>, value: &Value<'_>) -> Option<Signer> {
    let written = reading.text(value, "signer")?;
    let signer = written.parse::<Signer>();
    let hint = "its publisher names the key of an index; the file that `minisign -G` wrote has it on its second line";
    signer.map_err(|error| reading.hinted(value.span(), &error.to_string(), hint)).ok()
}

fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric();
    name.len() <= MAX_NAME
        && name.bytes().next().is_some_and(is_word)
        && name.bytes().all(|byte| is_word(byte) || b"-_.".contains(&byte))
}
