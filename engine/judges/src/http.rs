//! One exchange with a server: sends a JSON document and receives one, within limits of time and size. It follows no
//! redirect, makes only one attempt, and does not interpret the documents.

use std::{borrow::Cow, time::Duration};

use bytes::Bytes;
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION},
};
use scorebox::judge::JudgeSettings;
use scorebox_connections::{
    CertificateFault, NotAProxy, ProtocolFault, Proxy, cause, certificate_fault, protocol_fault,
};
use serde_json::Value;

use crate::{
    error::ConnectError,
    failure::{Failure, Refusal, Remedy},
    key::Key,
    proxy_secrets::proxy_secrets,
    quote::quote,
    retry,
};

/// The most time for a connection, within the time-out of the attempt.
const MAX_CONNECTING: Duration = Duration::from_secs(10);

/// The most bytes that are read of an error response.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// How long to wait for the rest of an error response, whose status is already known.
const MAX_ERROR_TIME: Duration = Duration::from_secs(5);

/// The most bytes of a server's message that are kept to find out its subject.
const MAX_REFUSAL_BYTES: usize = 4 << 10;

/// A server, and how to reach it.
pub(crate) struct Server {
    client: reqwest::Client,
    base_url: String,
    headers: HeaderMap,
    timeout: Duration,
    /// The key, and the credentials of the proxy.
    secrets: Vec<Key>,
    /// ` through the proxy HOST:PORT`, or empty.
    through: String,
    /// Whether that proxy is spoken to with TLS.
    proxy_speaks_tls: bool,
}

impl Server {
    /// Does not connect yet. The address contains no secret and does not end in a slash.
    pub(crate) fn new(
        base_url: String,
        headers: HeaderMap,
        key: Option<Key>,
        settings: &JudgeSettings,
    ) -> Result<Server, ConnectError> {
        // This fails if a cryptography provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("scorebox/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            // The gate counts attempts, so the client must not retry.
            .retry(reqwest::retry::never())
            .connect_timeout(settings.timeout.min(MAX_CONNECTING))
            .pool_max_idle_per_host(settings.concurrency);
        if base_url.starts_with("http:") {
            // The machine may have no certificates, and this connection needs none.
            builder = builder.tls_certs_only([]);
        }
        let (mut through, mut secrets) = (String::new(), Vec::from_iter(key));
        let mut proxy_speaks_tls = false;
        if is_this_machine(&base_url) {
            builder = builder.no_proxy();
        } else {
            let scheme = base_url.split(':').next().unwrap_or_default();
            Proxy::check_variables(scheme).map_err(|NotAProxy(name)| ConnectError::Proxy(name))?;
            if let Some(Proxy { place, credentials, speaks_tls }) = Proxy::of(&base_url) {
                proxy_speaks_tls = speaks_tls;
                through = format!(" through the proxy {place}");
                secrets.extend(credentials.iter().flat_map(|shown| proxy_secrets(shown)));
            }
        }
        let client =
            builder.build().map_err(|error| ConnectError::Prepare(cause(&error.without_url())))?;
        let timeout = settings.timeout;
        Ok(Server { client, base_url, headers, timeout, secrets, through, proxy_speaks_tls })
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The text without the key and the password of the proxy.
    pub(crate) fn conceal(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| match secret.conceal(&text) {
            Cow::Owned(concealed) => concealed,
            Cow::Borrowed(_) => text,
        })
    }

