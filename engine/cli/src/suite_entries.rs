//! Reads which scorers the entries of one suite file use, in TOML or JSON, with the values of variables. It changes no
//! file, and does not follow includes.

use std::path::Path;

use scorebox::{input_file::MAX_CONFIGURATION_BYTES, registry::Reference, suite::Suite};
use scorebox_community::Address;

use crate::{failure::Failure, input, setup};

/// The entries that name what they use.
#[derive(Debug)]
pub(crate) struct SuiteEntries {
    uses: Vec<(String, Reference)>,
}

impl SuiteEntries {
    /// Reads the file. It ignores errors; code that needs the whole file reports them.
    pub(crate) fn read(path: &Path) -> Result<SuiteEntries, Failure> {
        let text = input::read_file(path, MAX_CONFIGURATION_BYTES)?;
        let names = Suite::names_in(path, &text, &setup::variable)?;
        Ok(SuiteEntries { uses: names.uses })
    }

    /// The address of the published scorer that the entry of this name uses.
    pub(crate) fn published(&self, name: &str) -> Option<String> {
        self.published_scorers().find_map(|(entry, address)| (entry == name).then_some(address))
    }

    /// The name of the first entry that uses the scorer at this address.
    pub(crate) fn using(&self, address: &Address) -> Option<&str> {
        let address = address.to_string();
        self.published_scorers().find_map(|(entry, used)| (used == address).then_some(entry))
    }

    /// Whether an entry uses some version of the scorer at this address.
    pub(crate) fn use_a_version_of(&self, address: &Address) -> bool {
        let parsed = |used: String| used.parse::<Address>().ok();
        self.published_scorers()
            .filter_map(|(_, used)| parsed(used))
            .any(|used| (used.registry(), used.name()) == (address.registry(), address.name()))
    }

    fn published_scorers(&self) -> impl Iterator<Item = (&str, String)> {
        self.uses.iter().filter_map(|(entry, uses)| match uses {
            Reference::Published(address) => Some((entry.as_str(), Address::canonical(address))),
            Reference::Name(_) | Reference::File(_) => None,
        })
    }
}
