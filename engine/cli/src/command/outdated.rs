//! `scorebox outdated`: lists the published scorers of a suite that have newer versions. It changes nothing.

use std::path::PathBuf;

use scorebox::{
    registry::Reference,
    suite::{Suite, SuiteScorer},
};
use scorebox_community::{Address, releases};
use serde::Serialize;

use crate::{
    arguments::{Asked, OciArguments},
    failure::{Exit, Failure},
    output::{self, Format},
    published::newest_must_be_known,
    report::{Align, Table},
    setup,
    trust::Trust,
    waiting::Waiting,
    words,
};

/// Show which published scorers of a suite have newer versions
///
/// A version is compatible if no part of its number changes but those behind the first that is not 0: 1.4.0 with 1.2.0,
/// and 0.2.3 with 0.2.0. `scorebox update` takes compatible ones.
#[derive(Debug, clap::Args)]
pub(crate) struct Outdated {
    /// The suite file
    #[arg(default_value = "suite.toml")]
    suite: PathBuf,

    /// Show all published scorers, those that are up to date too
    #[arg(long, help_heading = "Output")]
    all: bool,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    oci: OciArguments,
}

/// A scorer, and the versions in its registry.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    scorer_id: String,
    address: String,
    version: String,
    /// The newest version that is newer and compatible.
    compatible: Option<String>,
    /// The newest version of all.
    newest: Option<String>,
}

impl Listed {
    fn is_outdated(&self) -> bool {
        self.compatible.is_some() || self.newest.is_some()
    }
}

impl Outdated {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let suite = setup::suite(&self.suite)?;
        let trust = Trust::with(&suite.policies)?;
        let published = published_in(&suite);
        let waiting = Waiting::of("asking for versions", published.len() as u64);
        let (mut all, mut failures) = (Vec::new(), Vec::new());
        setup::finish(setup::small_runtime()?, async {
            for (done, (scorer, address)) in published.iter().enumerate() {
                waiting.at(done as u64);
                match self.listed(scorer, address, &trust).await {
                    Ok(listed) => all.push(listed),
                    Err(failure) => {
                        let message = format!("`{}`: {}", scorer.id, failure.message);
                        failures.push((message, failure.hint));
                    }
                }
            }
        });
        drop(waiting);
        let is_none_outdated = !all.iter().any(Listed::is_outdated);
        let shown: Vec<Listed> =
            all.into_iter().filter(|it| self.all || it.is_outdated()).collect();
        output::stdout(|out| match self.format {
            Format::Table if shown.is_empty() => Ok(()),
            Format::Table => write!(out, "{}", table(&shown)),
            format => output::list(out, format == Format::Jsonl, &shown),
        })?;
        if self.format == Format::Table && is_none_outdated && failures.is_empty() {
            words::say(match published.is_empty() {
                true => "the suite uses no published scorers",
                false => "all published scorers are up to date",
            });
        }
        Failure::of_each(failures.into_iter()).map_or(Ok(Exit::Done), Err)
    }

    async fn listed(
        &self,
        scorer: &SuiteScorer,
        address: &str,
        trust: &Trust,
    ) -> Result<Listed, Failure> {
        let address = address.parse::<Address>();
        let address = address.map_err(|error| Failure::new(error.to_string()))?;
        trust.must_allow_registry(&address)?;
        let registry = self.oci.registry(&address, Asked::ToFetch)?;
        let releases = releases(&registry).await;
        let releases = releases.map_err(|error| self.oci.failure(&error, Asked::ToFetch))?;
        newest_must_be_known(&address, &releases, &self.oci)?;
        Ok(Listed {
            scorer_id: scorer.id.to_string(),
            address: format!("{}/{}", address.registry(), address.name()),
            version: address.tag().to_owned(),
            compatible: releases.newest_compatible(address.tag()),
            newest: releases.newer(address.tag()),
        })
    }
}

/// The published scorers of a suite, with their addresses.
fn published_in(suite: &Suite) -> Vec<(&SuiteScorer, &str)> {
    let published = suite.scorers.iter().filter_map(|scorer| match &scorer.uses {
        Reference::Published(address) => Some((scorer, address.as_str())),
        Reference::Name(_) | Reference::File(_) => None,
    });
    published.collect()
}

fn table(listed: &[Listed]) -> Table {
    let columns = ["scorer", "version", "compatible", "newest", "published at"];
    let mut table = Table::new(&columns.map(|title| (title, Align::Left)));
    let or_none = |version: &Option<String>| version.clone().unwrap_or_else(|| "-".to_owned());
    for Listed { scorer_id, address, version, compatible, newest } in listed {
        let (compatible, newest) = (or_none(compatible), or_none(newest));
        table.row([scorer_id.clone(), version.clone(), compatible, newest, address.clone()]);
    }
    table
}
