//! A published scorer as its registry has it now, and what is found by looking at it: its signature, what it says about itself, and its
//! own example. Asks nobody whether it is wanted.

use std::{collections::BTreeMap, io};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::ScorerInfo,
    sandbox::{Anatomy, Limits, Sandbox},
    suite::SuiteScorer,
};
use scorebox_community::{Address, Locked, Pulled, Registry, Signature, Signed, Signer, pull};

use crate::{
    arguments::{Asked, OciArguments},
    failure::Failure,
    lock_file::LockFile,
    locked,
    output::Out,
    report::{self, ConfigKey},
    trust::{Claims, Trust},
    waiting::{COMPILING, Waiting},
};

use super::ExampleRun;

/// The words about a scorer without a signature, after `signed by`.
pub(crate) const NOT_SIGNED: &str = "not signed: nothing proves who published it";

/// What a publisher says about a scorer that nothing checks: its label, and the annotation that has it.
pub(super) const PUBLISHERS_WORDS: [(&str, &str); 2] = [
    ("licence", "org.opencontainers.image.licenses"),
    ("source", "org.opencontainers.image.source"),
];

/// One of these.
pub(super) fn publishers_word(annotations: &BTreeMap<String, String>, key: &str) -> Option<String> {
    annotations.get(key).map(|text| report::one_line(text, 200))
}

/// What is known of a scorer that was fetched.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub address: Address,
    pub pulled: Pulled,
    /// The component that was pulled.
    pub component: ComponentBytes,
    pub anatomy: Anatomy,
    pub info: ScorerInfo,
    /// The signature that it carries, which is one of the component.
    pub signature: Option<Signature>,
    pub example: ExampleRun,
}

impl Candidate {
    /// Fetches what the registry has under its address, and looks at it.
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

    /// Whose signature it carries.
    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.signature.as_ref().map(Signature::signer)
    }

    /// What a suite uses it as.
    pub(crate) fn uses(&self) -> String {
        format!("oci://{}", self.address)
    }

    /// What it is locked to.
    pub(crate) fn locked(&self) -> Locked {
        let Pulled { digest, manifest, .. } = self.pulled;
        let bare = Locked::new(self.address.clone(), digest, manifest, "")
            .signed(self.signature.clone().map(Signed::By));
        locked::lock_of(&bare, self.info.reads, &self.anatomy)
    }

    /// Refuses to lock its address to another component than that which it is locked to, and to another signer, unless it is the one whom
    /// the user names.
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

    /// Whether another manifest is published now than that by which its address was locked to the same component.
    pub(crate) fn has_moved_since(&self, lock: &LockFile) -> bool {
        let locked = lock.lock.get(&self.address.to_string());
        locked.is_some_and(|locked| locked.manifest != self.pulled.manifest)
    }

    /// Loads it with the configuration and the limits of a suite's entry, and refuses one that does not take them.
    pub(crate) async fn must_load_as(
        &self,
        scorer: &SuiteScorer,
        sandbox: &Sandbox,
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
            "nothing was changed; write `use = \"{}\"` and its `config` by hand, and lock it: scorebox add {} --as {}",
            self.uses(),
            self.address,
            scorer.id
        );
        Err(Failure { message, hint: Some(hint), ..failure })
    }

    /// Refuses a scorer that is not what it promises.
    pub(crate) fn must_be_usable(&self) -> Result<(), Failure> {
        match self.example.fault() {
            Some(fault) => {
                Err(Failure::new(fault).hint("report it to its publisher; nothing was changed"))
            }
            None => Ok(()),
        }
    }

    /// What a person needs to decide.
    pub(crate) fn write(&self, out: &mut Out<'_>) -> io::Result<()> {
        let Candidate { pulled, anatomy, info, example, address, .. } = self;
        let mut line = |label: &str, text: &str| labelled(out, label, text);
        line("scorer", &format!("{} ({}), version {}", info.name, info.id, info.version))?;
        if !info.description.is_empty() {
            line("", &info.description)?;
        }
        line("from", &address.to_string())?;
        for (label, key) in PUBLISHERS_WORDS {
            if let Some(text) = publishers_word(&pulled.annotations, key) {
                line(label, &text)?;
            }
        }
        line("component", &format!("sha256:{}", pulled.digest))?;
        line("size", &report::bytes(pulled.component.len() as u64))?;
        line("scale", &report::scale(info))?;
        line("severity", &report::severity(info))?;
        line("reads", &report::reads(info))?;
        let imports = match &anatomy.imports[..] {
            [] => "nothing".to_owned(),
            imports => imports.join("\n"),
        };
        line("imports", &imports)?;
        let grants: Vec<String> = anatomy.grants().iter().map(|it| it.to_string()).collect();
        if !grants.is_empty() {
            line("needs", &format!("the grant {}", grants.join(", ")))?;
        }
        let keys = info.config_schema.as_deref().map(report::config_keys).unwrap_or_default();
        if keys.is_empty() {
            line("configuration", "none")?;
        }
        for (index, key) in keys.iter().enumerate() {
            let label = if index == 0 { "configuration" } else { "" };
            line(label, &key_words(key))?;
        }
        line("example", &example.words())?;
        match self.signer() {
            Some(signer) => line("signed by", signer.as_str()),
            None => line("signed by", NOT_SIGNED),
        }
    }
}

/// Lines of text behind a label.
pub(crate) fn labelled(out: &mut Out<'_>, label: &str, text: &str) -> io::Result<()> {
    let text = report::printable(text);
    let labels = [label].into_iter().chain(std::iter::repeat(""));
    text.lines()
        .zip(labels)
        .try_for_each(|(text, label)| writeln!(out, "{}", format!("{label:<14}{text}").trim_end()))
}

/// The signature that a scorer carries.
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

/// `max: whole number, required: the most words`.
pub(super) fn key_words(key: &ConfigKey) -> String {
    let ConfigKey { name, kind, default, description, .. } = key;
    let default = match default.as_str() {
        "" => String::new(),
        "required" => ", required".to_owned(),
        default => format!(" (default {default})"),
    };
    let description =
        if description.is_empty() { String::new() } else { format!(": {description}") };
    format!("{name}: {kind}{default}{description}")
}

/// Refuses a component under a tag that is not its version: an old one that is handed out as a new one.
fn must_be_of_its_tag(address: &Address, info: &ScorerInfo) -> Result<(), Failure> {
    if info.version == address.tag() {
        return Ok(());
    }
    let version = report::one_line(&info.version, 80);
    Err(Failure::new(format!("`{address}`: the component's version is {version}, which differs from its tag"))
        .hint("add it by the tag of its version, if there is one; a tag such as `latest` names another scorer tomorrow"))
}
