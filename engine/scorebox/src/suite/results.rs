//! Scorers that score the results of others: if an entry names scorers in `meta`, or a suite has a target, each of them
//! becomes a separate scorer, whose id contains its subject's. It reads no file.

use std::{collections::HashSet, mem};

use crate::{advice::Advice, contract::Severity, suggest::closest, verdict::PolicyOverrides};

use super::{Location, Mistake, ScorerId, Suite, SuiteError, SuiteScorer};

/// How many scorers a suite may have after expansion: names in `meta` multiply along a chain.
const MAX_SCORERS: usize = 1000;

/// A scorer in a file, with the scorers in its `meta`, each with its location.
pub(super) struct Written {
    pub(super) scorer: SuiteScorer,
    pub(super) meta: Vec<(String, Location)>,
}

/// The scorers in their order, each followed by those that score its results. A scorer that another one names in `meta`
/// scores results only.
pub(super) fn laid_out(written: Vec<Written>, mistakes: &mut Vec<Mistake>) -> Vec<SuiteScorer> {
    let mut laying = Laying { written: &written, laid: Vec::new(), mistakes, is_too_much: false };
    let named_by_others: HashSet<&str> = written.iter().flat_map(Written::named_others).collect();
    laying.check_names();
    for (index, one) in written.iter().enumerate() {
        if !named_by_others.contains(one.scorer.id.as_str()) {
            laying.lay(index, None, &mut Vec::new());
        }
    }
    laying.check_circles();
    laying.check_number();
    laying.laid
}

impl Written {
    fn named_others(&self) -> impl Iterator<Item = &str> {
        let names = self.meta.iter().map(|(name, _)| name.as_str());
        names.filter(|name| *name != self.scorer.id.as_str())
    }
}

struct Laying<'w> {
    written: &'w [Written],
    laid: Vec<SuiteScorer>,
    mistakes: &'w mut Vec<Mistake>,
    is_too_much: bool,
}

