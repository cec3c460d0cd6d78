//! What a look at the setup found.

use std::{borrow::Cow, path::Path};

use flagpost_model::{ListId, TaskId, finding::Severity, view};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Finding, Mended, Repair};

view! {
    /// What does not hold, and how to mend it.
    ///
    /// After 'flagpost doctor', and from GET /v1/doctor; docs/doctor.md explains the codes. Exit code 1 where
    /// there are errors.
    pub struct Examined<'a> {
        home: Cow<'a, str>,
        findings: Vec<FindingAnswer<'a>>,
        counts: &'a FindingCounts,
        /// The repairs that --fix made.
        fixed: Vec<FixedAnswer<'a>>,
        /// Whether --dry-run was given.
        dry_run: bool,
    }

    /// What was found.
    pub struct FindingAnswer<'a> from finding: &'a Finding {
        /// What it is, by a name that stays.
        code: &'a str = finding.code.as_str(),
        severity: Severity = finding.severity(),
        /// In a sentence.
        what: &'a str = &finding.what,
        /// Where.
        path: Option<Cow<'a, str>> = finding.path.as_deref().map(Path::to_string_lossy),
        list: Option<&'a ListId> = finding.list.as_ref(),
        task: Option<&'a TaskId> = finding.task.as_ref(),
        repair: RepairAnswer = match &finding.repair {
            Repair::Nothing => RepairAnswer::new("nothing", None),
            Repair::ByHand(text) => RepairAnswer::new("by_hand", Some(text.clone())),
            Repair::Fix(fix) => RepairAnswer::new("fix", Some(fix.to_string())),
        },
    }

    /// What to do about it.
    pub struct RepairAnswer {
        /// fix: 'flagpost doctor --fix' does it.
        #[schemars(extend("enum" = ["nothing", "by_hand", "fix"]))]
        kind: &'static str,
        /// What to do, or what would be done; null where nothing is needed.
        text: Option<String>,
    }

    /// A repair that was made.
    pub struct FixedAnswer<'a> from mended: &'a Mended {
        what: String = mended.fix.to_string(),
        #[schemars(extend("enum" = ["done", "needless", "failed"]))]
        outcome: &'a str = mended.outcome.as_str(),
        /// Why it failed; else null.
        why: Option<String> = mended.outcome.why(),
    }
}

/// How many findings there are.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct FindingCounts {
    /// Of errors.
    pub error: usize,
    warning: usize,
    note: usize,
}

impl FindingCounts {
    /// Each severity, the worst first, and how many are of it.
    pub fn each(&self) -> impl Iterator<Item = (Severity, usize)> {
        [
            (Severity::Error, self.error),
            (Severity::Warning, self.warning),
            (Severity::Note, self.note),
        ]
        .into_iter()
    }
}

impl From<&[Finding]> for FindingCounts {
    fn from(findings: &[Finding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity() {
                Severity::Error => counts.error += 1,
                Severity::Warning => counts.warning += 1,
                Severity::Note => counts.note += 1,
            }
        }
        counts
    }
}

crate::answers! {
    "doctor" => Examined<'_>,
}
