//! `scorebox rm`: removes runs and frees their space. The store does the removal.

use std::fs;

use scorebox::store::{RunRecord, RunState, Store, StoreError};

use crate::{
    arguments::{Database, completing},
    failure::{Exit, Failure},
    question::{can_be_asked, says_yes},
    report::{bytes, counted},
    waiting::Waiting,
    words,
};

/// Remove runs from the database and free their space
///
/// Removes all that is stored of the runs: cases, scores, summaries, and the components that no other run
/// uses. This cannot be undone. A run whose scores another run reused (`run --reuse`) can only be removed
/// together with that run. Interrupting the command does no harm: repeat it to remove the rest.
#[derive(Debug, clap::Args)]
pub(crate) struct Rm {
    /// The runs
    #[arg(required = true, value_name = "RUN", add = completing::runs())]
    runs: Vec<String>,

    /// Do not ask
    #[arg(long, short, help_heading = "Removal")]
    yes: bool,

    /// Also remove a run that is marked as running; a killed run keeps that mark. A run that a process is writing stays
    #[arg(long, help_heading = "Removal")]
    force: bool,

    #[command(flatten)]
    database: Database,
}

/// The runs to remove.
struct Going {
    runs: Vec<RunRecord>,
    cases: u64,
    rows: u64,
}

impl Rm {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let going = {
            let store = self.database.read()?;
            self.going(&store)?
        };
        if !self.yes && !self.confirmed(&going)? {
            words::say("Nothing was removed.");
            return Ok(Exit::BadInput);
        }
        let mut store = Store::open(&self.database.path)?;
        self.remove(&mut store, &going)?;
        self.give_back_space(&mut store);
        Ok(Exit::Done)
    }

    /// Finds the runs to remove, and refuses those that cannot be removed, before it asks the user.
    fn going(&self, store: &Store) -> Result<Going, Failure> {
        let mut runs = Vec::<RunRecord>::new();
        for id in &self.runs {
            let run = store.run(id)?;
            // This holds whatever the run's mark is: its process would continue a removed run.
            if store.is_being_written(&run.spec.id) {
                let path = self.database.path.clone();
                return Err(StoreError::InUse { path, id: id.clone() }.into());
            }
            if run.state == RunState::Running && !self.force {
                return Err(Failure::new(format!("the run `{id}` is marked as running"))
                    .hint("if it was killed, and no process still writes to it: --force"));
            }
            if runs.iter().all(|other| other.key != run.key) {
                runs.push(run);
            }
        }
        let (mut cases, mut rows) = (0, 0);
        for run in &runs {
            cases += store.case_count(run.key)?;
            rows += store.row_count(run.key)?;
        }
        Ok(Going { runs, cases, rows })
    }

    fn confirmed(&self, going: &Going) -> Result<bool, Failure> {
        let what = format!(
            "{} ({}, {}) from {}",
            match &going.runs[..] {
                [run] => format!("the run {}", run.spec.id),
                runs => counted(runs.len() as u64, "run", "runs"),
            },
            counted(going.cases, "case", "cases"),
            counted(going.rows, "row", "rows"),
            self.database.path.display()
        );
        if !can_be_asked() {
            return Err(Failure::new(format!("removing {what} cannot be undone"))
                .hint("confirm it with --yes"));
        }
        says_yes(&format!("Remove {what}? This cannot be undone."))
    }

    fn remove(&self, store: &mut Store, going: &Going) -> Result<(), Failure> {
        let ids: Vec<&str> = going.runs.iter().map(|run| run.spec.id.as_str()).collect();
        let waiting = Waiting::of("removing cases", going.cases);
        let now = jiff::Timestamp::now().as_millisecond();
        let removed = store.remove_runs(&ids, now, |removed| waiting.at(removed.cases))?;
        drop(waiting);
        words::say(&format!(
            "removed {}: {}, {}, {}",
            counted(ids.len() as u64, "run", "runs"),
            counted(removed.cases, "case", "cases"),
            counted(removed.rows, "row", "rows"),
            counted(removed.components, "component", "components")
        ));
        Ok(())
    }

    /// Frees the space. The runs are removed even if this fails.
    fn give_back_space(&self, store: &mut Store) {
        let path = self.database.path.display();
        let waiting = store.size().map(|size| {
            Waiting::on(format!(
                "rewriting {path} ({}) to give back its unused space",
                bytes(size.bytes)
            ))
        });
        let given_back = store.give_back_space();
        drop(waiting);
        match given_back {
            Ok((before, after)) => {
                words::say(&format!("{path}: {}, was {}", bytes(after.bytes), bytes(before.bytes)));
                if fs::metadata(store.path()).is_ok_and(|file| file.len() > after.bytes) {
                    words::say(
                        "another process has it open; the file shrinks when that process closes it",
                    );
                }
            }
            Err(error) => {
                words::warn(&format!("the space was not given back: {error}"));
                words::hint("later runs use it");
            }
        }
    }
}
