//! The keys in a suite file for one scorer, or for all of them. Overlays entries; it decides nothing about a scorer.

use std::{collections::BTreeMap, path::Path};

use crate::{
    case::CasePointer,
    contract::Severity,
    judge::{JudgeChoice, Jury},
    registry::Reference,
    sandbox::{Grant, Grants, ScorerConfig},
    suggest::closest,
    verdict::PolicyOverrides,
};

use super::{
    Condition, LimitOverrides, Location, Nodes, Rate, Sampling,
    document::{Member, Node, Value},
    judge_choice,
    limit_overrides::some_fuel,
    parse_bytes, parse_duration, parse_memory,
    reading::Reading,
};

/// How deep a configuration may be nested. JSON readers accept 127 levels, and a few more objects enclose it: in the
/// stored suite, in a receipt.
const MAX_LEVELS: usize = 120;

/// The keys of an entry.
const KEYS: [&str; 16] = [
    "use",
    "name",
    "config",
    "on",
    "limits",
    "grants",
    "severity",
    "threshold",
    "weight",
    "required",
    "sampling",
    "nodes",
    "when",
    "judge",
    "jury",
    "meta",
];

/// The keys that `[defaults]` may have.
const DEFAULT_KEYS: [&str; 9] =
    ["limits", "severity", "threshold", "weight", "required", "sampling", "nodes", "judge", "jury"];

/// The keys without which it is not known what the scorer is, so that it is not loaded to find further mistakes.
const ESSENTIAL_KEYS: [&str; 5] = ["use", "config", "grants", "judge", "jury"];

/// The location of a configuration in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigLocation {
    /// Its beginning.
    pub whole: Location,
    /// The locations of its keys.
    pub keys: BTreeMap<String, Location>,
}

/// A scorer's entry in a file; `None` for missing keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// Whether an essential key cannot be read, or may be misspelled.
    pub(super) is_unclear: bool,
    pub(super) uses: Option<Uses>,
    /// The location of that key.
    pub(super) uses_location: Option<Location>,
    pub(super) name: Option<String>,
    pub(super) config: Option<ScorerConfig>,
    /// The location of that key.
    pub(super) config_location: Option<ConfigLocation>,
    /// The position of its output in a case, from the key `on`.
    pub(super) output_from: Option<CasePointer>,
    pub(super) limits: LimitOverrides,
    pub(super) grants: Option<Grants>,
    /// How its scores count, from the entry itself.
    pub(super) policy: PolicyOverrides,
    /// How they count if the entry does not define it, from `[defaults]`.
    pub(super) default_policy: PolicyOverrides,
    /// The location of the threshold, or else of the severity.
    pub(super) policy_location: Option<Location>,
    pub(super) sampling: Option<Sampling>,
    pub(super) nodes: Option<Nodes>,
    pub(super) condition: Option<Condition>,
    /// The judge that it asks, and the location of the key.
    pub(super) judge: Option<(JudgeChoice, Location)>,
    /// The jury that it asks instead of one judge, and the location of the key.
    pub(super) jury: Option<(Jury, Location)>,
    /// The scorers of its results, each with its location.
    pub(super) meta: Option<Vec<(String, Location)>>,
}

/// The component that an entry names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uses {
    /// The reference.
    pub(super) reference: Reference,
    /// The same, relative to the suite's folder.
    pub(super) from_suite: Reference,
}

/// The folder to which paths in a file are relative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folder<'p> {
    /// Its path.
    pub(super) path: &'p Path,
    /// The same, relative to the suite's folder.
    pub(super) from_suite: &'p Path,
}

impl Uses {
    /// Parses the reference `written` in a file of this folder.
    pub(super) fn parse(written: &str, folder: Folder<'_>) -> Uses {
        let [reference, from_suite] =
            [folder.path, folder.from_suite].map(|folder| Reference::parse(written, folder));
        Uses { reference, from_suite }
    }
}

impl Entry {
    /// Reads `[scorers.ID]`; paths are relative to `folder`.
    pub(super) fn of_scorer(reading: &mut Reading<'_>, node: &Node, folder: Folder<'_>) -> Entry {
        Entry::of(reading, node, "scorer", "of a scorer", &KEYS, folder)
    }

