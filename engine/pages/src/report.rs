//! Writes the report: one file that needs nothing from elsewhere. Counts include all cases; cases in full are chosen by
//! a rule that the report states, so that its size is bounded.

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use scorebox::{
    aggregate::{
        AgreementError, AgreementOptions, Comparison, ComparisonError, ComparisonOptions, RunIn,
        VerdictOptions, With, agreement, comparison, decides, verdicts,
    },
    store::{RunRecord, ScorerRecord, Store, StoreError, SummaryRecord},
    terminal::markup_without_commands,
    verdict::{Broken, Verdict},
};

use crate::{
    agreement::{Agreed, agreements},
    case::Decided,
    chosen::{Chosen, Fitted, Lowest, MAX_BAD, MAX_GOOD, Room},
    comparison::{self as compared, MAX_CHANGES},
    figure,
    figures::Figures,
    frame::{self, REPORT_SCRIPT, STYLE},
    said::{Said, plain},
    summary, word,
};

/// The most bytes of all cases of a report; what surrounds them takes some ten kilobytes for each run.
const MAX_CASES_BYTES: usize = 4 << 20;

/// The most runs of one report.
const MAX_RUNS: usize = 8;

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// There are more runs than a report shows.
    #[error("a report shows at most {MAX_RUNS} runs, these are {0}")]
    TooManyRuns(usize),
    /// No scorer of a run can be compared with the requested labels.
    #[error(transparent)]
    Agreement(AgreementError),
}

/// The content of a report.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HtmlReport<'a> {
    /// The runs, in the order of the report.
    pub runs: &'a [String],
    /// Whether a soft regression also fails a case.
    pub strict: bool,
    /// The labels that the scorers of each run are compared with.
    pub labels: Option<AgreementOptions<'a>>,
    /// The requirements of the run that do not hold, for a report with one run.
    pub broken: &'a [Broken],
}

impl<'a> HtmlReport<'a> {
    /// The most runs of one report.
    pub const MAX_RUNS: usize = MAX_RUNS;

    /// A report of these runs, 1 to 8. Two runs are compared case by case, the second with the first.
    pub fn new(runs: &'a [String]) -> HtmlReport<'a> {
        HtmlReport { runs, strict: false, labels: None, broken: &[] }
    }

    /// The same with this [`strict`](HtmlReport::strict).
    #[must_use]
    pub fn with_strict(mut self, strict: bool) -> HtmlReport<'a> {
        self.strict = strict;
        self
    }

    /// The same with these [`broken`](HtmlReport::broken) requirements.
    #[must_use]
    pub fn with_broken(mut self, broken: &'a [Broken]) -> HtmlReport<'a> {
        self.broken = broken;
        self
    }

    /// The same with these [`labels`](HtmlReport::labels).
    #[must_use]
    pub fn with_labels(
        mut self,
        labels: impl Into<Option<AgreementOptions<'a>>>,
    ) -> HtmlReport<'a> {
        self.labels = labels.into();
        self
    }

    /// Writes the report, all of it from one state of the database. Its size is bounded, whatever is stored: it
    /// contains at most 200 cases that did not pass and 10 that did, which take about 4 MiB at most.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`]; more than 8 runs; labels that no scorer of a run can be compared with; errors of
    /// reading and writing. The part that was written by then is not a complete report.
    pub fn write(&self, store: &Store, out: &mut dyn io::Write) -> Result<(), ReportError> {
        if self.runs.len() > MAX_RUNS {
            return Err(ReportError::TooManyRuns(self.runs.len()));
        }
        store.snapshot(|store| {
            let share = MAX_CASES_BYTES / self.runs.len().max(1);
            let mut runs = Vec::new();
            for run in self.runs {
                runs.push(Reported::read(store, run, self, share)?);
            }
            let two = self.compared(store)?;
            let page = self.page(&runs, two.as_ref()).into_string();
            out.write_all(markup_without_commands(&page).as_bytes())?;
            Ok(())
        })
    }

    /// What two runs report about the same cases, or why that is unknown.
    fn compared(&self, store: &Store) -> Result<Option<Result<Comparison, String>>, StoreError> {
        let [one, other] = self.runs else { return Ok(None) };
        let options =
            ComparisonOptions::default().with_strict(self.strict).with_changes(MAX_CHANGES);
        match comparison(RunIn::new(store, one), RunIn::new(store, other), options) {
            Ok(found) => Ok(Some(Ok(found))),
            Err(ComparisonError::Store(error)) => Err(error),
            Err(error) => Ok(Some(Err(error.to_string()))),
        }
    }

