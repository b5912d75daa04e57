//! `scorebox update`: updates published scorers of a suite to newer versions, after showing the changes. It gives a
//! scorer more access only if the user names that.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
};

use clap::builder::PossibleValuesParser;
use scorebox::{
    component_bytes::ComponentBytes,
    contract::{Field, ScorerInfo},
    sandbox::{Anatomy, Capabilities, Grant, Limits, Sandbox},
    store::Store,
    suite::{Suite, SuiteScorer},
};
use scorebox_community::{
    Address, CommunityError, Components, Failed, Locked, Registry, Releases, Signed, Signer,
    pull_annotations, pull_component, releases,
};

use crate::{
    arguments::{Asked, DEFAULT_SUITE, Database, OciArguments},
    failure::{Exit, Failure},
    lock_file::{LockFile, Turn},
    lock_use::{Uses, not_locked},
    output::{self, Labelled},
    published::{Candidate, Difference, ScoredBefore, Wider, consent, newest_must_be_known},
    report,
    setup::{self, SandboxArguments},
    suite_edit::SuiteEdit,
    suite_entries::SuiteEntries,
    trust::Trust,
    waiting::Waiting,
    words,
};

/// The most versions that an error lists.
const MAX_NAMED: usize = 5;

/// Update published scorers of a suite, after a look at what changes
///
/// Shows what is different in the newest compatible version of each: what it reads, imports and needs, its
/// configuration, and how the scores of the last run would change. An update never widens: one that reads more of a
/// case, needs another grant, has another signer or lets more cases pass is refused until you allow it by name.
#[derive(Debug, clap::Args)]
pub(crate) struct Update {
    /// The names of scorers in the suite [default: all that are published]
    names: Vec<String>,

    /// The suite file (TOML)
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SUITE, help_heading = "Suite")]
    suite: PathBuf,

    /// To this version, such as `2.1.0`, or the newest that begins with it [default: the newest compatible one]
    #[arg(long, value_name = "VERSION", requires = "names", help_heading = "Suite")]
    to: Option<String>,

    /// Let it read this part of a case as well, such as `input`
    #[arg(
        long,
        value_name = "PART",
        value_parser = PossibleValuesParser::new(Field::ALL.map(Field::key)),
        hide_possible_values = true,
        help_heading = "Suite"
    )]
    read: Vec<String>,

    /// Grant what it needs as well: `wasi`, `workspace` or `judge`
    #[arg(long, value_name = "WHAT", help_heading = "Suite")]
    grant: Vec<Grant>,

    /// Let this key have signed it instead of the one before: a public key of minisign
    #[arg(long, value_name = "KEY", help_heading = "Suite")]
    signer: Option<Signer>,

    /// Allow a version without a signature although the one before had one
    #[arg(long, conflicts_with = "signer", help_heading = "Suite")]
    unsigned: bool,

    /// Let its scores count otherwise in verdicts: soft instead of a gate, with a laxer threshold, on another scale
    #[arg(long, help_heading = "Suite")]
    verdict: bool,

    /// Show what would change, and change nothing
    #[arg(long, conflicts_with = "yes", help_heading = "Suite")]
    dry_run: bool,

    /// Update without asking
    #[arg(long, short, help_heading = "Suite")]
    yes: bool,

    /// Compute at most N scores of the last run again (0: none)
    #[arg(long, value_name = "N", default_value_t = 100, help_heading = "Scores")]
    sample: u64,

    #[command(flatten)]
    database: Database,

    #[command(flatten)]
    oci: OciArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// The inputs of an update.
struct Updating {
    trust: Trust,
    sandbox: Sandbox,
    components: Components,
    store: Option<Store>,
    /// The suite as it is now; `None` if it is not valid.
    suite: Option<Suite>,
}

