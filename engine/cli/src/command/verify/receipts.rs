//! Reads the inputs for checking a receipt: its component, its case, and the recorded answers of judges. It computes
//! nothing.

use std::path::Path;

use scorebox::{
    case::{Case, Location, Mapping},
    component_bytes::ComponentBytes,
    digest::Digest,
    input_file::MAX_CASE_BYTES,
    judge::{RecordedFile, Recordings},
    registry::{Reference, Registry},
    store::CallStore,
    verify::Receipt,
};

use super::Verify;
use crate::{arguments::NOT_A_RECORDING, failure::Failure, input::read_file_or_stdin, setup};

impl Verify {
    /// Reads the files of `--check`: the receipt, the component that it names, and the case.
    pub(super) fn checked_files(
        &self,
        receipt: &Path,
    ) -> Result<(Receipt, ComponentBytes, Case), Failure> {
        let receipt = Receipt::parse(&read_file_or_stdin(receipt, MAX_CASE_BYTES)?)?;
        let case_file = self.case.as_deref().unwrap_or(Path::new("-"));
        let location = Location::new(case_file.display().to_string(), 1);
        let text = read_file_or_stdin(case_file, MAX_CASE_BYTES)?;
        let case = Case::parse(text.trim_end(), 0, &Mapping::parse(&self.map)?, location)?;
        let registry = setup::registry();
        let component = match &self.component {
            Some(path) => registry.resolve(&Reference::File(path.clone()))?.component,
            None => built_in(&registry, receipt.component.digest).ok_or_else(|| {
                Failure::new(format!(
                    "no built-in scorer has the digest of the receipt's component `{}`",
                    receipt.component.id
                ))
                .hint("name its file: --component FILE")
            })?,
        };
        Ok((receipt, component, case))
    }

    /// The source of the judges' answers that a receipt names; `None` if it names no answers, or if there is no source.
    pub(super) fn recordings(
        &self,
        receipt: &Receipt,
    ) -> Result<Option<Box<dyn Recordings>>, Failure> {
        if let Some(path) = &self.recordings {
            let file = RecordedFile::open(path)
                .map_err(|error| Failure::new(error.to_string()).hint(NOT_A_RECORDING))?;
            return Ok(Some(Box::new(file)));
        }
        let is_there = !self.database.is_default() || self.database.path.exists();
        match !receipt.calls.is_empty() && is_there {
            true => Ok(Some(Box::new(CallStore::open_read_only(&self.database.path)?))),
            false => Ok(None),
        }
    }
}

fn built_in(registry: &Registry, digest: Digest) -> Option<ComponentBytes> {
    registry.built_in(digest).map(|source| source.component)
}