    /// The same for the beginning of a longer text.
    fn conceal_cut(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| secret.conceal_cut(&text))
    }

    /// Sends a document, and returns the bytes of the answer, at most this many.
    pub(crate) async fn post(
        &self,
        path: &str,
        document: &Bytes,
        max_bytes: usize,
    ) -> Result<Bytes, Failure> {
        let exchange = self.exchange(path, document, max_bytes);
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.timed_out()),
        }
    }

    async fn exchange(
        &self,
        path: &str,
        document: &Bytes,
        max_bytes: usize,
    ) -> Result<Bytes, Failure> {
        let request = self
            .client
            .post(format!("{}{path}", self.base_url))
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(document.clone());
        let mut response = request.send().await.map_err(|error| self.broken(&error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(self.points_elsewhere(&response));
        }
        if !status.is_success() {
            return Err(self.refusal(response, path).await);
        }
        // From here on there is an answer, which costs something, but may not report what it consumed.
        self.read(&mut response, max_bytes).await.map_err(Failure::uncounted)
    }

    /// Reads the bytes of an answer.
    async fn read(&self, response: &mut Response, max_bytes: usize) -> Result<Bytes, Failure> {
        let base_url = &self.base_url;
        if let Some(encoding) = encoding(response) {
            return Err(Failure::unavailable(format!(
                "{base_url} answered in the encoding `{}`, which was not asked for",
                self.foreign(&encoding)
            )));
        }
        if let Some(other) = other_than_json(response) {
            let (body, is_whole) = beginning(response).await;
            let text = String::from_utf8_lossy(&body).into_owned();
            let text = if is_whole { self.conceal(text) } else { self.conceal_cut(text) };
            let said = match quote(&text) {
                said if said.is_empty() => said,
                said => format!(": {said}"),
            };
            let other = self.foreign(&other);
            return Err(Failure::unavailable(format!(
                "{base_url} answered with `{other}` instead of JSON{said}"
            )));
        }
        let too_large = || {
            Failure::unavailable(format!("{base_url} answered with more than {max_bytes} bytes"))
        };
        let stated = response.content_length().unwrap_or_default();
        if stated > max_bytes as u64 {
            return Err(too_large());
        }
        let mut body = Vec::with_capacity(stated as usize);
        while let Some(part) = response.chunk().await.map_err(|error| self.broken(&error))? {
            if body.len() + part.len() > max_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&part);
        }
        match body.is_empty() {
            true => Err(Failure::unavailable(format!(
                "{base_url} answered with status {} and nothing else",
                response.status().as_u16()
            ))),
            false => Ok(body.into()),
        }
    }

    /// Text from a server, for a message: without secrets, short, and on one line.
    pub(crate) fn foreign(&self, text: &str) -> String {
        quote(&self.conceal(text.to_owned()))
    }

    fn timed_out(&self) -> Failure {
        let Server { base_url, timeout, through, .. } = self;
        let message = format!("{base_url} did not answer within {timeout:?}{through}");
        Failure::timed_out(message, Remedy::AgainOnce)
    }

    /// The failure if a connection failed or broke.
    fn broken(&self, error: &reqwest::Error) -> Failure {
        let because = self.foreign(&cause(error));
        let Server { base_url, through, .. } = self;
        if let Some(fault) = protocol_fault(error) {
            return self.speaks_otherwise(fault, &because);
        }
        match certificate_fault(error) {
            Some(CertificateFault::OfAnAuthority) => Failure::unavailable(format!(
                "{base_url} uses the certificate of an authority (CA) as its own{through}"
            )),
            Some(CertificateFault::NotTrusted) => Failure::unavailable(format!(
                "the certificate of {base_url} is not trusted{through}: {because}"
            )),
            None if error.is_connect() => {
                Failure::passing(format!("cannot connect to {base_url}{through}: {because}"))
            }
            None => {
                Failure::passing(format!("the connection to {base_url}{through} broke: {because}"))
            }
        }
    }

    /// The failure if the server does not use the protocol that its address names.
    fn speaks_otherwise(&self, fault: ProtocolFault, because: &str) -> Failure {
        let Server { base_url, through, .. } = self;
        Failure::unavailable(match fault {
            // Nobody else speaks TLS with a server at `http://`.
            ProtocolFault::WithoutTls if base_url.starts_with("http:") => format!(
                "{base_url} cannot be asked{through}, which answered without TLS: the address of a proxy without TLS begins with `http://`"
            ),
            ProtocolFault::WithoutTls if self.proxy_speaks_tls => format!(
                "{base_url} cannot be asked{through}: one of the two answered without TLS, and the address of that one begins with `http://`"
            ),
            ProtocolFault::WithoutTls => format!(
                "{base_url} answered without TLS{through}: the `base_url` of a server without TLS begins with `http://`"
            ),
            ProtocolFault::NotHttp if base_url.starts_with("http:") => format!(
                "{base_url} did not answer in HTTP{through} ({because}): the `base_url` of a server with TLS begins with `https://`"
            ),
            ProtocolFault::NotHttp => {
                format!("{base_url} did not answer in HTTP{through}: {because}")
            }
            ProtocolFault::TooLarge => format!(
                "{base_url} answered{through} with headers that are too large, or an impossible `Content-Length`"
            ),
        })
    }

    fn points_elsewhere(&self, response: &Response) -> Failure {
        let location = response.headers().get(LOCATION).and_then(|it| it.to_str().ok());
        let to = location.and_then(|it| response.url().join(it).ok()).map(|mut url| {
            // Both may contain secrets. Setting them fails only for addresses that cannot have them.
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            url
        });
        let to = to.map_or("elsewhere".to_owned(), |url| self.foreign(url.as_str()));
        Failure::unavailable(format!(
            "{} redirects to {to} (status {}), which is not followed",
            self.base_url,
            response.status().as_u16()
        ))
    }

    /// The failure for an error response, with the server's own message.
    async fn refusal(&self, mut response: Response, path: &str) -> Failure {
        let status = response.status();
        let (body, is_whole) = beginning(&mut response).await;
        let (text, code) = stated_error(&body);
        // Secrets are removed before the text is cut, because part of a key would not be recognised.
        let mut text = if is_whole { self.conceal(text) } else { self.conceal_cut(text) };
        text.truncate(text.floor_char_boundary(MAX_REFUSAL_BYTES));
        let remedy = retry::remedy(status, code.as_deref(), response.headers());
        let said = match quote(&text) {
            said if said.is_empty() => String::new(),
            said => format!(": {said}"),
        };
        let Server { base_url, through, .. } = self;
        let has_version = format!("{base_url}{path}").contains("/v1/");
        let hint = what_may_be_wrong(status, code.as_deref(), &text, has_version);
        let status_code = status.as_u16();
        let message = format!("{base_url} answered with status {status_code}{hint}{through}{said}");
        let is_of_the_question = status.is_client_error() && !is_of_the_moment(status);
        let is_of_the_form = is_of_the_form(status, &text);
        let refusal = Some(Refusal { status: status.as_u16(), text });
        match is_of_the_question {
            true => Failure { refusal, ..Failure::refused(message) },
            false if is_of_the_form => Failure { refusal, ..Failure::unavailable(message) },
            false => Failure { remedy, ..Failure::unavailable(message) },
        }
    }
}

