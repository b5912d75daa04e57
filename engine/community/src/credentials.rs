//! Reads the logins that Docker stores, in its configuration or with its helpers, for requests to a registry. Creates
//! no login.

use std::{
    env, fmt, fs, io,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use docker_credential::{CredentialRetrievalError, DockerCredential};
use reqwest::header::HeaderValue;
use serde_json::Value;
use zeroize::Zeroizing;

use crate::{
    credential_helper::{self, AN_IDENTITY_TOKEN},
    error::Unusable,
};

/// A user name and password, or a token instead of the password. Its memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: Zeroizing<String>,
}

impl Credentials {
    /// A user name with a password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials { user: user.into(), password: Zeroizing::new(password.into()) }
    }

    /// The login that `docker login` stored for this registry; `None` if there is none. May start a helper that
    /// Docker's configuration names, and wait for it for a limited time.
    ///
    /// # Errors
    /// What is wrong with the configuration or the helper.
    pub fn of_docker(registry: &str) -> Result<Option<Credentials>, Unusable> {
        // Without a configuration there is no login.
        let Some(path) = path_of_configuration() else { return Ok(None) };
        let Some(text) = configuration(&path)? else { return Ok(None) };
        let invalid = |what: &str| {
            let path = path.display();
            Unusable::Configuration(format!("Docker's configuration, `{path}`, {what}"))
        };
        let not_json = || invalid("is not valid JSON");
        let mut configuration: Value = serde_json::from_slice(&text).map_err(|_| not_json())?;
        for key in ["auths", "credHelpers"] {
            as_asked(&mut configuration[key], registry);
        }
        let helper = configuration["credHelpers"][registry].as_str().map(str::to_owned);
        let store = configuration["credsStore"].as_str().map(str::to_owned);
        let asked = |name: &str| {
            let login = credential_helper::login_of(name, registry).map_err(Unusable::Helper)?;
            Ok(login.map(|(user, password)| Credentials { user, password }))
        };
        if let Some(helper) = helper.filter(|helper| !helper.is_empty()) {
            return asked(&helper);
        }
        // Without the helpers, the crate reads only the configuration itself: it would wait for helpers without a
        // limit.
        if let Some(configuration) = configuration.as_object_mut() {
            configuration.remove("credHelpers");
            configuration.remove("credsStore");
        }
        let text = Zeroizing::new(configuration.to_string());
        match docker_credential::get_credential_from_reader(text.as_bytes(), registry) {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(Credentials::new(user, password)))
            }
            Ok(DockerCredential::IdentityToken(_)) => {
                Err(invalid(&format!("has {AN_IDENTITY_TOKEN}")))
            }
            Err(CredentialRetrievalError::NoCredentialConfigured) => match store {
                Some(store) if !store.is_empty() => asked(&store),
                _ => Ok(None),
            },
            Err(CredentialRetrievalError::ConfigReadError) => Err(not_json()),
            Err(error) => Err(invalid(&format!("has a login that is not valid: {error}"))),
        }
    }

    /// The header that sends the login; `None` if a header cannot contain it.
    pub(crate) fn basic(&self) -> Option<HeaderValue> {
        let pair = Zeroizing::new(format!("{}:{}", self.user, self.password.as_str()));
        let text = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// The path of Docker's configuration; `None` if there is no home folder. An empty variable counts as not set.
fn path_of_configuration() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let home = || set("HOME").map(|home| Path::new(&home).join(".docker"));
    Some(set("DOCKER_CONFIG").map(PathBuf::from).or_else(home)?.join("config.json"))
}

/// The content of Docker's configuration; `None` if there is none.
fn configuration(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>, Unusable> {
    match fs::read(path) {
        Ok(text) => Ok(Some(Zeroizing::new(text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unusable::Unreadable(format!("`{}`: {error}", path.display()))),
    }
}

/// Renames the member of a registry to the name that is looked up, because host names are case-insensitive.
fn as_asked(members: &mut Value, registry: &str) {
    let Some(members) = members.as_object_mut() else { return };
    let is_other = |name: &&String| *name != registry && name.eq_ignore_ascii_case(registry);
    let other = members.keys().find(is_other).cloned();
    if let Some(member) = other.and_then(|other| members.remove(&other)) {
        members.entry(registry).or_insert(member);
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_show_nothing() {
        let credentials = Credentials::new("Aladdin", "open sesame");
        let header = credentials.basic().unwrap();
        // This pair is from RFC 7617, section 2.
        assert_eq!(header, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(format!("{credentials:?} {header:?}"), "Credentials Sensitive");
    }

    #[test]
    fn the_login_of_a_registry_is_found_in_any_case_of_its_name() {
        let mut members = serde_json::json!({"A.Test:5000": 1, "b.test": 2});
        as_asked(&mut members, "a.test:5000");
        as_asked(&mut members, "b.test");
        as_asked(&mut members, "c.test");
        assert_eq!(members, serde_json::json!({"a.test:5000": 1, "b.test": 2}));
        as_asked(&mut Value::Null, "a.test");
    }
}
