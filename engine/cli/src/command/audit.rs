//! `scorebox audit`: checks that the published scorers of a suite match its lock, and behave as declared. It contacts
//! no registry, and changes nothing.

use std::path::PathBuf;

use scorebox::{
    component_bytes::ComponentBytes,
    contract::CONTRACT_VERSION,
    registry::Reference,
    sandbox::{Anatomy, Grants, LoadedScorer, Sandbox},
    suite::{Suite, SuiteScorer},
};
use scorebox_community::{Components, Locked, Signed};
use serde::Serialize;

use crate::{
    failure::{Exit, Failure},
    lock_file::{lock_path_of, locks_of},
    locked,
    output::{self, Format},
    published::{ExampleRun, Leaks, NOT_SIGNED},
    report::{self, Align, Table},
    setup::{self, SandboxArguments},
    trust::Trust,
    waiting::Waiting,
    words,
};

/// Check the published scorers of a suite against its lock and the policies, and how they behave
///
/// Checks for each scorer that its component is on this machine and signed as locked, is built for this contract,
/// reads, imports and needs no more than was agreed to, meets the policies, scores its own example as promised (twice,
/// with the same result), and reveals nothing of a case that it does not declare to read. Exits with 3 if a check
/// fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Audit {
    /// The suite file
    #[arg(default_value = "suite.toml")]
    suite: PathBuf,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Status {
    /// The check passed.
    Ok,
    /// The check passed, with something that the user may want to know.
    Note,
    /// The check was not possible.
    Skipped,
    /// The check failed.
    Failed,
}

/// A check of a scorer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    scorer_id: String,
    address: String,
    check: &'static str,
    status: Status,
    message: String,
}

/// Collects the checks of one scorer.
struct Checks<'c> {
    scorer: &'c SuiteScorer,
    address: &'c str,
    made: Vec<Check>,
}

/// The inputs that all checks share.
struct Auditing {
    components: Components,
    trust: Trust,
    sandbox: Sandbox,
}

impl Audit {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let suite = setup::suite(&self.suite)?;
        let locks = locks_of(&suite.scorers)?;
        let auditing = Auditing {
            components: setup::components()?,
            trust: Trust::with(&suite.policies)?,
            sandbox: self.sandbox.open(1, setup::unasked_judges(&suite))?,
        };
        let published = published_in(&suite);
        let waiting = Waiting::of("checking scorers", published.len() as u64);
        let all = setup::finish(setup::small_runtime()?, async {
            let mut all = Vec::new();
            for (done, (scorer, address)) in published.iter().enumerate() {
                waiting.at(done as u64);
                let mut checks = Checks { scorer, address, made: Vec::new() };
                auditing.check(&mut checks, locks.get(*address)).await;
                all.append(&mut checks.made);
            }
            all
        });
        drop(waiting);
        output::stdout(|out| match self.format {
            Format::Table if all.is_empty() => Ok(()),
            Format::Table => output::table(out, table(&all)),
            format => output::list(out, format == Format::Jsonl, &all),
        })?;
        let failed = all.iter().filter(|check| check.status == Status::Failed).count() as u64;
        words::say(&match (published.len(), failed) {
            (0, _) => "the suite uses no published scorers".to_owned(),
            (scorers, 0) => {
                format!(
                    "{}: nothing is wrong",
                    report::counted(scorers as u64, "scorer", "scorers")
                )
            }
            (scorers, failed) => format!(
                "{}: {}",
                report::counted(scorers as u64, "scorer", "scorers"),
                report::counted(failed, "check fails", "checks fail")
            ),
        });
        Ok(if failed == 0 { Exit::Done } else { Exit::BrokenRequirement })
    }
}

impl Auditing {
    async fn check(&self, checks: &mut Checks<'_>, locked: Option<&Locked>) {
        let Some(locked) = locked else {
            let lock = lock_path_of(checks.scorer);
            checks.failed("lock", &format!("`{}` is not in `{}`", checks.address, lock.display()));
            return;
        };
        let brought = checks.scorer.brought.as_ref().map(|it| it.source.component.clone());
        let kept = || self.components.component(locked.component);
        let kept = || Some(ComponentBytes::new(kept()?.to_vec()));
        let component = brought.or_else(kept);
        let bytes = component.as_ref().and_then(|component| component.bytes().ok());
        let (Some(component), Some(bytes)) = (&component, bytes) else {
            let message =
                "it is not on this machine with the bytes of the lock; `scorebox fetch` fetches it";
            checks.failed("component", message);
            return;
        };
        checks.ok("component", &format!("sha256:{}", locked.component));
        check_signature(checks, locked, bytes);
        let anatomy = match Anatomy::read(bytes) {
            Ok(anatomy) => anatomy,
            Err(error) => {
                checks.failed("contract", &error.to_string());
                return;
            }
        };
        check_contract(checks, &anatomy);
        check_grants(checks, &anatomy);
        let trusted = self.trust.must_allow_locked(locked, anatomy.grants(), bytes);
        checks.holds("policy", trusted.map(|()| self.trust.words()));
        let scorer = &checks.scorer;
        let loaded =
            self.sandbox.load(component, &scorer.config, &scorer.limits, scorer.grants).await;
        match loaded {
            Ok(loaded) => {
                let as_locked = locked::must_be_as(locked, loaded.info(), &anatomy);
                let words = || format!("it reads {}", report::reads(loaded.info()));
                checks.holds("lock", as_locked.map(|()| words()));
                self.check_behaviour(checks, &anatomy, component, &loaded).await;
            }
            Err(error) => checks.failed("lock", &format!("it cannot be loaded: {error}")),
        }
    }

