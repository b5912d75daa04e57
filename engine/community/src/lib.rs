//! Publishes scorers in OCI registries and fetches them, in a form that any registry client understands. Prints
//! nothing, knows no command, and runs no scorer.
//!
//! - `address`: how a scorer in a registry is named.
//! - `artifact`: a component as the documents that a registry stores: a manifest and a configuration.
//! - `registry`: a registry and its requests: get the manifest of a tag, store blobs and manifests.
//! - `publish`: publishes an artifact to a registry; `pull`: fetches a published scorer from one.
//! - `components`: the folder of fetched components.
//! - `bundle`: a suite, its lock and its components in one file.
//! - `lock`: the component that each published scorer of a suite is locked to.
//! - `named_digest`: a digest in the format of documents.
//! - `index`: indexes of scorers; `search`: finds scorers by words; `near_miss`: names that could be confused with
//!   others.
//! - `signing`: signatures of components.
//! - `exchange`: one exchange with a server, within limits of time and size; `patience`: when a busy server is asked
//!   again.
//! - `authorities`: the certificate file that a user names.
//! - `login`: the credentials that a registry requires, and the tokens that it returns.
//! - `credentials`: the logins that Docker stores; `credential_helper`: a program that stores them.
//! - `error`: why something failed, as data.
//!
//! The protocol is the OCI Distribution Specification 1.1. This crate implements it instead of using `oci-client`,
//! because that crate reads manifests and errors completely, however long they are (0.18).
//!
//! - **Invariant:** whatever a server sends, a bounded amount of it is read.
//! - **Invariant:** a password or a token is sent only to its registry, or to the login service that this registry
//!   names, never to the target of a redirect or of an upload; and never without TLS, unless the caller allows plain
//!   HTTP.
//! - **Invariant:** no error and no `Debug` contains a password or a token.

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