impl Updating {
    /// The suite's entry for the scorer.
    fn entry(&self, name: &str) -> Option<&SuiteScorer> {
        let mut scorers = self.suite.iter().flat_map(|suite| &suite.scorers);
        scorers.find(|scorer| scorer.id.as_str() == name)
    }
}

/// A scorer of the suite, and its lock.
struct Used {
    name: String,
    locked: Locked,
}

/// The known facts about the locked version.
#[derive(Default)]
struct Before {
    /// What the component reports about itself, and its size in bytes.
    described: Option<(ScorerInfo, u64)>,
    /// The publisher's statements about it.
    words: Option<BTreeMap<String, String>>,
}

impl Update {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let used = self.used()?;
        let updating = Updating {
            trust: Trust::with(&setup::policies(&self.suite)?)?,
            sandbox: self.sandbox.open(1, Capabilities::none())?,
            components: setup::components()?,
            store: self.store()?,
            suite: setup::suite(&self.suite).ok(),
        };
        let mut refused = Vec::new();
        for used in &used {
            if let Err(failure) = self.update(used, &updating) {
                let message = format!("`{}`: {}", used.name, failure.message);
                refused.push((message, failure.hint));
            }
        }
        if self.names.is_empty() && !self.dry_run {
            self.tidy()?;
        }
        Failure::of_each(refused.into_iter()).map_or(Ok(Exit::Done), Err)
    }

    /// The scorers to update.
    fn used(&self) -> Result<Vec<Used>, Failure> {
        let suite = SuiteEdit::open(&self.suite)?;
        let lock = LockFile::beside(&self.suite)?;
        let shown = suite.path().display();
        let names: Vec<String> = match &self.names[..] {
            [] => {
                let names =
                    suite.names().into_iter().filter(|name| suite.published(name).is_some());
                names.map(str::to_owned).collect()
            }
            names => names.to_vec(),
        };
        if names.is_empty() {
            words::say("the suite file uses no published scorers");
        }
        let (mut used, mut seen) = (Vec::new(), HashSet::new());
        for name in names {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(address) = suite.published(&name) else {
                let name = report::one_line(&name, 80);
                return Err(Failure::new(format!("`{name}` is not a published scorer of {shown}"))
                    .hint("only entries with `use = \"oci://…\"` in this file are updated"));
            };
            if address.contains("${") {
                let message =
                    format!("the address of `{name}` has a variable, which is not edited");
                if self.names.is_empty() {
                    words::say(&format!("{message}; it stays as it is"));
                    continue;
                }
                let known = SuiteEntries::read(&self.suite)?.published(&name);
                let known = known.and_then(|known| Some(known.rsplit_once(':')?.0.to_owned()));
                let address = known.unwrap_or_else(|| "REGISTRY/NAME".to_owned());
                let version = self.to.as_deref().unwrap_or("VERSION");
                return Err(Failure::new(message).hint(format!(
                    "change it by hand, and lock the scorer: scorebox add {address}:{version} --as {name} --suite {}{}",
                    report::shell_word(&self.suite),
                    self.oci.again()
                )));
            }
            let Some(locked) = lock.lock.get(address) else {
                return Err(not_locked(&name, address, lock.path(), Some(&self.suite)));
            };
            used.push(Used { name, locked: locked.clone() });
        }
        Ok(used)
    }

    /// The database, if there is one.
    fn store(&self) -> Result<Option<Store>, Failure> {
        let is_there = !self.database.is_default() || self.database.path.exists();
        match is_there && self.sample > 0 {
            true => self.database.read().map(Some),
            false => Ok(None),
        }
    }

    fn update(&self, used: &Used, updating: &Updating) -> Result<(), Failure> {
        let looking = self.candidate(used, updating);
        let Some((candidate, before)) = setup::finish(setup::small_runtime()?, looking)? else {
            return Ok(());
        };
        if candidate.address == used.locked.address {
            return self.sign(used, &candidate);
        }
        candidate.must_be_the_locked_one(&LockFile::beside(&self.suite)?, self.signer.as_ref())?;
        let suite = updating.entry(&used.name).map(|scorer| scorer.policy).unwrap_or_default();
        let difference = Difference {
            locked: &used.locked,
            old: before.described.as_ref().map(|(info, bytes)| (info, *bytes)),
            old_words: before.words.as_ref(),
            new: &candidate,
            suite: &suite,
        };
        let scores = self.scores(used, &candidate, updating)?;
        output::stdout(|out| {
            let mut out = Labelled::before_a_question(out);
            difference.write(&mut out, &used.name)?;
            out.text("scores", &scores)
        })?;
        self.must_be_said(used, &candidate, &difference.wider())?;
        candidate.must_be_usable()?;
        self.must_load(used, &candidate, updating)?;
        if self.dry_run {
            return Ok(());
        }
        let question = format!(
            "Update `{}` in {} to {}?",
            used.name,
            self.suite.display(),
            candidate.address.tag()
        );
        if !consent(&question, "update it", self.yes)? {
            words::say("Nothing was changed.");
            return Ok(());
        }
        self.change(used, &candidate, &updating.components)
    }

    /// The inspected version to update to, and the facts about the locked one; `None` if there is no such version.
    async fn candidate(
        &self,
        used: &Used,
        updating: &Updating,
    ) -> Result<Option<(Candidate, Before)>, Failure> {
        let address = &used.locked.address;
        let waiting = Waiting::on(format!("asking for versions of {address}"));
        updating.trust.must_allow_registry(address)?;
        let registry = self.oci.registry(address, Asked::ToFetch)?;
        let failure = |error| self.oci.failure(&error, Asked::ToFetch);
        let releases = releases(&registry).await.map_err(failure)?;
        self.must_be_known(used, &releases)?;
        let Some(target) = self.target(used, &releases)? else {
            // A lock of an older scorebox is written again with the signature.
            if !matches!(used.locked.signed, Some(Signed::Said(_))) || self.dry_run {
                return Ok(None);
            }
            let Updating { trust, sandbox, .. } = updating;
            let same = Candidate::fetch(&registry, &self.oci, trust, sandbox, &waiting).await?;
            return Ok(Some((same, Before::default())));
        };
        waiting.say(format!("fetching {target}"));
        let before = Before {
            described: self.described(used, &registry, updating).await,
            words: pull_annotations(&registry, used.locked.manifest).await.ok(),
        };
        let registry = registry.with_tag(target);
        let Updating { trust, sandbox, .. } = updating;
        let candidate = Candidate::fetch(&registry, &self.oci, trust, sandbox, &waiting).await?;
        Ok(Some((candidate, before)))
    }

    /// Fails instead of reporting that nothing is newer if the versions are not known.
    fn must_be_known(&self, used: &Used, releases: &Releases) -> Result<(), Failure> {
        match self.to {
            Some(_) => Ok(()),
            None => newest_must_be_known(&used.locked.address, releases, &self.oci),
        }
    }

    /// The address to update to.
    fn target(&self, used: &Used, releases: &Releases) -> Result<Option<Address>, Failure> {
        let Used { name, locked } = used;
        let now = locked.address.tag();
        let tag = match &self.to {
            Some(to) => Some(self.named_target(locked, releases, to)?),
            None => releases.newest_compatible(now),
        };
        match tag {
            Some(tag) if tag != now => {
                let address = locked.address.with_tag(&tag);
                address.map(Some).map_err(|error| Failure::new(error.to_string()))
            }
            _ => {
                words::say(&match releases.newer(now) {
                    _ if self.to.is_some() => format!("`{name}` has the version {now} already"),
                    Some(newest) => format!(
                        "`{name}` has the newest version that is compatible, {now}; {newest} is out: {}",
                        self.again(name, &[format!("--to {newest}")])
                    ),
                    None => format!("`{name}` has the newest version, {now}"),
                });
                Ok(None)
            }
        }
    }

    /// The version that the user names, or the newest that begins with it.
    fn named_target(
        &self,
        locked: &Locked,
        releases: &Releases,
        to: &str,
    ) -> Result<String, Failure> {
        let versions = releases.not_out_yet(to, MAX_NAMED);
        if !versions.is_empty() && !releases.has(to) {
            let (name, line) = (locked.address.name().to_owned(), to.to_owned());
            let failed = Failed::NotOutYet { name, line, versions };
            let error = CommunityError::new(locked.address.registry(), failed);
            return Err(self.oci.failure(&error, Asked::ToFetch));
        }
        Ok(releases.newest_of_line(to).unwrap_or_else(|| to.to_owned()))
    }

    /// This command for one scorer, with further options.
    fn again(&self, name: &str, options: &[String]) -> String {
        let mut command = format!("scorebox update {}", report::shell_word(name));
        options.iter().for_each(|option| command += &format!(" {option}"));
        if self.suite.as_path() != Path::new(DEFAULT_SUITE) {
            command += &format!(" --suite {}", report::shell_word(&self.suite));
        }
        command + self.oci.again()
    }

    /// What the locked component reports about itself; `None` if the component is not available.
    async fn described(
        &self,
        used: &Used,
        registry: &Registry,
        updating: &Updating,
    ) -> Option<(ScorerInfo, u64)> {
        let digest = used.locked.component;
        let component = match updating.components.component(digest) {
            Some(component) => component,
            None => pull_component(registry, digest).await.ok()?,
        };
        let component = ComponentBytes::new(component.to_vec());
        let grants = Anatomy::read(component.bytes().ok()?).ok()?.grants();
        let described = updating.sandbox.describe(&component, &Limits::default(), grants).await;
        Some((described.ok()?, component.length()))
    }

    /// How the scores of the last run change.
    fn scores(
        &self,
        used: &Used,
        candidate: &Candidate,
        updating: &Updating,
    ) -> Result<String, Failure> {
        let Some(store) = &updating.store else {
            return Ok("not computed again: there is no database".to_owned());
        };
        let before = ScoredBefore::find(store, used.locked.component, &used.name)?;
        let Some(before) = before else {
            let path = self.database.path.display();
            return Ok(format!("not computed again: {path} has no run with the locked component"));
        };
        let component = &candidate.component;
        let rescored = before.rescored(store, component, self.sample, &updating.sandbox);
        Ok(setup::finish(setup::small_runtime()?, rescored)?.words())
    }

    /// Refuses a version that does not load with the suite's entry: the suite would no longer run.
    fn must_load(
        &self,
        used: &Used,
        candidate: &Candidate,
        updating: &Updating,
    ) -> Result<(), Failure> {
        let Some(scorer) = updating.entry(&used.name) else { return Ok(()) };
        let loading = candidate.must_load_as(scorer, &updating.sandbox, &self.oci);
        setup::finish(setup::small_runtime()?, loading)
    }

    /// Refuses wider access that the user did not name.
    fn must_be_said(
        &self,
        used: &Used,
        candidate: &Candidate,
        wider: &[Wider],
    ) -> Result<(), Failure> {
        let is_said = |wider: &&Wider| match wider {
            Wider::Reads(part) => self.read.contains(part),
            Wider::Needs(grant) => self.grant.contains(grant),
            Wider::Signer(signer) => self.signer.as_ref() == Some(signer),
            Wider::Unsigned => self.unsigned,
            Wider::Verdict(_) => self.verdict,
        };
        let unsaid: Vec<&Wider> = wider.iter().filter(|it| !is_said(it)).collect();
        if let (Some(wanted), Some(signer)) = (&self.signer, candidate.signer())
            && wanted != signer
        {
            return Err(Failure::new(format!(
                "{} is signed by {signer}, and not by {wanted}",
                candidate.address.tag()
            ))
            .hint("ask its publisher whether the key has changed; nothing was changed"));
        }
        if unsaid.is_empty() {
            return Ok(());
        }
        let words: Vec<String> = unsaid.iter().map(|it| it.words()).collect();
        let mut options: Vec<String> = unsaid.iter().map(|it| it.option()).collect();
        options.extend(self.to.iter().map(|to| format!("--to {}", report::shell_word(to))));
        Err(Failure::new(format!("{} {}", candidate.address.tag(), words.join(", and ")))
            .hint(format!("if you want that: {}", self.again(&used.name, &options))))
    }

    fn change(
        &self,
        used: &Used,
        candidate: &Candidate,
        components: &Components,
    ) -> Result<(), Failure> {
        let _turn = Turn::take(&self.suite);
        let mut suite = SuiteEdit::open(&self.suite)?;
        let mut lock = LockFile::beside(&self.suite)?;
        let old = used.locked.address.to_string();
        if suite.published(&used.name).map(Address::canonical).as_ref() != Some(&old) {
            return Err(Failure::new("its entry was changed while this command ran")
                .hint("look at the suite file, and update again"));
        }
        // Another process may have locked it while the user was asked.
        candidate.must_be_the_locked_one(&lock, self.signer.as_ref())?;
        setup::keep(components, &candidate.pulled.component)?;
        let needed = candidate.anatomy.grants();
        let granted: Vec<String> = self
            .grant
            .iter()
            .filter(|grant| needed.contains(**grant))
            .map(ToString::to_string)
            .collect();
        suite.change(&used.name, &candidate.uses(), &granted);
        lock.lock.insert(candidate.locked());
        // The lock comes first, so that no suite ever names a scorer that is not locked.
        lock.write()?;
        suite.write()?;
        if !Uses::beside(&lock, &[&self.suite])?.have(&old) {
            lock.lock.remove(&old);
            lock.write()?;
        }
        words::say(&format!(
            "Updated `{}` in {} to {}.",
            used.name,
            self.suite.display(),
            candidate.address.tag()
        ));
        Ok(())
    }

    /// Writes the signature into a lock that an older scorebox wrote.
    fn sign(&self, used: &Used, candidate: &Candidate) -> Result<(), Failure> {
        let address = &used.locked.address;
        if candidate.pulled.digest != used.locked.component {
            return Err(Failure::new(format!(
                "`{address}` is locked to another component: what is published under this version has changed"
            ))
            .hint("a version that changes is a reason to ask its publisher; nothing was changed"));
        }
        if candidate.signer() != used.locked.signer() {
            return Err(Failure::new(format!("`{address}` has another signer than its lock says"))
                .hint("ask its publisher whether the key has changed; nothing was changed"));
        }
        let _turn = Turn::take(&self.suite);
        let mut lock = LockFile::beside(&self.suite)?;
        lock.lock.insert(candidate.locked());
        lock.write()?;
        words::say(&format!(
            "Wrote the signature of `{}` into {}.",
            used.name,
            lock.path().display()
        ));
        Ok(())
    }

    /// Removes entries that no suite beside the lock uses, and rewrites a lock of an older version.
    fn tidy(&self) -> Result<(), Failure> {
        let _turn = Turn::take(&self.suite);
        let mut lock = LockFile::beside(&self.suite)?;
        let all: Vec<String> = lock.lock.iter().map(|locked| locked.address.to_string()).collect();
        let uses = Uses::beside(&lock, &[&self.suite])?;
        let mut is_changed = lock.lock.is_of_older_version();
        for address in all {
            if !uses.have(&address) {
                lock.lock.remove(&address);
                is_changed = true;
                words::say(&format!(
                    "Left `{address}` out of {}: no suite uses it.",
                    lock.path().display()
                ));
            }
        }
        match is_changed {
            true => lock.write(),
            false => Ok(()),
        }
    }
}
