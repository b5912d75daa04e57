//! `scorebox publish`: publishes a scorer to an OCI registry, from which any registry client can fetch it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use scorebox::{
    contract::{CONTRACT_VERSION, ScorerInfo},
    registry::Reference,
    sandbox::{Anatomy, Capabilities, Limits, ScoreError},
};
use scorebox_community::{Address, Artifact, Releases, Signature, is_web_address, publish};

use crate::{
    arguments::{Asked, OciArguments, REPAIRED},
    failure::{Exit, Failure},
    output,
    published::ExampleRun,
    report,
    setup::{self, SandboxArguments},
    signing_key,
    waiting::{COMPILING, Waiting},
    words,
};

/// The most bytes of a description that are published. Lists of scorers show one line of it; the scorer itself has all
/// of it.
const MAX_DESCRIPTION_BYTES: usize = 1000;

/// Publish a scorer in an OCI registry, where scorebox and `wkg` find it
///
/// The scorer is compiled and asked what it is, and published with that: name, version, description and the version of
/// the contract. Its own example must have the score that it promises. A version that is published stays as it is: the
/// same scorer is not published twice, and another one under its tag is refused. Logins are those of `docker login`.
#[derive(Debug, clap::Args)]
pub(crate) struct Publish {
    /// The scorer's .wasm file
    #[arg(value_name = "FILE")]
    scorer: String,

    /// Where to publish it: REGISTRY/NAME:VERSION, such as `registry.example.com/team/grade:1.2.0`
    address: Address,

    /// Its licence, as an SPDX expression such as `MIT`
    #[arg(
        long,
        visible_alias = "licence",
        value_name = "SPDX",
        value_parser = license,
        help_heading = "What is published with it"
    )]
    license: Option<String>,

    /// Where its sources are, as a URL
    #[arg(long, value_name = "URL", value_parser = web_address, help_heading = "What is published with it")]
    source: Option<String>,

    /// Sign it with this secret key of minisign; SCOREBOX_SIGNING_PASSWORD is its password, or you are asked for it
    #[arg(long, value_name = "FILE", help_heading = "What is published with it")]
    sign: Option<PathBuf>,

    #[command(flatten)]
    oci: OciArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

/// Parses a licence in a form that other programs can read.
fn license(written: &str) -> Result<String, String> {
    match spdx::Expression::parse(written) {
        Ok(_) => Ok(written.to_owned()),
        Err(error) => Err(format!(
            "it is not an SPDX expression ({}), such as `MIT`, `MIT OR Apache-2.0` or, for a licence of your own, `LicenseRef-NAME`",
            error.reason
        )),
    }
}

/// Parses an address that a browser can open.
fn web_address(written: &str) -> Result<String, String> {
    match is_web_address(written) {
        true => Ok(written.to_owned()),
        false => {
            Err("it is not the address of a page, such as `https://git.example.com/team/grade`"
                .to_owned())
        }
    }
}

impl Publish {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let reference = Reference::parse(&self.scorer, Path::new(""));
        if matches!(reference, Reference::Name(_)) || reference.is_script() {
            let message = format!("`{}` is not the file of a component", self.scorer);
            return Err(
                Failure::new(message).hint("name the .wasm file that `scorebox build` made")
            );
        }
        let source = setup::registry().resolve(&reference)?;
        let (component, bytes) = (&source.component, source.component.bytes()?);
        let anatomy = Anatomy::read(bytes)?;
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let (info, example) = setup::finish(setup::small_runtime()?, async {
            let _waiting = Waiting::on(COMPILING);
            let info = sandbox.describe(component, &Limits::default(), anatomy.grants()).await?;
            let example = ExampleRun::of(&anatomy, component, &sandbox).await;
            Ok::<_, ScoreError>((info, example))
        })?;
        must_hold(&example)?;
        self.must_have_its_version(&info)?;
        if !Releases::are_compared_with(self.address.tag()) {
            words::warn(&format!(
                "{} is not a version such as 1.2.0: `scorebox outdated` and `update` cannot compare it with others",
                self.address.tag()
            ));
        }
        let signature = match &self.sign {
            Some(path) => Some(signing_key::sign(bytes, path)?),
            None => None,
        };
        let signer = signature.as_ref().map(|signature| signature.signer().clone());
        let mut annotations = self.annotations(&info);
        annotations.extend(signature.iter().flat_map(Signature::annotations));
        let artifact =
            Artifact::new(bytes.to_vec(), &anatomy.imports, &anatomy.exports, &annotations);
        let artifact = artifact
            .ok_or_else(|| Failure::new("what is published with the scorer is too long"))?;
        let published = setup::finish(setup::small_runtime()?, async {
            let _waiting = Waiting::on(format!("publishing at {}", self.address.registry()));
            let registry = self.oci.registry(&self.address, Asked::ToPublish)?;
            let published = publish(&registry, &artifact).await;
            published.map_err(|error| self.oci.failure(&error, Asked::ToPublish))
        })?;
        if published.is_repaired {
            words::say(&format!("{} is published already; {REPAIRED}", self.address));
        } else if !published.is_new {
            words::say(&format!("{} is published already, as it is here", self.address));
        }
        output::stdout(|out| {
            let mut line = |label: &str, text: &str| writeln!(out, "{label:<11}{text}");
            line("published", &self.address.to_string())?;
            line("scorer", &report::one_line(&format!("{} ({})", info.name, info.id), usize::MAX))?;
            line("component", &format!("sha256:{}", artifact.component_digest()))?;
            line("manifest", &format!("sha256:{}", published.digest))?;
            match &signer {
                Some(signer) => line("signed by", signer.as_str())?,
                None => line("signed by", "not signed")?,
            }
            line("size", &report::bytes(component.length()))
        })?;
        Ok(Exit::Done)
    }

    /// Refuses a tag that is not the scorer's version: the scorer would have two versions.
    fn must_have_its_version(&self, info: &ScorerInfo) -> Result<(), Failure> {
        if info.version == self.address.tag() {
            return Ok(());
        }
        let failure = Failure::new(format!(
            "the scorer's own version is `{}`, and the tag is `{}`",
            info.version,
            self.address.tag()
        ));
        Err(match self.address.with_tag(&info.version) {
            Ok(address) => failure.hint(format!(
                "publish it as {address}, or change the version that its `describe` gives"
            )),
            Err(_) => failure.hint(
                "change the version that its `describe` gives: a tag has letters, digits, `.`, `_` and `-`",
            ),
        })
    }

    fn annotations(&self, info: &ScorerInfo) -> BTreeMap<String, String> {
        let end = info.description.floor_char_boundary(MAX_DESCRIPTION_BYTES);
        let texts = [
            ("org.opencontainers.image.title", Some(info.id.as_str())),
            ("org.opencontainers.image.version", Some(&info.version)),
            ("org.opencontainers.image.description", Some(&info.description[..end])),
            ("org.opencontainers.image.licenses", self.license.as_deref()),
            ("org.opencontainers.image.source", self.source.as_deref()),
            ("scorebox.contract", Some(CONTRACT_VERSION)),
        ];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key, text?)));
        let texts = texts.filter(|(_, text)| !text.is_empty());
        texts.map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
    }
}

/// Refuses a scorer whose example does not get its promised score, because no one could add it.
fn must_hold(example: &ExampleRun) -> Result<(), Failure> {
    let Some(fault) = example.fault() else { return Ok(()) };
    let words = example.words();
    let said = words.lines().next().unwrap_or_default();
    Err(Failure::new(format!("{fault}: {said}")).hint(
        "`scorebox add` refuses such a scorer: correct its `example.json`, and build it again",
    ))
}
