//! The words of a brief as they were proposed or decided on.
//!
//! Owns `.NNNN.words.json`, a copy that is a courtesy: it may be missing, and whatever it says is
//! believed only where it has the hash that is on record.

use flagpost_disk::dialects::relay::{self as layout, BriefFile, BriefSnapshot, EnvelopePart};
use flagpost_model::{Seq, decision::DecisionState, envelope::Direction};

use super::{
    Locked, Mail,
    briefs::{self, BriefView},
    record::Certainty,
};
use crate::error::Result;

/// What of a brief is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct FieldDiff {
    /// The key of the sidecar, or `body`.
    pub part: String,
    /// What it was; empty where there was nothing.
    pub was: String,
    /// What it is; empty where there is nothing.
    pub now: String,
}

/// A brief as it was proposed, or decided on, and what is different now.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Before {
    /// Its body then.
    pub body: String,
    /// What is different now.
    pub changes: Vec<FieldDiff>,
}

/// As what a brief was decided on, or else proposed; none where nobody kept that.
pub fn before(mail: &Mail<'_>, letter: &BriefView) -> Result<Option<Before>> {
    let seq = letter.brief.seq;
    let Some(words) = mail.kept_words(seq, &letter.slot)? else {
        return Ok(None);
    };
    let prints = words.sidecar.prints(&words.body);
    let is_it = match (&letter.standing, &letter.told.proposed) {
        (DecisionState::Decided(it), _) => prints.are_on_record(&it.sha256, it.envelope.as_ref()),
        (_, Some(it)) => prints.are_on_record(&it.sha256, it.envelope.as_ref()),
        (_, None) => false,
    };
    if !is_it {
        return Ok(None);
    }
    let Ok(now) = mail.sidecar(seq)? else {
        return Ok(None);
    };
    Ok(Some(Before {
        changes: changes(&words, &now, &letter.body),
        body: words.body,
    }))
}

/// One brief, live or archived, and as what it was proposed or decided on where it is withheld.
pub fn show(mail: &Mail<'_>, seq: Seq) -> Result<(BriefView, Option<Before>)> {
    let shelf = mail.shelf_of(Direction::Inbox, (seq, EnvelopePart::Body))?;
    let mut letter = briefs::show_as(&shelf, seq, Certainty::Sure)?;
    // Nobody is handed what lies in the archive, so that nothing of it is withheld.
    letter.held = letter.held.filter(|_| shelf.dir == mail.dir);
    let mail = &shelf;
    let before = match letter.held.is_some() || letter.is_rewritten() {
        true => before(mail, &letter)?,
        false => None,
    };
    Ok((letter, before))
}

fn changes(then: &BriefSnapshot, now: &BriefFile, body: &str) -> Vec<FieldDiff> {
    let (was, is) = (then.sidecar.keys(), now.keys());
    let mut keys: Vec<&String> = was.keys().chain(is.keys()).collect();
    keys.sort();
    keys.dedup();
    let text = |value: Option<&serde_json::Value>| match value {
        None => String::new(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let changed = keys.into_iter().filter(|key| was.get(*key) != is.get(*key));
    let mut changes: Vec<FieldDiff> = changed
        .map(|key| FieldDiff {
            part: key.clone(),
            was: text(was.get(key)),
            now: text(is.get(key)),
        })
        .collect();
    if then.body != body {
        changes.push(FieldDiff {
            part: "body".to_owned(),
            was: then.body.clone(),
            now: body.to_owned(),
        });
    }
    changes
}

impl Locked<'_> {
    /// Keeps a brief as it is now, as the line of this number tells of it. What cannot be kept is
    /// missed by whoever asks what a foreign hand changed, and by nobody else.
    pub(super) fn keep_words(&self, seq: Seq, line: u64, (sidecar, body): (BriefFile, &str)) {
        let words = BriefSnapshot {
            line,
            sidecar,
            body: body.to_owned(),
        };
        let path = self.path(&layout::words(seq));
        let fs = self.mail.home.fs();
        let _: std::io::Result<()> = fs.overwrite(&path, &layout::write_words(&words));
    }
}
