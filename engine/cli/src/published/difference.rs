//! Compares a locked scorer with another version of it, and finds the changes that give it more than it has. It decides
//! nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use scorebox::{contract::ScorerInfo, sandbox::Grant, verdict::PolicyOverrides};
use scorebox_community::{Locked, Signer};

use crate::{
    output::Labelled,
    report::{self, ConfigKey},
};

use super::{
    Candidate,
    candidate::{PUBLISHERS_WORDS, first_lines, key_words, publishers_word},
    counting,
};

/// Something that a version has and the locked one does not, so the user has not agreed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wider {
    /// It reads this part of a case.
    Reads(String),
    /// It needs this grant.
    Needs(Grant),
    /// It is signed with another key.
    Signer(Signer),
    /// It is not signed.
    Unsigned,
    /// Its scores count differently in verdicts, so that more cases may pass; the text says how.
    Verdict(String),
}

impl Wider {
    /// Describes it, to follow the name of the scorer.
    pub(crate) fn words(&self) -> String {
        match self {
            Wider::Reads(part) => format!("reads `{part}` of a case as well"),
            Wider::Needs(grant) => format!("needs the grant {grant} as well"),
            Wider::Signer(signer) => format!("is signed by another key, {signer}"),
            Wider::Unsigned => "is no longer signed".to_owned(),
            Wider::Verdict(how) => how.clone(),
        }
    }

    /// The option that accepts it.
    pub(crate) fn option(&self) -> String {
        match self {
            Wider::Reads(part) => format!("--read {part}"),
            Wider::Needs(grant) => format!("--grant {grant}"),
            Wider::Signer(signer) => format!("--signer {signer}"),
            Wider::Unsigned => "--unsigned".to_owned(),
            Wider::Verdict(_) => "--verdict".to_owned(),
        }
    }
}

/// A locked scorer and another version of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'d> {
    pub locked: &'d Locked,
    /// What the locked component reports about itself, and its size in bytes, if it is on this machine.
    pub old: Option<(&'d ScorerInfo, u64)>,
    /// The publisher's statements about the locked version, if its manifest is available.
    pub old_words: Option<&'d BTreeMap<String, String>>,
    pub new: &'d Candidate,
    /// The suite's overrides of how its scores count.
    pub suite: &'d PolicyOverrides,
}

