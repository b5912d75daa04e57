//! Suite files: one file, merged with the files that it includes, as the suite that they resolve to. It looks no scorer
//! up.

use std::{
    collections::BTreeMap,
    mem,
    path::{Path, PathBuf},
    thread,
};

use crate::{
    advice::{Advice, Advised as _},
    sandbox::{Grant, Limits},
};

use super::{
    Environment, Mistake, ScorerId, Selection, Suite, SuiteError, SuiteFiles, SuiteJudge,
    SuiteScorer,
    document::{self, Member, Node, Value},
    entry::{Entry, Folder},
    judge_choice, judges,
    reading::{Reading, Room},
    results,
    several::{Merging, Named, Written},
    trust::{self, TrustPolicy},
};

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// How many files a suite may consist of.
const MAX_FILES: usize = 100;
/// The stack for parsing, in bytes: keys of 80 parts in 80 nested tables cause some thousand levels of recursion, in
/// the parser and when its values are dropped.
const DEEP_STACK_BYTES: usize = 256 << 20;

/// The keys of a file.
const KEYS: [&str; 9] =
    ["version", "name", "seed", "include", "defaults", "judges", "policy", "target", "scorers"];

/// The id of the scorer that `[target]` describes.
const TARGET: &str = "target";

pub(super) fn read(
    path: &Path,
    texts: &dyn SuiteFiles,
    environment: Environment<'_>,
) -> Result<Suite, SuiteError> {
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    let text = texts.text(path).map_err(unreadable)?;
    parse_apart(path, &text, texts, environment)
}

/// The judges in the files of a suite, which may have no scorer.
pub(super) fn judges(
    path: &Path,
    texts: &dyn SuiteFiles,
    environment: Environment<'_>,
) -> Result<BTreeMap<String, SuiteJudge>, SuiteError> {
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    let text = texts.text(path).map_err(unreadable)?;
    apart(path, || {
        // Mistakes in scorers are reported here, too: the file is a suite like any other.
        match parse(path, &text, texts, environment) {
            Err(SuiteError::NoScorers) => {
                let mut files = Files::new(texts, environment);
                Ok(files.first(path, &text).judges)
            }
            suite => suite.map(|suite| suite.judges),
        }
    })
}

/// The requirements for published scorers in the files of a suite, whatever the files contain about scorers.
pub(super) fn policies(
    path: &Path,
    texts: &dyn SuiteFiles,
    environment: Environment<'_>,
) -> Result<Vec<TrustPolicy>, SuiteError> {
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    let text = texts.text(path).map_err(unreadable)?;
    apart(path, || {
        let mut files = Files::new(texts, environment);
        let written = files.first(path, &text);
        match files.is_incomplete || files.are_policies_unclear {
            false => Ok(written.policies),
            true => {
                let mistakes = in_order(files.mistakes);
                let clear = Suite { policies: written.policies, ..Suite::without_scorers("") };
                Err(SuiteError::Invalid { mistakes, clear: Box::new(clear) })
            }
        }
    })
}

/// Reads the text of a suite file at `path`.
pub(super) fn parse_apart(
    path: &Path,
    text: &str,
    texts: &dyn SuiteFiles,
    environment: Environment<'_>,
) -> Result<Suite, SuiteError> {
    apart(path, || parse(path, text, texts, environment))
}

/// The result of `reading` for the file at `path`, on a stack that is large enough for it.
pub(super) fn apart<T: Send>(
    path: &Path,
    reading: impl FnOnce() -> Result<T, SuiteError> + Send,
) -> Result<T, SuiteError> {
    let unreadable = |source| SuiteError::Unreadable { path: path.to_owned(), source };
    let thread = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
    thread::scope(|scope| match thread.spawn_scoped(scope, reading).map(|thread| thread.join()) {
        Ok(Ok(read)) => read,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => Err(unreadable(error.into())),
    })
}