    fn page(&self, runs: &[Reported], two: Option<&Result<Comparison, String>>) -> Markup {
        let names: Vec<String> =
            runs.iter().map(|run| plain(summary::suite(&run.run), 80)).collect();
        let title = names.first().map_or_else(String::new, Clone::clone);
        let policy = frame::report_policy();
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content={ "scorebox " (env!("CARGO_PKG_VERSION")) };
                    title { (title) " – scorebox report" }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#content" { "To the content" }
                    main id="content" {
                        @if runs.len() > 1 { (index(runs, two.is_some())) }
                        @if let Some(two) = two { (comparing(runs, two)) }
                        @for (index, run) in runs.iter().enumerate() { (self.run(run, index, runs.len() > 1)) }
                    }
                    footer.end {
                        "Written by scorebox " (env!("CARGO_PKG_VERSION")) ". This file loads nothing else."
                    }
                    script { (PreEscaped(REPORT_SCRIPT)) }
                }
            }
        }
    }

    fn run(&self, reported: &Reported, index: usize, is_one_of_many: bool) -> Markup {
        let Reported { run, scorers, figures, summaries, .. } = reported;
        let heading = html! { (Said::line(summary::suite(run), 200)) };
        html! {
            article id={ "run-" (index + 1) } {
                div.title {
                    @if is_one_of_many { h1 { (heading) span.aside { " " (run.spec.id.as_str()) } } } @else { h1 { (heading) } }
                    (word::state(run.state))
                }
                (summary::facts(run))
                @if !is_one_of_many {
                    @for requirement in self.broken.iter().filter(|it| !it.is_of_cases()) {
                        p.note.strong { "A requirement does not hold: " (Said::line(&requirement.to_string(), 600)) "." }
                    }
                }
                (summary::went(figures))
                @if self.strict { p.small.aside { "Soft scorers with a threshold count as gates." } }
                section {
                    h2 { "Scorers" }
                    (summary::scorers(&figures.scorers, |_| None))
                }
                section {
                    h2 { "Distributions" }
                    (summary::distributions(&figures.scorers))
                }
                @if !summaries.is_empty() { section { h2 { "All cases together" } (summary::of_the_run(summaries)) } }
                @if let Some(labels) = &self.labels { (agreements(where_labels_are(labels.with), &reported.agreed)) }
                (cases(reported, index))
                section {
                    h2 { "What ran" }
                    (summary::what_ran(run, scorers, &figures.scorers))
                }
            }
        }
    }
}

/// Where labels are, in the user's notation.
fn where_labels_are(with: With<'_>) -> &str {
    match with {
        With::Label(text) | With::Scorer(text) => text,
        _ => "",
    }
}

/// The comparison of two runs.
fn comparing(runs: &[Reported], two: &Result<Comparison, String>) -> Markup {
    let link = |case_id: &str| runs.iter().find_map(|run| run.link(case_id));
    html! {
        section id="comparison" {
            h2 { "Is B better than A?" }
            @match two {
                Ok(found) => (compared::comparison(found, link)),
                Err(why) => (compared::none(why)),
            }
        }
    }
}

/// The list of runs, for a report with several.
fn index(runs: &[Reported], are_compared: bool) -> Markup {
    html! {
        nav aria-label="Runs" {
            ul.tabs {
                @if are_compared { li { a href="#comparison" { "Comparison" } } }
                @for (index, run) in runs.iter().enumerate() {
                    li { a href={ "#run-" (index + 1) } { (Said::line(summary::suite(&run.run), 80)) " " (run.run.spec.id.as_str()) } }
                }
            }
        }
    }
}

/// A run that was read for a report.
#[derive(Debug)]
struct Reported {
    run: RunRecord,
    scorers: Vec<ScorerRecord>,
    figures: Figures,
    /// The summaries of scorers over all cases.
    summaries: Vec<SummaryRecord>,
    /// Cases that did not pass, in their order, and how many of them the run has.
    bad: Fitted,
    all_bad: u64,
    /// The cases with the lowest scores among those that passed.
    good: Fitted,
    /// The ids of the cases in full, each with its anchor; only the first attempt of each.
    anchors: Vec<(String, String)>,
    /// How well its scorers agree with labels, if that was requested.
    agreed: Vec<Agreed>,
}

