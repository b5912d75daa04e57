//! Formats the comparison of two runs on the same cases, as tables and text. It computes nothing.

use scorebox::{
    aggregate::{
        BesideZero, ComparedQuestions, ComparedRun, ComparedScorer, ComparedScores, Comparison,
        Finding,
    },
    stats::paired::TestMethod,
    store::RunState,
};

use crate::{
    output::cell,
    report::{
        Align, Table, count, counted,
        interval::{chance, difference, interval},
        one_line, score,
    },
};

/// The most characters of a name in a sentence.
const NAME: usize = 64;

/// The scores of verdicts and of each scorer, by name.
fn named(comparison: &Comparison) -> impl Iterator<Item = (&str, &ComparedScores)> {
    let verdict = comparison.verdict.iter().map(|scores| ("verdict", scores));
    let scorers = comparison.scorers.iter().map(|it| (it.scorer_id.as_str(), &it.scores));
    verdict.chain(scorers)
}

fn figure(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

/// The table with a row for verdicts and one for each scorer.
pub(crate) fn figures(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("cases", Align::Right),
        ("A", Align::Right),
        ("B", Align::Right),
        ("difference", Align::Right),
        ("95 % interval", Align::Right),
        (if comparison.tests > 1 { "p (Holm)" } else { "p" }, Align::Right),
        ("effect", Align::Right),
        ("wins", Align::Right),
        ("losses", Align::Right),
        ("ties", Align::Right),
        ("B is", Align::Left),
    ]);
    for (name, scores) in named(comparison) {
        table.row([
            cell(name, 48),
            count(scores.pairs),
            figure(scores.mean_a, score),
            figure(scores.mean_b, score),
            figure(scores.difference, difference),
            interval(scores.interval),
            figure(scores.p_corrected, chance),
            figure(scores.effect, |it| format!("{it:+.2}")),
            count(scores.wins.wins),
            count(scores.wins.losses),
            count(scores.wins.ties),
            in_a_word(scores.finding).to_owned(),
        ]);
    }
    table
}

fn in_a_word(finding: Finding) -> &'static str {
    match finding {
        Finding::Better => "better",
        Finding::Worse => "worse",
        Finding::NotShown => "not shown to differ",
        Finding::Same => "the same",
        _ => "-",
    }
}

/// The table of which cases pass in which run; `None` if no scorer can pass cases.
pub(crate) fn passes(comparison: &Comparison) -> Option<Table> {
    let mut table = Table::new(&[
        ("passed", Align::Left),
        ("both", Align::Right),
        ("only A", Align::Right),
        ("only B", Align::Right),
        ("neither", Align::Right),
        ("McNemar p", Align::Right),
    ]);
    let mut has_rows = false;
    for (name, scores) in named(comparison) {
        let (Some(passes), Some(p)) = (scores.passes, scores.mcnemar) else { continue };
        has_rows = true;
        table.row([
            cell(name, 48),
            count(passes.both),
            count(passes.only_first),
            count(passes.only_second),
            count(passes.neither),
            chance(p),
        ]);
    }
    has_rows.then_some(table)
}

/// The cases that changed most, scorer by scorer; `None` if none changed.
pub(crate) fn changes(comparison: &Comparison) -> Option<Table> {
    let mut table = Table::new(&[
        ("changed most", Align::Left),
        ("A", Align::Right),
        ("B", Align::Right),
        ("difference", Align::Right),
        ("case", Align::Left),
    ]);
    let mut has_rows = false;
    for (name, scores) in named(comparison) {
        for (index, change) in scores.changes.iter().enumerate() {
            has_rows = true;
            table.row([
                if index == 0 { cell(name, 48) } else { String::new() },
                score(change.a),
                score(change.b),
                difference(change.difference),
                cell(&change.case_id, 80),
            ]);
        }
    }
    has_rows.then_some(table)
}

/// The findings, one sentence for verdicts and one for each scorer. `asked` is the difference for which the number of
/// cases is computed.
pub(crate) fn findings(comparison: &Comparison, asked: Option<f64>) -> Vec<String> {
    let sentence = |(name, scores): (&str, &ComparedScores)| {
        format!("{}: {}", one_line(name, NAME), finding(scores, asked))
    };
    without_verdicts(comparison).into_iter().chain(named(comparison).map(sentence)).collect()
}

/// Why there are no verdicts, if one of the runs has some.
fn without_verdicts(comparison: &Comparison) -> Option<String> {
    let run = comparison.without_verdicts()?;
    let name = if run.run_id == comparison.b.run_id { "B" } else { "A" };
    Some(format!("verdict: {name} has no scorer that can fail a case"))
}