fn parse(
    path: &Path,
    text: &str,
    texts: &dyn SuiteFiles,
    environment: Environment<'_>,
) -> Result<Suite, SuiteError> {
    let mut files = Files::new(texts, environment);
    let mut written = files.first(path, text);
    files.mistakes.extend(written.called_like_the_target());
    for scorer in written.scorers.iter_mut().chain(&mut written.target) {
        scorer.entry = mem::take(&mut scorer.entry).with_jury_seated();
        let judge = scorer.entry.judge.as_ref();
        if let Some(mistake) = judge.and_then(|it| judge_choice::mistake(it, &written.judges)) {
            scorer.entry.is_unclear = true;
            files.mistakes.push(mistake);
        }
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = written.name.take().or(stem).unwrap_or_default();
    let clear = files.clear(&written);
    let Written { seed, judges, policies, target, scorers, .. } = written;
    let seed = seed.map(|(seed, _)| seed);
    let scorers = scorers.into_iter().map(Named::resolved).collect();
    let scorers = results::laid_out(scorers, &mut files.mistakes);
    if !files.mistakes.is_empty() {
        let clear = Box::new(Suite { name, seed, judges, policies, scorers: clear, target: None });
        return Err(SuiteError::Invalid { mistakes: in_order(files.mistakes), clear });
    }
    match target.map(Named::resolved) {
        None => {
            Suite { seed, judges, policies, ..Suite::without_scorers(&name) }.of_scorers(scorers)
        }
        Some(target) => {
            Suite { name, seed, judges, policies, scorers, target: None }.with_target(target.scorer)
        }
    }
}

/// The mistakes of a suite, file by file, in the order of the lines.
fn in_order(mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let mut files: Vec<PathBuf> = Vec::new();
    for mistake in &mistakes {
        if !files.contains(&mistake.location.file) {
            files.push(mistake.location.file.clone());
        }
    }
    mistakes.sort_by_key(|Mistake { location, .. }| {
        let file = files.iter().position(|file| *file == location.file);
        (file, location.line, location.column)
    });
    mistakes
}

/// The files of a suite, during reading.
struct Files<'r> {
    texts: &'r dyn SuiteFiles,
    environment: Environment<'r>,
    /// The room that is left for the values of variables.
    room: Room,
    /// The file that is being read, and those that include it, by their real paths.
    open: Vec<PathBuf>,
    /// How many were read.
    read: usize,
    mistakes: Vec<Mistake>,
    /// Whether a file, or a part of it, cannot be read at all, so that any entry may be incomplete.
    is_incomplete: bool,
    /// Whether something is wrong with a description of a judge.
    are_judges_unclear: bool,
    /// Whether something is wrong with the requirements for published scorers.
    are_policies_unclear: bool,
}

