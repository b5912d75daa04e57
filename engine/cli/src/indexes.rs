//! Reads the indexes of scorers that the user has configured: fetched now, or as they were last fetched. It does not
//! search them.

use std::time::SystemTime;

use scorebox_community::{
    Credentials, Failed, IndexError, IndexFailed, IndexPlace, KeptIndex, KeptIndexes, SignedIndex,
    Taken, Unusable, fetch_index,
};

use crate::{
    arguments::{ABOUT_PROXIES, OWN_CERTIFICATE, try_later, without_login},
    failure::Failure,
    report::{printable, shell_word, started},
    setup,
    user_configuration::ConfiguredIndex,
    waiting::Waiting,
    words,
};

/// The configured indexes that can be read, and why the others cannot.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    /// Those that can be searched, by their names.
    pub read: Vec<(String, SignedIndex)>,
    /// Why others cannot.
    pub failures: Vec<Failure>,
}

/// Fetches the indexes. If a server cannot be reached, or has an older index than was seen before, the last fetched
/// copy is used, with a warning.
pub(crate) async fn fetched(configured: &[ConfiguredIndex]) -> Indexes {
    let kept = setup::kept_indexes();
    let mut indexes = Indexes::default();
    let waiting = Waiting::on("");
    for index in configured {
        let ConfiguredIndex { name, place, .. } = index;
        waiting.say(format!("fetching the index `{name}`"));
        match fetched_one(index, kept.as_ref()).await {
            Ok(signed) => indexes.read.push((name.clone(), signed)),
            Err(error) => indexes.failures.push(failure(name, place, &error)),
        }
    }
    indexes
}

/// The indexes as they were last fetched. It contacts no server, and does not report missing copies.
pub(crate) fn kept(configured: &[ConfiguredIndex]) -> Vec<(String, SignedIndex)> {
    let kept = setup::kept_indexes();
    let each = configured.iter().filter_map(|index| {
        let copy = kept.as_ref()?.get(&index.place, &index.signer).ok()??;
        Some((index.name.clone(), copy.signed))
    });
    each.collect()
}

/// The indexes as they were last fetched, and what to do about those that never were.
pub(crate) fn offline(configured: &[ConfiguredIndex]) -> Indexes {
    let kept = setup::kept_indexes();
    let mut indexes = Indexes::default();
    for ConfiguredIndex { name, place, signer, .. } in configured {
        let copy = kept.as_ref().map_or(Ok(None), |kept| kept.get(place, signer));
        match copy {
            Ok(Some(copy)) => indexes.read.push((name.clone(), copy.signed)),
            Ok(None) => {
                let message = format!("the index `{name}` was not fetched before");
                let failure = Failure::new(message).hint("search once without --offline");
                indexes.failures.push(failure);
            }
            Err(failed) => {
                indexes.failures.push(failure(name, place, &IndexError::new(place, failed)));
            }
        }
    }
    indexes
}