impl Difference<'_> {
    /// Everything that is wider.
    pub(crate) fn wider(&self) -> Vec<Wider> {
        let new = self.new.locked();
        let has = |names: &[String], name: &String| names.contains(name);
        let reads = new.reads.iter().filter(|part| !has(&self.locked.reads, part));
        let grants = self.new.anatomy.grants();
        let needs = grants.iter().filter(|grant| !has(&self.locked.grants, &grant.to_string()));
        let signer = match (self.locked.signer(), new.signer()) {
            (Some(_), None) => Some(Wider::Unsigned),
            (Some(old), Some(new)) if old != new => Some(Wider::Signer(new.clone())),
            _ => None,
        };
        let reads = reads.cloned().map(Wider::Reads);
        let verdict = self.laxer().map(Wider::Verdict);
        reads.chain(needs.map(Wider::Needs)).chain(signer).chain(verdict).collect()
    }

    /// How its scores count differently, so that more cases may pass. If the locked component is not known, they are
    /// assumed to.
    fn laxer(&self) -> Option<String> {
        let Some((old, _)) = self.old else {
            let unknown =
                "may count otherwise in verdicts: there is no locked component to compare it with";
            return Some(unknown.to_owned());
        };
        let laxer = counting::laxer(old, &self.new.info, self.suite)?;
        Some(format!("counts otherwise in verdicts: {laxer}"))
    }

    /// Writes what a user needs to decide.
    pub(crate) fn write(&self, out: &mut Labelled<'_, '_>, name: &str) -> io::Result<()> {
        let (locked, new) = (self.locked, self.new.locked());
        let address = &locked.address;
        let place = format!("{}/{}", address.registry(), address.name());
        let versions = both(address.tag(), new.address.tag());
        out.text("scorer", &format!("{name}: {place} {versions}"))?;
        let digest = |locked: &Locked| format!("sha256:{}", locked.component);
        self.write_publishers_words(out)?;
        out.word("component", &both_lines(&digest(locked), &digest(&new)))?;
        let size = report::bytes(self.new.pulled.component.len() as u64);
        match self.old {
            Some((_, bytes)) => out.text("size", &both(&report::bytes(bytes), &size))?,
            None => out.text("size", &size)?,
        }
        let reads = |locked: &Locked| {
            let parts = ["output"].into_iter().chain(locked.reads.iter().map(String::as_str));
            parts.collect::<Vec<_>>().join(", ")
        };
        self.write_counting(out)?;
        out.text("reads", &both(&reads(locked), &reads(&new)))?;
        let grants = |locked: &Locked| match &locked.grants[..] {
            [] => "nothing".to_owned(),
            grants => format!("the grant {}", grants.join(", ")),
        };
        out.text("needs", &both(&grants(locked), &grants(&new)))?;
        out.text("imports", &changes_of_names(&locked.imports, &new.imports))?;
        if locked.contract != new.contract {
            out.text("contract", &both(&locked.contract, &new.contract))?;
        }
        out.text("configuration", &self.configuration())?;
        out.text("example", &self.new.example.words())?;
        let signer = |locked: &Locked| {
            locked.signer().map_or_else(|| "not signed".to_owned(), Signer::to_string)
        };
        out.word("signed by", &both_lines(&signer(locked), &signer(&new)))
    }

    /// Writes the publisher's statements; leaves out those that neither version has.
    fn write_publishers_words(&self, out: &mut Labelled<'_, '_>) -> io::Result<()> {
        for (label, key) in PUBLISHERS_WORDS {
            let word = |words| publishers_word(words, key);
            let new = word(&self.new.pulled.annotations);
            let old = self.old_words.map(word);
            if new.is_none() && matches!(old, None | Some(None)) {
                continue;
            }
            let said = |word: Option<String>| word.unwrap_or_else(|| "not said".to_owned());
            let text = match old {
                Some(old) => both_lines(&said(old), &said(new)),
                None => said(new),
            };
            out.text(label, &text)?;
        }
        Ok(())
    }

    /// Writes how its scores count if the suite does not override it.
    fn write_counting(&self, out: &mut Labelled<'_, '_>) -> io::Result<()> {
        let new = &self.new.info;
        let Some((old, _)) = self.old else {
            out.text("scale", &report::scale(new))?;
            return out.text("severity", &report::severity(new));
        };
        out.text("scale", &both(&report::scale(old), &report::scale(new)))?;
        out.text("severity", &both(&report::severity(old), &report::severity(new)))?;
        match counting::is_said_by_the_suite(old, new, self.suite) {
            true => out.text("", "without effect here: the suite says it itself"),
            false => Ok(()),
        }
    }

    /// The added, removed and changed keys of the configuration, one line each.
    fn configuration(&self) -> String {
        let Some((old, _)) = self.old else {
            return "not compared: the locked component is not here".to_owned();
        };
        let keys = |info: &ScorerInfo| {
            info.config_schema.as_deref().map(report::config_keys).unwrap_or_default()
        };
        let (old, new) = (keys(old), keys(&self.new.info));
        let named =
            |keys: &[ConfigKey], name: &str| keys.iter().find(|key| key.name == name).cloned();
        let names: BTreeSet<&str> = old.iter().chain(&new).map(|key| key.name.as_str()).collect();
        let lines: Vec<String> = names
            .into_iter()
            .flat_map(|name| changes_of_a_key(named(&old, name), named(&new, name)))
            .collect();
        match lines.is_empty() {
            true => AS_BEFORE.to_owned(),
            false => first_lines(lines.into_iter()),
        }
    }
}

/// The changes of a key of the configuration; empty if it is the same.
fn changes_of_a_key(old: Option<ConfigKey>, new: Option<ConfigKey>) -> Vec<String> {
    if old == new {
        return Vec::new();
    }
    let (old, new) = (old.as_ref().map(key_words), new.as_ref().map(key_words));
    match (old, new) {
        // The change is in a choice, a range, or the end of a long text.
        (Some(old), Some(new)) if old == new => {
            vec![format!("± {new} (it differs in what is not shown here)")]
        }
        (old, new) => {
            let (old, new) = (old.map(|it| format!("- {it}")), new.map(|it| format!("+ {it}")));
            old.into_iter().chain(new).collect()
        }
    }
}

const AS_BEFORE: &str = "as before";

/// `old → new`; only one of them if they are the same.
fn both(old: &str, new: &str) -> String {
    match old == new {
        true => format!("{new} ({AS_BEFORE})"),
        false => format!("{old} → {new}"),
    }
}

/// The same on two lines.
fn both_lines(old: &str, new: &str) -> String {
    match old == new {
        true => format!("{new} ({AS_BEFORE})"),
        false => format!("{old}\n→ {new}"),
    }
}

fn changes_of_names(old: &[String], new: &[String]) -> String {
    let added = new.iter().filter(|name| !old.contains(name)).map(|name| format!("+ {name}"));
    let gone = old.iter().filter(|name| !new.contains(name)).map(|name| format!("- {name}"));
    let lines: Vec<String> = added.chain(gone).collect();
    match lines.is_empty() {
        true => AS_BEFORE.to_owned(),
        false => lines.join("\n"),
    }
}
