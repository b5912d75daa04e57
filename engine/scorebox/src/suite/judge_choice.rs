//! Reads which judge, or jury, an entry in a suite file asks. It connects to nothing.

use std::collections::BTreeMap;

use crate::{
    advice::{Advice, Thing},
    judge::{Combine, JudgeChoice, JudgeIdentity, Jury},
};

use super::{
    Location, Mistake, SuiteJudge,
    document::{Node, Value},
    judges::{budget, name, timeout, within},
    reading::Reading,
};

/// Reads the `judge` of an entry: a judge's name, or a table with the name and more.
pub(super) fn choice(reading: &mut Reading<'_>, node: &Node) -> Option<JudgeChoice> {
    let mut choice = JudgeChoice::default();
    if let Value::Text(name) = &node.value {
        choice.judge = Some(name.clone());
        return Some(choice);
    }
    const KEYS: [&str; 6] = ["use", "model", "models", "budget", "timeout", "jury"];
    if !matches!(node.value, Value::Table(_)) {
        let found = node.value.kind();
        let reason = format!("`judge` must be a judge's name or a table; found {found}");
        reading.wrong(&node.span, reason);
        return None;
    }
    for (key, member) in reading.members(node, "judge", "of `judge`", &KEYS) {
        let node = &member.node;
        match key {
            "use" => choice.judge = reading.word(node, key).map(str::to_owned),
            "model" => choice.model = name(reading, node, key),
            "models" => choice.models = names(reading, node, key),
            "budget" => choice.budget = budget(reading, node).unwrap_or_default(),
            "timeout" => choice.timeout = timeout(reading, node),
            _ => choice.jury = jury(reading, node),
        }
    }
    Some(choice)
}

fn names(reading: &mut Reading<'_>, node: &Node, key: &str) -> Vec<String> {
    let items = reading.list(node, key).iter();
    items.filter_map(|item| name(reading, item, key)).collect()
}

/// Reads the `jury` of an entry or of its `judge`.
pub(super) fn jury(reading: &mut Reading<'_>, node: &Node) -> Option<Jury> {
    const KEYS: [&str; 5] = ["judges", "models", "samples", "combine", "quorum"];
    const WORDS: [&str; 3] = ["mean", "median", "majority"];
    let mut jury = Jury::of_samples(1);
    let mut quorum = None;
    for (key, member) in reading.members(node, "jury", "of `jury`", &KEYS) {
        let node = &member.node;
        match key {
            "judges" => jury.judges = names(reading, node, key),
            "models" => jury.models = names(reading, node, key),
            "samples" => {
                let samples = within(reading, key, node, (1, Jury::MAX_JURORS.into()));
                jury.samples = samples.unwrap_or(1);
            }
            "combine" => {
                let Some(word) = reading.word(node, key) else { continue };
                let meant = Combine::ALL.into_iter().find(|combine| combine.as_str() == word);
                let meant = reading.one_of(node, meant, "way to combine scores", &WORDS);
                jury.combine = meant.unwrap_or_default();
            }
            _ => quorum = reading.count(node, key).map(|quorum| (quorum, node)),
        }
    }
    if !jury.judges.is_empty() && !jury.models.is_empty() {
        let reason = "a jury has `judges` or `models`, not both: a judge of the file has its model";
        reading.wrong(&node.span, reason);
        return None;
    }
    for names in [&jury.judges, &jury.models] {
        let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        if let Some((_, name)) = twice {
            let reason = format!(
                "`{}` is on the jury twice, and would say the same; `samples` asks it more often",
                name.escape_debug()
            );
            reading.wrong(&node.span, reason);
            return None;
        }
    }
    let (jurors, most) = (jury.jurors(), Jury::MAX_JURORS);
    if jurors > most {
        reading.wrong(&node.span, format!("the jury has {jurors} jurors; the limit is {most}"));
        return None;
    }
    if let Some((wanted, node)) = quorum {
        if wanted == 0 || wanted > jurors.into() {
            let reason = format!("`quorum` must be from 1 to {jurors}, the number of jurors");
            reading.wrong(&node.span, reason);
            return None;
        }
        jury.quorum = u32::try_from(wanted).ok();
    }
    Some(jury)
}

/// The mistake of an entry that names an unknown judge, sets a budget that cannot be enforced, or has one judge on a
/// jury under two names.
pub(super) fn mistake(
    chosen: &(JudgeChoice, Location),
    judges: &BTreeMap<String, SuiteJudge>,
) -> Option<Mistake> {
    unknown(chosen, judges)
        .or_else(|| without_price(chosen, judges))
        .or_else(|| the_same_twice(chosen, judges))
}

/// The mistake of a jury with two judges that differ only in their names.
fn the_same_twice(
    (choice, location): &(JudgeChoice, Location),
    judges: &BTreeMap<String, SuiteJudge>,
) -> Option<Mistake> {
    let settings = |name: &str| judges.get(name).map(|judge| &judge.settings);
    let members = JudgeIdentity::of(choice, settings)?.jury?.members;
    let is_same = |one: &JudgeIdentity, other: &JudgeIdentity| {
        *one == JudgeIdentity { name: one.name.clone(), ..other.clone() }
    };
    let (one, other) = members.iter().enumerate().find_map(|(index, other)| {
        members[..index].iter().find(|one| is_same(one, other)).map(|one| (one, other))
    })?;
    let reason = format!(
        "the judges `{}` and `{}` are one model under two names, and would say the same; `samples` asks it more often",
        one.name.escape_debug(),
        other.name.escape_debug()
    );
    Some(Mistake { location: location.clone(), reason, advice: None })
}

/// The mistake of a budget in US dollars for a judge without known prices.
fn without_price(
    (choice, location): &(JudgeChoice, Location),
    judges: &BTreeMap<String, SuiteJudge>,
) -> Option<Mistake> {
    choice.budget.cost_usd?;
    let knows = |name: &str| judges.get(name).is_some_and(|judge| judge.settings.knows_cost());
    let name = choice.names().into_iter().find(|name| !knows(name))?;
    let reason =
        format!("a budget in US dollars needs the `price` of the judge `{}`", name.escape_debug());
    Some(Mistake { location: location.clone(), reason, advice: None })
}

fn unknown(
    (choice, location): &(JudgeChoice, Location),
    judges: &BTreeMap<String, SuiteJudge>,
) -> Option<Mistake> {
    let name = choice.names().into_iter().find(|name| !judges.contains_key(*name))?;
    let closest = crate::suggest::closest(name, judges.keys().map(String::as_str));
    let names = || judges.keys().cloned().collect();
    let advice = Advice::did_you_mean(&closest)
        .unwrap_or_else(|| Advice::Choose { what: Thing::Judge, names: names() });
    let reason = format!("no judge is called `{}`", name.escape_debug());
    Some(Mistake { location: location.clone(), reason, advice: Some(advice) })
}
