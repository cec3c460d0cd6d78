//! What a person is told beside the JSON shapes, which are core's.

use flagpost_core::{Skipped, relay::broken};

/// What of a mail was passed over, for a person, with the command that settles it.
pub fn mail_notes(skipped: &[Skipped]) -> Vec<String> {
    let verbs = skipped.iter().take(5).filter_map(broken::put_away_by);
    let verbs = verbs.map(|verb| format!("'{verb}' puts it away"));
    let mut notes = skipped_notes(skipped);
    notes.extend(verbs);
    notes
}

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
