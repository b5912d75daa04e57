//! `scorebox add`: adds a published scorer to a suite, after showing the user what it is.

use std::path::{Path, PathBuf};

use scorebox::{
    contract::ScorerInfo,
    sandbox::{Anatomy, Capabilities, Grant, Sandbox},
    suite::ScorerId,
};
use scorebox_community::{Address, Signer, newest};

use crate::{
    arguments::{Asked, DEFAULT_SUITE, OciArguments, address},
    failure::{Exit, Failure},
    lock_file::{LockFile, Turn},
    names, output,
    published::{Candidate, consent},
    report,
    setup::{self, SandboxArguments},
    suite_edit::{SuiteEdit, is_json},
    suite_entries::SuiteEntries,
    trust::Trust,
    waiting::Waiting,
    words,
};

/// Add a published scorer to a suite, after a look at what it is
///
/// Fetches the scorer, runs its example twice in the sandbox, and shows what it reads, imports and costs. If you say
/// yes, its entry is added to the suite, and the digest of its component to `scorebox.lock` beside it: from then on the
/// suite uses this component and no other. An entry that uses it already, also one of a suite in JSON, is only locked.
#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// The scorer: REGISTRY/NAME:VERSION, such as `registry.example.com/team/grade:1.2.0`
    #[arg(value_parser = address)]
    address: Address,

    /// Its name in the suite [default: the name of the entry that already uses it, or else the scorer's id]
    #[arg(long = "as", value_name = "NAME", value_parser = ScorerId::new, help_heading = "Suite")]
    name: Option<ScorerId>,

    /// The suite file (TOML)
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SUITE, help_heading = "Suite")]
    suite: PathBuf,

    /// Grant what it imports: `wasi`, `workspace` or `judge`
    #[arg(long, value_name = "WHAT", help_heading = "Suite")]
    grant: Vec<Grant>,

    /// Only if this key signed it: a public key of minisign, such as `RWQf6LRCGA9i…`
    #[arg(long, value_name = "KEY", help_heading = "Suite")]
    signer: Option<Signer>,

    /// Add it without asking
    #[arg(long, short, help_heading = "Suite")]
    yes: bool,

    #[command(flatten)]
    oci: OciArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Add {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        // Their errors are reported before anything is fetched.
        let (suite, lock) = (OpenSuite::of(self)?, LockFile::beside(&self.suite)?);
        let trust = Trust::with(&setup::policies(&self.suite)?)?;
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let seen = setup::finish(setup::small_runtime()?, self.candidate(&trust, &sandbox))?;
        let name = match &self.name {
            Some(name) => name.clone(),
            None => ScorerId::new(suite.entries.using(&seen.address).unwrap_or(&seen.info.id))?,
        };
        let entry = suite.entry(name.as_str(), &seen.address)?;
        if matches!(entry, Entry::New) {
            self.must_be_new(&name)?;
        }
        seen.must_be_the_locked_one(&lock, self.signer.as_ref())?;
        drop((suite, lock));
        output::stdout(|out| seen.write(out))?;
        names::warn_of(&seen.named())?;
        if matches!(entry, Entry::New) {
            self.must_be_granted(&seen.anatomy)?;
        }
        seen.must_be_usable()?;
        let question = format!("Add it as `{name}` to {}?", self.suite.display());
        if !consent(&question, "add it", self.yes)? {
            words::say("Nothing was added.");
            return Ok(Exit::Done);
        }
        // Another process may have changed both while the user was asked.
        let _turn = Turn::take(&self.suite);
        let (suite, mut lock) = (OpenSuite::of(self)?, LockFile::beside(&self.suite)?);
        let entry = suite.entry(name.as_str(), &seen.address)?;
        seen.must_be_the_locked_one(&lock, self.signer.as_ref())?;
        setup::keep(&setup::components()?, &seen.pulled.component)?;
        let is_moved = seen.has_moved_since(&lock);
        lock.lock.insert(seen.locked());
        // The lock comes first, so that no suite ever names a scorer that is not locked.
        lock.write()?;
        let (shown, locked_in) = (self.suite.display(), lock.path().display());
        let grants = self.needed(&seen.anatomy);
        match (entry, suite.edit) {
            (Entry::New, Some(mut suite)) => {
                suite.add(name.as_str(), &seen.uses(), &grants);
                suite.write()?;
                words::say(&format!("Added `{name}` to {shown}, locked in {locked_in}."));
                hint_at_keys(&seen.info);
            }
            (_, suite) => {
                words::say(&format!("Locked `{name}` of {shown} in {locked_in}."));
                if is_moved {
                    words::say(&format!(
                        "What is published as `{}` has changed since it was locked: the component is the same, what is said about it is not.",
                        seen.address
                    ));
                }
                grant(suite, name.as_str(), &grants)?;
            }
        }
        self.say_unneeded(&seen.anatomy);
        Ok(Exit::Done)
    }

    /// The grants that it needs. Others are not written to the suite: a later version would have them without asking.
    fn needed(&self, anatomy: &Anatomy) -> Vec<String> {
        let needed = self.grant.iter().filter(|grant| anatomy.grants().contains(**grant));
        needed.map(ToString::to_string).collect()
    }

    /// Reports the grants that were not written.
    fn say_unneeded(&self, anatomy: &Anatomy) {
        for grant in self.grant.iter().filter(|grant| !anatomy.grants().contains(**grant)) {
            words::say(&format!("It does not need the grant {grant}, which is not written."));
        }
    }

    /// Refuses a name that an included file has: the new entry would be merged over that entry.
    fn must_be_new(&self, name: &ScorerId) -> Result<(), Failure> {
        // The names in a suite that is not valid yet, such as an empty one, cannot be known.
        let Ok(suite) = setup::suite(&self.suite) else { return Ok(()) };
        let Some(there) = suite.scorers.iter().find(|scorer| scorer.id == *name) else {
            return Ok(());
        };
        let file = there.location.as_ref().map_or(&*self.suite, |location| &location.file);
        Err(Failure::new(format!(
            "there is another scorer `{name}` in {} already, which {} includes",
            file.display(),
            self.suite.display()
        ))
        .hint("give this one another name: --as NAME"))
    }

    async fn candidate(&self, trust: &Trust, sandbox: &Sandbox) -> Result<Candidate, Failure> {
        let waiting = Waiting::on(format!("fetching {}", self.address));
        trust.must_allow_registry(&self.address)?;
        let registry = self.oci.registry(&self.address, Asked::ToFetch)?;
        let registry = newest(registry).await;
        let registry = registry.map_err(|error| self.oci.failure(&error, Asked::ToFetch))?;
        let candidate = Candidate::fetch(&registry, &self.oci, trust, sandbox, &waiting).await?;
        self.must_be_signed(&candidate)?;
        Ok(candidate)
    }

    /// Refuses a signer other than the one that the user names.
    fn must_be_signed(&self, candidate: &Candidate) -> Result<(), Failure> {
        match (&self.signer, candidate.signer()) {
            (Some(wanted), Some(signer)) if wanted != signer => Err(Failure::new(format!(
                "`{}` is signed by {signer}, and not by {wanted}",
                self.address
            ))
            .hint("ask its publisher whether the key has changed; nothing was added")),
            (Some(_), None) => Err(Failure::new(format!("`{}` is not signed", self.address))
                .hint("nothing was added: --signer wants a signature")),
            _ => Ok(()),
        }
    }

    fn must_be_granted(&self, anatomy: &Anatomy) -> Result<(), Failure> {
        let missing: Vec<String> = anatomy
            .grants()
            .iter()
            .filter(|grant| !self.grant.contains(grant))
            .map(|grant| grant.to_string())
            .collect();
        match &missing[..] {
            [] => Ok(()),
            missing => {
                let options: Vec<String> =
                    missing.iter().map(|grant| format!("--grant {grant}")).collect();
                let message =
                    format!("it needs the grant {}, which is not given", missing.join(", "));
                Err(Failure::new(message)
                    .hint(format!("if you trust it with that: {}", options.join(" "))))
            }
        }
    }
}

