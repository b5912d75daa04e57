//! Shows what two runs report about the same cases: whether the second is better, or whether that is chance. For the
//! report and for the server's page. Reads no database, and computes no statistics.

use maud::{Markup, html};
use scorebox::{
    aggregate::{
        BesideZero, ComparedQuestions, ComparedRun, ComparedScorer, ComparedScores, Comparison,
        Finding,
    },
    contract::Direction,
    stats::paired::TestMethod,
    store::RunState,
};

use crate::{
    figure,
    plot::{self, Difference},
    said::{Said, plain},
};

/// The most cases that are shown for each scorer, those that changed most.
pub(crate) const MAX_CHANGES: usize = 5;

/// Verdicts or a scorer, with a name.
struct Named<'a> {
    /// `None` for the verdicts.
    scorer: Option<&'a str>,
    lower_is_better: bool,
    scores: &'a ComparedScores,
}

impl Named<'_> {
    fn name(&self) -> Markup {
        match self.scorer {
            Some(id) => html! { (Said::line(id, 200)) },
            None => html! { "verdict" },
        }
    }
}

fn named(compared: &Comparison) -> Vec<Named<'_>> {
    let verdict = compared.verdict.iter().map(|scores| Named {
        scorer: None,
        lower_is_better: false,
        scores,
    });
    let scorers = compared.scorers.iter().map(|it| Named {
        scorer: Some(it.scorer_id.as_str()),
        lower_is_better: it.direction == Direction::LowerIsBetter,
        scores: &it.scores,
    });
    verdict.chain(scorers).collect()
}

/// The comparison without its heading: A is the first run, B the second. `link` returns where a changed case is shown.
pub(crate) fn comparison(compared: &Comparison, link: impl Fn(&str) -> Option<String>) -> Markup {
    let named = named(compared);
    html! {
        @for doubt in doubts(compared) { p.note.strong { (doubt) } }
        (differences(&named, compared.tests))
        p.small.aside {
            "A is " (Said::line(&compared.a.run_id, 100)) ", B is " (Said::line(&compared.b.run_id, 100)) "; "
            (figure::counted(compared.cases, "case", "cases")) " in both"
            @if compared.a.attempts != compared.b.attempts {
                ", with " (figure::counted(compared.a.attempts, "attempt", "attempts")) " in A and " (figure::count(compared.b.attempts)) " in B"
            }
            ". " (how(compared))
        }
        ul.findings {
            @if let Some(run) = compared.without_verdicts() {
                li { b { "verdict" } ": " (if run.run_id == compared.b.run_id { "B" } else { "A" }) " has no scorer that can fail a case." }
            }
            @for it in &named { li { b { (it.name()) } ": " (finding(it.scores)) } }
        }
        @for (name, run) in [("A", &compared.a), ("B", &compared.b)] { (only_here(name, run)) }
        @for it in &named { (unpaired(it)) }
        (passes(&named))
        (changes(&named, link))
    }
}

/// Why there is no comparison.
pub(crate) fn none(why: &str) -> Markup {
    html! { p.note { "The two are not compared case by case: " (Said::line(why, 600)) "." } }
}

