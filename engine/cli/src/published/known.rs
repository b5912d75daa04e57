//! Checks whether the versions of a published scorer that are newer than the suite's are known. It contacts no
//! registry.

use scorebox_community::{Address, CommunityError, Failed, Releases};

use crate::{
    arguments::{Asked, OciArguments},
    failure::Failure,
};

/// The most versions that a message lists.
const MAX_NAMED: usize = 5;

/// Refuses releases that cannot be compared with the version at `address`: they do not show that it is the newest.
pub(crate) fn newest_must_be_known(
    address: &Address,
    releases: &Releases,
    oci: &OciArguments,
) -> Result<(), Failure> {
    let tag = address.tag();
    if !Releases::are_compared_with(tag) {
        let message = format!("its version {tag} cannot be compared: it is not one such as 1.2.0");
        return Err(Failure::new(message)
            .hint("name the version to update to: scorebox update NAME --to VERSION"));
    }
    // Newer versions are known, even if the registry has lost this one.
    if releases.has(tag) || releases.newer(tag).is_some() {
        return Ok(());
    }
    let there = releases.newest_of_all(MAX_NAMED);
    if !there.is_empty() {
        let place = format!("{}/{}", address.registry(), address.name());
        return Err(Failure::new(format!("{tag} is no longer published at {place}")).hint(
            format!(
                "versions there: {}; take one: scorebox update NAME --to VERSION{}",
                there.join(", "),
                oci.again()
            ),
        ));
    }
    let (name, tag) = (address.name().to_owned(), tag.to_owned());
    let missing = CommunityError::new(address.registry(), Failed::Missing { name, tag });
    Err(oci.failure(&missing, Asked::ToFetch))
}
