//! How guests are compiled: the settings of cargo's profiles and the compiler flags that are the same for all of them.
//! It compiles nothing.

/// The profile for building guests, which is passed to cargo so that authors need not write it.
pub(super) const PROFILE: &str = "scorebox-guest";
/// The profile from which it inherits the settings that it does not set.
pub(super) const INHERITED_PROFILE: &str = "release";
/// The profiles whose settings in a workspace's Cargo.toml affect the code of a guest.
pub(super) const PROFILES: [&str; 2] = [INHERITED_PROFILE, PROFILE];
/// The profile of components that only describe themselves: they compile quickly, and are thrown away.
pub(super) const DESCRIBING_PROFILE: &str = "scorebox-describe";
/// The settings of both components, whatever the workspace sets.
pub(super) const SETTINGS_OF_BOTH: [&str; 4] = [
    "panic=\"abort\"",
    "debug=false",
    // Function names stay, because a trap's backtrace shows them.
    "strip=\"debuginfo\"",
    "incremental=false",
];
/// The settings of the component that is kept.
pub(super) const SETTINGS: [&str; 3] = ["opt-level=3", "lto=true", "codegen-units=1"];
/// The settings of the component that only describes itself.
pub(super) const DESCRIBING_SETTINGS: [&str; 2] = ["opt-level=1", "lto=\"off\""];
/// Packages that are optimized for size, if a guest has them. This package writes floats, and has tables of 16 KB when
/// it is optimized for speed. For other packages this is not worthwhile: code that such a package shares with another
/// one is then in the component twice.
const SMALL_PACKAGES: [&str; 1] = ["zmij"];
/// Makes crates that need random numbers ask the SDK for them.
pub(super) const GETRANDOM: &str = "--cfg=getrandom_backend=\"custom\"";
/// The stack of a guest in bytes: deep enough for JSON nested as deeply as serde_json reads it.
const STACK_BYTES: u32 = 256 << 10;

/// What determines the bytes of a guest, apart from its sources and its compiler, if these packages are compiled for
/// it.
pub(super) fn settings(is_compiled: impl Fn(&str) -> bool) -> Vec<String> {
    let mut all = vec![GETRANDOM.to_owned()];
    all.extend(SETTINGS_OF_BOTH.into_iter().chain(SETTINGS).map(str::to_owned));
    all.push(stack_flag());
    all.extend(small_packages(is_compiled));
    all
}

/// The profile's settings for packages that are optimized for size.
pub(super) fn small_packages(is_compiled: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    let small = SMALL_PACKAGES.into_iter().filter(move |name| is_compiled(name));
    small.map(|name| format!("package.{name}.opt-level=\"s\""))
}

/// Makes the linker leave room for the stack.
pub(super) fn stack_flag() -> String {
    format!("-Clink-arg=-zstack-size={STACK_BYTES}")
}