fn finding(scores: &ComparedScores, asked: Option<f64>) -> String {
    let cases = counted(scores.pairs, "case", "cases");
    let found = match scores.finding {
        Finding::Better => format!("B is better, on {cases}"),
        Finding::Worse => format!("B is worse, on {cases}"),
        Finding::NotShown => {
            let found = match scores.pairs {
                1 => "no difference that 1 case can show".to_owned(),
                _ => format!("no difference that these {cases} can show"),
            };
            match scores.are_too_few() {
                true => format!("{found}: it takes at least {}", count(scores.fewest_cases)),
                false => found,
            }
        }
        Finding::Same => {
            let found = match scores.pairs {
                1 => "the same on the only case".to_owned(),
                _ => format!("the same on all {cases}"),
            };
            match scores.are_too_few() {
                true => {
                    format!("{found}; fewer than {} cannot show a loss", count(scores.fewest_cases))
                }
                false => found,
            }
        }
        _ => "no case has a score in both runs".to_owned(),
    };
    let needed = scores.cases_needed.zip(asked.or(scores.difference));
    let takes = |(cases, of): (u64, f64)| {
        format!("a difference of {} takes {}", score(of.abs()), counted(cases, "case", "cases"))
    };
    let mut more = Vec::new();
    if scores.finding == Finding::NotShown {
        let shows = |smallest: f64| format!("they show one of {} or more", score(smallest));
        let none = || "they show none that is on the scale".to_owned();
        let is_none = scores.smallest_difference.is_none() && !scores.are_too_few();
        more.extend(scores.smallest_difference.map(shows).or_else(|| is_none.then(none)));
        more.extend(needed.map(takes));
    } else if asked.is_some() {
        more.extend(needed.map(takes));
    }
    match more.is_empty() {
        true => found,
        false => format!("{found}; 80 times of 100, {}", more.join(", and ")),
    }
}

/// Describes the data behind the figures, and how they were computed.
pub(crate) fn about(comparison: &Comparison) -> Vec<String> {
    let Comparison { a, b, cases, tests, .. } = comparison;
    let attempts = match a.attempts == b.attempts {
        true => String::new(),
        false => {
            let of_a = counted(a.attempts, "attempt", "attempts");
            format!(", with {of_a} in A and {} in B", count(b.attempts))
        }
    };
    let mut lines = vec![format!(
        "A {}, B {}: {} in both{attempts}",
        a.run_id,
        b.run_id,
        counted(*cases, "case", "cases")
    )];
    for (name, run) in [("A", a), ("B", b)] {
        lines.extend(only_here(name, run));
    }
    lines.extend(named(comparison).filter_map(unpaired));
    let p_values = match tests {
        0 if comparison.figures().all(|scores| scores.test.is_none()) => return lines,
        0 | 1 => "p is that of a permutation test".to_owned(),
        tests => format!("p values are of permutation tests, corrected for {tests} tests (Holm)"),
    };
    let drawn = comparison
        .figures()
        .any(|scores| scores.test.is_some_and(|test| test.method == TestMethod::Seeded));
    lines.push(match drawn {
        true => format!("{p_values}; where ways are too many to count, 9,999 are drawn"),
        false => p_values,
    });
    let reasons = [BesideZero::Uncorrected, BesideZero::Approximate];
    lines.extend(reasons.into_iter().filter_map(|reason| beside_zero(comparison, reason)));
    lines
}

/// The scorers whose intervals exclude 0 although p shows no difference, and why.
fn beside_zero(comparison: &Comparison, reason: BesideZero) -> Option<String> {
    let of_reason = named(comparison).filter(|(_, scores)| scores.beside_zero() == Some(reason));
    let names: Vec<String> = of_reason.map(|(name, _)| one_line(name, NAME)).collect();
    let (intervals, is_that) = match names.as_slice() {
        [] => return None,
        [_] => ("the interval leaves out 0", "it is"),
        _ => ("the intervals leave out 0", "each is"),
    };
    let why = match reason {
        BesideZero::Uncorrected => {
            let tests = comparison.tests;
            format!("{is_that} that of one scorer alone, and p is corrected for {tests} tests")
        }
        _ => "an interval is an approximation, and the test is not: p decides".to_owned(),
    };
    Some(format!("{}: {intervals} where p shows no difference, because {why}", names.join(", ")))
}

