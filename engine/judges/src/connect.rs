//! Makes a provider from what a suite defines for a judge. Connects to nothing before the first question.

use std::sync::Arc;

use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use scorebox::judge::{JudgeSettings, Provider, ProviderSettings};

use crate::{
    anthropic, command::Command, error::ConnectError, http::Server, key::Key, served::Served,
    wire::Wire,
};

/// Makes the provider that these settings describe; it sends this key if its server requires one. Its answers need a
/// tokio runtime with time and I/O.
///
/// # Errors
///
/// If the settings or the key cannot be used.
pub fn connect(
    settings: &JudgeSettings,
    key: Option<Key>,
) -> Result<Arc<dyn Provider>, ConnectError> {
    if settings.concurrency == 0 {
        return Err(ConnectError::Zero("concurrency"));
    }
    if settings.requests_per_minute == Some(0) {
        return Err(ConnectError::Zero("requests_per_minute"));
    }
    if settings.timeout.is_zero() {
        return Err(ConnectError::Zero("timeout"));
    }
    settings.check_extras().map_err(ConnectError::Extra)?;
    match &settings.provider {
        ProviderSettings::OpenAi { base_url, .. } => served(Wire::OpenAi, base_url, key, settings),
        ProviderSettings::Anthropic { base_url, .. } => {
            served(Wire::Anthropic, base_url, key, settings)
        }
        ProviderSettings::Command { command } => {
            Ok(Arc::new(Command::new(command, settings).ok_or(ConnectError::NoProgram)?))
        }
        other => Err(ConnectError::Unknown(other.kind().to_owned())),
    }
}

/// Makes the same provider, with the key that the settings name: `value_of` returns the value of an environment
/// variable.
///
/// # Errors
///
/// The same as for [`connect`], and [`ConnectError::NoKey`].
pub fn connect_with(
    settings: &JudgeSettings,
    value_of: impl FnOnce(&str) -> Option<String>,
) -> Result<Arc<dyn Provider>, ConnectError> {
    let key = match &settings.provider {
        ProviderSettings::OpenAi { key_env: Some(variable), .. }
        | ProviderSettings::Anthropic { key_env: Some(variable), .. } => {
            let key = value_of(variable).filter(|key| !key.trim().is_empty());
            Some(Key::new(key.ok_or_else(|| ConnectError::NoKey(variable.clone()))?))
        }
        _ => None,
    };
    connect(settings, key)
}

fn served(
    wire: Wire,
    base_url: &str,
    key: Option<Key>,
    settings: &JudgeSettings,
) -> Result<Arc<dyn Provider>, ConnectError> {
    let address = address(base_url)?;
    if wire == Wire::Anthropic && address.ends_with("/v1") {
        return Err(ConnectError::Address("ends with `/v1`, which is added to it"));
    }
    let headers = headers(wire, key.as_ref(), settings)?;
    let server = Server::new(address, headers, key, settings)?;
    Ok(Arc::new(Served::new(wire, server, settings)))
}

/// A base URL without a slash at its end. This refuses any part that may be a secret, because the URL is shown and
/// stored.
fn address(base_url: &str) -> Result<String, ConnectError> {
    let url = Url::parse(base_url).map_err(|_| ConnectError::Address("is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(ConnectError::Address("must begin with `http://` or `https://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ConnectError::Address("must not have a user name or a password in it"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(ConnectError::Address("must not have a query (`?`) or a fragment (`#`)"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn headers(
    wire: Wire,
    key: Option<&Key>,
    settings: &JudgeSettings,
) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.extra_headers {
        headers.insert(header_name(name)?, HeaderValue::from_str(value).map_err(extra)?);
    }
    if wire == Wire::Anthropic {
        let name = HeaderName::from_static("anthropic-version");
        headers.insert(name, HeaderValue::from_static(anthropic::VERSION));
    }
    let Some(key) = key else { return Ok(headers) };
    if key.is_empty() {
        return Err(ConnectError::Key("is empty"));
    }
    let name = match (&settings.key_header, wire) {
        (Some(name), _) => header_name(name)?,
        (None, Wire::OpenAi) => AUTHORIZATION,
        (None, Wire::Anthropic) => HeaderName::from_static("x-api-key"),
    };
    let before = if name == AUTHORIZATION { "Bearer " } else { "" };
    let value = key.header(before);
    let value = value.ok_or(ConnectError::Key("has characters that a header cannot have"))?;
    headers.insert(name, value);
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, ConnectError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(extra)
}

fn extra(error: impl ToString) -> ConnectError {
    ConnectError::Extra(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_may_hold_a_secret_is_refused_and_not_repeated() {
        for secret in [
            "https://secret@host/v1",
            "https://user:secret@host/v1",
            "https://host/v1?key=secret",
            "https://host/v1#secret",
            "secret",
            "file:///secret",
        ] {
            let error = address(secret).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_key_is_the_value_of_its_variable_and_nothing_but_white_space_is_none() {
        let base_url = "http://host/v1".to_owned();
        let key_env = Some("MY_KEY".to_owned());
        let settings = JudgeSettings::new(ProviderSettings::OpenAi { base_url, key_env });
        for value in [None, Some(String::new()), Some(" \n".to_owned())] {
            let error = connect_with(&settings, |_| value).map(drop).unwrap_err();
            assert_eq!(error, ConnectError::NoKey("MY_KEY".to_owned()));
        }
        assert!(connect_with(&settings, |name| (name == "MY_KEY").then(|| "k".into())).is_ok());
        let command = ProviderSettings::Command { command: vec!["true".to_owned()] };
        assert!(connect_with(&JudgeSettings::new(command), |_| unreachable!()).is_ok());
    }

    #[test]
    fn an_address_has_no_slash_at_its_end_and_one_spelling() {
        let same = ["http://host:8000/v1", "http://host:8000/v1/", "HTTP://HOST:8000/v1"];
        for spelling in same {
            assert_eq!(address(spelling).unwrap(), same[0]);
        }
        assert_eq!(address("https://host").unwrap(), "https://host");
    }
}
