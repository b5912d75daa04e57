//! Merges a suite file with the files that it includes: its own entries are laid over theirs, and conflicts between
//! included files are reported. It reads no file.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use crate::{
    judge::{JudgeSettings, ProviderSettings},
    registry::Reference,
    verdict::PolicyOverrides,
};

use super::{
    Location, Mistake, ScorerId, SuiteJudge,
    entry::{Entry, Folder, Uses},
    reading::one_line,
    trust::TrustPolicy,
};

/// The content of a file, with what it includes.
#[derive(Default)]
pub(super) struct Written {
    pub(super) name: Option<String>,
    pub(super) seed: Option<(String, Location)>,
    pub(super) target: Option<Named>,
    pub(super) judges: BTreeMap<String, SuiteJudge>,
    pub(super) policies: Vec<TrustPolicy>,
    /// In the order of the files; no two with one id.
    pub(super) scorers: Vec<Named>,
}

impl Written {
    /// The mistake of a scorer with the target's name, which would be ambiguous.
    pub(super) fn called_like_the_target(&self) -> Option<Mistake> {
        let target = self.target.as_ref()?;
        let scorer = self.scorers.iter().find(|scorer| scorer.id == target.id)?;
        let (id, at) = (&target.id, &target.location);
        let reason = one_line(&format!(
            "two scorers are called `{id}`: this one and that of `[target]` ({at}); give this one another name, or leave out `[target]`"
        ));
        Some(Mistake { location: scorer.location.clone(), reason, advice: None })
    }
}

/// An entry with its name.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) id: ScorerId,
    pub(super) key: String,
    pub(super) location: Location,
    pub(super) entry: Entry,
}

/// Lays the own entries of a file over what it includes, file by file.
pub(super) struct Merging<'m> {
    /// The file that includes the others.
    pub(super) file: &'m Path,
    /// A file's real path, however it is reached.
    pub(super) real: &'m dyn Fn(&Path) -> PathBuf,
    /// Conflicts between included files.
    pub(super) mistakes: Vec<Mistake>,
    /// Whether one of them is about a judge.
    pub(super) are_judges_unclear: bool,
}

impl Merging<'_> {
    /// Merges all files. Two of `included` may describe the same thing only if they agree, or if `own` decides: the
    /// order of the files does not matter.
    pub(super) fn merged(&mut self, included: Vec<Written>, own: Written) -> Written {
        let mut all = Written { name: own.name.clone(), ..Written::default() };
        for one in included {
            self.add_seed(&mut all, one.seed, &own);
            self.add_target(&mut all, one.target, &own);
            self.add_judges(&mut all, one.judges, &own);
            for scorer in one.scorers {
                self.add_scorer(&mut all.scorers, scorer, &own);
            }
            all.policies.extend(one.policies);
        }
        all.seed = own.seed.or(all.seed);
        all.target = own.target.or(all.target);
        all.judges.extend(own.judges);
        all.policies.extend(own.policies);
        own.scorers.into_iter().for_each(|scorer| lay_over(&mut all.scorers, scorer));
        all
    }

    fn add_seed(&mut self, all: &mut Written, seed: Option<(String, Location)>, own: &Written) {
        if let (Some((first, at)), Some((other, location)), None) = (&all.seed, &seed, &own.seed)
            && first != other
        {
            self.differ("`seed` differs", at, location);
        }
        all.seed = all.seed.take().or(seed);
    }

    fn add_target(&mut self, all: &mut Written, target: Option<Named>, own: &Written) {
        if let (Some(first), Some(other), None) = (&mut all.target, &target, &own.target) {
            self.compare("`target`", first, other, None);
        }
        all.target = all.target.take().or(target);
    }

    fn add_judges(
        &mut self,
        all: &mut Written,
        judges: BTreeMap<String, SuiteJudge>,
        own: &Written,
    ) {
        for (name, judge) in judges {
            let Some(first) = all.judges.get(&name) else {
                all.judges.insert(name, judge);
                continue;
            };
            let is_same =
                self.with_own_path(&first.settings) == self.with_own_path(&judge.settings);
            if is_same || own.judges.contains_key(&name) {
                continue;
            }
            self.are_judges_unclear = true;
            if let (Some(at), Some(location)) = (first.location.clone(), &judge.location) {
                self.differ(&format!("the judge `{name}` differs"), &at, location);
            }
        }
    }

    fn add_scorer(&mut self, scorers: &mut Vec<Named>, scorer: Named, own: &Written) {
        match scorers.iter_mut().find(|first| first.id == scorer.id) {
            Some(first) => {
                let over = own.scorers.iter().find(|over| over.id == scorer.id);
                self.compare(&format!("the scorer `{}`", scorer.id), first, &scorer, over);
            }
            None => scorers.push(scorer),
        }
    }

    /// Reports that two entries with one name differ in keys that `over`, the including file's own entry, does not set.
    fn compare(&mut self, what: &str, first: &mut Named, other: &Named, over: Option<&Named>) {
        if first.entry.is_unclear || other.entry.is_unclear {
            return;
        }
        let laid = |named: &Named| match over {
            Some(over) => Named { entry: over.entry.clone().over(&named.entry), ..named.clone() },
            None => named.clone(),
        };
        let (one, another) = (laid(first), laid(other));
        let mut keys = differences(&one.entry, &another.entry);
        if self.uses(&one) != self.uses(&another) {
            keys.insert(0, "use");
        }
        if keys.is_empty() {
            return;
        }
        first.entry.is_unclear = true;
        let keys: Vec<String> = keys.into_iter().map(|key| format!("`{key}`")).collect();
        let differs = format!("{what} differs in {}", keys.join(", "));
        self.differ(&differs, &first.location, &other.location);
    }

    fn differ(&mut self, what: &str, first: &Location, location: &Location) {
        let reason = one_line(&format!(
            "{what} from what `{first}` says; `{}` includes both, and does not say which holds",
            self.file.display()
        ));
        self.mistakes.push(Mistake { location: location.clone(), reason, advice: None });
    }

    fn uses(&self, named: &Named) -> Reference {
        match named.uses().reference {
            Reference::File(path) => Reference::File(self.own_path(&path)),
            other => other,
        }
    }

    fn with_own_path(&self, settings: &JudgeSettings) -> JudgeSettings {
        let mut settings = settings.clone();
        if let ProviderSettings::Recorded { file } = &mut settings.provider {
            *file = self.own_path(file);
        }
        settings
    }

    /// One path for each file, even for one that does not exist: two files that include a third one refer to its files
    /// by different paths.
    fn own_path(&self, path: &Path) -> PathBuf {
        let mut own = PathBuf::new();
        for part in (self.real)(path).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir
                    if matches!(own.components().next_back(), Some(Component::Normal(_))) =>
                {
                    own.pop();
                }
                part => own.push(part),
            }
        }
        own
    }
}

