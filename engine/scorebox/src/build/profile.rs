//! How guests are compiled: the settings of cargo's profiles and the compiler's flags that are the same for all of
//! them. Compiles nothing.

/// The profile that guests are built with, passed to cargo so that no author needs to write it.
pub(super) const PROFILE: &str = "scorebox-guest";
/// The profile that it inherits what it does not set from.
pub(super) const INHERITED_PROFILE: &str = "release";
/// The profiles whose settings in a workspace's Cargo.toml decide what a guest is compiled to.
pub(super) const PROFILES: [&str; 2] = [INHERITED_PROFILE, PROFILE];
/// The profile of components that only describe themselves: compiled soon, and thrown away.
pub(super) const DESCRIBING_PROFILE: &str = "scorebox-describe";
/// What the profiles of both components set, whatever the workspace says.
pub(super) const SETTINGS_OF_BOTH: [&str; 4] = [
    "panic=\"abort\"",
    "debug=false",
    // Function names stay: a trap's backtrace is made of them.
    "strip=\"debuginfo\"",
    "incremental=false",
];
/// What is set for the component that is kept.
pub(super) const SETTINGS: [&str; 3] = ["opt-level=3", "lto=true", "codegen-units=1"];
/// What is set for the one that only describes itself.
pub(super) const DESCRIBING_SETTINGS: [&str; 2] = ["opt-level=1", "lto=\"off\""];
/// Packages that are compiled to be small, if a guest has them. This one writes floats, and has tables of 16 KB if it
/// is to be quick. For others it does not pay: what such a package and another one both use is then in the component
/// twice.
const SMALL_PACKAGES: [&str; 1] = ["zmij"];
/// Has crates that need random numbers ask the SDK for them.
pub(super) const GETRANDOM: &str = "--cfg=getrandom_backend=\"custom\"";
/// Bytes of a guest's stack: deep enough for JSON nested as deep as serde_json reads it.
const STACK_BYTES: u32 = 256 << 10;

/// What decides the bytes of a guest beside its sources and its compiler, if these packages are compiled for it.
pub(super) fn settings(is_compiled: impl Fn(&str) -> bool) -> Vec<String> {
    let mut all = vec![GETRANDOM.to_owned()];
    all.extend(SETTINGS_OF_BOTH.into_iter().chain(SETTINGS).map(str::to_owned));
    all.push(stack_flag());
    all.extend(small_packages(is_compiled));
    all
}

/// The profile's settings for packages that are compiled to be small.
pub(super) fn small_packages(is_compiled: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    let small = SMALL_PACKAGES.into_iter().filter(move |name| is_compiled(name));
    small.map(|name| format!("package.{name}.opt-level=\"s\""))
}

/// Has the linker leave room for the stack.
pub(super) fn stack_flag() -> String {
    format!("-Clink-arg=-zstack-size={STACK_BYTES}")
}