/// What happens to the scorer's entry.
enum Entry {
    /// No entry has its name.
    New,
    /// An entry uses this scorer already, and is only locked.
    Same,
}

/// The suite to which a scorer is added, or whose entry is locked.
struct OpenSuite<'a> {
    path: &'a Path,
    /// `None` if it is in JSON, which is not edited.
    edit: Option<SuiteEdit>,
    entries: SuiteEntries,
    /// The options that another command needs to contact the same registry.
    again: &'static str,
}

impl OpenSuite<'_> {
    /// Opens the suite. Refuses one that cannot be edited unless it has an entry to lock.
    fn of(add: &Add) -> Result<OpenSuite<'_>, Failure> {
        let (path, again) = (add.suite.as_path(), add.oci.again());
        if is_json(path) && path.exists() {
            let entries = SuiteEntries::read(path)?;
            if entries.use_a_version_of(&add.address) {
                return Ok(OpenSuite { path, edit: None, entries, again });
            }
        }
        let edit = Some(SuiteEdit::open(path)?);
        Ok(OpenSuite { path, edit, entries: SuiteEntries::read(path)?, again })
    }

    fn entry(&self, name: &str, address: &Address) -> Result<Entry, Failure> {
        let used = self.entries.published(name);
        if used == Some(address.to_string()) {
            return Ok(Entry::Same);
        }
        let shown = self.path.display();
        let written = self.edit.as_ref().and_then(|suite| suite.uses(name));
        if used.is_none() && written.is_some_and(|uses| uses.contains("${")) {
            return Err(Failure::new(format!(
                "the address of `{name}` in {shown} has a variable without a value"
            ))
            .hint("set the variable to lock what the entry uses, or give this scorer another name: --as NAME"));
        }
        let uses = match &self.edit {
            Some(_) => format!("use = \"oci://{address}\""),
            None => format!("\"use\": \"oci://{address}\""),
        };
        let by_hand = format!("write `{uses}` into it by hand, and lock it with this command");
        match &self.edit {
            Some(suite) if !suite.has(name) => return Ok(Entry::New),
            None if used.is_none() => {
                return Err(Failure::new(format!(
                    "`{shown}` is a suite in JSON, which is not edited, and its entry `{name}` does not use `{address}`"
                ))
                .hint(by_hand));
            }
            _ => {}
        }
        let used = used.and_then(|used| used.parse::<Address>().ok());
        let is_version = used.is_some_and(|used| {
            (used.registry(), used.name()) == (address.registry(), address.name())
        });
        let is_as_written = written.is_some_and(|uses| !uses.contains("${"));
        let (what, hint) = match (is_version, is_as_written) {
            (true, true) => {
                let of = match self.path == Path::new(DEFAULT_SUITE) {
                    true => String::new(),
                    false => format!(" --suite {}", report::shell_word(self.path)),
                };
                let (tag, again) = (report::shell_word(address.tag()), self.again);
                (
                    "another version of the scorer",
                    format!(
                        "see what differs, and take it: `scorebox update {name} --to {tag}{of}{again}`"
                    ),
                )
            }
            (true, false) => ("another version of the scorer", by_hand),
            _ => ("another scorer", "give this one another name: --as NAME".to_owned()),
        };
        Err(Failure::new(format!("there is {what} `{name}` in {shown} already")).hint(hint))
    }
}

