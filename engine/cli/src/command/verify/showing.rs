//! Shows the results of computing stored scores again: the counts, and a table of those that are not verified. It
//! computes nothing.

use std::collections::{BTreeMap, BTreeSet};

use scorebox::{
    advice::Advice,
    judge::JudgeIdentity,
    verify::{Finding, Unproved, Verdict},
};
use serde::Serialize;

use crate::{
    advice,
    failure::Failure,
    output::{self, Format},
    report::{self, Align, Table},
    words,
};

/// The most findings that are shown individually; all of them are counted.
const SHOWN: usize = 1000;

/// The counts of findings, and those to show.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Findings {
    pub(super) verified: u64,
    pub(super) different: u64,
    pub(super) not_verifiable: u64,
    /// For each unproved property, how many verified scores leave it unproved.
    pub(super) unproved: BTreeMap<Unproved, u64>,
    #[serde(rename = "findings")]
    pub(super) shown: Vec<Finding>,
    /// What to do about those that are not verifiable.
    #[serde(skip)]
    pub(super) advice: Vec<Advice>,
    #[serde(skip)]
    of_a_run: Option<Scope>,
    /// The judges whose recorded answers the scores are based on, by scorer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    judges: BTreeMap<String, JudgeIdentity>,
    /// The models that were asked for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    models_asked: BTreeMap<String, BTreeSet<String>>,
}

/// What is checked of a run in addition to its scores.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// Nothing: only some of the scores were requested.
    Part,
    /// Everything that can be computed, and the rest by its root.
    Whole,
    /// Everything that can be computed.
    WholeWithoutRoot,
    /// The same of a run that has not ended, and so has no root yet.
    Unended,
}

impl Findings {
    /// Findings without scores yet, of a run whose scorers have these judges, which asked these models.
    pub(super) fn of_a_run(
        scope: Scope,
        judges: BTreeMap<String, JudgeIdentity>,
        models_asked: BTreeMap<String, BTreeSet<String>>,
    ) -> Findings {
        Findings { of_a_run: Some(scope), judges, models_asked, ..Findings::default() }
    }

    /// Counts a finding, and shows it or keeps it for later.
    pub(super) fn take(&mut self, finding: Finding, format: Format) -> Result<(), Failure> {
        self.count(&finding);
        if format == Format::Jsonl {
            return output::stdout(|out| output::json_line(out, &finding));
        }
        if finding.verdict != Verdict::Verified && self.shown.len() < SHOWN {
            self.shown.push(finding);
        }
        Ok(())
    }

    fn count(&mut self, finding: &Finding) {
        if let Some(advice) = finding.advice()
            && !self.advice.contains(advice)
        {
            self.advice.push(advice.clone());
        }
        for unproved in &finding.unproved {
            *self.unproved.entry(*unproved).or_default() += 1;
        }
        match &finding.verdict {
            Verdict::Verified => self.verified += 1,
            Verdict::Different { .. } => self.different += 1,
            Verdict::NotVerifiable { .. } => self.not_verifiable += 1,
        }
    }

    /// Shows the findings and their reasons to the user.
    pub(super) fn show(&self, format: Format) -> Result<(), Failure> {
        self.print(format)?;
        words::say(&format!(
            "{} verified, {} different, {} not verifiable",
            report::count(self.verified),
            report::count(self.different),
            report::count(self.not_verifiable)
        ));
        self.advice.iter().filter_map(advice::words).for_each(|words| words::hint(&words));
        if self.total() == 0 {
            words::warn("there are no scores to verify");
        }
        for (scorer, judge) in &self.judges {
            let judge = report::judge::named(judge, self.models_asked.get(scorer));
            words::say(&format!("{scorer} is based on answers of {judge}"));
        }
        if let Some(text) = self.not_compared() {
            words::say(&format!("not compared: {text}"));
        }
        Ok(())
    }

    /// Prints only the findings; nothing in a format whose lines were printed at once.
    pub(super) fn print(&self, format: Format) -> Result<(), Failure> {
        match format {
            Format::Json => output::stdout(|out| output::json(out, self))?,
            Format::Jsonl => {}
            Format::Table if !self.shown.is_empty() => {
                output::stdout(|out| write!(out, "{}", table(&self.shown)))?;
            }
            Format::Table => {}
        }
        let listed = (self.different + self.not_verifiable) as usize;
        if format == Format::Table && listed > SHOWN {
            words::say(&format!("the first {SHOWN} of {listed}; all with --format jsonl"));
        }
        Ok(())
    }

    /// The note about data that was accepted without a comparison.
    fn not_compared(&self) -> Option<String> {
        let unproved = self.unproved.iter().map(|(what, count)| match self.of_a_run {
            Some(_) => format!("{} of {}", name(*what), report::counted(*count, "score", "scores")),
            None => name(*what).to_owned(),
        });
        let rest = match self.of_a_run {
            Some(Scope::Part) => Some("the run as a whole"),
            Some(Scope::WholeWithoutRoot) => Some(
                "which cases and scores there are, their names, versions, origins and times: \
                     the run has no root that this version of scorebox can read",
            ),
            Some(Scope::Unended) => Some(
                "which cases and scores there are, their names, versions, origins and times: \
                     the run has not ended, and has no root yet",
            ),
            Some(Scope::Whole) | None => None,
        };
        let all: Vec<String> = unproved.chain(rest.map(str::to_owned)).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    pub(super) fn total(&self) -> u64 {
        self.verified + self.different + self.not_verifiable
    }
}

/// The text for an unproved property.
fn name(unproved: Unproved) -> &'static str {
    match unproved {
        Unproved::ScoreId => "which run, scorer and case it belongs to",
        Unproved::Origin => "the component's origin",
        Unproved::EngineVersion => "the version of scorebox",
        Unproved::WasmtimeVersion => "the version of wasmtime",
        Unproved::ContractVersion => "the contract's patch version",
        Unproved::Time => "the time",
        Unproved::UnreachedLimits => "limits that were not reached",
        Unproved::UnusedGrants => "grants that it does not need",
        Unproved::Answers => "that the judge gave the recorded answers",
        Unproved::Fuel => "fuel",
        Unproved::Memory => "peak memory",
        Unproved::ErrorMessage => "error messages",
        _ => "something that this program has no words for",
    }
}

fn table(findings: &[Finding]) -> Table {
    let mut table = Table::new(&[
        ("score", Align::Left),
        ("verdict", Align::Left),
        ("what", Align::Left),
        ("stored", Align::Left),
        ("computed", Align::Left),
    ]);
    for finding in findings {
        let id = output::cell(&finding.score_id, 80);
        match &finding.verdict {
            Verdict::Verified => {}
            Verdict::NotVerifiable { reason, .. } => {
                let reason = output::cell(reason, 120);
                table.row([id, "not verifiable".into(), reason, String::new(), String::new()]);
            }
            Verdict::Different { differences } => {
                for difference in differences {
                    table.row([
                        id.clone(),
                        "different".into(),
                        output::cell(&difference.what, 80),
                        side(difference.stored.as_deref()),
                        side(difference.computed.as_deref()),
                    ]);
                }
            }
        }
    }
    table
}

/// One side of a difference. A missing side is in brackets, so that it does not look like a text.
fn side(text: Option<&str>) -> String {
    text.map_or_else(|| "(absent)".to_owned(), |text| output::cell(text, 48))
}
