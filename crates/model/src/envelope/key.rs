//! Fingerprints of an envelope's body.
//!
//! Owns the two there are. [`Key`] recognises a replay: line endings do not matter to it.
//! [`Hash`] binds a decision to a body: every byte matters, and `sha256sum` prints the same.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base64url digits of a SHA-256, without padding.
const KEY_LEN: usize = 43;

/// The idempotency key: base64url without padding of the SHA-256 over the body with LF line ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(String);

/// The SHA-256 over a body's bytes, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct Hash(String);

/// Text that is no fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}")]
pub struct InvalidPrint {
    what: &'static str,
    text: String,
}

impl Key {
    /// The key of a body.
    pub fn of(body: &str) -> Self {
        let digest = Sha256::digest(body.replace("\r\n", "\n").as_bytes());
        let mut text = String::with_capacity(KEY_LEN);
        for three in digest.chunks(3) {
            let word = three
                .iter()
                .fold(0_u32, |word, byte| (word << 8) | u32::from(*byte));
            let word = word << (8 * (3 - three.len()));
            let digits = (0..=three.len()).map(|at| (word >> (18 - 6 * at)) & 0x3f);
            text.extend(digits.filter_map(|digit| {
                let digit = ALPHABET.get(usize::try_from(digit).ok()?)?;
                Some(char::from(*digit))
            }));
        }
        Self(text)
    }

    /// The key as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Hash {
    /// The hash of a body.
    pub fn of(body: &[u8]) -> Self {
        let digest = Sha256::digest(body);
        let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
        Self(digits.collect())
    }

    /// The hash as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A padded key is the same key.
impl FromStr for Key {
    type Err = InvalidPrint;
    fn from_str(text: &str) -> Result<Self, InvalidPrint> {
        let bare = text.strip_suffix('=').unwrap_or(text);
        if bare.len() == KEY_LEN && bare.bytes().all(|byte| ALPHABET.contains(&byte)) {
            return Ok(Self(bare.to_owned()));
        }
        Err(invalid("the base64url of a SHA-256", text))
    }
}

impl FromStr for Hash {
    type Err = InvalidPrint;
    fn from_str(text: &str) -> Result<Self, InvalidPrint> {
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(invalid("a SHA-256, which has 64 hexadecimal digits", text))
    }
}

fn invalid(what: &'static str, text: &str) -> InvalidPrint {
    let text = text.chars().take(80).collect();
    InvalidPrint { what, text }
}

macro_rules! text_of {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = InvalidPrint;
            fn try_from(text: String) -> Result<Self, InvalidPrint> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(fingerprint: $name) -> Self {
                fingerprint.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_of!(Key);
text_of!(Hash);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trap_35_a_key_has_43_characters_and_is_read_with_44() {
        // printf 'abc' | openssl dgst -sha256 -binary | base64
        let key = Key::of("abc");
        assert_eq!(key.as_str(), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
        let padded: Key = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0="
            .parse()
            .unwrap();
        assert_eq!(padded, key);
        for bad in [
            "",
            "=",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0",
            "abc",
        ] {
            assert!(bad.parse::<Key>().is_err(), "{bad:?}");
        }
        assert!(format!("{key}==").parse::<Key>().is_err());
    }

    #[test]
    fn line_ends_matter_to_the_hash_only() {
        assert_eq!(Key::of("a\r\nb\r\n"), Key::of("a\nb\n"));
        assert_ne!(Key::of("a\rb"), Key::of("a\nb"));
        assert_ne!(Hash::of(b"a\r\n"), Hash::of(b"a\n"));
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::of(b"abc").as_str(), abc);
        assert_eq!(abc.to_uppercase().parse(), Ok(Hash::of(b"abc")));
        assert!("ba78".parse::<Hash>().is_err());
    }
}