fn differences(named: &[Named<'_>], tests: u64) -> Markup {
    let number = |value: Option<f64>, show: &dyn Fn(f64) -> String| match value {
        Some(value) => html! { td.number { (show(value)) } },
        None => html! { td.number { span.none { "–" } } },
    };
    // Differences between scores from 0 to 1 share a scale; those between points have one each.
    let ends = |scores: &ComparedScores| {
        let interval = scores.interval.map_or([0.0; 2], |it| [it.low, it.high]);
        interval.into_iter().chain(scores.difference).fold(0.0, |most: f64, it| most.max(it.abs()))
    };
    let shared = named.iter().map(|it| ends(it.scores)).filter(|end| *end <= 1.0);
    let shared = shared.fold(0.0, f64::max);
    html! {
        div.scrolls tabindex="0" role="group" aria-label="Differences" {
            table {
                thead { tr {
                    th scope="col" { "scorer" } th scope="col" { "B is" }
                    @for title in ["A", "B"] { th.number scope="col" { (title) } }
                    th.number scope="col" { "difference, 95 % interval" } th scope="col" { "worse, better" }
                    th.number scope="col" { @if tests > 1 { "p (Holm)" } @else { "p" } }
                    @for title in ["effect", "wins", "losses", "ties"] { th.number scope="col" { (title) } }
                } }
                tbody {
                    @for it in named {
                        @let scores = it.scores;
                        tr {
                            th.name scope="row" {
                                (it.name())
                                @if it.lower_is_better { br; span.small.aside { "lower is better" } }
                            }
                            td { (in_a_word(scores.finding)) }
                            (number(scores.mean_a, &figure::score)) (number(scores.mean_b, &figure::score))
                            td.number {
                                @match scores.difference { Some(it) => (figure::difference(it)), None => span.none { "–" } }
                                @if let Some(it) = scores.interval { br; span.small.aside { (figure::difference(it.low)) " to " (figure::difference(it.high)) } }
                            }
                            td {
                                @if let Some(difference) = scores.difference {
                                    (plot::difference(&Difference {
                                        value: difference,
                                        interval: scores.interval.map(|it| (it.low, it.high)),
                                        end: if ends(scores) <= 1.0 { shared } else { ends(scores) },
                                        lower_is_better: it.lower_is_better,
                                    }))
                                }
                            }
                            (number(scores.p_corrected, &figure::chance)) (number(scores.effect, &figure::effect))
                            @for count in [scores.wins.wins, scores.wins.losses, scores.wins.ties] { td.number { (figure::count(count)) } }
                        }
                    }
                }
            }
        }
    }
}

fn in_a_word(finding: Finding) -> Markup {
    let (class, words) = match finding {
        Finding::Better => ("passed", "better"),
        Finding::Worse => ("failed", "worse"),
        Finding::NotShown => ("skipped", "not shown to differ"),
        Finding::Same => ("same", "the same"),
        _ => return html! { span.none { "no case has both scores" } },
    };
    html! { span class={ "word " (class) } { (words) } }
}

/// What the cases show, and what they could show.
fn finding(scores: &ComparedScores) -> Markup {
    let cases = figure::counted(scores.pairs, "case", "cases");
    html! {
        @match scores.finding {
            Finding::Better => { "B is better, on " (cases) "." },
            Finding::Worse => { "B is worse, on " (cases) "." },
            Finding::Same => {
                "the same, on " (cases) "."
                @if scores.are_too_few() { " Fewer than " (figure::count(scores.fewest_cases)) " cannot show a loss." }
            },
            Finding::NotShown => {
                "no difference that " (cases) " can show."
                @if scores.are_too_few() { " It takes at least " (figure::count(scores.fewest_cases)) "." }
                @match scores.smallest_difference {
                    Some(smallest) => { " 80 times of 100, they show one of " (figure::score(smallest)) " or more." },
                    None if !scores.are_too_few() => " 80 times of 100, they show none that is on the scale.",
                    None => {},
                }
                @if let (Some(needed), Some(difference)) = (scores.cases_needed, scores.difference) {
                    " A difference of " (figure::score(difference.abs())) " takes " (figure::counted(needed, "case", "cases")) "."
                }
            },
            _ => "no case has a score in both runs.",
        }
    }
}

/// How p values and intervals were computed.
fn how(compared: &Comparison) -> Markup {
    let drawn = compared
        .figures()
        .any(|scores| scores.test.is_some_and(|test| test.method == TestMethod::Seeded));
    let is_beside = |reason| compared.figures().any(|it| it.beside_zero() == Some(reason));
    html! {
        @match compared.tests {
            0 | 1 => "p is that of a paired permutation test.",
            tests => { "p values are of paired permutation tests, corrected for " (tests) " tests (Holm)." },
        }
        @if drawn { " Where ways are too many to count, 9,999 are drawn." }
        @if is_beside(BesideZero::Uncorrected) {
            " Each interval is that of one scorer alone and not corrected, so some leave out 0 where p shows no difference."
        }
        @if is_beside(BesideZero::Approximate) {
            " An interval is an approximation and the test is not: where an interval leaves out 0 and p shows no difference, p decides."
        }
    }
}

/// What makes the comparison doubtful.
fn doubts(compared: &Comparison) -> Vec<String> {
    let ended = |state: RunState| match state {
        RunState::Finished => None,
        RunState::Running => Some("is still running"),
        RunState::Interrupted => Some("was interrupted"),
        RunState::Stopped => Some("was stopped"),
    };
    let mut doubts = Vec::new();
    for (name, run) in [("A", &compared.a), ("B", &compared.b)] {
        let doubt = |ended| format!("{name} {ended}: only its stored scores are compared.");
        doubts.extend(ended(run.state).map(doubt));
    }
    doubts.extend(other_questions(compared));
    doubts.extend(compared.scorers.iter().filter_map(failures_in_b));
    doubts.extend(failed_in_b(compared));
    doubts.extend(missing_attempts(compared));
    let names = |is: fn(&ComparedScorer) -> bool| {
        let scorers = compared.scorers.iter().filter(|scorer| is(scorer));
        scorers.map(|scorer| plain(&scorer.scorer_id, 64)).collect::<Vec<_>>()
    };
    let others = names(|scorer| !scorer.same_scorer);
    if !others.is_empty() {
        doubts.push(format!(
            "Not the same component or configuration in both runs: {}. A difference may be the scorer's.",
            others.join(", ")
        ));
    }
    let others = names(|scorer| !scorer.same_judge);
    if !others.is_empty() {
        doubts.push(format!(
            "Asking another judge or model in B: {}. A difference may be the judge's.",
            others.join(", ")
        ));
    }
    let others = names(|scorer| !scorer.same_policy);
    if !others.is_empty() {
        doubts.push(format!(
            "With another threshold, severity or weight in B: {}. What passes may differ although scores do not.",
            others.join(", ")
        ));
    }
    if !compared.incomparable.is_empty() {
        let names: Vec<String> = compared.incomparable.iter().map(|id| plain(id, 64)).collect();
        doubts.push(format!(
            "On another scale or in another direction in B, and not compared: {}.",
            names.join(", ")
        ));
    }
    doubts
}

/// Cases whose ids have a different content in B.
fn other_questions(of: &Comparison) -> Option<String> {
    let ComparedQuestions { compared, others, .. } = of.questions;
    let cases = figure::counted(compared, "case", "cases");
    let first = if compared == of.cases { "" } else { "the first " };
    (others > 0).then(|| {
        format!(
            "{} of {first}{cases} have another input or ground truth in B, or the same written otherwise: cases are paired by id, and \
             the id of a case without one is its place in the file.",
            figure::count(others)
        )
    })
}

/// For how many cases a scorer has a score in A but failed in B.
fn failures_in_b(of: &ComparedScorer) -> Option<String> {
    let cases = figure::counted(of.scores.errors_b, "case that has", "cases that have");
    let scorer = plain(&of.scorer_id, 64);
    (of.scores.errors_b > 0).then(|| format!("{scorer} failed in B for {cases} a score in A."))
}

/// Cases that fail in B, and of which A says neither that they pass nor that they fail.
fn failed_in_b(of: &Comparison) -> Vec<String> {
    let Some(verdict) = &of.verdict else { return Vec::new() };
    let sentence = |(cases, why): (u64, &str)| {
        let fail = figure::counted(cases, "case fails", "cases fail");
        (cases > 0).then(|| format!("{fail} in B {why}."))
    };
    let both = [
        (verdict.failed_spared, "to which no scorer that decides applied in A"),
        (verdict.failed_errored, "and errored in A, which counts as no change"),
    ];
    both.into_iter().filter_map(sentence).collect()
}

/// Attempts that B lacks, and those of which it has no verdict or no score while A has. Where a case is one attempt,
/// `unpaired` says it.
fn missing_attempts(of: &Comparison) -> Vec<String> {
    let mut doubts = Vec::new();
    if of.fewer_attempts > 0 {
        let cases = figure::counted(of.fewer_attempts, "case", "cases");
        doubts
            .push(format!("B has fewer attempts than A at {cases}, and not equally many at each."));
    }
    if of.a.attempts.max(of.b.attempts) == of.cases {
        return doubts;
    }
    let verdict = of.verdict.iter().map(|scores| ("verdict".to_owned(), scores));
    let scorers =
        of.scorers.iter().map(|it| (format!("score of {}", plain(&it.scorer_id, 64)), &it.scores));
    for (what, scores) in verdict.chain(scorers).filter(|(_, scores)| scores.absent_b > 0) {
        let cases = figure::counted(scores.absent_b, "case", "cases");
        doubts
            .push(format!("B has a {what} for a smaller part of the attempts than A, at {cases}."));
    }
    doubts
}

/// Cases of both runs that have a score in only one of them.
fn unpaired(of: &Named<'_>) -> Markup {
    let sides = [(of.scores.only_a, "A"), (of.scores.only_b, "B")];
    let sides: Vec<String> = sides
        .into_iter()
        .filter(|(cases, _)| *cases > 0)
        .map(|(cases, run)| format!("{} only in {run}", figure::counted(cases, "case", "cases")))
        .collect();
    html! {
        @if !sides.is_empty() {
            p.small.aside { (of.name()) ": there is a score of " (sides.join(", of ")) "." }
        }
    }
}

fn only_here(name: &str, run: &ComparedRun) -> Markup {
    let more = run.only_here > run.examples.len() as u64;
    html! {
        @if run.only_here > 0 {
            p.small.aside {
                "Only " (name) " has " (figure::counted(run.only_here, "case", "cases")) ": "
                @for (index, id) in run.examples.iter().enumerate() { @if index > 0 { ", " } (Said::line(id, 60)) }
                @if more { ", …" }
            }
        }
        @if !run.scorers_only_here.is_empty() {
            p.small.aside {
                "Only " (name) " has scorers "
                @for (index, id) in run.scorers_only_here.iter().enumerate() { @if index > 0 { ", " } (Said::line(id, 60)) }
            }
        }
    }
}

/// Which cases pass in which run.
fn passes(named: &[Named<'_>]) -> Markup {
    let rows: Vec<_> =
        named.iter().filter_map(|it| Some((it, it.scores.passes?, it.scores.mcnemar?))).collect();
    html! {
        @if !rows.is_empty() {
            h3.later { "Cases that pass" }
            div.scrolls tabindex="0" role="group" aria-label="Cases that pass" {
                table {
                    thead { tr {
                        th scope="col" { "scorer" }
                        @for title in ["in both", "only in A", "only in B", "in neither", "McNemar p"] { th.number scope="col" { (title) } }
                    } }
                    tbody {
                        @for (it, passes, p) in rows {
                            tr {
                                th.name scope="row" { (it.name()) }
                                @for count in [passes.both, passes.only_first, passes.only_second, passes.neither] { td.number { (figure::count(count)) } }
                                td.number { (figure::chance(p)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The cases that changed most.
fn changes(named: &[Named<'_>], link: impl Fn(&str) -> Option<String>) -> Markup {
    html! {
        @if named.iter().any(|it| !it.scores.changes.is_empty()) {
            h3.later { "Changed most" }
            div.scrolls tabindex="0" role="group" aria-label="Changed most" {
                table {
                    thead { tr {
                        th scope="col" { "scorer" } th scope="col" { "case" }
                        @for title in ["A", "B", "difference"] { th.number scope="col" { (title) } }
                    } }
                    tbody {
                        @for it in named {
                            @for change in &it.scores.changes {
                                tr {
                                    td.name { (it.name()) }
                                    th.name scope="row" {
                                        @match link(&change.case_id) {
                                            Some(to) => a href=(to) { (Said::line(&change.case_id, 200)) },
                                            None => (Said::line(&change.case_id, 200)),
                                        }
                                    }
                                    td.number { (figure::score(change.a)) } td.number { (figure::score(change.b)) }
                                    td.number { (figure::difference(change.difference)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
