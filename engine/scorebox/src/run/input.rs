//! The digests of what scorers are fed of one case, each computed once. Feeds nobody.

use crate::{case::Case, contract::Fields, digest::Digest};

/// Scorers that read the same parts share a digest.
pub(super) struct InputDigests<'a> {
    case: &'a Case,
    known: Vec<(Fields, Option<Digest>, Digest)>,
}

impl<'a> InputDigests<'a> {
    pub(super) fn new(case: &'a Case) -> InputDigests<'a> {
        InputDigests { case, known: Vec::new() }
    }

    /// The digest of what a scorer that reads `reads` is fed, with the files whose digest is `files`.
    pub(super) fn of(&mut self, reads: Fields, files: Option<Digest>) -> Digest {
        let known = self.known.iter().find(|(fields, its, _)| (*fields, *its) == (reads, files));
        if let Some((_, _, digest)) = known {
            return *digest;
        }
        let digest = self.case.scorer_input(reads).digest(files);
        self.known.push((reads, files, digest));
        digest
    }
}
