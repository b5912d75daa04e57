//! Refusals in which something else is the subject: a rule that forbids ("My guidelines prevent me from
//! answering"), or what is asked for ("That is not something I can help with").

use super::{Phrases, is_form, is_in, one_of};

/// The subjects that forbid.
const RULES: &[&str] = &[
    "design",
    "ethics",
    "guidelines",
    "instructions",
    "policies",
    "policy",
    "principles",
    "programming",
    "rules",
    "training",
    "values",
];

/// Whose rules they are; anyone else's are part of a story.
const WHOSE: &[&str] = &["company", "my", "our"];

/// How a rule forbids, before `me from` and `me to`.
const FORBID: &[&str] = &[
    "bar",
    "bars",
    "forbid",
    "forbids",
    "keep",
    "keeps",
    "prevent",
    "prevents",
    "prohibit",
    "prohibits",
    "restrict",
    "restricts",
    "stop",
    "stops",
];
const ALLOW: &[&str] = &["allow", "permit"];

/// How someone is able or willing.
pub(super) const CAN: &[&str] = &[
    "able to",
    "allowed to",
    "can",
    "could",
    "going to",
    "permitted to",
    "prepared to",
    "will",
    "willing to",
    "would",
];

/// With these verbs, it is merely hard to put something into words.
const INEFFABLE: &[&str] = &["describe", "explain", "say", "tell"];

impl Phrases {
    /// The end of words that say that a rule forbids it.
    pub(super) fn forbidden(&self, words: &[String], start: usize) -> Option<usize> {
        let is =
            |list: &[&str], at: usize| words.get(at).is_some_and(|it| list.contains(&it.as_str()));
        is(RULES, start).then_some(())?;
        (start.saturating_sub(3)..start).find(|at| is(WHOSE, *at))?;
        self.gaps(words, start + 1, 3).find_map(|at| {
            let at = at + usize::from(is(&["do", "does"], at));
            let (person, links): (_, &[&str]) = match is(&["not"], at) {
                true => (is(ALLOW, at + 1).then_some(at + 2)?, &["to"]),
                false => (is(FORBID, at).then_some(at + 1)?, &["from", "to"]),
            };
            (is(&["me", "us"], person) && is(links, person + 1)).then_some(())?;
            self.gaps(words, person + 2, 3).find_map(|verb| self.undone(words, verb, true))
        })
    }

    /// The end of words that say that the request is nothing that someone does.
    pub(super) fn not_something(&self, words: &[String], start: usize) -> Option<usize> {
        is_in(&self.about, words, start).then_some(())?;
        let what = usize::from(is_in(&self.about_what, words, start + 1));
        let end = one_of(&self.not_something, words, start + 1 + what)?;
        let that = usize::from(words.get(end).is_some_and(|word| word == "that"));
        is_in(&self.who, words, end + that).then_some(())?;
        self.gaps(words, end + that + 1, 4).find_map(|at| {
            if words.get(at).is_some_and(|word| word == "comfortable") {
                return Some(at + 1);
            }
            let verbs = self.gaps(words, one_of(&self.can, words, at)?, 3);
            verbs.into_iter().find_map(|verb| self.not_done_here(words, verb))
        })
    }

    /// The end of a verb that only the person may follow for whom it is done.
    fn not_done_here(&self, words: &[String], verb: usize) -> Option<usize> {
        let (word, rest) = (words.get(verb)?, &words[verb + 1..]);
        let next = rest.first().map_or(".", String::as_str);
        let ends = self.but.contains(next) || matches!(next, "for" | "here");
        let refused = is_form(&self.help, word) || is_form(&self.done_by_oneself, word) && ends;
        let is_figure = INEFFABLE.contains(&word.as_str()) || self.is_figure(word, rest);
        (refused && !is_figure).then_some(verb + 1)
    }
}