/// Cases of both runs that have a score in one of them only.
fn unpaired((name, scores): (&str, &ComparedScores)) -> Option<String> {
    let ComparedScores { only_a, only_b, .. } = scores;
    let sides = [(*only_a, "A"), (*only_b, "B")].into_iter().filter(|(cases, _)| *cases > 0);
    let sides: Vec<String> = sides
        .map(|(cases, run)| format!("{} only in {run}", counted(cases, "case", "cases")))
        .collect();
    let name = one_line(name, NAME);
    (!sides.is_empty()).then(|| format!("{name}: there is a score of {}", sides.join(", of ")))
}

fn only_here(name: &str, run: &ComparedRun) -> Vec<String> {
    let mut lines = Vec::new();
    if run.only_here > 0 {
        let cases = counted(run.only_here, "case", "cases");
        let examples: Vec<String> = run.examples.iter().map(|id| one_line(id, 40)).collect();
        let more = if run.only_here > run.examples.len() as u64 { ", …" } else { "" };
        lines.push(format!("only {name} has {cases}: {}{more}", examples.join(", ")));
    }
    if !run.scorers_only_here.is_empty() {
        let scorers: Vec<String> =
            run.scorers_only_here.iter().map(|id| one_line(id, NAME)).collect();
        lines.push(format!("only {name} has scorers {}", scorers.join(", ")));
    }
    lines
}

/// The reasons why a comparison is doubtful.
pub(crate) fn doubts(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, run) in [("A", &comparison.a), ("B", &comparison.b)] {
        let doubt = |ended| format!("{name} {ended}: only its stored scores are compared");
        lines.extend(ended(run.state).map(doubt));
    }
    let ComparedQuestions { compared, others, .. } = comparison.questions;
    if others > 0 {
        lines.push(format!(
            "{} of {} have another input or ground truth in B, or the same written otherwise: they are paired by id, and the id of a case without one is its place in the file",
            count(others),
            match compared == comparison.cases {
                true => counted(compared, "case", "cases"),
                false => format!("the first {}", counted(compared, "case", "cases")),
            }
        ));
    }
    lines.extend(failures_in_b(comparison));
    lines.extend(failed_undecided(comparison));
    lines.extend(failed_errored(comparison));
    lines.extend(fewer_attempts(comparison));
    if has_attempts(comparison) {
        // If each case has one attempt, the counts of cases with one score show this.
        lines.extend(absent_from_b(comparison));
    }
    let names = |is: fn(&ComparedScorer) -> bool| {
        let scorers = comparison.scorers.iter().filter(|scorer| is(scorer));
        scorers.map(|it| format!("`{}`", one_line(&it.scorer_id, NAME))).collect::<Vec<_>>()
    };
    let others = names(|scorer| !scorer.same_scorer);
    if !others.is_empty() {
        lines.push(format!(
            "{} is not the same component or configuration in both runs: a difference may be the scorer's",
            others.join(", ")
        ));
    }
    let others = names(|scorer| !scorer.same_judge);
    if !others.is_empty() {
        lines.push(format!(
            "{} asks another judge or model in B: a difference may be the judge's",
            others.join(", ")
        ));
    }
    let others = names(|scorer| !scorer.same_policy);
    if !others.is_empty() {
        lines.push(format!(
            "{} has another threshold, severity or weight in B: what passes may differ although scores do not",
            others.join(", ")
        ));
    }
    for scorer_id in &comparison.incomparable {
        let scorer = one_line(scorer_id, NAME);
        lines.push(format!("`{scorer}` has another scale or direction in B, and is not compared"));
    }
    lines
}

/// Scorers that failed in B for cases of which A has a score.
fn failures_in_b(comparison: &Comparison) -> Vec<String> {
    let failing = comparison.scorers.iter().filter(|scorer| scorer.scores.errors_b > 0);
    let sentence = |scorer: &ComparedScorer| {
        let cases = counted(scorer.scores.errors_b, "case that has", "cases that have");
        let name = one_line(&scorer.scorer_id, NAME);
        format!("`{name}` failed in B for {cases} a score in A")
    };
    failing.map(sentence).collect()
}

/// Cases that fail in B and that no scorer decided in A, so that no pair of verdicts shows them.
fn failed_undecided(comparison: &Comparison) -> Vec<String> {
    let verdict = comparison.verdict.iter().map(|scores| (None, scores));
    let scorers = comparison.scorers.iter();
    let scorers = scorers.map(|it| (Some(it.scorer_id.as_str()), &it.scores));
    let failing = verdict.chain(scorers).filter(|(_, scores)| scores.failed_spared > 0);
    let sentence = |(scorer, scores): (Option<&str>, &ComparedScores)| {
        let cases = counted(scores.failed_spared, "case fails", "cases fail");
        match scorer {
            None => format!("{cases} in B to which no scorer that decides applied in A"),
            Some(id) => {
                format!("{cases} in B by `{}`, which did not apply in A", one_line(id, NAME))
            }
        }
    };
    failing.map(sentence).collect()
}

