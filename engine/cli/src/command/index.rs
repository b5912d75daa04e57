//! `scorebox index`: makes an index of published scorers, each as it is in its registry, signs it, and writes it to a
//! file and a registry.

use std::{
    io,
    path::{Path, PathBuf},
};

use scorebox::{
    component_bytes::ComponentBytes,
    contract::Field,
    sandbox::{Anatomy, Capabilities, Limits, Sandbox},
};
use scorebox_community::{
    Address, CommunityError, InPlaceOf, Index as Document, IndexEntry, IndexError, IndexFailed,
    MAX_INDEX_BYTES, Signature, SignedIndex, Signer, newest, publish_index, pull,
};

use crate::{
    arguments::{Asked, OciArguments, REPAIRED, address},
    failure::{Exit, Failure, WriteError},
    input,
    new_file::NewFile,
    output, report,
    setup::{self, SandboxArguments},
    signing_key,
    waiting::Waiting,
    words,
};

/// The most bytes of a file with a signature.
const MAX_SIGNATURE_BYTES: u64 = 1024;

/// Make an index of published scorers, in which `scorebox search` finds them
///
/// Fetches each scorer, checks its signature, asks it in the sandbox what it is, and writes what it says into the
/// index: a file to put on any web server, with its signature beside it. If the file exists, it is replaced by one with
/// the next serial number; if nothing has changed, it stays as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct Index {
    /// The scorers: REGISTRY/NAME:VERSION; `1.2` is the newest version that begins with it
    #[arg(required = true, value_name = "ADDRESS", value_parser = address)]
    addresses: Vec<Address>,

    /// The file to write; its signature is beside it, and ends in `.minisig`
    #[arg(long, short, value_name = "FILE", default_value = "index.json", help_heading = "Output")]
    output: PathBuf,

    /// What the index is called [default: the name in the existing file]
    #[arg(long, help_heading = "Output")]
    name: Option<String>,

    /// Its serial number; users refuse a lower one than they have seen [default: one more than in the existing file]
    #[arg(long, value_name = "NUMBER", help_heading = "Output")]
    serial: Option<u64>,

    /// Sign it with this secret key of minisign; SCOREBOX_SIGNING_PASSWORD is its password, or you are asked for it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    sign: Option<PathBuf>,

    /// Publish it in a registry as well, in place of an older one: REGISTRY/NAME:TAG
    #[arg(
        long,
        value_name = "ADDRESS",
        value_parser = address,
        requires = "sign",
        help_heading = "Output"
    )]
    publish: Option<Address>,

    /// Publish it in place of an index that another key signed, or nobody
    #[arg(long, requires = "publish", help_heading = "Output")]
    replace: bool,

    #[command(flatten)]
    oci: OciArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Index {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let before = self.before()?;
        let name = self.name.as_deref().or(before.as_ref().map(|it| it.name.as_str()));
        let name = name.ok_or_else(|| {
            Failure::new("the index has no name").hint("give it one that stays: --name NAME")
        })?;
        if let Some(before) = before.as_ref().filter(|before| before.name != name) {
            let file = self.output.display();
            let message = format!("`{file}` is the index `{}`, and not `{name}`", before.name);
            return Err(Failure::new(message).hint(
                "users refuse an index whose name changes: leave --name out, or write another file with --output",
            ));
        }
        let sandbox = self.sandbox.open(1, Capabilities::none())?;
        let entries = setup::finish(setup::small_runtime()?, self.entries(&sandbox))?;
        let index = self.made(name, entries, before.as_ref())?;
        let stays = before.as_ref() == Some(&index);
        let text = match stays {
            true => input::read_file(&self.output, MAX_INDEX_BYTES as u64)?,
            false => report::printable_json(&index.text()).into_owned(),
        };
        // If the key cannot sign, both files stay as they are.
        let signed = self.sign.as_ref().map(|key| self.signed(&text, key)).transpose()?;
        if stays {
            let shown = self.output.display();
            words::say(&format!("{shown} says this already, and stays as it is"));
        } else {
            write(&self.output, &text)?;
        }
        if let Some(signed) = &signed {
            self.write_signature(signed.signature())?;
        }
        if signed.is_none() && before.as_ref() != Some(&index) {
            self.warn_of_signature();
        }
        if let (Some(address), Some(signed)) = (&self.publish, &signed) {
            self.published(address, signed)?;
        }
        output::stdout(|out| {
            let mut line = |label: &str, text: &str| writeln!(out, "{label:<11}{text}");
            line("index", &format!("{}, serial number {}", index.name, index.serial))?;
            line("scorers", &report::count(index.scorers.len() as u64))?;
            line("written", &self.output.display().to_string())?;
            match &signed {
                Some(signed) => line("signed by", signed.signature().signer().as_str())?,
                None => line("signed by", "not signed")?,
            }
            match &self.publish {
                Some(address) => line("published", &format!("oci://{address}")),
                None => Ok(()),
            }
        })?;
        if signed.is_none() {
            let shown = report::shell_word(&self.output);
            words::hint(&format!(
                "users take it only with a signature beside it: --sign KEY, or minisign -Sm {shown}"
            ));
        }
        Ok(Exit::Done)
    }

    /// The index in the existing file; `None` if there is no such file.
    fn before(&self) -> Result<Option<Document>, Failure> {
        let is_missing = matches!(
            self.output.symlink_metadata(),
            Err(error) if error.kind() == io::ErrorKind::NotFound
        );
        if is_missing {
            return Ok(None);
        }
        let text = input::read_file(&self.output, MAX_INDEX_BYTES as u64)?;
        let document = Document::parse(text.as_bytes()).map_err(|error| {
            let message =
                format!("`{}` exists and is not an index: {error}", self.output.display());
            Failure::new(message).hint("name another file, or delete this one")
        })?;
        Ok(Some(document))
    }

    async fn entries(&self, sandbox: &Sandbox) -> Result<Vec<IndexEntry>, Failure> {
        let waiting = Waiting::of("reading scorers", self.addresses.len() as u64);
        let mut entries = Vec::new();
        for (done, address) in self.addresses.iter().enumerate() {
            waiting.at(done as u64);
            let entry = self.entry(address, sandbox).await?;
            if entries.iter().any(|there: &IndexEntry| there.address == entry.address) {
                return Err(Failure::new(format!("`{}` is named twice", entry.address)));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// The index's entry for one scorer.
    async fn entry(&self, address: &Address, sandbox: &Sandbox) -> Result<IndexEntry, Failure> {
        let registry = self.oci.registry(address, Asked::ToFetch)?;
        let failure = |error| self.oci.failure(&error, Asked::ToFetch);
        let registry = newest(registry).await.map_err(failure)?;
        let pulled = pull(&registry).await.map_err(failure)?;
        let address = registry.address();
        let refused = |reason: &str| {
            Failure::new(report::printable(&format!("`{address}`: {reason}")))
                .hint("no index was written: leave it out, or ask its publisher")
        };
        let signer: Option<Signer> = pulled.signer().map_err(|it| refused(&it.to_string()))?;
        let component = ComponentBytes::new(pulled.component.to_vec());
        let anatomy = Anatomy::read(&pulled.component)?;
        let info = sandbox.describe(&component, &Limits::default(), anatomy.grants()).await;
        let info = info.map_err(|error| refused(&error.to_string()))?;
        if info.version != address.tag() {
            let version = report::one_line(&info.version, 80);
            return Err(refused(&format!(
                "the component's version is {version}, which differs from its tag"
            )));
        }
        let contract = anatomy.contract_version().unwrap_or_default();
        let said = |key: &str| {
            let text = pulled.annotations.get(&format!("org.opencontainers.image.{key}"));
            text.map(String::as_str)
        };
        let bytes = component.length();
        let reads = info.reads.iter().map(|field: Field| field.key().to_owned()).collect();
        let grants = anatomy.grants().iter().map(|grant| grant.to_string()).collect();
        Ok(IndexEntry::new(address.clone(), &info.id, contract, pulled.digest, bytes)
            .described(&info.name, &info.description)
            .published_with(said("licenses"), said("source"))
            .signed_by(signer)
            .using(reads, anatomy.imports.clone(), grants))
    }

    /// The index of these entries, or the existing index if it has the same entries.
    fn made(
        &self,
        name: &str,
        entries: Vec<IndexEntry>,
        before: Option<&Document>,
    ) -> Result<Document, Failure> {
        let invalid =
            |error| Failure::new(report::printable(&format!("this cannot be an index: {error}")));
        let made = |serial: u64| Document::new(name, serial, entries.clone()).map_err(invalid);
        let Some(before) = before else { return made(self.serial.unwrap_or(1)) };
        if let Some(serial) = self.serial {
            let new = made(serial)?;
            if serial < before.serial || (serial == before.serial && new != *before) {
                return Err(Failure::new(format!(
                    "the serial number of `{}` is {} already",
                    self.output.display(),
                    before.serial
                ))
                .hint("users refuse an index whose number does not grow: give it a higher one"));
            }
            return Ok(new);
        }
        let same = made(before.serial)?;
        match same == *before {
            true => Ok(same),
            // No index has the highest possible number.
            false => made(before.serial.saturating_add(1)),
        }
    }

    /// The path of its signature.
    fn beside(&self) -> PathBuf {
        let mut beside = self.output.clone().into_os_string();
        beside.push(".minisig");
        beside.into()
    }

    /// Warns that the signature beside the file is not of the new index.
    fn warn_of_signature(&self) {
        let beside = self.beside();
        if beside.exists() {
            words::warn(&format!(
                "{} is a signature of the index as it was before, with which users refuse this one",
                beside.display()
            ));
        }
    }

    /// The signed index. It reuses the signature beside the file if that is of this index and by this key.
    fn signed(&self, document: &str, key: &Path) -> Result<SignedIndex, Failure> {
        let signature = signing_key::sign(document.as_bytes(), key)?;
        let open =
            |text: &str| SignedIndex::open(document.to_owned().into(), text, signature.signer());
        if let Some(signed) = self.signature_there().and_then(|there| open(&there).ok()) {
            return Ok(signed);
        }
        open(signature.text())
            .map_err(|error| Failure::new(format!("cannot sign the index: {error}")))
    }

    fn signature_there(&self) -> Option<String> {
        input::read_file(&self.beside(), MAX_SIGNATURE_BYTES).ok()
    }

    /// Writes the signature beside the file, unless it is there already.
    fn write_signature(&self, signature: &Signature) -> Result<(), Failure> {
        match self.signature_there().as_deref() == Some(signature.text()) {
            true => Ok(()),
            false => write(&self.beside(), signature.text()),
        }
    }

    fn published(&self, address: &Address, signed: &SignedIndex) -> Result<(), Failure> {
        let in_place_of = if self.replace { InPlaceOf::Others } else { InPlaceOf::Own };
        let published = setup::finish(setup::small_runtime()?, async {
            let _waiting = Waiting::on(format!("publishing at {}", address.registry()));
            let registry = self.oci.registry(address, Asked::ToPublish)?;
            let published = publish_index(&registry, signed, in_place_of).await;
            published.map_err(|error| self.not_published(address, &error))
        })?;
        if published.is_repaired {
            words::say(&format!("oci://{address} is published already; {REPAIRED}"));
        } else if !published.is_new {
            words::say(&format!("oci://{address} is published already, as it is here"));
        }
        Ok(())
    }

    fn not_published(&self, address: &Address, error: &IndexError) -> Failure {
        if let IndexFailed::Server(failed) = &error.failed {
            let error = CommunityError::new(address.registry(), failed.clone());
            return self.oci.failure(&error, Asked::ToPublish);
        }
        let failure = Failure::new(report::printable(&format!("cannot publish at {error}")));
        match &error.failed {
            IndexFailed::NotNewer { there, .. } => failure.hint(format!(
                "users refuse an index whose number does not grow: --serial {}",
                there.saturating_add(1)
            )),
            IndexFailed::NotOwn(_) => failure.hint(
                "those who use it would find an index that they do not trust: name another tag or, if it is yours to replace, --replace",
            ),
            _ => failure.hint("an index takes the place of an older index only: name another tag"),
        }
    }
}

/// Writes a file, completely or not at all, and replaces an existing one.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = NewFile::create(path, true)?;
    file.write(|out| out.write_all(text.as_bytes()).map_err(WriteError::Io))
}
