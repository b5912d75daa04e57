//! A published scorer as its registry has it now, and what inspecting it shows: its signature, its description of
//! itself, and its own example. It does not ask for the user's consent.

use std::{collections::BTreeMap, io};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::ScorerInfo,
    sandbox::{Anatomy, Limits, Sandbox},
    suite::SuiteScorer,
};
use scorebox_community::{
    Address, Locked, Named, Pulled, Registry, Signature, Signed, Signer, pull,
};

use crate::{
    arguments::{Asked, OciArguments},
    failure::Failure,
    lock_file::LockFile,
    locked,
    output::{Labelled, Out},
    report::{self, ConfigKey},
    trust::{Claims, Trust},
    waiting::{COMPILING, Waiting},
};

use super::ExampleRun;

/// The text about a scorer without a signature, after `signed by`.
pub(crate) const NOT_SIGNED: &str = "not signed: nothing proves who published it";

/// The publisher's unchecked statements about a scorer: a label for each, and its annotation.
pub(super) const PUBLISHERS_WORDS: [(&str, &str); 2] = [
    ("licence", "org.opencontainers.image.licenses"),
    ("source", "org.opencontainers.image.source"),
];

/// One of these statements.
pub(super) fn publishers_word(annotations: &BTreeMap<String, String>, key: &str) -> Option<String> {
    annotations.get(key).map(|text| report::one_line(text, 200))
}

/// The most keys of a configuration that are shown.
const MAX_KEYS: usize = 60;
/// The most characters of a name, a kind or a default value that are shown.
const MAX_WORD: usize = 200;
/// The most characters of a key's description that are shown.
const MAX_MEANING: usize = 500;

/// A fetched scorer, and what is known about it.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub address: Address,
    pub pulled: Pulled,
    /// The component from the registry.
    pub component: ComponentBytes,
    pub anatomy: Anatomy,
    pub info: ScorerInfo,
    /// Its signature, which is verified to be of the component.
    pub signature: Option<Signature>,
    pub example: ExampleRun,
}

impl Candidate {
    /// Fetches the scorer at the address from its registry, and inspects it.
    pub(crate) async fn fetch(
        registry: &Registry,
        oci: &OciArguments,
        trust: &Trust,
        sandbox: &Sandbox,
        waiting: &Waiting,
    ) -> Result<Candidate, Failure> {
        let address = registry.address().clone();
        trust.must_allow_registry(&address)?;
        let pulled = pull(registry).await.map_err(|error| oci.failure(&error, Asked::ToFetch))?;
        let signature = signature_of(&address, &pulled)?;
        waiting.say(COMPILING);
        let component = ComponentBytes::new(pulled.component.to_vec());
        let anatomy = Anatomy::read(&pulled.component)?;
        let bytes = component.length();
        let signer = signature.as_ref().map(Signature::signer);
        trust.must_allow(Claims { address: &address, signer, grants: anatomy.grants(), bytes })?;
        let info = sandbox.describe(&component, &Limits::default(), anatomy.grants()).await?;
        must_be_of_its_tag(&address, &info)?;
        waiting.say("scoring its example");
        let example = ExampleRun::of(&anatomy, &component, sandbox).await;
        Ok(Candidate { address, pulled, component, anatomy, info, signature, example })
    }

