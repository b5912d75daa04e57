//! `scorebox fetch`: the components that a suite is locked to, from their registries.

use std::path::PathBuf;

use scorebox::registry::Reference;
use scorebox_community::{Locked, pull_component};

use crate::{
    arguments::{Asked, OciArguments},
    bundled,
    failure::{Exit, Failure},
    lock_file::locks_of,
    output, report, setup,
    waiting::Waiting,
    words,
};

/// Fetch the components that a suite's `scorebox.lock` names, so that it runs without a network
///
/// Each is asked for by its digest, so a tag that has moved changes nothing. A run itself never fetches.
#[derive(Debug, clap::Args)]
pub(crate) struct Fetch {
    /// The suite file
    #[arg(default_value = "suite.toml")]
    suite: PathBuf,

    #[command(flatten)]
    oci: OciArguments,
}

impl Fetch {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let suite = setup::suite(&self.suite)?;
        if bundled::is_bundle(&self.suite) {
            let path = self.suite.display();
            words::say(&format!("nothing to fetch: the bundle `{path}` has its components"));
            return Ok(Exit::Done);
        }
        let locks = locks_of(&suite.scorers)?;
        for scorer in &suite.scorers {
            if let Reference::Published(address) = &scorer.uses
                && !locks.contains_key(address)
            {
                return Err(Failure::new(format!(
                    "scorer `{}`: it is not locked which component `{address}` is",
                    scorer.id
                ))
                .hint("lock it after a look at it: scorebox add REGISTRY/NAME:VERSION --as NAME --suite FILE"));
            }
        }
        let components = setup::components()?;
        let missing: Vec<&Locked> = locks
            .values()
            .filter(|locked| components.component(locked.component).is_none())
            .collect();
        let waiting = Waiting::of("fetching scorers", missing.len() as u64);
        setup::finish(setup::small_runtime()?, async {
            for (done, locked) in missing.iter().enumerate() {
                waiting.at(done as u64);
                let registry = self.oci.registry(&locked.address, Asked::ToFetch)?;
                let component = pull_component(&registry, locked.component).await;
                let component =
                    component.map_err(|error| self.oci.failure(&error, Asked::ToFetch))?;
                setup::keep(&components, &component)?;
            }
            Ok::<_, Failure>(())
        })?;
        drop(waiting);
        let fetched = report::counted(missing.len() as u64, "scorer", "scorers");
        let there = report::count((locks.len() - missing.len()) as u64);
        output::stdout(|out| writeln!(out, "fetched {fetched}; {there} already there"))?;
        Ok(Exit::Done)
    }
}
