//! What a person is told beside the JSON shapes, which are core's.

pub use flagpost_core::shape::{messages, path, skipped};

use flagpost_core::Skipped;

/// Files that were passed over, for a person.
pub fn skipped_notes(skipped: &[Skipped]) -> Vec<String> {
    let named = skipped
        .iter()
        .take(5)
        .map(|file| format!("skipped {}: {}", file.name, file.reason));
    let rest = skipped.len().saturating_sub(5);
    named
        .chain((rest > 0).then(|| format!("skipped {rest} more; --json names them all")))
        .collect()
}
