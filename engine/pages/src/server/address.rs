//! Makes and reads the URLs of pages. Every page can be shared by its URL.

use form_urlencoded::Serializer;
use scorebox::{
    row::Status,
    store::{CaseCursor, CaseName, CaseOrder, RunRecord},
    terminal::characters,
    verdict::Verdict,
};
use serde::Deserialize;

/// A key of a query, and its value if it has one.
type Pair = (&'static str, Option<String>);

/// A path with a query of these pairs; those without a value are left out.
fn with_query(path: String, pairs: &[Pair]) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in pairs {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let query = query.finish();
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// A run's page. Its id contains no character that has a meaning in a URL.
pub(super) fn run(run: &RunRecord) -> String {
    format!("/runs/{}", run.spec.id)
}

/// A case's page.
pub(super) fn case(run: &RunRecord, case: &CaseName) -> String {
    case_of(run.spec.id.as_str(), &case.case_id, case.iteration, case.attempt)
}

/// The page of a case with this name.
pub(super) fn case_of(run: &str, case_id: &str, iteration: u32, attempt: u32) -> String {
    with_query(format!("/runs/{run}/case"), &name(case_id, iteration, attempt))
}

/// Identifies a case within its run.
fn name(case_id: &str, iteration: u32, attempt: u32) -> Vec<Pair> {
    let number = |number: u32| (number > 0).then(|| number.to_string());
    vec![
        ("id", Some(case_id.to_owned())),
        ("iteration", number(iteration)),
        ("attempt", number(attempt)),
    ]
}

/// A part of a case as it is stored.
pub(super) fn part(run: &RunRecord, case: &CaseName, part: &str) -> String {
    let mut pairs = name(&case.case_id, case.iteration, case.attempt);
    pairs.push(("part", Some(part.to_owned())));
    with_query(format!("/runs/{}/case/part", run.spec.id), &pairs)
}

/// A scorer's page with the runs that are older than the newest `skip` ones.
pub(super) fn older_of_scorer(id: &str, skip: usize) -> String {
    with_query(
        "/scorer".to_owned(),
        &[("id", Some(id.to_owned())), ("skip", Some(skip.to_string()))],
    )
}

/// A scorer's page.
pub(super) fn scorer(id: &str) -> String {
    with_query("/scorer".to_owned(), &[("id", Some(id.to_owned()))])
}

/// The page that compares two runs.
pub(super) fn compare(one: &str, other: &str) -> String {
    with_query("/compare".to_owned(), &[("a", Some(one.to_owned())), ("b", Some(other.to_owned()))])
}

/// The cases that a run's page lists. An empty or unknown value counts as not set.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    pub(super) q: String,
    pub(super) scorer: String,
    pub(super) status: String,
    pub(super) verdict: String,
    pub(super) least: String,
    pub(super) most: String,
    pub(super) order: String,
    /// The end of the previous page.
    pub(super) after: String,
}

impl Asked {
    /// The requested verdict, and whether with regressions.
    pub(super) fn verdict(&self) -> (Option<Verdict>, Option<bool>) {
        match self.verdict.as_str() {
            "passed" => (Some(Verdict::Passed), None),
            "regressed" => (Some(Verdict::Passed), Some(true)),
            "failed" => (Some(Verdict::Failed), None),
            "errored" => (Some(Verdict::Errored), None),
            "skipped" => (Some(Verdict::Skipped), None),
            "undecided" => (Some(Verdict::Undecided), None),
            _ => (None, None),
        }
    }

    pub(super) fn status(&self) -> Option<Status> {
        [Status::Scored, Status::NotApplicable, Status::Skipped, Status::Error]
            .into_iter()
            .find(|status| status.as_str() == self.status)
    }

    pub(super) fn order(&self) -> CaseOrder {
        match self.order.as_str() {
            "lowest" => CaseOrder::LowestFirst,
            "highest" => CaseOrder::HighestFirst,
            _ => CaseOrder::AsRead,
        }
    }

    /// The words of the search, with a space in place of each invisible character, which no word contains.
    pub(super) fn words(&self) -> String {
        let shown = characters(&self.q).map(|(it, is_seen)| if is_seen { it } else { ' ' });
        shown.collect()
    }

    /// The text of a bound of scores, if it is valid.
    pub(super) fn number(text: &str) -> Option<&str> {
        Asked::bound(text).map(|_| text.trim())
    }

    /// A bound of scores; a text that is not a number is no bound.
    pub(super) fn bound(text: &str) -> Option<f64> {
        text.trim().parse().ok().filter(|bound: &f64| bound.is_finite())
    }

    /// The filters that have no effect because their value is unknown, each with its value.
    pub(super) fn not_known(&self) -> Vec<(&'static str, &str)> {
        let is_bound = |text: &str| Asked::bound(text).is_some();
        let is_order = || ["lowest", "highest"].contains(&self.order.as_str());
        [
            ("verdict", &self.verdict, self.verdict().0.is_some()),
            ("status", &self.status, self.status().is_some()),
            ("least", &self.least, is_bound(&self.least)),
            ("most", &self.most, is_bound(&self.most)),
            ("order", &self.order, is_order()),
        ]
        .into_iter()
        .filter(|(_, text, is_known)| !is_known && !text.trim().is_empty())
        .map(|(filter, text, _)| (filter, text.as_str()))
        .collect()
    }

    /// Whether anything but a page is requested.
    pub(super) fn is_filtered(&self) -> bool {
        let Asked { q, scorer, status, verdict, least, most, order: _, after: _ } = self;
        [q, scorer, status, verdict, least, most].iter().any(|text| !text.trim().is_empty())
    }

    /// The run's page with these cases.
    pub(super) fn url(&self, run: &RunRecord) -> String {
        let url = with_query(format!("/runs/{}", run.spec.id), &self.pairs());
        format!("{url}#cases")
    }

    /// The page of one of these cases, which links to its neighbours among them.
    pub(super) fn case(&self, run: &RunRecord, case: &CaseName) -> String {
        self.case_of(run.spec.id.as_str(), &case.case_id, case.iteration, case.attempt)
    }

    fn case_of(&self, run: &str, case_id: &str, iteration: u32, attempt: u32) -> String {
        let mut pairs = name(case_id, iteration, attempt);
        pairs.extend(self.pairs());
        with_query(format!("/runs/{run}/case"), &pairs)
    }

    fn pairs(&self) -> Vec<Pair> {
        let set = |text: &String| (!text.trim().is_empty()).then(|| text.clone());
        vec![
            ("q", set(&self.q)),
            ("scorer", set(&self.scorer)),
            ("status", set(&self.status)),
            ("verdict", set(&self.verdict)),
            ("least", set(&self.least)),
            ("most", set(&self.most)),
            ("order", set(&self.order)),
            ("after", set(&self.after)),
        ]
    }

    /// The same from the first page.
    pub(super) fn first_page(&self) -> Asked {
        Asked { after: String::new(), ..self.clone() }
    }

    /// The same after this cursor, which the URL contains as the number of the case in its run and its score.
    pub(super) fn behind(&self, cursor: CaseCursor, ordinal: u64) -> Asked {
        let score = cursor.score.map_or_else(String::new, |score| format!(":{score}"));
        Asked { after: format!("{ordinal}{score}"), ..self.clone() }
    }

    /// The number of the case and the score at the end of the previous page.
    pub(super) fn after(&self) -> Option<(u64, Option<f64>)> {
        let (ordinal, score) = match self.after.split_once(':') {
            Some((ordinal, score)) => (ordinal, Some(Asked::bound(score)?)),
            None => (self.after.as_str(), None),
        };
        Some((ordinal.parse().ok()?, score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_in_a_url_as_text() {
        assert_eq!(
            case_of("r", "a/b?c&d=\"<é>", 0, 2),
            "/runs/r/case?id=a%2Fb%3Fc%26d%3D%22%3C%C3%A9%3E&attempt=2"
        );
        assert_eq!(scorer("../x"), "/scorer?id=..%2Fx");
    }

    #[test]
    fn the_url_of_a_case_says_among_which_cases_it_was_found() {
        let asked = Asked {
            q: "too late".into(),
            verdict: "failed".into(),
            after: "7".into(),
            ..Asked::default()
        };
        assert_eq!(
            asked.case_of("r", "a&b", 0, 2),
            "/runs/r/case?id=a%26b&attempt=2&q=too+late&verdict=failed&after=7"
        );
        assert_eq!(Asked::default().case_of("r", "a&b", 0, 2), "/runs/r/case?id=a%26b&attempt=2");
    }

    #[test]
    fn words_that_are_not_known_ask_for_nothing() {
        let asked = Asked {
            verdict: "good".into(),
            status: "x".into(),
            least: "abc".into(),
            ..Asked::default()
        };
        assert_eq!((asked.verdict(), asked.status()), ((None, None), None));
        let not_known = [("verdict", "good"), ("status", "x"), ("least", "abc")];
        assert_eq!(asked.not_known(), not_known);
        let known = Asked { most: "0.5".into(), order: "lowest".into(), ..Asked::default() };
        assert_eq!(known.not_known(), []);
        assert_eq!(Asked::bound(&asked.least), None);
        assert_eq!(Asked::bound("inf"), None);
    }

    #[test]
    fn what_a_url_says_is_shown_without_what_cannot_be_seen() {
        assert_eq!(Asked::number("a\u{202e}\0"), None);
        assert_eq!(Asked::number(" 0.5\u{85}"), Some("0.5"));
        let asked = Asked { q: "good\u{202e}\0 \"é\"".into(), ..Asked::default() };
        assert_eq!(asked.words(), "good   \"é\"");
    }

    #[test]
    fn a_cursor_reads_back() {
        for (after, cursor) in [
            ("7", Some((7, None))),
            ("7:0.25", Some((7, Some(0.25)))),
            ("x", None),
            ("7:x", None),
            ("", None),
        ] {
            let asked = Asked { after: after.into(), ..Asked::default() };
            assert_eq!(asked.after(), cursor, "{after}");
        }
    }
}