impl<'r> Files<'r> {
    fn new(texts: &'r dyn SuiteFiles, environment: Environment<'r>) -> Files<'r> {
        let (open, mistakes) = Default::default();
        let (is_incomplete, are_judges_unclear, are_policies_unclear) = Default::default();
        Files {
            texts,
            environment,
            room: Room::new(),
            open,
            read: 0,
            mistakes,
            is_incomplete,
            are_judges_unclear,
            are_policies_unclear,
        }
    }

    /// The content of the file that the caller named. Relative to its own folder, its path is only its name.
    fn first(&mut self, path: &Path, text: &str) -> Written {
        let from_suite = Path::new(path.file_name().unwrap_or_default());
        self.within(path, |files| files.file(path, from_suite, text))
    }

    /// The result of `read` for the file at `path`, which the files below it must not include again.
    fn within(&mut self, path: &Path, read: impl FnOnce(&mut Self) -> Written) -> Written {
        self.open.push(self.texts.real(path));
        self.read += 1;
        let written = read(self);
        self.open.pop();
        written
    }

    /// The content of the file at `path`, which is at `from_suite` relative to the suite's folder.
    fn file(&mut self, path: &Path, from_suite: &Path, text: &str) -> Written {
        let mut reading = Reading::new(path, text, self.environment, &self.room);
        let (node, errors) = document::of(path, text);
        if !is_of_this_version(&mut reading, &node) {
            self.is_incomplete = true;
            self.mistakes.append(&mut reading.into_mistakes());
            return Written::default();
        }
        self.is_incomplete |= !errors.is_empty();
        let written = self.document(&mut reading, &node, path, from_suite);
        reading.not_valid(errors);
        self.is_incomplete |= self.room.is_exceeded();
        self.mistakes.append(&mut reading.into_mistakes());
        written
    }

    fn document(
        &mut self,
        reading: &mut Reading<'_>,
        node: &Node,
        path: &Path,
        from_suite: &Path,
    ) -> Written {
        let [folder, from_suite] =
            [path, from_suite].map(|file| file.parent().unwrap_or(Path::new("")));
        let folder = Folder { path: folder, from_suite };
        let (mut included, mut own) = (Vec::new(), Written::default());
        let mut defaults = Entry::default();
        for (key, member) in reading.members(node, "suite", "of a suite", &KEYS) {
            match key {
                "name" => own.name = reading.text(&member.node, key),
                "seed" => {
                    let location = reading.location(&member.key_span);
                    own.seed = reading.text(&member.node, key).map(|seed| (seed, location));
                }
                "include" => {
                    for item in reading.list(&member.node, key) {
                        match reading.text(item, key) {
                            Some(file) => {
                                included.push(self.included(reading, item, folder, &file));
                            }
                            None => self.is_incomplete = true,
                        }
                    }
                }
                "judges" => {
                    let mistakes_before = reading.mistake_count();
                    own.judges = judges::judges(reading, &member.node, folder.path);
                    self.are_judges_unclear |= reading.mistake_count() > mistakes_before;
                }
                "policy" => {
                    let mistakes_before = reading.mistake_count();
                    let location = reading.location(&member.key_span);
                    own.policies.push(trust::policy(reading, &member.node, location));
                    self.are_policies_unclear |= reading.mistake_count() > mistakes_before;
                }
                "defaults" => defaults = Entry::of_defaults(reading, &member.node),
                "target" => own.target = target(reading, member, folder),
                "scorers" => own.scorers = scorers(reading, &member.node, folder),
                _ => {}
            }
        }
        let mut written = self.merged(path, included, own);
        for scorer in written.scorers.iter_mut().chain(&mut written.target) {
            scorer.entry = mem::take(&mut scorer.entry).over(&defaults);
        }
        written
    }

    /// The content of the file at `path`, merged with what it includes.
    fn merged(&mut self, path: &Path, included: Vec<Written>, own: Written) -> Written {
        let real = |path: &Path| self.texts.real(path);
        let mut merging =
            Merging { file: path, real: &real, mistakes: Vec::new(), are_judges_unclear: false };
        let written = merging.merged(included, own);
        let Merging { mut mistakes, are_judges_unclear, .. } = merging;
        self.mistakes.append(&mut mistakes);
        self.are_judges_unclear |= are_judges_unclear;
        written
    }

    /// The scorers that are fully known, whatever else is wrong.
    fn clear(&self, written: &Written) -> Vec<SuiteScorer> {
        let asks_unclear_judge =
            |scorer: &SuiteScorer| self.are_judges_unclear && scorer.grants.contains(Grant::Judge);
        let is_clear = |named: &&Named| !self.is_incomplete && !named.entry.is_unclear;
        let resolved = |named: &Named| named.clone().resolved().scorer;
        let target = written.target.iter().filter(is_clear).map(resolved);
        let scorers = written.scorers.iter().filter(is_clear).map(resolved);
        let clear = scorers.chain(target.map(SuiteScorer::into_target));
        clear.filter(|scorer| !asks_unclear_judge(scorer)).collect()
    }

    /// The content of the file that `item` includes, with the name `written` in a file of this folder.
    fn included(
        &mut self,
        reading: &mut Reading<'_>,
        item: &Node,
        folder: Folder<'_>,
        written: &str,
    ) -> Written {
        let (path, from_suite) = (folder.path.join(written), folder.from_suite.join(written));
        let (path, shown) = (path.as_path(), path.display());
        let real = self.texts.real(path);
        if let Some(at) = self.open.iter().position(|open| *open == real) {
            let names = self.open[at..].iter().map(|file| file_name(file));
            let circle: Vec<String> = names.chain([file_name(path)]).collect();
            let reason = match &circle[..] {
                [_, _] => format!("`{shown}` includes itself"),
                _ => format!("`{shown}` includes itself: {}", circle.join(" includes ")),
            };
            reading.wrong(&item.span, reason);
            self.is_incomplete = true;
            return Written::default();
        }
        if self.read == MAX_FILES {
            self.is_incomplete = true;
            reading.wrong(&item.span, format!("a suite is made of {MAX_FILES} files at most"));
            return Written::default();
        }
        match self.texts.text(path) {
            Ok(text) => self.within(path, |files| files.file(path, &from_suite, &text)),
            Err(error) => {
                reading.wrong(&item.span, format!("cannot read `{shown}`: {error}"));
                self.is_incomplete = true;
                Written::default()
            }
        }
    }
}

