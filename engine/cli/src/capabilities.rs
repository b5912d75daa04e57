//! What scorers may be shown of the outside, from what several commands let a user name. Grants nothing.

use std::path::Path;

use scorebox::{sandbox::Capabilities, workspace::WorkspaceFolder};

use crate::failure::Failure;

/// The files below `folder`, where one is named, without those that the patterns match.
pub fn capabilities(folder: Option<&Path>, without: &[String]) -> Result<Capabilities, Failure> {
    Ok(match folder {
        None => Capabilities::none(),
        Some(folder) => {
            let folder = WorkspaceFolder::open(folder)?.without(without)?;
            Capabilities::none().with_workspace(folder)
        }
    })
}