/// Cases that fail in B and are errored in A: neither is better.
fn failed_errored(comparison: &Comparison) -> Option<String> {
    let cases = comparison.verdict.as_ref()?.failed_errored;
    let cases = (cases > 0).then(|| counted(cases, "case fails", "cases fail"))?;
    Some(format!("{cases} in B and errored in A, which counts as no change"))
}

/// Data that A has and B lacks, and losses in too few cases to be significant: without a comparison, nothing shows that
/// B is as good.
pub(super) fn may_be_worse(comparison: &Comparison) -> Vec<String> {
    let mut lines = failures_in_b(comparison);
    lines.extend(failed_undecided(comparison));
    lines.extend(ended(comparison.b.state).map(|ended| format!("B {ended}")));
    if comparison.a.only_here > 0 {
        lines.push(format!("only A has {}", counted(comparison.a.only_here, "case", "cases")));
    }
    let lacks_verdicts = comparison.a.has_verdicts && !comparison.b.has_verdicts;
    if lacks_verdicts && comparison.not_compared.is_empty() {
        lines.push("A has verdicts, and B has no scorer that can fail a case".to_owned());
    }
    lines.extend(named(comparison).filter_map(too_few));
    lines.extend(fewer_attempts(comparison));
    lines.extend(absent_from_b(comparison));
    for scorer_id in &comparison.not_compared {
        let name = one_line(scorer_id, NAME);
        lines.push(match comparison.incomparable.contains(scorer_id) {
            true => format!("`{name}` has another scale or direction in B"),
            false => {
                format!("B does not have the scorer `{name}`, which has a threshold or a gate in A")
            }
        });
    }
    if comparison.figures().all(|scores| scores.pairs == 0) {
        lines.push("no case has a score in both runs".to_owned());
    }
    lines
}

/// Cases with a verdict or a score in A and not in B; with several attempts, those for which B lacks a larger share.
fn absent_from_b(comparison: &Comparison) -> Vec<String> {
    let verdict = comparison.verdict.iter().map(|scores| (None, scores));
    let scorers = comparison.scorers.iter();
    let scorers = scorers.map(|it| (Some(it.scorer_id.as_str()), &it.scores));
    let absent = verdict.chain(scorers).filter(|(_, scores)| scores.absent_b > 0);
    let sentence = |(scorer, scores): (Option<&str>, &ComparedScores)| {
        let what = match scorer {
            Some(id) => format!("score of `{}`", one_line(id, NAME)),
            None => "verdict".to_owned(),
        };
        match has_attempts(comparison) {
            true => {
                let cases = counted(scores.absent_b, "case", "cases");
                format!("B has a {what} for a smaller part of the attempts than A, at {cases}")
            }
            false => {
                let cases = counted(scores.absent_b, "case that has", "cases that have");
                format!("B has no {what} for {cases} one in A")
            }
        }
    };
    absent.map(sentence).collect()
}

/// Whether a case that both have was tried several times in one of the runs.
fn has_attempts(comparison: &Comparison) -> bool {
    comparison.a.attempts.max(comparison.b.attempts) > comparison.cases
}

/// Attempts that B lacks, unless it has fewer of them at each case.
fn fewer_attempts(comparison: &Comparison) -> Option<String> {
    let cases = counted(comparison.fewer_attempts, "case", "cases");
    (comparison.fewer_attempts > 0)
        .then(|| format!("B has fewer attempts than A at {cases}, and not equally many at each"))
}

/// Losses in so few cases that they could never be significant.
fn too_few((name, scores): (&str, &ComparedScores)) -> Option<String> {
    let losses = scores.wins.losses;
    (losses > 0 && scores.are_too_few()).then(|| {
        format!(
            "{} is worse in {} of {}, which are too few to show any loss: it takes at least {}",
            if name == "verdict" { name.to_owned() } else { format!("`{}`", one_line(name, NAME)) },
            count(losses),
            counted(scores.pairs, "case", "cases"),
            count(scores.fewest_cases)
        )
    })
}

/// How a run ended, if it has not finished.
fn ended(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Finished => None,
        RunState::Running => Some("is still running"),
        RunState::Interrupted => Some("was interrupted"),
        RunState::Stopped => Some("was stopped"),
    }
}
