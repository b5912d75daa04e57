//! The logins that Docker keeps, in its configuration or with its helpers, for requests to a registry. Logs nobody in.

use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use docker_credential::{CredentialRetrievalError, DockerCredential};
use reqwest::header::HeaderValue;
use zeroize::Zeroizing;

/// A user's name and password, or a token in its place. Its memory is wiped when it is dropped.
#[derive(Clone)]
pub struct Credentials {
    user: String,
    password: Zeroizing<String>,
}

impl Credentials {
    /// A user with a password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Credentials {
        Credentials { user: user.into(), password: Zeroizing::new(password.into()) }
    }

    /// What `docker login` left for this registry; `None` if nobody logged in to it. May start a helper that Docker's
    /// configuration names, and waits for it.
    ///
    /// # Errors
    /// What is wrong with the configuration or the helper.
    pub fn of_docker(registry: &str) -> Result<Option<Credentials>, String> {
        match docker_credential::get_credential(registry) {
            Ok(DockerCredential::UsernamePassword(user, password)) => {
                Ok(Some(Credentials::new(user, password)))
            }
            Ok(DockerCredential::IdentityToken(_)) => {
                Err("it is an identity token, which scorebox does not use; log in with a user name"
                    .into())
            }
            Err(
                CredentialRetrievalError::NoCredentialConfigured
                | CredentialRetrievalError::ConfigNotFound,
            ) => Ok(None),
            // There may be no configuration at all, and the crate does not tell that from one that is not valid.
            Err(CredentialRetrievalError::ConfigReadError) => match configuration_is_there() {
                true => Err("Docker's configuration, config.json, cannot be read as JSON".into()),
                false => Ok(None),
            },
            // What all helpers say that know no login; they fail with it.
            Err(CredentialRetrievalError::HelperFailure { stdout, .. })
                if stdout.contains("credentials not found") =>
            {
                Ok(None)
            }
            // Its output may hold a secret.
            Err(CredentialRetrievalError::HelperFailure { helper, .. }) => {
                Err(format!("`{helper}` failed"))
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// The header that sends them; `None` if no header can.
    pub(crate) fn basic(&self) -> Option<HeaderValue> {
        let pair = Zeroizing::new(format!("{}:{}", self.user, self.password.as_str()));
        let text = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Whether Docker has a configuration, where the crate looks for it.
fn configuration_is_there() -> bool {
    let named = env::var_os("DOCKER_CONFIG").map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".docker"));
    named.or_else(home).is_some_and(|folder| folder.join("config.json").exists())
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
        // RFC 7617, section 2 has this pair.
        assert_eq!(header, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(format!("{credentials:?} {header:?}"), "Credentials Sensitive");
    }
}
