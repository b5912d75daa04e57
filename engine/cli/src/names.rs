//! Warns of published scorers whose names could be confused with others. It decides nothing: names may be alike by
//! chance.

use scorebox_community::{IndexEntry, KnownName, Named, NearMisses, Signer, Similarity};

use crate::{failure::Failure, indexes, setup, user_configuration::UserConfiguration, words};

/// The names of the built-in scorers, with their titles.
pub(crate) fn built_in() -> Result<NearMisses, Failure> {
    let registry = setup::registry();
    let mut titles = Vec::new();
    for name in registry.list() {
        let title = registry.listing(name)?.map(|listing| listing.info.name);
        titles.push((name, title.unwrap_or_default()));
    }
    Ok(NearMisses::of(titles.iter().map(|(name, title)| (*name, title.as_str()))))
}

/// An index entry as a scorer whose name may be confused with others.
pub(crate) fn named(entry: &IndexEntry) -> Named<'_> {
    Named {
        address: &entry.address,
        id: &entry.scorer_id,
        title: &entry.title,
        signer: entry.signer.as_ref().map(Signer::as_str),
        component: entry.component,
    }
}

/// `has a name close to `contains`, which is built in`.
pub(crate) fn in_words(known: &KnownName, similarity: Similarity) -> String {
    let how = match similarity {
        Similarity::Same => "has the name of",
        Similarity::Close => "has a name close to",
    };
    match known {
        KnownName::BuiltIn(name) => format!("{how} `{name}`, which is built in"),
        KnownName::Published(place) => format!("{how} `{place}`, which the same key did not sign"),
    }
}

/// Warns of a scorer that is about to be added if its name could be confused with another, or if an index has different
/// data about it. It contacts no server, and uses the indexes as they were last fetched.
pub(crate) fn warn_of(scorer: &Named<'_>) -> Result<(), Failure> {
    let configuration = UserConfiguration::read()?;
    let (mut names, address) = (built_in()?, scorer.address);
    for (index, signed) in indexes::kept(&configuration.indexes) {
        for entry in &signed.index().scorers {
            let known = named(entry);
            names.know(&known);
            if known.address != address {
                continue;
            }
            if known.component != scorer.component {
                words::warn(&format!(
                    "the index `{index}` names another component for `{address}`: sha256:{}",
                    known.component
                ));
            }
            if known.signer != scorer.signer {
                let said =
                    known.signer.map_or("not signed".to_owned(), |key| format!("signed by {key}"));
                words::warn(&format!("the index `{index}` says that `{address}` is {said}"));
            }
        }
    }
    if let Some((known, similarity)) = names.closest(scorer) {
        words::warn(&format!("`{address}` {}", in_words(&known, similarity)));
        words::hint("be sure that it is the one that you mean");
    }
    Ok(())
}
