//! Closed sets of words: enums whose variants are spelled in files and on the command line.
//!
//! Owns the one way such an enum is written, printed and parsed, so that a word means the same in
//! every dialect and face.

/// A word that is none of the allowed ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is none of {}", allowed.join(", "))]
pub struct UnknownName {
    /// What was given.
    pub text: String,
    /// What is allowed.
    pub allowed: Vec<&'static str>,
}

/// A closed set of words.
pub trait Named: Copy + std::fmt::Display + std::str::FromStr<Err = UnknownName> + 'static {
    /// Every value, in order.
    const ALL: &[Self];

    /// The name as written in files and on the command line.
    fn as_str(self) -> &'static str;
}

/// An enum of words: `NAME { VARIANT = "word" }`, printed, parsed and described as that word.
#[macro_export]
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name as written in files and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": [$($text),+]})
            }
        }

        impl $crate::names::Named for $name {
            const ALL: &[Self] = Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::names::UnknownName;
            fn from_str(text: &str) -> Result<Self, $crate::names::UnknownName> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text).ok_or_else(|| $crate::names::UnknownName {
                    text: text.to_owned(),
                    allowed: Self::ALL.iter().map(|v| v.as_str()).collect(),
                })
            }
        }
    };
}

pub use names;
