//! `scorebox fetch`: fetches the components that a suite is locked to from their registries.

use std::path::PathBuf;

use scorebox::{registry::Reference, sandbox::Anatomy, suite::Suite};
use scorebox_community::{Address, Components, Locked, pull_component};

use crate::{
    arguments::{Asked, LockedArguments, OciArguments},
    bundled,
    failure::{Exit, Failure},
    lock_file::{file_of, lock_path_of, locks_of},
    lock_use::not_locked,
    output, report, setup,
    trust::Trust,
    waiting::Waiting,
    words,
};

/// Fetch the components that a suite's `scorebox.lock` names, so that it runs without a network
///
/// Each is asked for by its digest, so a tag that has moved changes nothing. Signatures and policies are checked before
/// a component is kept. If one cannot be fetched, the others are. A run itself never fetches.
#[derive(Debug, clap::Args)]
pub(crate) struct Fetch {
    /// The suite file
    #[arg(default_value = "suite.toml")]
    suite: PathBuf,

    #[command(flatten)]
    locked: LockedArguments,

    /// Ask no registry: fail if a component is not here
    #[arg(long, conflicts_with = "plain_http", help_heading = "Registry")]
    offline: bool,

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
        self.locked.check(&suite)?;
        let locks = locks_of(&suite.scorers)?;
        must_be_locked(&suite, |address| locks.contains_key(address))?;
        let (components, trust) = (setup::components()?, Trust::with(&suite.policies)?);
        let (mut missing, mut failures) = (Vec::new(), Vec::new());
        for locked in locks.values() {
            match components.component(locked.component) {
                Some(component) => failures.extend(allow(&trust, locked, &component).err()),
                None => missing.push(locked),
            }
        }
        if let Some(first) = missing.first().filter(|_| self.offline) {
            let message = format!(
                "{} missing, and --offline asks no registry; the first is `{}`",
                report::counted(missing.len() as u64, "component is", "components are"),
                first.address
            );
            return Err(Failure::new(message)
                .hint("fetch without --offline where there is a network, or bring a bundle: `scorebox bundle`"));
        }
        let named = |locked: &Locked| name_of(&suite, locked);
        let fetched = self.fetch(&missing, &components, &trust, named, &mut failures)?;
        if fetched > 0 || failures.is_empty() {
            let fetched = report::counted(fetched, "scorer", "scorers");
            let there = report::count((locks.len() - missing.len()) as u64);
            output::stdout(|out| writeln!(out, "fetched {fetched}; {there} already there"))?;
        }
        Failure::of_all(failures).map_or(Ok(Exit::Done), Err)
    }

    /// Returns how many were fetched; `failures` gets the reasons for the others.
    fn fetch(
        &self,
        missing: &[&Locked],
        components: &Components,
        trust: &Trust,
        named: impl Fn(&Locked) -> String,
        failures: &mut Vec<Failure>,
    ) -> Result<u64, Failure> {
        let waiting = Waiting::of("fetching scorers", missing.len() as u64);
        let mut fetched = 0;
        setup::finish(setup::small_runtime()?, async {
            for (done, locked) in missing.iter().enumerate() {
                waiting.at(done as u64);
                match self.fetch_one(locked, trust).await {
                    Ok(component) => {
                        if let Err(failure) = setup::keep(components, component.as_ref()) {
                            // The cause is this machine, so no other component could be stored either.
                            failures.push(failure);
                            break;
                        }
                        fetched += 1;
                    }
                    Err(failure) => {
                        let message = format!("`{}`: {}", named(locked), failure.message);
                        failures.push(Failure { message, ..failure });
                    }
                }
            }
        });
        Ok(fetched)
    }

    async fn fetch_one(&self, locked: &Locked, trust: &Trust) -> Result<impl AsRef<[u8]>, Failure> {
        trust.must_allow_registry(&locked.address)?;
        let registry = self.oci.registry(&locked.address, Asked::ToFetch)?;
        let component = pull_component(&registry, locked.component).await;
        let component = component.map_err(|error| self.oci.failure(&error, Asked::ToFetch))?;
        allow(trust, locked, &component)?;
        Ok(component)
    }
}

/// The suite's name for a scorer, or its address if no entry uses it.
fn name_of(suite: &Suite, locked: &Locked) -> String {
    let address = locked.address.to_string();
    let uses = |uses: &Reference| matches!(uses, Reference::Published(it) if Address::canonical(it) == address);
    let scorer = suite.scorers.iter().find(|scorer| uses(&scorer.uses));
    scorer.map_or(address.clone(), |scorer| scorer.id.to_string())
}

/// Refuses a component if the signature in the lock is not of it, or if a policy does not allow it.
fn allow(trust: &Trust, locked: &Locked, component: &[u8]) -> Result<(), Failure> {
    trust.must_allow_locked(locked, Anatomy::read(component)?.grants(), component)
}

/// Refuses a suite with a published scorer that is not locked.
fn must_be_locked(suite: &Suite, is_locked: impl Fn(&String) -> bool) -> Result<(), Failure> {
    for scorer in &suite.scorers {
        if let Reference::Published(address) = &scorer.uses
            && !is_locked(address)
        {
            let (name, lock) = (scorer.id.as_str(), lock_path_of(scorer));
            return Err(not_locked(name, address, &lock, file_of(scorer)));
        }
    }
    Ok(())
}
