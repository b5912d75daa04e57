//! What a published scorer's name could be taken for, in words. Decides nothing: what is alike may be so by chance.

use scorebox::digest::Digest;
use scorebox_community::{Address, KnownName, NearMisses, Signer, Similarity};

use crate::{failure::Failure, indexes, setup, user_configuration::UserConfiguration, words};

/// The names of the built-in scorers.
pub(crate) fn built_in() -> NearMisses {
    NearMisses::of(setup::registry().list())
}

/// `has a name close to `contains`, which is built in`.
pub(crate) fn in_words(known: &KnownName, similarity: Similarity) -> String {
    let how = match similarity {
        Similarity::Same => "has the name of",
        Similarity::Close => "has a name close to",
    };
    match known {
        KnownName::BuiltIn(name) => format!("{how} `{name}`, which is built in"),
        KnownName::Published(place) => format!("{how} `{place}`, which another key signed"),
    }
}

/// Warns of a scorer that is about to be added if its name could be taken for another, or if an index says something else about it. Asks
/// nobody: indexes are those that were fetched last.
pub(crate) fn warn_of(
    address: &Address,
    id: &str,
    signer: Option<&Signer>,
    component: Digest,
) -> Result<(), Failure> {
    let signer = signer.map(Signer::as_str);
    let configuration = UserConfiguration::read()?;
    let mut names = built_in();
    for (index, signed) in indexes::kept(&configuration.indexes) {
        for entry in &signed.index().scorers {
            names.know(&entry.address, entry.signer.as_ref().map(Signer::as_str));
            if entry.address != *address {
                continue;
            }
            if entry.component != component {
                words::warn(&format!(
                    "the index `{index}` names another component for `{address}`: sha256:{}",
                    entry.component
                ));
            }
            if entry.signer.as_ref().map(Signer::as_str) != signer {
                let named = entry.signer.as_ref();
                let named = named.map_or("not signed".to_owned(), |key| format!("signed by {key}"));
                words::warn(&format!("the index `{index}` says that `{address}` is {named}"));
            }
        }
    }
    if let Some((known, similarity)) = names.closest(address, id, signer) {
        words::warn(&format!("`{address}` {}", in_words(&known, similarity)));
        words::hint("be sure that it is the one that you mean");
    }
    Ok(())
}