    /// The signer of its signature.
    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.signature.as_ref().map(Signature::signer)
    }

    /// Its names, to compare with those of other scorers.
    pub(crate) fn named(&self) -> Named<'_> {
        Named {
            address: &self.address,
            id: &self.info.id,
            title: &self.info.name,
            signer: self.signer().map(Signer::as_str),
            component: self.pulled.digest,
        }
    }

    /// The value of `use` in a suite.
    pub(crate) fn uses(&self) -> String {
        format!("oci://{}", self.address)
    }

    /// Its entry in a lock.
    pub(crate) fn locked(&self) -> Locked {
        let Pulled { digest, manifest, .. } = self.pulled;
        let bare = Locked::new(self.address.clone(), digest, manifest, "")
            .signed(self.signature.clone().map(Signed::By));
        locked::lock_of(&bare, self.info.reads, &self.anatomy)
    }

    /// Refuses the scorer if its address is locked to another component, or to another signer, unless the user names
    /// that signer.
    pub(crate) fn must_be_the_locked_one(
        &self,
        lock: &LockFile,
        named: Option<&Signer>,
    ) -> Result<(), Failure> {
        let (address, file) = (&self.address, lock.path().display());
        let Some(locked) = lock.lock.get(&address.to_string()) else { return Ok(()) };
        if locked.component != self.pulled.digest {
            return Err(Failure::new(format!(
                "`{address}` is locked to another component in {file}: what is published under this version has changed, or the lock was"
            ))
            .hint("a version that changes is a reason to ask its publisher; nothing was changed"));
        }
        let (before, now) = (locked.signer(), self.signer());
        let Some(before) = before.filter(|_| now != before && (now.is_none() || now != named))
        else {
            return Ok(());
        };
        let lead = format!("`{address}` is locked as signed by {before} in {file}, and now it is");
        Err(match now {
            Some(now) => Failure::new(format!("{lead} signed by {now}")).hint(format!(
                "ask its publisher whether the key has changed, and if so: --signer {now}; nothing was changed"
            )),
            None => Failure::new(format!("{lead} not signed"))
                .hint("a signature that is gone is a reason to ask its publisher; nothing was changed"),
        })
    }

    /// Whether the lock has the same component with another manifest than the one that is published now.
    pub(crate) fn has_moved_since(&self, lock: &LockFile) -> bool {
        let locked = lock.lock.get(&self.address.to_string());
        locked.is_some_and(|locked| locked.manifest != self.pulled.manifest)
    }

    /// Loads it with the configuration and the limits of a suite's entry, and fails if the scorer refuses them.
    pub(crate) async fn must_load_as(
        &self,
        scorer: &SuiteScorer,
        sandbox: &Sandbox,
        oci: &OciArguments,
    ) -> Result<(), Failure> {
        let grants = self.anatomy.grants();
        let loaded = sandbox.load(&self.component, &scorer.config, &scorer.limits, grants).await;
        let Err(error) = loaded else { return Ok(()) };
        let failure = Failure::from(error);
        let message = format!(
            "{} does not load with what `{}` has in the suite: {}",
            self.address.tag(),
            scorer.id,
            failure.message
        );
        let hint = format!(
            "nothing was changed; write `use = \"{}\"` and its `config` by hand, and lock it: scorebox add {} --as {}{}",
            self.uses(),
            self.address,
            scorer.id,
            oci.again()
        );
        Err(Failure { message, hint: Some(hint), ..failure })
    }

    /// Refuses a scorer that does not behave as it declares.
    pub(crate) fn must_be_usable(&self) -> Result<(), Failure> {
        match self.example.fault() {
            Some(fault) => {
                Err(Failure::new(fault).hint("report it to its publisher; nothing was changed"))
            }
            None => Ok(()),
        }
    }

    /// Writes what a user needs to decide.
    pub(crate) fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        let Candidate { pulled, anatomy, info, example, address, .. } = self;
        let mut out = Labelled::before_a_question(out);
        let ScorerInfo { name, id, version, .. } = info;
        out.prose("scorer", &format!("{}, version {version}", named(name, id)))?;
        out.prose("", &info.description)?;
        out.text("from", &address.to_string())?;
        for (label, key) in PUBLISHERS_WORDS {
            if let Some(text) = publishers_word(&pulled.annotations, key) {
                out.text(label, &text)?;
            }
        }
        out.word("component", &format!("sha256:{}", pulled.digest))?;
        out.text("size", &report::bytes(pulled.component.len() as u64))?;
        out.text("scale", &report::scale(info))?;
        out.text("severity", &report::severity(info))?;
        out.text("reads", &report::reads(info))?;
        let imports = match &anatomy.imports[..] {
            [] => "nothing".to_owned(),
            imports => imports.join("\n"),
        };
        out.text("imports", &imports)?;
        let grants: Vec<String> = anatomy.grants().iter().map(|it| it.to_string()).collect();
        if !grants.is_empty() {
            out.text("needs", &format!("the grant {}", grants.join(", ")))?;
        }
        out.text("configuration", &configuration(info))?;
        out.text("example", &example.words())?;
        match self.signer() {
            Some(signer) => out.word("signed by", signer.as_str()),
            None => out.text("signed by", NOT_SIGNED),
        }
    }
}

/// `Word Count (word-count)`.
fn named(name: &str, id: &str) -> String {
    format!("{} ({id})", report::one_line(name, MAX_WORD))
}

/// The keys of a configuration, one line each.
fn configuration(info: &ScorerInfo) -> String {
    let keys = info.config_schema.as_deref().map(report::config_keys).unwrap_or_default();
    match &keys[..] {
        [] => "none".to_owned(),
        keys => first_lines(keys.iter().map(key_words)),
    }
}

/// The first of these lines, and how many more there are.
pub(super) fn first_lines(lines: impl ExactSizeIterator<Item = String>) -> String {
    let more = lines.len().saturating_sub(MAX_KEYS);
    let mut shown: Vec<String> = lines.take(MAX_KEYS).collect();
    if more > 0 {
        shown.push(format!("… and {} more", report::count(more as u64)));
    }
    shown.join("\n")
}

/// The signature of a scorer, after verification.
fn signature_of(address: &Address, pulled: &Pulled) -> Result<Option<Signature>, Failure> {
    let refused = |error: String| {
        Failure::new(format!("`{address}`: {error}")).hint(
            "what is published was changed after it was signed, or was never signed as it says",
        )
    };
    let signature = Signature::of_annotations(&pulled.annotations);
    let signature = signature.map_err(|error| refused(error.to_string()))?;
    if let Some(signature) = &signature {
        signature.verify(&pulled.component).map_err(|error| refused(error.to_string()))?;
    }
    Ok(signature)
}

/// `max: whole number, required: the most words`. All of it is untrusted, and is shown as one line of limited length.
pub(super) fn key_words(key: &ConfigKey) -> String {
    let word = |text: &str| report::one_line(text, MAX_WORD);
    let default = match key.default.as_str() {
        "" => String::new(),
        "required" => ", required".to_owned(),
        default => format!(" (default {})", word(default)),
    };
    let description = match key.description.as_str() {
        "" => String::new(),
        description => format!(": {}", report::one_line(description, MAX_MEANING)),
    };
    format!("{}: {}{default}{description}", word(&key.name), word(&key.kind))
}

/// Refuses a component whose tag is not its version: it may be an old version published as a new one.
fn must_be_of_its_tag(address: &Address, info: &ScorerInfo) -> Result<(), Failure> {
    if info.version == address.tag() {
        return Ok(());
    }
    let version = report::one_line(&info.version, 80);
    Err(Failure::new(format!("`{address}`: the component's version is {version}, which differs from its tag"))
        .hint("add it by the tag of its version, if there is one; a tag such as `latest` names another scorer tomorrow"))
}
