//! An envelope as a row of the `messages` table (`tree.md` §7): who says what to whom.
//!
//! Owns what stands in for what an envelope does not say. An envelope without a subject has its kind
//! in upper case for one, so that none is taken for a typed message that it never was.

use super::{Brief, Report};
use crate::id::ORCHESTRATOR;

/// The address and the title of an envelope; empty is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Its subject.
    pub subject: String,
    /// Who says it.
    pub from: String,
    /// Whom it is for.
    pub to: String,
    /// The conversation that it belongs to.
    pub thread: String,
}

impl From<&Brief> for Post {
    fn from(brief: &Brief) -> Self {
        let Brief { extras, kind, .. } = brief;
        let from = extras.party.as_ref();
        Self {
            subject: subject(extras.subject.as_ref(), kind.as_str()),
            from: from.unwrap_or(&brief.controller_session_id).clone(),
            to: brief.target_worker.to_string(),
            thread: extras.thread_id.clone().unwrap_or_default(),
        }
    }
}

impl From<&Report> for Post {
    fn from(report: &Report) -> Self {
        let Report { extras, kind, .. } = report;
        let to = extras.party.clone();
        Self {
            subject: subject(extras.subject.as_ref(), kind.as_str()),
            from: report.worker_id.to_string(),
            to: to.unwrap_or_else(|| ORCHESTRATOR.to_owned()),
            thread: extras.thread_id.clone().unwrap_or_default(),
        }
    }
}

fn subject(said: Option<&String>, kind: &str) -> String {
    said.map_or_else(|| kind.to_uppercase(), Clone::clone)
}