/// The beginning of an unexpected response, and whether it is complete.
async fn beginning(response: &mut Response) -> (Vec<u8>, bool) {
    let (mut body, mut is_whole) = (Vec::new(), false);
    let reading = async {
        while let Ok(part) = response.chunk().await {
            let Some(part) = part else {
                is_whole = true;
                break;
            };
            let room = MAX_ERROR_BYTES - body.len();
            body.extend_from_slice(&part[..part.len().min(room)]);
            if body.len() == MAX_ERROR_BYTES {
                break;
            }
        }
    };
    // What has arrived by then is enough.
    let _ = tokio::time::timeout(MAX_ERROR_TIME, reading).await;
    (body, is_whole)
}

/// The codes of servers whose filter refuses a text: OpenAI's and Azure's.
const OF_A_FILTER: [&str; 2] = ["content_filter", "content_policy_violation"];

/// How servers say that a question is too long, where they have no code for it: vLLM, llama.cpp, Anthropic.
const TOO_LONG: [&str; 4] =
    ["context length", "context size", "context window", "prompt is too long"];

/// What the user should look at, in brackets behind the status; nothing if only the server's own words say it.
fn what_may_be_wrong(
    status: StatusCode,
    code: Option<&str>,
    text: &str,
    has_version: bool,
) -> &'static str {
    let is_too_long = code == Some("context_length_exceeded")
        || (status == StatusCode::BAD_REQUEST && TOO_LONG.iter().any(|it| text.contains(it)));
    match status {
        _ if is_too_long => " (the texts of the question are too long for the model)",
        _ if code.is_some_and(|code| OF_A_FILTER.contains(&code)) => {
            " (its filter refuses the texts of the question)"
        }
        StatusCode::UNAUTHORIZED => " (check the key: `key_env` names its variable)",
        StatusCode::FORBIDDEN => " (check what the key may use: `key_env` names its variable)",
        StatusCode::NOT_FOUND if !has_version => {
            " (most servers have a `base_url` that ends with `/v1`)"
        }
        _ => "",
    }
}