/// Whether the document has the supported version. A document of another version would only cause misleading mistakes,
/// so nothing else is reported for it.
fn is_of_this_version(reading: &mut Reading<'_>, node: &Node) -> bool {
    let Value::Table(members) = &node.value else { return true };
    let Some(member) = members.iter().find(|member| member.key == "version") else { return true };
    match &member.node.value {
        Value::Number(version) if version.as_u64() == Some(VERSION.into()) => true,
        Value::Number(version) => {
            let reason = format!(
                "version {version} of the suite format; this scorebox reads version {VERSION}"
            );
            let is_newer = version.as_u64().is_some_and(|version| version > VERSION.into());
            reading.advised(&member.node.span, reason, is_newer.then_some(Advice::Update));
            false
        }
        other => {
            let reason = format!("`version` must be a number; found {}", other.kind());
            reading.wrong(&member.node.span, reason);
            true
        }
    }
}

fn scorers(reading: &mut Reading<'_>, node: &Node, folder: Folder<'_>) -> Vec<Named> {
    let mut scorers = Vec::new();
    for member in reading.any_members(node, "scorers") {
        let entry = Entry::of_scorer(reading, &member.node, folder);
        let location = reading.location(&member.key_span);
        match ScorerId::new(&member.key) {
            Ok(id) => scorers.push(Named { id, key: member.key.clone(), location, entry }),
            Err(error) => reading.advised(&member.key_span, error.to_string(), error.advice()),
        }
    }
    scorers
}

/// The scorer whose results the others score. Its id names no component, so it must have `use`.
fn target(reading: &mut Reading<'_>, member: &Member, folder: Folder<'_>) -> Option<Named> {
    let mut entry = Entry::of_target(reading, &member.node, folder);
    let location = reading.location(&member.key_span);
    if entry.uses.is_none() && matches!(member.node.value, Value::Table(_)) {
        entry.is_unclear = true;
        reading
            .wrong(&member.key_span, "`target` needs `use`: the scorer whose results are scored");
    }
    let id = ScorerId::new(TARGET).ok()?;
    Some(Named { id, key: TARGET.to_owned(), location, entry })
}

impl Named {
    fn resolved(self) -> results::Written {
        let uses = self.uses();
        let Entry { name, config, output_from, limits, grants, policy, default_policy, .. } =
            self.entry;
        let Entry {
            uses_location,
            config_location,
            policy_location,
            sampling,
            nodes,
            condition,
            judge,
            meta,
            ..
        } = self.entry;
        let scorer = SuiteScorer {
            name,
            config: config.unwrap_or_default(),
            output_from,
            limits: limits.apply(Limits::default()),
            grants: grants.unwrap_or_default(),
            selection: Selection { sampling: sampling.unwrap_or_default(), nodes },
            policy: policy.over(default_policy),
            own_policy: Some(policy),
            location: Some(self.location),
            uses_location,
            config_location,
            policy_location,
            condition,
            judge: judge.map(|(choice, _)| choice).unwrap_or_default(),
            ..SuiteScorer::new(self.id, uses.reference.clone()).written_as(uses)
        };
        results::Written { scorer, meta: meta.unwrap_or_default() }
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    format!("`{}`", name.to_string_lossy())
}

#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod tests;
