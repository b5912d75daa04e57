//! Signs with the secret key in a minisign file, and asks the user for its password. It stores neither.

use std::{
    io::{self, IsTerminal as _},
    path::Path,
};

use scorebox_community::{NotSigned, Signature};
use zeroize::Zeroizing;

use crate::{failure::Failure, input, setup, waiting::Waiting};

/// The largest key file, in bytes.
const MAX_KEY_BYTES: u64 = 4096;

/// The signature of some bytes with the key in the file at `path`.
pub(crate) fn sign(bytes: &[u8], path: &Path) -> Result<Signature, Failure> {
    let key = Zeroizing::new(input::read_file(path, MAX_KEY_BYTES)?);
    let failed = |error: &NotSigned| {
        let failure = Failure::new(format!("cannot sign with `{}`: {error}", path.display()));
        match error {
            NotSigned::NotAKey => {
                failure.hint("`minisign -G` makes a pair of keys; name the file of the secret one")
            }
            NotSigned::PasswordWanted => {
                failure.hint("set SCOREBOX_SIGNING_PASSWORD, or run the command on a terminal")
            }
            NotSigned::WrongPassword if setup::signing_password().is_some() => {
                failure.hint("it is the value of SCOREBOX_SIGNING_PASSWORD")
            }
            _ => failure,
        }
    };
    let signed = match Signature::make(bytes, &key, setup::signing_password()) {
        Err(NotSigned::PasswordWanted) if io::stdin().is_terminal() => {
            let password = rpassword::prompt_password("Password of the key: ");
            let password = password.ok().map(Zeroizing::new);
            let _waiting = Waiting::on("signing");
            Signature::make(bytes, &key, password)
        }
        signed => signed,
    };
    signed.map_err(|error| failed(&error))
}
