//! What a user can send to a judge's server in addition to what the protocol needs: which members and headers are
//! allowed. It sends nothing.

use std::collections::BTreeMap;

use serde_json::Value;

/// The most bytes of all additional members together, as JSON.
const MAX_BODY_BYTES: usize = 64 << 10;
/// The most bytes of all additional headers together.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// Members that a judge's other settings or its scorers decide, or that would produce several answers or parts of one.
const OWN_MEMBERS: [&str; 13] = [
    "model",
    "messages",
    "system",
    "input",
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "tools",
    "tool_choice",
    "stream",
    "stream_options",
    "n",
];
/// The member of Anthropic's protocol for the requested form. Anything else in it is up to the user.
const OUTPUT_CONFIG: &str = "output_config";
/// Headers that the client writes, or that contain a secret.
const OWN_HEADERS: [&str; 15] = [
    "authorization",
    "x-api-key",
    "proxy-authorization",
    "cookie",
    "anthropic-version",
    "host",
    "connection",
    "content-type",
    "content-length",
    "content-encoding",
    "accept-encoding",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
];

/// Checks additional members of the document that asks for a text.
///
/// # Errors
/// Which of them cannot be sent, and why.
pub(crate) fn check_extra_body(extra: &BTreeMap<String, Value>) -> Result<(), String> {
    for (key, value) in extra {
        let shown = key.escape_debug();
        if OWN_MEMBERS.contains(&key.as_str()) {
            return Err(match key.as_str() {
                "max_tokens" | "max_completion_tokens" => {
                    format!("`extra_body` cannot have `{shown}`: use `max_output_tokens`")
                }
                "model" | "temperature" => {
                    format!("`extra_body` cannot have `{shown}`: it is a key of the judge itself")
                }
                "response_format" => {
                    format!("`extra_body` cannot have `{shown}`: see `structured_output`")
                }
                _ => format!("`extra_body` cannot have `{shown}`: scorebox decides it"),
            });
        }
        if key == OUTPUT_CONFIG && value.as_object().is_none_or(|it| it.contains_key("format")) {
            return Err(format!(
                "`{OUTPUT_CONFIG}` in `extra_body` must be an object without `format`: see `structured_output`"
            ));
        }
    }
    let bytes: usize = extra.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
    match bytes <= MAX_BODY_BYTES {
        true => Ok(()),
        false => Err(format!("`extra_body` has {bytes} bytes; the limit is {MAX_BODY_BYTES}")),
    }
}

/// Checks additional headers of requests to a server.
///
/// # Errors
/// Which of them cannot be sent, and why.
pub(crate) fn check_extra_headers(extra: &BTreeMap<String, String>) -> Result<(), String> {
    for (name, value) in extra {
        check_header_name(name)?;
        let lower = name.to_ascii_lowercase();
        if OWN_HEADERS.contains(&lower.as_str()) {
            return Err(match lower.as_str() {
                "authorization" | "x-api-key" => format!(
                    "`extra_headers` cannot have `{name}`: a key is named by `key_env`, and its header by `key_header`"
                ),
                _ => format!("`extra_headers` cannot have `{name}`"),
            });
        }
        if extra.keys().any(|other| other != name && other.eq_ignore_ascii_case(name)) {
            return Err(format!("`extra_headers` has `{name}` twice"));
        }
        if !value.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte)) {
            return Err(format!("the value of `{name}` has characters that a header cannot have"));
        }
    }
    let bytes: usize = extra.iter().map(|(name, value)| name.len() + value.len()).sum();
    match bytes <= MAX_HEADER_BYTES {
        true => Ok(()),
        false => {
            Err(format!("`extra_headers` have {bytes} bytes; the limit is {MAX_HEADER_BYTES}"))
        }
    }
}

/// Checks the name of the header in which a key is sent.
///
/// # Errors
/// Why it is not allowed.
pub(crate) fn check_key_header(name: &str) -> Result<(), String> {
    check_header_name(name)?;
    let lower = name.to_ascii_lowercase();
    let has_keys = ["authorization", "x-api-key", "proxy-authorization"].contains(&lower.as_str());
    match OWN_HEADERS.contains(&lower.as_str()) && !has_keys {
        true => Err(format!("`key_header` cannot be `{name}`")),
        false => Ok(()),
    }
}

/// Checks that the name is a token according to RFC 9110.
fn check_header_name(name: &str) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match (1..=100).contains(&name.len()) && name.bytes().all(allowed) {
        true => Ok(()),
        false => Err(format!("`{}` is not a name of a header", name.escape_debug())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(value: Value) -> Result<(), String> {
        check_extra_body(&serde_json::from_value(value).unwrap())
    }

    fn headers(value: Value) -> Result<(), String> {
        check_extra_headers(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn what_a_provider_takes_beside_the_protocol_can_be_sent() {
        body(json!({"seed": 1, "top_p": 0.9, "reasoning_effort": "low"})).unwrap();
        body(json!({"chat_template_kwargs": {"enable_thinking": false}})).unwrap();
        body(json!({"output_config": {"effort": "low"}})).unwrap();
        headers(json!({"OpenAI-Organization": "org-1", "anthropic-beta": "a, b"})).unwrap();
        for name in ["api-key", "Ocp-Apim-Subscription-Key", "Authorization"] {
            check_key_header(name).unwrap();
        }
    }

    #[test]
    fn what_scorebox_decides_itself_cannot() {
        for key in OWN_MEMBERS {
            assert!(body(json!({key: 1})).unwrap_err().contains(key));
        }
        assert!(body(json!({"max_tokens": 1})).unwrap_err().ends_with("use `max_output_tokens`"));
        body(json!({"output_config": {"format": {}}})).unwrap_err();
        body(json!({"output_config": "low"})).unwrap_err();
        for name in OWN_HEADERS {
            assert!(headers(json!({name.to_ascii_uppercase(): "a"})).is_err(), "{name}");
        }
        check_key_header("Content-Length").unwrap_err();
    }

    #[test]
    fn what_is_no_header_or_without_bound_cannot() {
        for name in ["", "a b", "a:", "ü", "a\r\nb"] {
            assert!(headers(json!({name: "a"})).unwrap_err().contains("not a name"), "{name:?}");
            check_key_header(name).unwrap_err();
        }
        headers(json!({"a": "b\r\nc: d"})).unwrap_err();
        assert_eq!(
            headers(json!({"A": "1", "a": "2"})).unwrap_err(),
            "`extra_headers` has `A` twice"
        );
        headers(json!({"a": "b".repeat(MAX_HEADER_BYTES)})).unwrap_err();
        body(json!({"a": "b".repeat(MAX_BODY_BYTES)})).unwrap_err();
    }
}
