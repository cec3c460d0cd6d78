//! Answers that are a list under one key.
//!
//! Owns what all of them say of themselves: how many there are, and what was passed over.

/// A type for each answer that is a list under one key.
#[macro_export]
macro_rules! pages {
    ($($(#[$meta:meta])* $name:ident<$life:lifetime> { $(#[$about:meta])* $key:ident: $type:ty })+) => { $(
        $(#[$meta])*
        #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
        pub struct $name<$life> {
            $(#[$about])* $key: Vec<$type>,
            /// How many there are in all.
            total: usize,
            /// Whether some were left out: where there is a --limit, 0 shows all.
            truncated: bool,
            /// Entries that cannot be understood and were passed over.
            skipped: &$life [$crate::Skipped],
        }

        impl<$life> $name<$life> {
            /// These, of so many.
            pub fn new($key: Vec<$type>, total: usize, skipped: &$life [$crate::Skipped]) -> Self {
                Self { truncated: $key.len() < total, $key, total, skipped }
            }
        }
    )+ };
}