impl Laying<'_> {
    /// Adds a mistake, one for each location.
    fn wrong(&mut self, location: &Location, reason: String, advice: Option<Advice>) {
        if self.mistakes.iter().all(|mistake| mistake.location != *location) {
            self.mistakes.push(Mistake { location: location.clone(), reason, advice });
        }
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.written.iter().position(|one| one.scorer.id.as_str() == name)
    }

    fn check_names(&mut self) {
        let written = self.written;
        for one in written {
            let mut names = HashSet::new();
            for (name, location) in &one.meta {
                let shown = name.escape_debug();
                if self.index_of(name).is_none() {
                    let ids = written.iter().map(|other| other.scorer.id.as_str());
                    let advice = Advice::did_you_mean(&closest(name, ids));
                    self.wrong(location, format!("`meta`: there is no scorer `{shown}`"), advice);
                } else if !names.insert(name.as_str()) {
                    self.wrong(location, format!("`meta` names `{shown}` twice"), None);
                }
            }
        }
    }

    /// Expands a scorer, and after it those that score its results. `above` are the entries on the way to it.
    fn lay(&mut self, index: usize, subject: Option<&ScorerId>, above: &mut Vec<usize>) {
        let (written, one) = (self.written, &self.written[index]);
        if self.laid.len() == MAX_SCORERS {
            self.is_too_much = true;
            return;
        }
        let id = match subject.map(|subject| of_results(subject, &one.scorer.id)) {
            None => one.scorer.id.clone(),
            Some(Ok(id)) => id,
            Some(Err(name)) => {
                if let Some(location) = &one.scorer.location {
                    let reason =
                        format!("`{name}` is longer than the 64 characters of a scorer's name");
                    self.wrong(location, reason, None);
                }
                return;
            }
        };
        let mut scorer =
            SuiteScorer { id: id.clone(), subject: subject.cloned(), ..one.scorer.clone() };
        if subject.is_some() {
            scorer.policy.weight = Some(scorer.said_policy().weight.unwrap_or(0.0));
        }
        if self.is_taken(&scorer) {
            return;
        }
        self.laid.push(scorer);
        // No scorer scores what an entry makes of its own result.
        if above.last() == Some(&index) {
            return;
        }
        above.push(index);
        for (name, _) in &one.meta {
            let next = written.iter().position(|other| other.scorer.id.as_str() == name);
            let Some(next) = next.filter(|next| *next == index || !above.contains(next)) else {
                continue;
            };
            self.lay(next, Some(&id), above);
        }
        above.pop();
    }

    /// Reports entries that name each other in a circle.
    fn check_circles(&mut self) {
        let written = self.written;
        for (start, one) in written.iter().enumerate() {
            for (name, location) in &one.meta {
                let Some(path) = self.index_of(name).and_then(|next| self.way(next, start)) else {
                    continue;
                };
                // Each circle once, where its first entry starts it; an entry may name itself.
                if path.len() == 1 || path.iter().any(|index| *index < start) {
                    continue;
                }
                let ids = [start].into_iter().chain(path);
                let ids: Vec<&str> = ids.map(|index| written[index].scorer.id.as_str()).collect();
                let circle = ids.join("` scored by `");
                self.wrong(location, format!("`meta` leads in a circle: `{circle}`"), None);
            }
        }
    }

    /// Reports more scorers than a suite may have, at the first excess one if that is known.
    fn check_number(&mut self) {
        let written = self.written;
        let is_by_meta = written.iter().any(|one| !one.meta.is_empty());
        let first = if is_by_meta { written.first() } else { written.get(MAX_SCORERS) };
        let location = first.and_then(|one| one.scorer.location.clone());
        let Some(location) = location.filter(|_| self.is_too_much) else { return };
        let reason = match is_by_meta {
            true => format!(
                "`meta` makes more than {MAX_SCORERS} scorers of this suite, and a suite has at most {MAX_SCORERS}"
            ),
            false => format!("a suite has at most {MAX_SCORERS} scorers"),
        };
        self.wrong(&location, reason, None);
    }

    /// Whether this scorer has the name of an expanded one; if so, reports it with the subject of one of them, because
    /// no entry has a name that `meta` makes.
    fn is_taken(&mut self, scorer: &SuiteScorer) -> bool {
        let other = self.laid.iter().find(|other| other.id == scorer.id);
        // With the same subject, it is named twice, which is reported as another mistake.
        let other = other.filter(|other| other.subject != scorer.subject);
        let (Some(other), Some(location)) = (other, &scorer.location) else { return false };
        let id = &scorer.id;
        let subject = scorer.subject.as_ref().or(other.subject.as_ref());
        let subject = subject.map_or("", ScorerId::as_str);
        let reason = format!(
            "two scorers are called `{id}`: one of them scores the results of `{subject}`, which names it in `meta`"
        );
        self.wrong(location, reason, None);
        true
    }

    /// The shortest path from one entry to another along `meta`, including both; `None` if there is none.
    fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came_from = vec![None; self.written.len()];
        let (mut reached, mut next) = (vec![from], 0);
        while let Some(at) = reached.get(next).copied() {
            if at == to {
                let mut way = vec![at];
                while let Some(before) =
                    came_from[*way.last()?].filter(|_| way.last() != Some(&from))
                {
                    way.push(before);
                }
                way.reverse();
                return Some(way);
            }
            for next in self.written[at].meta.iter().filter_map(|(name, _)| self.index_of(name)) {
                if !reached.contains(&next) {
                    came_from[next] = Some(at);
                    reached.push(next);
                }
            }
            next += 1;
        }
        None
    }
}

/// The id of a scorer of the results of `subject`; as an error, the id if it is too long.
fn of_results(subject: &ScorerId, scorer: &ScorerId) -> Result<ScorerId, String> {
    let name = format!("{subject}.{scorer}");
    ScorerId::new(&name).map_err(|_| name)
}

