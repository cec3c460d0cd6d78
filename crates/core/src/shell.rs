//! Words of a command line that a person may copy.
//!
//! Owns how each is quoted for a POSIX shell. It runs nothing and reads no command line.

use std::ffi::OsStr;

/// A word as a shell takes it.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref().to_string_lossy();
    // A NUL is no part of a command line.
    shlex::try_quote(&word).map_or_else(|_| "''".to_owned(), |it| it.into_owned())
}
