//! The digests of what scorers are fed of one case, each computed once. Feeds nobody.

use crate::{case::Case, contract::Fields, digest::Digest};

/// Scorers that read the same parts share a digest.
pub(super) struct InputDigests<'a> {
    case: &'a Case,
    known: Vec<(Fields, Digest)>,
}

impl<'a> InputDigests<'a> {
    pub(super) fn new(case: &'a Case) -> InputDigests<'a> {
        InputDigests { case, known: Vec::new() }
    }

    /// The digest of what a scorer that reads `reads` is fed.
    pub(super) fn of(&mut self, reads: Fields) -> Digest {
        if let Some((_, digest)) = self.known.iter().find(|(fields, _)| *fields == reads) {
            return *digest;
        }
        let digest = self.case.scorer_input(reads).digest();
        self.known.push((reads, digest));
        digest
    }
}
