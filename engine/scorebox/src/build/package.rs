//! What cargo knows about a crate: its library, its workspace, and its dependencies. It compiles nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::digest::Digest;

use super::{
    BuildError, Packages, ToolOutput,
    cargo::{cargo, run},
    toolchain::TARGET,
};

/// The crate whose `export!` supports `scorebox build`.
const SDK: &str = "scorebox-sdk";

/// What cargo knows about a crate.
pub(super) struct Package {
    /// Cargo's unique id for it: its folder, its name and its version.
    id: String,
    /// Its Cargo.toml.
    manifest: PathBuf,
    /// Its name.
    pub(super) name: String,
    /// The name of its library.
    library: String,
    /// The folder of its workspace.
    pub(super) workspace: PathBuf,
    /// The folder in which cargo builds.
    pub(super) target_folder: PathBuf,
    /// The folders of path dependencies outside the workspace, with their crates' names.
    pub(super) outside: Vec<(String, PathBuf)>,
    /// The names of all packages that it depends on, directly or indirectly.
    pub(super) dependencies: BTreeSet<String>,
    /// Whether it depends on no other crate of its workspace.
    pub(super) is_alone: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct MetadataPackage {
    id: String,
    name: String,
    manifest_path: PathBuf,
    source: Option<String>,
    targets: Vec<MetadataTarget>,
}

#[derive(Deserialize)]
struct MetadataTarget {
    name: String,
    crate_types: Vec<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    dependencies: Vec<String>,
}

impl Metadata {
    /// Whether a package's folder is in the workspace's folder.
    fn is_in_workspace(&self, package: &MetadataPackage) -> bool {
        package.manifest_path.starts_with(&self.workspace_root)
    }

    fn folders_outside(&self) -> Vec<(String, PathBuf)> {
        let paths = self.packages.iter().filter(|package| package.source.is_none());
        paths
            .filter(|package| !self.is_in_workspace(package))
            .filter_map(|package| Some((&package.name, package.manifest_path.parent()?)))
            .map(|(name, folder)| (name.clone(), folder.to_owned()))
            .collect()
    }

    /// All dependencies of a package.
    fn dependencies_of(&self, id: &str) -> Vec<&MetadataPackage> {
        let nodes: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![id]);
        while let Some(id) = waiting.pop() {
            for dependency in nodes.get(id).into_iter().flat_map(|node| &node.dependencies) {
                if seen.insert(dependency.as_str()) {
                    waiting.push(dependency);
                }
            }
        }
        self.packages.iter().filter(|package| seen.contains(package.id.as_str())).collect()
    }
}

/// Checks whether `folder` has a crate's Cargo.toml, as far as this is possible without cargo and a compiler.
///
/// # Errors
/// [`BuildError::NotACrate`]; [`BuildError::OnlyAWorkspace`]; [`BuildError::Unexpected`] if it is not TOML.
pub fn must_be_a_crate(folder: &Path) -> Result<(), BuildError> {
    let path = folder.join("Cargo.toml");
    if !path.is_file() {
        return Err(BuildError::NotACrate(folder.to_owned()));
    }
    let text = fs::read_to_string(&path).map_err(BuildError::file(&path))?;
    let table = text.parse::<toml::Table>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let reason = format!("line {line}: {}", error.message());
        BuildError::Unexpected { path: path.clone(), reason }
    })?;
    match table.contains_key("package") {
        true => Ok(()),
        false => Err(BuildError::OnlyAWorkspace(path)),
    }
}

impl Package {
    /// Whether it depends on the SDK, directly or through another crate.
    pub(super) fn uses_sdk(&self) -> bool {
        self.dependencies.contains(SDK)
    }

    /// The name of its library in file names.
    pub(super) fn library_file(&self) -> String {
        self.library.replace('-', "_")
    }

    /// What its module is made from, except for its sources, which cargo checks each time.
    pub(super) fn identity(&self) -> Digest {
        let files = [
            self.manifest.clone(),
            self.workspace.join("Cargo.toml"),
            self.workspace.join("Cargo.lock"),
        ];
        // If one cannot be read, cargo reports it.
        let files = files.map(|file| fs::read(file).unwrap_or_default());
        let files = files.iter().map(Vec::as_slice);
        Digest::of_parts([self.id.as_bytes()].into_iter().chain(files))
    }

    /// The package of a Cargo.toml.
    pub(super) fn read(manifest: &Path) -> Result<Package, BuildError> {
        let mut cargo = cargo();
        cargo.args(["metadata", "--format-version=1", "--manifest-path"]).arg(manifest);
        let answer = run(cargo, ToolOutput::Captured)?;
        let metadata: Metadata = serde_json::from_slice(&answer)
            .map_err(|error| BuildError::Metadata(error.to_string()))?;
        let manifest = fs::canonicalize(manifest).map_err(BuildError::file(manifest))?;
        let package = metadata
            .packages
            .iter()
            .find(|package| {
                fs::canonicalize(&package.manifest_path).is_ok_and(|path| path == manifest)
            })
            .ok_or_else(|| BuildError::NotACrate(manifest.clone()))?;
        let library = package
            .targets
            .iter()
            .find(|target| target.crate_types.iter().any(|kind| kind == "cdylib"))
            .ok_or_else(|| BuildError::NotACdylib(package.name.clone()))?;
        let dependencies = metadata.dependencies_of(&package.id);
        let in_workspace =
            |it: &MetadataPackage| it.source.is_none() && metadata.is_in_workspace(it);
        Ok(Package {
            id: package.id.clone(),
            name: package.name.clone(),
            library: library.name.clone(),
            dependencies: dependencies.iter().map(|it| it.name.clone()).collect(),
            is_alone: !dependencies.iter().any(|it| in_workspace(it)),
            outside: metadata.folders_outside(),
            workspace: metadata.workspace_root.clone(),
            target_folder: metadata.target_directory.clone(),
            manifest,
        })
    }
}

/// The packages from which the crate of a Cargo.toml is compiled, with the features that it enables itself, and those
/// that run while it is compiled.
pub(super) fn compiled_packages(manifest: &Path) -> Result<Packages, BuildError> {
    let mut cargo = cargo();
    cargo
        .args(["tree", "--target", TARGET, "--edges=normal,build", "--prefix=none"])
        .args(["--format={p}", "--manifest-path"])
        .arg(manifest);
    Ok(packages_of_tree(&String::from_utf8_lossy(&run(cargo, ToolOutput::Captured)?)))
}

/// The packages in cargo's lines: `name vVERSION`, followed by the origin in parentheses, unless that is the usual
/// registry.
fn packages_of_tree(tree: &str) -> Packages {
    let package = |line: &str| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        Some(format!("{name} {version}"))
    };
    tree.lines().filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::{Packages, packages_of_tree};

    #[test]
    fn each_package_of_cargos_tree_is_listed_once() {
        let tree = "mine v0.1.0 (/src/mine)\nserde v1.0.229\nserde_derive v1.0.229 (proc-macro)\n\
                    syn v3.0.9\n\nserde v1.0.229 (*)\nsyn v2.0.119\n";
        let packages = packages_of_tree(tree);
        let text = "mine 0.1.0, serde 1.0.229, serde_derive 1.0.229, syn 2.0.119, syn 3.0.9";
        assert_eq!(String::from(packages.clone()), text);
        assert_eq!(Packages::from(text.to_owned()), packages);
        assert!(Packages::from(String::new()).is_empty());
    }
}