    /// Reads `[target]`; paths are relative to `folder`.
    pub(super) fn of_target(reading: &mut Reading<'_>, node: &Node, folder: Folder<'_>) -> Entry {
        // All keys but `meta`: the scorers of the suite score its results.
        Entry::of(reading, node, "target", "of `target`", &KEYS[..KEYS.len() - 1], folder)
    }

    /// Reads `[defaults]`.
    pub(super) fn of_defaults(reading: &mut Reading<'_>, node: &Node) -> Entry {
        // None of these keys has a path.
        let nowhere = Folder { path: Path::new(""), from_suite: Path::new("") };
        let entry = Entry::of(reading, node, "defaults", "of `defaults`", &DEFAULT_KEYS, nowhere);
        Entry { policy: PolicyOverrides::default(), default_policy: entry.policy, ..entry }
    }

    fn of(
        reading: &mut Reading<'_>,
        node: &Node,
        what: &str,
        whose: &str,
        keys: &[&'static str],
        folder: Folder<'_>,
    ) -> Entry {
        let mut entry = Entry { is_unclear: has_unclear_keys(node, keys), ..Entry::default() };
        for (key, member) in reading.members(node, what, whose, keys) {
            let node = &member.node;
            let mistakes_before = reading.mistake_count();
            match key {
                "use" => {
                    let uses = reading.text(node, key);
                    entry.uses = uses.map(|uses| Uses::parse(&uses, folder));
                    entry.uses_location = Some(reading.location(&node.span));
                }
                "name" => entry.name = reading.text(node, key),
                "config" => {
                    entry.config = config(reading, node);
                    entry.config_location = Some(config_location(reading, member));
                }
                "on" => entry.output_from = output_from(reading, node),
                "limits" => entry.limits = limits(reading, node),
                "grants" => entry.grants = Some(grants(reading, node, key)),
                "severity" => {
                    entry.policy.severity = severity(reading, node);
                    entry.policy_location.get_or_insert_with(|| reading.location(&node.span));
                }
                "threshold" => {
                    entry.policy.threshold = reading.amount(node, key);
                    entry.policy_location = Some(reading.location(&node.span));
                }
                "weight" => entry.policy.weight = reading.amount(node, key),
                "required" => entry.policy.required = reading.truth(node, key),
                "sampling" => entry.sampling = sampling(reading, node),
                "nodes" => entry.nodes = nodes(reading, node),
                "when" => entry.condition = condition(reading, node),
                "judge" => {
                    let location = reading.location(&node.span);
                    entry.judge =
                        judge_choice::choice(reading, node).map(|choice| (choice, location));
                }
                "jury" => {
                    let location = reading.location(&node.span);
                    entry.jury = judge_choice::jury(reading, node).map(|jury| (jury, location));
                }
                "meta" => entry.meta = Some(meta(reading, node)),
                _ => {}
            }
            let is_wrong = reading.mistake_count() > mistakes_before;
            entry.is_unclear |= is_wrong && ESSENTIAL_KEYS.contains(&key);
        }
        let judge = entry.judge.as_ref().map(|(choice, _)| choice);
        if entry.jury.is_some() && judge.is_some_and(|judge| judge.jury.is_some()) {
            reading.wrong(&node.span, "the jury is there twice: as `jury` and in `judge`");
        }
        entry
    }

    /// This entry, with its jury moved into its judge.
    pub(super) fn with_jury_seated(mut self) -> Entry {
        if let Some((jury, location)) = self.jury.take() {
            let (mut choice, location) = self.judge.unwrap_or((JudgeChoice::default(), location));
            choice.jury = Some(jury);
            self.judge = Some((choice, location));
        }
        self
    }

    /// This entry, with missing keys from `base`. Limits are overlaid one by one, other keys as a whole; a jury counts
    /// as a separate key even if it is part of `judge`.
    pub(super) fn over(self, base: &Entry) -> Entry {
        let base = base.clone();
        let has_jury = self.judge.as_ref().is_some_and(|(judge, _)| judge.jury.is_some());
        Entry {
            is_unclear: self.is_unclear || base.is_unclear,
            uses: self.uses.or(base.uses),
            uses_location: self.uses_location.or(base.uses_location),
            name: self.name.or(base.name),
            config_location: match &self.config {
                Some(_) => self.config_location,
                None => self.config_location.or(base.config_location),
            },
            config: self.config.or(base.config),
            output_from: self.output_from.or(base.output_from),
            limits: self.limits.over(&base.limits),
            grants: self.grants.or(base.grants),
            policy: self.policy.over(base.policy),
            default_policy: self.default_policy.over(base.default_policy),
            policy_location: self.policy_location.or(base.policy_location),
            sampling: self.sampling.or(base.sampling),
            nodes: self.nodes.or(base.nodes),
            condition: self.condition.or(base.condition),
            judge: self.judge.or(base.judge),
            jury: self.jury.or(base.jury.filter(|_| !has_jury)),
            meta: self.meta.or(base.meta),
        }
    }
}

/// Whether a key that is not in `keys` may be a misspelling of a missing essential key.
fn has_unclear_keys(node: &Node, keys: &[&'static str]) -> bool {
    let Value::Table(members) = &node.value else { return true };
    let is_missing = |key: &str| members.iter().all(|member| member.key != key);
    let unknown = members.iter().filter(|member| !keys.contains(&member.key.as_str()));
    let mut meant = unknown.map(|member| closest(&member.key, keys.iter().copied()));
    meant.any(|meant| match meant.is_empty() {
        true => is_missing("use") || is_missing("config"),
        false => meant.iter().any(|key| ESSENTIAL_KEYS.contains(&key.as_str()) && is_missing(key)),
    })
}

fn config(reading: &mut Reading<'_>, node: &Node) -> Option<ScorerConfig> {
    let mut object = serde_json::Map::new();
    let mut is_whole = true;
    for member in reading.any_members(node, "config") {
        let path = format!("config.{}", member.key.escape_debug());
        match reading.json(&member.node, &path, MAX_LEVELS - 1) {
            Some(value) => {
                object.insert(member.key.clone(), value);
            }
            None => is_whole = false,
        }
    }
    is_whole.then(|| ScorerConfig::new(&object))
}

/// The locations of a configuration and its keys.
fn config_location(reading: &Reading<'_>, config: &Member) -> ConfigLocation {
    let members = match &config.node.value {
        Value::Table(members) => members.as_slice(),
        _ => &[],
    };
    let key = |member: &Member| (member.key.clone(), reading.location(&member.key_span));
    ConfigLocation {
        whole: reading.location(&config.key_span),
        keys: members.iter().map(key).collect(),
    }
}

fn output_from(reading: &mut Reading<'_>, node: &Node) -> Option<CasePointer> {
    let written = reading.text(node, "on")?;
    reading.said(&node.span, written.parse())
}

fn limits(reading: &mut Reading<'_>, node: &Node) -> LimitOverrides {
    let mut limits = LimitOverrides::default();
    for (name, member) in reading.members(node, "limits", "of `limits`", &LimitOverrides::NAMES) {
        let node = &member.node;
        match name {
            "fuel" => limits.fuel = fuel(reading, node),
            "assertions" => {
                let most = reading.count(node, name);
                limits.assertions = most.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
            }
            "timeout" | "host-timeout" => {
                let written = reading.word(node, name);
                let time = written.and_then(|it| reading.said(&node.span, parse_duration(it)));
                match name {
                    "timeout" => limits.timeout = time,
                    _ => limits.host_timeout = time,
                }
            }
            _ => {
                let Some(written) = size(reading, node, name) else { continue };
                let parsed = match name {
                    "memory" => parse_memory(&written),
                    _ => parse_bytes(&written),
                };
                let bytes = reading.said(&node.span, parsed);
                match name {
                    "memory" => limits.memory = bytes,
                    "reason" => limits.reason = bytes,
                    "meta" => limits.meta = bytes,
                    _ => limits.log = bytes,
                }
            }
        }
    }
    limits
}

fn fuel(reading: &mut Reading<'_>, node: &Node) -> Option<u64> {
    let fuel = reading.count(node, "fuel")?;
    reading.said(&node.span, some_fuel(fuel).map_err(|why| format!("`fuel` {why}")))
}

/// A size as written: text with a unit, or a number.
pub(super) fn size(reading: &mut Reading<'_>, node: &Node, name: &str) -> Option<String> {
    match &node.value {
        Value::Text(written) => Some(written.clone()),
        _ => reading.count(node, name).map(|bytes| bytes.to_string()),
    }
}

/// A list of grants, in the key `name`.
pub(super) fn grants(reading: &mut Reading<'_>, node: &Node, name: &str) -> Grants {
    let mut grants = Vec::new();
    for item in reading.list(node, name) {
        let Some(word) = reading.word(item, name) else { continue };
        let words = Grant::ALL.map(Grant::as_str);
        grants.extend(reading.one_of(item, word.parse::<Grant>().ok(), "grant", &words));
    }
    grants.into_iter().collect()
}

fn severity(reading: &mut Reading<'_>, node: &Node) -> Option<Severity> {
    const WORDS: [Severity; 2] = [Severity::Gate, Severity::Soft];
    let word = reading.word(node, "severity")?;
    let meant = WORDS.into_iter().find(|severity| severity.as_str() == word);
    reading.one_of(node, meant, "severity", &WORDS.map(Severity::as_str))
}

fn sampling(reading: &mut Reading<'_>, node: &Node) -> Option<Sampling> {
    const WORDS: [&str; 3] = ["all", "ratio", "none"];
    let (mut kind, mut rate) = (None, None);
    for (key, member) in reading.members(node, "sampling", "of `sampling`", &["type", "rate"]) {
        let value = &member.node;
        match key {
            "type" => {
                let word = reading.word(value, "type")?;
                let meant = WORDS.into_iter().find(|known| *known == word);
                kind = Some(reading.one_of(value, meant, "type of sampling", &WORDS)?);
            }
            _ => {
                let number = reading.number(value, "rate")?;
                rate = Some((reading.said(&value.span, Rate::try_from(number))?, value));
            }
        }
    }
    match (kind, rate) {
        (Some("ratio"), Some((rate, _))) => Some(Sampling::Ratio { rate }),
        (Some("ratio"), None) => {
            reading.wrong(&node.span, "sampling of the type `ratio` needs a `rate` from 0 to 1");
            None
        }
        (Some(_), Some((_, value))) => {
            reading.wrong(&value.span, "only sampling of the type `ratio` has a `rate`");
            None
        }
        (Some("none"), None) => Some(Sampling::None),
        (Some(_), None) => Some(Sampling::All),
        (None, _) => {
            reading.wrong(&node.span, "`sampling` needs a `type`: `all`, `ratio` or `none`");
            None
        }
    }
}

fn nodes(reading: &mut Reading<'_>, node: &Node) -> Option<Nodes> {
    let items = reading.list(node, "nodes");
    if items.is_empty() && matches!(node.value, Value::List(_)) {
        reading.wrong(
            &node.span,
            "`nodes` is empty, so that the scorer would be for no case; `[\"*\"]` is for all nodes, and sampling of the type `none` for no case",
        );
        return None;
    }
    let mut patterns = Vec::with_capacity(items.len());
    for item in items {
        let pattern = reading.word(item, "nodes")?.to_owned();
        // Each pattern separately, for its location.
        reading.said(&item.span, Nodes::new(vec![pattern.clone()]))?;
        patterns.push(pattern);
    }
    reading.said(&node.span, Nodes::new(patterns))
}

fn condition(reading: &mut Reading<'_>, node: &Node) -> Option<Condition> {
    let expression = reading.text(node, "when")?;
    if expression.trim().is_empty() {
        reading.wrong(
            &node.span,
            "`when` is empty; it is a jq expression, such as `.metadata.lang == \"en\"`",
        );
        return None;
    }
    Some(Condition { expression, location: Some(reading.location(&node.span)) })
}

fn meta(reading: &mut Reading<'_>, node: &Node) -> Vec<(String, Location)> {
    let items = reading.list(node, "meta").iter();
    let names = items.filter_map(|item| {
        let name = reading.word(item, "meta")?;
        Some((name.to_owned(), reading.location(&item.span)))
    });
    names.collect()
}
