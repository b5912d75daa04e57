//! `scorebox add`: a published scorer into a suite, after a look at what it is.

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
    suite_edit::SuiteEdit,
    trust::Trust,
    waiting::Waiting,
    words,
};

/// Add a published scorer to a suite, after a look at what it is
///
/// Fetches the scorer, runs its example twice in the sandbox, and shows what it reads, imports and costs. If you say yes, its entry
/// is added to the suite, and the digest of its component to `scorebox.lock` beside it: from then on the suite uses this component
/// and no other.
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
        // What is wrong with them is known before anything is fetched.
        let (suite, lock) = (SuiteEdit::open(&self.suite)?, LockFile::beside(&self.suite)?);
        let trust = Trust::with(&setup::policies(&self.suite)?)?;
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let seen = setup::finish(setup::small_runtime()?, self.candidate(&trust, &sandbox))?;
        let uses = seen.uses();
        let name = match &self.name {
            Some(name) => name.clone(),
            None => ScorerId::new(suite.entry_using(&uses).unwrap_or(&seen.info.id))?,
        };
        let entry = Entry::of(&suite, name.as_str(), &uses)?;
        if matches!(entry, Entry::New) {
            self.must_be_new(&name)?;
        }
        seen.must_be_the_locked_one(&lock, self.signer.as_ref())?;
        drop((suite, lock));
        output::stdout(|out| seen.write(out))?;
        names::warn_of(&seen.address, &seen.info.id, seen.signer(), seen.pulled.digest)?;
        if matches!(entry, Entry::New) {
            self.must_be_granted(&seen.anatomy)?;
        }
        seen.must_be_usable()?;
        let question = format!("Add it as `{name}` to {}?", self.suite.display());
        if !consent(&question, "add it", self.yes)? {
            words::say("Nothing was added.");
            return Ok(Exit::Done);
        }
        // Others may have changed both while the user looked.
        let _turn = Turn::take(&self.suite);
        let mut suite = SuiteEdit::open(&self.suite)?;
        let mut lock = LockFile::beside(&self.suite)?;
        let entry = Entry::of(&suite, name.as_str(), &uses)?;
        seen.must_be_the_locked_one(&lock, self.signer.as_ref())?;
        setup::keep(&setup::components()?, &seen.pulled.component)?;
        lock.lock.insert(seen.locked());
        // First the lock: no suite names a scorer that is not locked.
        lock.write()?;
        let (shown, lock) = (suite.path().display().to_string(), lock.path().display());
        match entry {
            Entry::New => {
                let grants: Vec<String> = self.grant.iter().map(ToString::to_string).collect();
                suite.add(name.as_str(), &uses, &grants);
                suite.write()?;
                words::say(&format!("Added `{name}` to {shown}, locked in {lock}."));
                hint_at_keys(&seen.info);
            }
            Entry::Same => words::say(&format!("Locked `{name}` of {shown} in {lock}.")),
        }
        Ok(Exit::Done)
    }

    /// Refuses a name that an included file has: the entry would be laid over that one.
    fn must_be_new(&self, name: &ScorerId) -> Result<(), Failure> {
        // A suite that is not valid yet, an empty one too, has no such name that could be known.
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

    /// Refuses another signer than that whom the user names.
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

/// What becomes of the scorer's entry.
enum Entry {
    /// No entry has its name.
    New,
    /// There is one, which uses this scorer, and is only locked.
    Same,
}

impl Entry {
    fn of(suite: &SuiteEdit, name: &str, uses: &str) -> Result<Entry, Failure> {
        if !suite.has(name) {
            return Ok(Entry::New);
        }
        if suite.uses(name) == Some(uses) {
            return Ok(Entry::Same);
        }
        let shown = suite.path().display();
        let of_another_version = suite.uses(name).and_then(|other| {
            let ((place, _), (other, _)) = (uses.rsplit_once(':')?, other.rsplit_once(':')?);
            Some(place == other)
        });
        let (what, hint) = match of_another_version {
            Some(true) => {
                let of = match suite.path() == Path::new(DEFAULT_SUITE) {
                    true => String::new(),
                    false => format!(" --suite {}", report::shell_word(suite.path())),
                };
                (
                    "another version of the scorer",
                    format!(
                        "see what differs, and take it: `scorebox update {name} --to VERSION{of}`"
                    ),
                )
            }
            _ => ("another scorer", "give this one another name: --as NAME".to_owned()),
        };
        Err(Failure::new(format!("there is {what} `{name}` in {shown} already")).hint(hint))
    }
}

/// Says what must be written into the new entry before it loads.
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