async fn fetched_one(
    index: &ConfiguredIndex,
    kept: Option<&KeptIndexes>,
) -> Result<SignedIndex, IndexError> {
    let ConfiguredIndex { name, place, signer, transport, .. } = index;
    let failed = |failed: Failed| IndexError::new(place, failed.into());
    let credentials = match place {
        IndexPlace::Registry(address) => match Credentials::of_docker(address.registry()) {
            Ok(credentials) => credentials,
            Err(Unusable::Helper(reason) | Unusable::Unreadable(reason)) => {
                without_login(address.registry(), &reason);
                None
            }
            Err(unusable) => return Err(failed(Failed::Credentials(unusable.to_string()))),
        },
        IndexPlace::Web(_) => None,
    };
    let signed = match fetch_index(place, *transport, credentials, signer).await {
        Ok(signed) => signed,
        Err(error) if error.failed.is_passing() => {
            return match kept.map_or(Ok(None), |kept| kept.get(place, signer)) {
                Ok(Some(copy)) => {
                    let of = age(&copy);
                    words::warn(&format!(
                        "cannot read the index `{name}` ({error}); this is its copy of {of}"
                    ));
                    Ok(copy.signed)
                }
                Ok(None) => Err(error),
                Err(damaged) => {
                    words::warn(&format!("the index `{name}`: {damaged}, and is not used"));
                    Err(error)
                }
            };
        }
        Err(error) => return Err(error),
    };
    let Some(kept) = kept else { return Ok(signed) };
    match kept.take(place, signer, signed, SystemTime::now()) {
        Taken::New(signed) => Ok(signed),
        Taken::NotKept(signed, error) => {
            words::warn(&format!(
                "cannot keep the index `{name}` ({error}): an older one would not be noticed"
            ));
            Ok(signed)
        }
        Taken::InPlaceOfDamaged(signed) => {
            words::warn(&format!(
                "the copy of the index `{name}` was damaged, and is replaced: if this one is older, that was not noticed"
            ));
            Ok(signed)
        }
        Taken::Refused(refused, copy) => {
            let of = age(&copy);
            words::warn(&format!(
                "the index `{name}` at {place} is not used: {refused}; this is its copy of {of}"
            ));
            let file = kept.file(place, signer);
            words::hint(&format!(
                "someone may be withholding newer entries; if its publisher confirms that this is intended, delete {}",
                shell_word(&file)
            ));
            Ok(copy.signed)
        }
        _ => Err(failed(Failed::Prepare("unknown".to_owned()))),
    }
}

/// The time at which a copy was fetched: `2026-11-23 14:05:02`.
fn age(copy: &KeptIndex) -> String {
    let since = copy.fetched.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{} UTC", started(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

/// Why an index is not read, and what to do about it.
fn failure(name: &str, place: &IndexPlace, error: &IndexError) -> Failure {
    let failure = Failure::new(printable(&format!("cannot read the index `{name}`: {error}")));
    let host = place.host();
    match &error.failed {
        IndexFailed::Missing | IndexFailed::NotAnArtifact(_) => {
            failure.hint("check its `url` in the configuration")
        }
        IndexFailed::DamagedCopy(_) => failure.hint("search once without --offline"),
        IndexFailed::NotSigned => failure.hint(
            "nothing of it was used; its publisher signs it with `minisign -S`, and puts the signature beside it",
        ),
        IndexFailed::OtherSigner(_) => failure.hint(
            "nothing of it was used; ask its publisher whether the key has changed",
        ),
        IndexFailed::BadSignature | IndexFailed::OtherDocument(_) => failure.hint(
            "nothing of it was used: it was changed after it was signed, or it is being replaced at this moment",
        ),
        IndexFailed::Server(failed) => match failed.cause() {
            Failed::Busy { .. } | Failed::Refused { .. } => {
                match try_later(failed.cause(), failed.login_server().unwrap_or(&host)) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
            Failed::Unreachable(_) | Failed::TimedOut if failed.proxy().is_some() => {
                failure.hint(ABOUT_PROXIES)
            }
            Failed::Unreachable(_) | Failed::TimedOut | Failed::EndedEarly(_) => {
                failure.hint("check its `url` in the configuration, and the network")
            }
            Failed::UnknownAuthority(_) => failure.hint(
                "if the server is yours, SSL_CERT_FILE names a file with the certificate of its authority",
            ),
            Failed::AuthorityCertificate => failure.hint(OWN_CERTIFICATE),
            Failed::LoginWanted | Failed::LoginRefused(_) | Failed::Credentials(_) => {
                failure.hint(match place {
                    IndexPlace::Registry(_) => {
                        format!("`docker login {}` stores a login that may fetch there", shell_word(&host))
                    }
                    IndexPlace::Web(_) => {
                        "an index on a web server is read without a login".to_owned()
                    }
                })
            }
            _ => failure,
        },
        _ => failure,
    }
}
