//! The document of an index whose signature was checked. There is no other way to get one: what a server sends is
//! parsed only after its signature was checked.

use bytes::Bytes;

use super::{document::Index, error::IndexFailed};
use crate::signing::{Signature, Signer};

/// An index that its signer's key signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIndex {
    index: Index,
    document: Bytes,
    signature: Signature,
}

impl SignedIndex {
    /// Checks that `signer` signed the document, and reads it.
    ///
    /// # Errors
    /// [`IndexFailed::BadSignature`], [`IndexFailed::OtherSigner`], [`IndexFailed::OtherDocument`],
    /// [`IndexFailed::NotAnIndex`].
    pub fn open(
        document: Bytes,
        signature: &str,
        signer: &Signer,
    ) -> Result<SignedIndex, IndexFailed> {
        let bad = IndexFailed::BadSignature;
        let signature = Signature::of_text(signer, signature).map_err(|_| bad.clone())?;
        if !signature.names_its_signer().map_err(|_| bad.clone())? {
            return Err(IndexFailed::OtherSigner(signer.clone()));
        }
        signature.verify(&document).map_err(|error| match error {
            crate::signing::BadSignature::Malformed => bad,
            _ => IndexFailed::OtherDocument(signer.clone()),
        })?;
        let index = Index::parse(&document).map_err(IndexFailed::NotAnIndex)?;
        Ok(SignedIndex { index, document, signature })
    }

    /// The content of the document.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The bytes that are signed.
    pub fn document(&self) -> &Bytes {
        &self.document
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }
}
