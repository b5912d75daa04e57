//! Scorers in OCI registries, where any client of a registry finds them. Prints nothing, knows no command, and runs no
//! scorer.
//!
//! - `address`: how a scorer in a registry is named.
//! - `artifact`: a component as the documents that a registry keeps: a manifest and a configuration.
//! - `registry`: a registry, and what it is asked: which manifest a tag names, and to keep blobs and manifests.
//! - `publish`: an artifact to a registry; `pull`: a published scorer from one.
//! - `components`: the folder of components that were fetched.
//! - `bundle`: a suite, its lock and its components in one file.
//! - `lock`: which component each published scorer of a suite is.
//! - `named_digest`: a digest as documents have it.
//! - `index`: indexes of scorers; `search`: scorers that are meant by words; `near_miss`: names that could be taken for
//!   others.
//! - `signing`: signatures of components.
//! - `exchange`: one exchange with a server, within bounds of time and size; `patience`: when a busy server is asked
//!   again.
//! - `authorities`: the file of certificates that a user names.
//! - `login`: what a registry wants to know of its user, and the tokens that it gives.
//! - `credentials`: the logins that Docker keeps; `credential_helper`: a program that knows them.
//! - `error`: why something failed, as data.
//!
//! The protocol is that of the OCI Distribution Specification 1.1. It is spoken here, and not by the crate
//! `oci-client`, because that reads manifests and errors whole, however long they are (0.18).
//!
//! - **Invariant:** whatever a server sends, a bounded amount of it is read.
//! - **Invariant:** a password or a token is sent to the registry that it is for, or to the service that this registry
//!   names for logins, and to no place that a redirect or the address of an upload names; and never without TLS, unless
//!   the caller allows plain HTTP.
//! - **Invariant:** a password or a token is in no error and in no `Debug`.

#![warn(missing_debug_implementations)]

mod address;
mod artifact;
mod authorities;
mod bundle;
mod components;
mod credential_helper;
mod credentials;
mod error;
mod exchange;
mod index;
mod lock;
mod login;
mod named_digest;
mod near_miss;
mod patience;
mod publish;
mod pull;
mod registry;
mod search;
mod signing;

pub use address::{Address, NotAnAddress};
pub use artifact::{Artifact, MAX_COMPONENT_BYTES, MAX_MANIFEST_BYTES};
pub use bundle::{Bundle, BundleFile, Carried, MAX_BUNDLE_BYTES, NotABundle, NotBundled};
pub use components::Components;
pub use credentials::Credentials;
pub use error::{CommunityError, Failed, Unusable};
pub use index::{
    InPlaceOf, Index, IndexEntry, IndexError, IndexFailed, IndexPlace, KeptIndex, KeptIndexes,
    MAX_ENTRIES, MAX_INDEX_BYTES, NotAnIndex, NotAnIndexPlace, Refused, SignedIndex, Taken,
    WebPlace, fetch_index, is_web_address, publish_index,
};
pub use lock::{LOCK_FILE, Lock, Locked, MAX_LOCK_BYTES, NotALock, Signed};
pub use near_miss::{KnownName, Named, NearMisses, Similarity};
pub use publish::{Published, publish};
pub use pull::{Pulled, Releases, newest, pull, pull_annotations, pull_component, releases};
pub use registry::{Registry, Transport};
pub use search::{Searched, Words};
pub use signing::{BadSignature, NotASigner, NotSigned, Signature, Signer};