/// Adds the missing grants to an existing entry.
fn grant(suite: Option<SuiteEdit>, name: &str, grants: &[String]) -> Result<(), Failure> {
    let Some(mut suite) = suite else {
        if !grants.is_empty() {
            let grants = serde_json::json!(grants);
            words::hint(&format!(
                "write `\"grants\": {grants}` into its entry, if it is not there"
            ));
        }
        return Ok(());
    };
    let added = suite.grant(name, grants);
    if !added.is_empty() {
        suite.write()?;
        let added: Vec<&str> = added.into_iter().map(String::as_str).collect();
        let shown = suite.path().display();
        words::say(&format!("Granted `{name}` in {shown}: {}.", added.join(", ")));
    }
    Ok(())
}

/// Prints the keys that the new entry needs before it loads.
fn hint_at_keys(info: &ScorerInfo) {
    let keys = info.config_schema.as_deref().map(report::config_keys).unwrap_or_default();
    let required = keys.iter().filter(|key| key.default == "required" && !key.name.contains('.'));
    let written: Vec<String> =
        required.map(|key| format!("{} = …", report::one_line(&key.name, 80))).collect();
    if !written.is_empty() {
        words::hint(&format!(
            "it needs a configuration: write `config = {{ {} }}` into its entry",
            written.join(", ")
        ));
    }
}
