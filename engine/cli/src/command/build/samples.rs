//! Scores the sample cases of a scorer that is being written with the new build, and shows the scores. It stores
//! nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use scorebox::{
    case::{CaseReader, Mapping, Source},
    registry::Reference,
    row::{Answer, Status},
    run::{Event, RunRequest},
    sandbox::Limits,
    suite::{ScorerId, Suite, SuiteScorer},
    verdict::Verdict,
};

use crate::{
    advice,
    failure::Failure,
    locked,
    output::{self, Out},
    report::{self, Align, Table},
    setup::{self, SandboxArguments},
    words,
};

/// The most cases that are shown; further ones are only counted.
const MAX_SHOWN: usize = 50;
/// The most columns of a case's or a scorer's name.
const NAME: usize = 40;

/// The cases to score after a build.
pub(super) enum Samples {
    /// A suite and its cases, as `scorebox new` makes them.
    Test { suite: PathBuf, cases: PathBuf },
    /// Cases for the scorer alone.
    Cases(PathBuf),
}

impl Samples {
    /// The named cases, or those of the test in the scorer's folder; `None` if there are none.
    pub(super) fn find(named: Option<&Path>, folder: &Path) -> Option<Samples> {
        if let Some(named) = named {
            return Some(Samples::Cases(named.to_owned()));
        }
        let (suite, cases) = (folder.join("test.toml"), folder.join("test.jsonl"));
        match (suite.is_file(), cases.is_file()) {
            (true, true) => Some(Samples::Test { suite, cases }),
            (false, true) => Some(Samples::Cases(cases)),
            _ => None,
        }
    }

    /// Scores them with `component`, within these limits, and shows the results. A test's suite sets both itself.
    pub(super) fn score(
        &self,
        component: &Path,
        limits: Limits,
        sandbox: &SandboxArguments,
    ) -> Result<(), Failure> {
        let (suite, cases) = match self {
            Samples::Test { suite, cases } => (setup::suite_to_load(suite, sandbox, Ok)?, cases),
            Samples::Cases(cases) => {
                let uses = Reference::File(component.to_owned());
                let id = ScorerId::new(&uses.default_name())?;
                let scorer = SuiteScorer::new(id, uses).with_limits(limits);
                (Suite::new("samples".to_owned(), vec![scorer])?, cases)
            }
        };
        let cases = CaseReader::open(vec![Source::path(cases)], Mapping::default())?;
        let sandbox = sandbox.open(setup::slots(1, &suite), setup::unasked_judges(&suite))?;
        let target = suite.target.as_ref().map(|target| target.to_string());
        let seen = Arc::new(Mutex::new(Seen::of(target)));
        let hearing = Arc::clone(&seen);
        let report = setup::finish(setup::small_runtime()?, async {
            let scorers = locked::loaded(&suite, &sandbox).await?;
            setup::must_have_files(&scorers)?;
            let request =
                RunRequest::new(suite, scorers, cases).jobs(1).sink(move |event: &Event| {
                    hearing.lock().unwrap_or_else(PoisonError::into_inner).hear(event);
                    Ok(())
                });
            Ok::<_, Failure>(scorebox::run::run(request, Arc::default()).await?)
        })?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).show()?;
        match report.stopped {
            None => Ok(()),
            Some(stop) => Err(Failure::new(stop.to_string())),
        }
    }
}

/// The events of a run of samples so far.
struct Seen {
    /// The scorer whose results the others score, if there is one. The scores of the others are not shown, only whether
    /// the case passes.
    target: Option<String>,
    /// The shown cases, by ordinal.
    cases: BTreeMap<u64, SeenCase>,
    finished: usize,
    passed: usize,
}

#[derive(Default)]
struct SeenCase {
    name: String,
    answers: Vec<(String, Answer)>,
    verdict: Option<Verdict>,
}

impl Seen {
    fn of(target: Option<String>) -> Seen {
        Seen { target, cases: BTreeMap::new(), finished: 0, passed: 0 }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::ScorerFinished(ended) | Event::ScorerFailed(ended) => {
                let row = &ended.row;
                if self.target.as_ref().is_none_or(|target| *target == row.scorer_id) {
                    let answer = (row.scorer_id.clone(), row.answer.clone());
                    self.case(ended.ordinal).answers.push(answer);
                }
            }
            Event::CaseFinished(finished) => {
                let name =
                    report::case_name(&finished.case_id, finished.iteration, finished.attempt);
                let case = self.case(finished.ordinal);
                (case.name, case.verdict) = (name, finished.verdict);
                self.finished += 1;
                self.passed += usize::from(finished.verdict == Some(Verdict::Passed));
            }
            _ => {}
        }
        while self.cases.len() > MAX_SHOWN {
            self.cases.pop_last();
        }
    }

    fn case(&mut self, ordinal: u64) -> &mut SeenCase {
        self.cases.entry(ordinal).or_default()
    }

    fn show(&self) -> Result<(), Failure> {
        let has_several = self.cases.values().any(|case| case.answers.len() > 1);
        let mut columns = vec![("case", Align::Left)];
        if has_several {
            columns.push(("scorer", Align::Left));
        }
        columns.extend([
            ("score", Align::Right),
            ("verdict", Align::Left),
            ("reason", Align::Left),
        ]);
        let mut table = Table::new(&columns);
        for case in self.cases.values() {
            for (scorer, answer) in &case.answers {
                let mut row = vec![output::cell(&case.name, NAME)];
                if has_several {
                    row.push(output::cell(scorer, NAME));
                }
                let score = match answer.status {
                    Status::Scored => answer.score.map_or_else(|| "-".into(), report::score),
                    status => status.as_str().to_owned(),
                };
                // Scorers of the target's results skip a case for which the target fails.
                let verdict = match answer.status {
                    Status::Error => Some(Verdict::Errored),
                    _ => case.verdict,
                };
                let verdict = verdict.map_or("-", Verdict::as_str).to_owned();
                row.extend([score, verdict, output::last_cell(&why(answer))]);
                table.row(row);
            }
        }
        output::stdout(|out: &mut Out<'_>| output::table(out, table))?;
        let (passed, all) = (self.passed, self.finished);
        let shown = self.cases.len();
        let more =
            if all > shown { format!("; the first {shown} are shown") } else { String::new() };
        words::say(&format!(
            "{passed} of {} passed{more}",
            report::counted(all as u64, "case", "cases")
        ));
        Ok(())
    }
}

/// The reason of a score, or why there is no score, with what to do about it.
fn why(answer: &Answer) -> String {
    let Some(error) = &answer.error else { return answer.reason.clone().unwrap_or_default() };
    let hint = error.advice.as_ref().and_then(advice::words);
    let hint = hint.map(|hint| format!("; hint: {hint}")).unwrap_or_default();
    format!("{}: {}{hint}", error.kind, error.message)
}