    async fn check_behaviour(
        &self,
        checks: &mut Checks<'_>,
        anatomy: &Anatomy,
        component: &ComponentBytes,
        loaded: &LoadedScorer,
    ) {
        let example = ExampleRun::of(anatomy, component, &self.sandbox).await;
        let words = example.words();
        let first = words.lines().next().unwrap_or_default();
        match (&example, example.fault()) {
            (_, Some(_)) => checks.failed("example", first),
            (ExampleRun::None | ExampleRun::NeedsGrants, None) => checks.skipped("example", first),
            (_, None) => checks.ok("example", first),
        }
        if anatomy.grants() != Grants::NONE {
            checks.skipped("says", "not scored: it needs a grant, and is tried without one");
            return;
        }
        match Leaks::of(anatomy, loaded).await {
            Err(reason) => checks.skipped("says", &format!("not scored: {reason}")),
            Ok(Leaks { undeclared, .. }) if !undeclared.is_empty() => {
                let parts = undeclared.join(", ");
                checks.failed(
                    "says",
                    &format!("it repeats what it does not declare to read: {parts}"),
                );
            }
            Ok(Leaks { repeated, .. }) if !repeated.is_empty() => {
                let parts = repeated.join(", ");
                checks.note("says", &format!("it repeats what it reads: {parts}"));
            }
            Ok(Leaks { unscored: Some(reason), .. }) => {
                checks.skipped("says", &format!("not scored: {reason}"));
            }
            Ok(_) => checks.ok("says", "nothing of a case that it does not declare to read"),
        }
    }
}

fn check_signature(checks: &mut Checks<'_>, locked: &Locked, component: &[u8]) {
    match (locked.proved_signer(component), &locked.signed) {
        (Ok(Some(signer)), _) => checks.ok("signature", &format!("by {signer}")),
        (Ok(None), Some(Signed::Said(signer))) => checks.note(
            "signature",
            &format!("the lock names {signer} without a signature; `scorebox update` writes it"),
        ),
        (Ok(None), _) => checks.note("signature", NOT_SIGNED),
        (Err(error), _) => checks.failed("signature", &error.to_string()),
    }
}

fn check_contract(checks: &mut Checks<'_>, anatomy: &Anatomy) {
    let version = anatomy.contract_version().unwrap_or("none");
    match anatomy.must_be_a_scorer() {
        Ok(()) => checks.ok("contract", version),
        Err(_) => {
            let message = format!("{version}; this scorebox runs {CONTRACT_VERSION}");
            checks.failed("contract", &message);
        }
    }
}

fn check_grants(checks: &mut Checks<'_>, anatomy: &Anatomy) {
    let (needs, given) = (anatomy.grants(), checks.scorer.grants);
    let names = |grants: Vec<String>| grants.join(", ");
    let missing: Vec<String> =
        needs.iter().filter(|it| !given.contains(*it)).map(|it| it.to_string()).collect();
    let unused: Vec<String> =
        given.iter().filter(|it| !needs.contains(*it)).map(|it| it.to_string()).collect();
    let all: Vec<String> = needs.iter().map(|it| it.to_string()).collect();
    if !missing.is_empty() {
        checks.failed(
            "grants",
            &format!("it needs {}, which the suite does not grant", names(missing)),
        );
    } else if !unused.is_empty() {
        checks
            .note("grants", &format!("the suite grants {}, which it does not need", names(unused)));
    } else if all.is_empty() {
        checks.ok("grants", "it needs none, and has none");
    } else {
        checks.ok("grants", &names(all));
    }
}

impl Checks<'_> {
    fn add(&mut self, check: &'static str, status: Status, message: &str) {
        self.made.push(Check {
            scorer_id: self.scorer.id.to_string(),
            address: self.address.to_owned(),
            check,
            status,
            message: message.to_owned(),
        });
    }

    fn ok(&mut self, check: &'static str, message: &str) {
        self.add(check, Status::Ok, message);
    }

    fn note(&mut self, check: &'static str, message: &str) {
        self.add(check, Status::Note, message);
    }

    fn skipped(&mut self, check: &'static str, message: &str) {
        self.add(check, Status::Skipped, message);
    }

    fn failed(&mut self, check: &'static str, message: &str) {
        self.add(check, Status::Failed, message);
    }

    fn holds(&mut self, check: &'static str, held: Result<String, Failure>) {
        match held {
            Ok(words) => self.ok(check, &words),
            Err(failure) => self.failed(check, &failure.message),
        }
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

fn table(checks: &[Check]) -> Table {
    let columns = ["scorer", "check", "", "what it shows"];
    let mut table = Table::new(&columns.map(|title| (title, Align::Left)));
    let mut before: Option<&str> = None;
    for Check { scorer_id, check, status, message, .. } in checks {
        let is_first = before != Some(scorer_id);
        before = Some(scorer_id);
        let name = if is_first { scorer_id.as_str() } else { "" };
        let status = match status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Skipped => "-",
            Status::Failed => "FAILED",
        };
        table.row([name, check, status, &output::last_cell(message)]);
    }
    table
}