impl Named {
    /// The component that it uses: by default the built-in scorer with its name.
    pub(super) fn uses(&self) -> Uses {
        let nowhere = Folder { path: Path::new(""), from_suite: Path::new("") };
        let by_name = || Uses::parse(&self.key, nowhere);
        self.entry.uses.clone().unwrap_or_else(by_name)
    }
}

/// Adds a scorer, or lays it over the one with its name, which keeps its position.
fn lay_over(scorers: &mut Vec<Named>, scorer: Named) {
    match scorers.iter_mut().find(|other| other.id == scorer.id) {
        Some(below) => {
            let entry = scorer.entry.over(&below.entry);
            *below = Named { entry, ..scorer };
        }
        None => scorers.push(scorer),
    }
}

/// The keys, except `use`, in which two entries differ, wherever these are set.
fn differences(one: &Entry, other: &Entry) -> Vec<&'static str> {
    let policies = [(one.policy, other.policy), (one.default_policy, other.default_policy)];
    let count_alike = |is_alike: fn(&PolicyOverrides, &PolicyOverrides) -> bool| {
        policies.iter().all(|(one, other)| is_alike(one, other))
    };
    let [nodes, others] = [one, other].map(|it| it.nodes.as_ref().map(|it| it.patterns()));
    let [when, other_when] =
        [one, other].map(|it| it.condition.as_ref().map(|when| &when.expression));
    let [judge, other_judge] = [one, other].map(|it| it.judge.as_ref().map(|(judge, _)| judge));
    let [jury, other_jury] = [one, other].map(|it| it.jury.as_ref().map(|(jury, _)| jury));
    let names = |it: &Entry| -> Option<Vec<String>> {
        Some(it.meta.as_ref()?.iter().map(|(name, _)| name.clone()).collect())
    };
    let alike = [
        ("name", one.name == other.name),
        ("config", one.config == other.config),
        ("on", one.output_from == other.output_from),
        ("limits", one.limits == other.limits),
        ("grants", one.grants == other.grants),
        ("severity", count_alike(|one, other| one.severity == other.severity)),
        ("threshold", count_alike(|one, other| one.threshold == other.threshold)),
        ("weight", count_alike(|one, other| one.weight == other.weight)),
        ("required", count_alike(|one, other| one.required == other.required)),
        ("sampling", one.sampling == other.sampling),
        ("nodes", nodes == others),
        ("when", when == other_when),
        ("judge", judge == other_judge),
        ("jury", jury == other_jury),
        ("meta", names(one) == names(other)),
    ];
    alike.into_iter().filter(|(_, is_alike)| !is_alike).map(|(key, _)| key).collect()
}