impl Suite {
    /// The suite with a target: a scorer whose results the scorers of the suite score, each with an id of the form
    /// `TARGET.SCORER`. By default, the target's own score passes and fails no case: it is soft, and has the weight 0.
    ///
    /// # Errors
    /// If the suite has a scorer with the target's id, so that it would be ambiguous; if a name becomes too long.
    pub fn with_target(self, target: SuiteScorer) -> Result<Suite, SuiteError> {
        if self.scorers.iter().any(|scorer| scorer.id == target.id) {
            return Err(SuiteError::SameId(target.id.to_string()));
        }
        self.targeting(target, Vec::new())
    }

    /// The suite with one of its scorers as the target, including the scorers that already score its results. See
    /// [`Suite::with_target`].
    ///
    /// # Errors
    /// If the suite has no such scorer, or a name becomes too long.
    pub fn with_scorer_as_target(mut self, id: &ScorerId) -> Result<Suite, SuiteError> {
        let target = self.scorer_mut(id.as_str())?.clone();
        let (its_own, others): (Vec<_>, Vec<_>) = mem::take(&mut self.scorers)
            .into_iter()
            .filter(|scorer| scorer.id != target.id)
            .partition(|scorer| scorer.is_of_the_results_of(&target.id));
        Suite { scorers: others, ..self }.targeting(target, its_own)
    }

    /// The suite with this target and the scorers of its results from `meta`; the suite's scorers score the target's
    /// results, too.
    fn targeting(
        mut self,
        target: SuiteScorer,
        its_own: Vec<SuiteScorer>,
    ) -> Result<Suite, SuiteError> {
        let id = target.id.clone();
        let under = |name: &ScorerId| of_results(&id, name).map_err(SuiteError::BadScorerId);
        let mut all = vec![target.into_target()];
        all.extend(its_own);
        for scorer in mem::take(&mut self.scorers) {
            let subject = scorer.subject.as_ref().map_or_else(|| Ok(id.clone()), under)?;
            all.push(SuiteScorer { id: under(&scorer.id)?, subject: Some(subject), ..scorer });
        }
        Suite { target: Some(id), ..self }.of_scorers(all)
    }

    /// The suite with another scorer after all others; if the suite has a target, the scorer scores the target's
    /// results.
    ///
    /// # Errors
    /// If its name becomes too long, or is taken.
    pub fn with_scorer(mut self, scorer: SuiteScorer) -> Result<Suite, SuiteError> {
        let mut scorers = mem::take(&mut self.scorers);
        scorers.push(match &self.target {
            None => scorer,
            Some(target) => {
                let id = of_results(target, &scorer.id).map_err(SuiteError::BadScorerId)?;
                SuiteScorer { id, subject: Some(target.clone()), ..scorer }
            }
        });
        self.of_scorers(scorers)
    }
}

impl SuiteScorer {
    /// How its scores count, from its own entry only. `[defaults]` are for scorers of cases: they give a scorer of
    /// results no weight, and make no target a gate.
    fn said_policy(&self) -> PolicyOverrides {
        self.own_policy.unwrap_or(self.policy)
    }

    /// The scorer as a target, whose own score passes and fails no case unless its entry decides otherwise.
    pub(super) fn into_target(mut self) -> SuiteScorer {
        let PolicyOverrides { severity, weight, .. } = self.said_policy();
        self.policy.severity = severity.or(Some(Severity::Soft));
        self.policy.weight = weight.or(Some(0.0));
        self
    }

    /// Whether it scores results, and `name` is its id without those of its subjects.
    pub(super) fn is_called_without_subjects(&self, name: &str) -> bool {
        let rest = self
            .subject
            .as_ref()
            .and_then(|subject| self.id.as_str().strip_prefix(subject.as_str()));
        rest.and_then(|rest| rest.strip_prefix('.')) == Some(name)
    }

    /// Whether this scorer scores the results of the scorer `id`, directly or through others.
    fn is_of_the_results_of(&self, id: &ScorerId) -> bool {
        let rest = self.id.as_str().strip_prefix(id.as_str());
        self.subject.is_some() && rest.is_some_and(|rest| rest.starts_with('.'))
    }
}

#[cfg(test)]
mod tests;
