//! `scorebox add`: a published scorer into a suite, after a look at what it is.

use std::{
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
};

use scorebox::{
    case::Case,
    contract::{Example, ScorerInfo},
    sandbox::{Anatomy, Capabilities, Grant, Grants, Limits, Outcome, Sandbox, ScorerConfig},
    suite::ScorerId,
};
use scorebox_community::{Address, Locked, Pulled, Signature, Signer, newest, pull};

use crate::{
    arguments::{Asked, OciArguments},
    failure::{Exit, Failure},
    lock_file::{LockFile, Turn},
    locked, names,
    output::{self, Out},
    report::{self, ConfigKey},
    setup::{self, SandboxArguments},
    suite_edit::SuiteEdit,
    waiting::{COMPILING, Waiting},
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

    /// Its name in the suite [default: its own]
    #[arg(long = "as", value_name = "NAME", value_parser = ScorerId::new, help_heading = "Suite")]
    name: Option<ScorerId>,

    /// The suite file (TOML)
    #[arg(long, value_name = "FILE", default_value = "suite.toml", help_heading = "Suite")]
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

fn address(written: &str) -> Result<Address, String> {
    let address = written.strip_prefix("oci://").unwrap_or(written);
    address.parse().map_err(|error| format!("{error}"))
}

/// What is known of a scorer that was fetched.
struct Seen {
    pulled: Pulled,
    anatomy: Anatomy,
    info: ScorerInfo,
    tried: Tried,
    address: Address,
    /// Whose signature of the component it carries.
    signer: Option<Signer>,
}

/// What its example showed.
enum Tried {
    /// It carries none.
    NoExample,
    /// It cannot be scored without a grant that scores need something for.
    Needs,
    /// What is wrong with it.
    Unusable(String),
    /// It was scored, twice.
    Scored { example: Example, outcomes: Box<[Outcome; 2]> },
}

impl Add {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        // What is wrong with them is known before anything is fetched.
        let (suite, lock) = (SuiteEdit::open(&self.suite)?, LockFile::beside(&self.suite)?);
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let seen = setup::finish(setup::small_runtime()?, self.seen(&sandbox))?;
        let name = match &self.name {
            Some(name) => name.clone(),
            None => ScorerId::new(&seen.info.id)?,
        };
        let uses = format!("oci://{}", seen.address);
        let entry = Entry::of(&suite, name.as_str(), &uses)?;
        must_be_the_locked_one(&lock, &seen)?;
        drop((suite, lock));
        output::stdout(|out| self.write(out, &seen))?;
        names::warn_of(&seen.address, &seen.info.id, seen.signer.as_ref(), seen.pulled.digest)?;
        if matches!(entry, Entry::New) {
            self.must_be_granted(&seen.anatomy)?;
        }
        seen.tried.must_be_usable()?;
        if !self.agreed(name.as_str())? {
            words::say("Nothing was added.");
            return Ok(Exit::Done);
        }
        // Others may have changed both while the user looked.
        let _turn = Turn::take(&self.suite);
        let mut suite = SuiteEdit::open(&self.suite)?;
        let mut lock = LockFile::beside(&self.suite)?;
        let entry = Entry::of(&suite, name.as_str(), &uses)?;
        must_be_the_locked_one(&lock, &seen)?;
        setup::keep(&setup::components()?, &seen.pulled.component)?;
        let Seen { address, pulled, .. } = &seen;
        let bare = Locked::new(address.clone(), pulled.digest, pulled.manifest, "")
            .signed_by(seen.signer.clone());
        lock.lock.insert(locked::lock_of(&bare, seen.info.reads, &seen.anatomy));
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

    async fn seen(&self, sandbox: &Sandbox) -> Result<Seen, Failure> {
        let waiting = Waiting::on(format!("fetching {}", self.address));
        let registry = self.oci.registry(&self.address, Asked::ToFetch)?;
        let failure = |error| self.oci.failure(&error, Asked::ToFetch);
        let registry = newest(registry).await.map_err(failure)?;
        let pulled = pull(&registry).await.map_err(failure)?;
        let address = registry.address().clone();
        let signer = self.signer_of(&pulled)?;
        waiting.say(COMPILING);
        let anatomy = Anatomy::read(&pulled.component)?;
        let info =
            sandbox.describe(&pulled.component, &Limits::default(), anatomy.grants()).await?;
        must_be_of_its_tag(&address, &info)?;
        waiting.say("scoring its example");
        let tried = Tried::of(&anatomy, &pulled.component, sandbox).await;
        Ok(Seen { pulled, anatomy, info, tried, address, signer })
    }

    /// Whose signature the component carries.
    fn signer_of(&self, pulled: &Pulled) -> Result<Option<Signer>, Failure> {
        let refused = |error: String| {
            Failure::new(format!("`{}`: {error}", self.address)).hint(
                "nothing was added: what is published was changed after it was signed, or was never signed as it says",
            )
        };
        let signature = Signature::of_annotations(&pulled.annotations);
        let signature = signature.map_err(|error| refused(error.to_string()))?;
        if let Some(signature) = &signature {
            signature.verify(&pulled.component).map_err(|error| refused(error.to_string()))?;
        }
        let signer = signature.map(|signature| signature.signer().clone());
        match (&self.signer, &signer) {
            (Some(wanted), Some(signer)) if wanted != signer => Err(Failure::new(format!(
                "`{}` is signed by {signer}, and not by {wanted}",
                self.address
            ))
            .hint("ask its publisher whether the key has changed; nothing was added")),
            (Some(_), None) => Err(Failure::new(format!("`{}` is not signed", self.address))
                .hint("nothing was added: --signer wants a signature")),
            _ => Ok(signer),
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

    /// Whether the user says yes.
    fn agreed(&self, name: &str) -> Result<bool, Failure> {
        if self.yes {
            return Ok(true);
        }
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(Failure::new(
                "nobody can be asked whether to add it: this is not a terminal",
            )
            .hint("add it without asking: --yes"));
        }
        let mut err = io::stderr();
        let _ = write!(err, "Add it as `{name}` to {}? [y/N] ", self.suite.display());
        let _ = err.flush();
        let mut answer = String::new();
        let _ = io::stdin().read_line(&mut answer);
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// What a person needs to decide.
    fn write(&self, out: &mut Out<'_>, seen: &Seen) -> io::Result<()> {
        let Seen { pulled, anatomy, info, tried, address, signer } = seen;
        let mut line = |label: &str, text: &str| {
            let text = report::printable(text);
            let labels = [label].into_iter().chain(std::iter::repeat(""));
            text.lines().zip(labels).try_for_each(|(text, label)| {
                writeln!(out, "{}", format!("{label:<14}{text}").trim_end())
            })
        };
        line("scorer", &format!("{} ({}), version {}", info.name, info.id, info.version))?;
        if !info.description.is_empty() {
            line("", &info.description)?;
        }
        line("from", &address.to_string())?;
        for (label, key) in [("licence", "licenses"), ("source", "source")] {
            if let Some(text) = pulled.annotations.get(&format!("org.opencontainers.image.{key}")) {
                line(label, &report::one_line(text, 200))?;
            }
        }
        line("component", &format!("sha256:{}", pulled.digest))?;
        line("size", &report::bytes(pulled.component.len() as u64))?;
        line("reads", &report::reads(info))?;
        let imports = match &anatomy.imports[..] {
            [] => "nothing".to_owned(),
            imports => imports.join("\n"),
        };
        line("imports", &imports)?;
        let grants: Vec<String> = anatomy.grants().iter().map(|it| it.to_string()).collect();
        if !grants.is_empty() {
            line("needs", &format!("the grant {}", grants.join(", ")))?;
        }
        let keys = info.config_schema.as_deref().map(report::config_keys).unwrap_or_default();
        if keys.is_empty() {
            line("configuration", "none")?;
        }
        for (place, key) in keys.iter().enumerate() {
            let label = if place == 0 { "configuration" } else { "" };
            line(label, &key_words(key))?;
        }
        line("example", &tried.words())?;
        match signer {
            Some(signer) => line("signed by", signer.as_str()),
            None => line("signed by", "nobody: nothing proves who published it"),
        }
    }
}

impl Tried {
    async fn of(anatomy: &Anatomy, component: &[u8], sandbox: &Sandbox) -> Tried {
        let Some(text) = &anatomy.example else { return Tried::NoExample };
        if anatomy.grants() != Grants::NONE {
            return Tried::Needs;
        }
        let scored = async {
            let example = Example::parse(text)?;
            let case = Case::from_json(example.case.get()).map_err(|error| error.to_string())?;
            let config = ScorerConfig::new(&example.config);
            let scorer = sandbox.load(component, &config, &Limits::default(), Grants::NONE).await;
            let scorer = scorer.map_err(|error| error.to_string())?;
            let input = || case.scorer_input(scorer.info().reads);
            let outcomes = Box::new([scorer.score(input()).await, scorer.score(input()).await]);
            Ok::<_, String>(Tried::Scored { example, outcomes })
        };
        scored.await.unwrap_or_else(Tried::Unusable)
    }

    fn words(&self) -> String {
        match self {
            Tried::NoExample => "it carries none: what it scores is not known".to_owned(),
            Tried::Needs => "not scored: it would need what is granted".to_owned(),
            Tried::Unusable(reason) => format!("it cannot be scored: {reason}"),
            Tried::Scored { example, outcomes } => {
                let [first, second] = &**outcomes;
                let score =
                    |score: Option<f64>| score.map_or("not applicable".to_owned(), report::score);
                let said = match &first.result {
                    Ok(result) if example.promises(result.score) => {
                        format!("scores {}, as it promises", score(result.score))
                    }
                    Ok(result) => format!(
                        "scores {}, and promises {}",
                        score(result.score),
                        score(example.score)
                    ),
                    Err(error) => format!("error: {error}"),
                };
                let fuel =
                    first.fuel.map_or_else(|| "unknown".to_owned(), |it| report::fuel(it as f64));
                let twice = match is_equal(first, second) {
                    true => "twice the same",
                    false => "NOT THE SAME TWICE",
                };
                format!("{said}; {twice}\nfuel {fuel}, time {}", report::duration(first.duration))
            }
        }
    }

    /// Refuses a scorer that is not what it promises.
    fn must_be_usable(&self) -> Result<(), Failure> {
        let refused = |message: &str| {
            Err(Failure::new(message).hint("report it to its publisher; nothing was added"))
        };
        match self {
            Tried::NoExample | Tried::Needs => Ok(()),
            Tried::Unusable(_) => refused("the scorer's own example cannot be scored"),
            Tried::Scored { example, outcomes } => {
                let [first, second] = &**outcomes;
                let promised = |outcome: &Outcome| {
                    outcome.result.as_ref().is_ok_and(|result| example.promises(result.score))
                };
                if !promised(first) {
                    return refused(
                        "the scorer's own example does not have the score that it promises",
                    );
                }
                match is_equal(first, second) {
                    true => Ok(()),
                    false => refused("the scorer's own example has two answers"),
                }
            }
        }
    }
}

/// Whether two scores of one case are the same in all that a scorer decides.
fn is_equal(first: &Outcome, second: &Outcome) -> bool {
    first.result == second.result && first.fuel == second.fuel
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
        Err(Failure::new(format!("there is another scorer `{name}` in {shown} already"))
            .hint("give this one another name: --as NAME"))
    }
}

/// Refuses to lock an address to another component than that which it is locked to.
fn must_be_the_locked_one(lock: &LockFile, seen: &Seen) -> Result<(), Failure> {
    let address = &seen.address;
    match lock.lock.get(&address.to_string()) {
        Some(locked) if locked.component != seen.pulled.digest => Err(Failure::new(format!(
            "`{address}` is locked to another component in {}: what is published under this version has changed",
            lock.path().display()
        ))
        .hint("a version that changes is a reason to ask its publisher; nothing was added")),
        _ => Ok(()),
    }
}

/// `max: whole number, required: the most words`.
fn key_words(key: &ConfigKey) -> String {
    let ConfigKey { name, kind, default, description, .. } = key;
    let default = match default.as_str() {
        "" => String::new(),
        "required" => ", required".to_owned(),
        default => format!(" (default {default})"),
    };
    let description =
        if description.is_empty() { String::new() } else { format!(": {description}") };
    format!("{name}: {kind}{default}{description}")
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

/// Refuses a component under a tag that is not its version: an old one that is handed out as a new one.
fn must_be_of_its_tag(address: &Address, info: &ScorerInfo) -> Result<(), Failure> {
    if info.version == address.tag() {
        return Ok(());
    }
    let version = report::one_line(&info.version, 80);
    Err(Failure::new(format!("`{address}` has the version {version}, which is not that of its tag"))
        .hint("add it by the tag of its version, if there is one; a tag such as `latest` names another scorer tomorrow"))
}