/// Whether the server fails because it does not know how a form is asked for: llama-cpp-python says so with status 500.
fn is_of_the_form(status: StatusCode, text: &str) -> bool {
    status == StatusCode::INTERNAL_SERVER_ERROR && text.contains("response_format")
}

/// Whether the same request may succeed later.
fn is_of_the_moment(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 429)
}

/// The message and the code of an error: in the format of OpenAI, Anthropic, Ollama or FastAPI, or the text itself.
fn stated_error(body: &[u8]) -> (String, Option<String>) {
    let text = || String::from_utf8_lossy(body).into_owned();
    let Ok(document) = serde_json::from_slice::<Value>(body) else { return (text(), None) };
    let error = document.get("error").unwrap_or(&document);
    let string = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let message = string(Some(error))
        .or_else(|| string(error.get("message")))
        .or_else(|| string(document.get("message")))
        .or_else(|| string(document.get("detail")));
    let code = string(error.get("code")).or_else(|| string(error.get("type")));
    (message.unwrap_or_else(text), code)
}

/// The encoding of the content, such as `gzip`, if it has one although the client does not ask for it.
fn encoding(response: &Response) -> Option<String> {
    let values = response.headers().get_all(CONTENT_ENCODING).iter();
    let encodings: Vec<_> = values.map(|it| String::from_utf8_lossy(it.as_bytes())).collect();
    let all = encodings.join(", ").trim().to_owned();
    (!all.is_empty() && !all.eq_ignore_ascii_case("identity")).then_some(all)
}

/// The content type, if it is not JSON.
fn other_than_json(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    // The letters' case is kept, because otherwise a key in it would not be recognised.
    let kind = text.split(';').next().unwrap_or_default().trim();
    let low = kind.to_ascii_lowercase();
    let is_json = low == "application/json" || low == "text/json" || low.ends_with("+json");
    (!is_json).then(|| kind.to_owned())
}

/// Whether a server is on this machine; such a server is never asked through a proxy.
fn is_this_machine(base_url: &str) -> bool {
    let url = Url::parse(base_url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_look_at() {
        let hint = |status: u16, code: Option<&str>, text: &str| {
            what_may_be_wrong(StatusCode::from_u16(status).unwrap(), code, text, true)
        };
        assert!(hint(401, Some("invalid_api_key"), "Incorrect").contains("check the key"));
        assert!(hint(403, None, "no").contains("what the key may use"));
        let too_long = " (the texts of the question are too long for the model)";
        assert_eq!(hint(400, Some("context_length_exceeded"), ""), too_long);
        for text in [
            "This model's maximum context length is 4096 tokens.",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "the request exceeds the available context size",
        ] {
            assert_eq!(hint(400, Some("invalid_request_error"), text), too_long);
        }
        assert!(hint(400, Some("content_filter"), "").contains("filter"));
        assert_eq!(hint(400, None, "Unsupported value: 'temperature'"), "");
        assert_eq!(hint(404, Some("model_not_found"), "no such model"), "");
    }

    #[test]
    fn the_message_of_an_error_is_found_wherever_servers_write_it() {
        let message = |body: &str| stated_error(body.as_bytes());
        let both = |message: &str, code: &str| (message.to_owned(), Some(code.to_owned()));
        let open_ai = r#"{"error": {"message": "no", "type": "t", "param": null, "code": "c"}}"#;
        assert_eq!(message(open_ai), both("no", "c"));
        let anthropic =
            r#"{"type": "error", "error": {"type": "overloaded_error", "message": "no"}}"#;
        assert_eq!(message(anthropic), both("no", "overloaded_error"));
        assert_eq!(message(r#"{"error": "no"}"#), ("no".to_owned(), None));
        assert_eq!(message(r#"{"detail": "no"}"#), ("no".to_owned(), None));
        assert_eq!(message("Bad Gateway"), ("Bad Gateway".to_owned(), None));
    }

    #[test]
    fn a_server_on_this_machine_is_recognised() {
        for here in ["http://localhost:1/v1", "http://127.0.0.1/v1", "https://[::1]:2/v1"] {
            assert!(is_this_machine(here), "{here}");
        }
        for there in ["http://localhost.test/v1", "http://10.0.0.1/v1", "https://[2001::1]/v1"] {
            assert!(!is_this_machine(there), "{there}");
        }
    }
}