impl Reported {
    fn read(
        store: &Store,
        run: &str,
        report: &HtmlReport<'_>,
        max_bytes: usize,
    ) -> Result<Reported, ReportError> {
        let run = store.run(run)?;
        let scorers = store.scorers(run.key)?;
        let agreed = match report.labels {
            Some(labels) => agreed(store, &run, &scorers, labels)?,
            None => Vec::new(),
        };
        let options = VerdictOptions::default().with_strict(report.strict);
        let is_decided = decides(store, run.spec.id.as_str(), options)?;
        let (mut bad, mut all_bad, mut good) = (Vec::new(), 0, Lowest::default());
        let decided = verdicts(store, run.spec.id.as_str(), options, |it| {
            let chosen = || Chosen {
                key: it.case.key,
                iteration: it.case.iteration,
                attempt: it.case.attempt,
                verdict: it.verdict,
                against: it.against.iter().map(Decided::of).collect(),
                is_decided,
            };
            match it.verdict.verdict {
                Verdict::Failed | Verdict::Errored => {
                    all_bad += 1;
                    if bad.len() < MAX_BAD {
                        bad.push(chosen());
                    }
                }
                Verdict::Passed => good.take(it.verdict, chosen),
                Verdict::Skipped | Verdict::Undecided => {}
            }
            true
        })?;
        let figures = Figures::of(store, &run, &scorers, &decided, options)?;
        let summaries = store.summaries(run.key)?;
        let mut room = Room::new(max_bytes, bad.len() + good.0.len());
        let mut fitted = |all: &[Chosen]| room.take(all, store, &run, &scorers);
        let (bad, good) = (fitted(&bad)?, fitted(&good.0)?);
        let anchors = room.into_anchors();
        Ok(Reported { run, scorers, figures, summaries, bad, all_bad, good, anchors, agreed })
    }

    /// The link to a case that is shown in full.
    fn link(&self, case_id: &str) -> Option<String> {
        let found = self.anchors.iter().find(|(id, _)| id == case_id);
        found.map(|(_, anchor)| format!("#{anchor}"))
    }
}

/// How well each scorer of a run agrees with labels.
///
/// # Errors
/// Errors of reading; why the first scorer cannot be compared, if none can.
fn agreed(
    store: &Store,
    run: &RunRecord,
    scorers: &[ScorerRecord],
    labels: AgreementOptions<'_>,
) -> Result<Vec<Agreed>, ReportError> {
    let mut all = Vec::new();
    let mut trouble = None;
    for scorer in scorers {
        let id = &scorer.spec.scorer_id;
        // A scorer always agrees with itself.
        if labels.with == With::Scorer(id) {
            continue;
        }
        match agreement(store, run.spec.id.as_str(), id, labels) {
            Ok(found) => all.push((id.clone(), Ok(found))),
            Err(AgreementError::Store(error)) => return Err(error.into()),
            Err(error) => {
                all.push((id.clone(), Err(error.to_string())));
                trouble.get_or_insert(error);
            }
        }
    }
    match trouble {
        Some(error) if all.iter().all(|(_, found)| found.is_err()) => {
            Err(ReportError::Agreement(error))
        }
        _ => Ok(all),
    }
}

fn cases(reported: &Reported, index: usize) -> Markup {
    let Reported { bad, all_bad, good, .. } = reported;
    html! {
        @if *all_bad > 0 {
            section id={ "run-" (index + 1) "-failed" } {
                h2 { "Cases that did not pass" }
                p.aside {
                    @if bad.chosen < *all_bad {
                        "The first " (figure::count(bad.chosen)) " of " (figure::count(*all_bad)) ", in the order of the cases. All of them count above."
                    } @else {
                        "All " (figure::count(*all_bad)) ", in the order of the cases."
                    }
                    (bad.cut_down())
                }
                div.cases { @for case in &bad.shown { (case) } }
            }
        }
        @if good.chosen > 0 {
            section {
                @if reported.figures.decides {
                    h2 { "Closest to not passing" }
                    p.aside { "The cases that passed with the lowest scores, at most " (MAX_GOOD) "." (good.cut_down()) }
                } @else {
                    h2 { "Lowest scores" }
                    p.aside { "The cases with the lowest scores, at most " (MAX_GOOD) "." (good.cut_down()) }
                }
                div.cases { @for case in &good.shown { (case) } }
            }
        }
    }
}
