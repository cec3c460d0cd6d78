//! What agents ask to be allowed.

use flagpost_model::{
    ListRef, TaskId, WorkerId,
    client::Client,
    permission::{PermissionDecision, Verdict, rule::PermissionRule},
    view,
};
use jiff::Timestamp;
use serde_json::Value;

use super::each;
use crate::{Skipped, permissions::StoredRequest, policy};

view! {
    /// What agents ask to be allowed.
    ///
    /// After 'flagpost permission list' what waits; after 'flagpost allow' and 'flagpost deny' what was decided.
    pub struct PermissionsAnswer<'a> {
        /// By number.
        requests: Vec<PermissionRow<'a>>,
        /// Files that cannot be understood, and requests that nobody asked.
        skipped: &'a [Skipped],
    }

    /// What an agent asks to be allowed.
    pub struct PermissionRow<'a> from it: &'a StoredRequest {
        /// Its number.
        request: u64 = it.n,
        /// Which worker asks.
        worker: &'a WorkerId = &it.request().worker,
        /// The list of the task that it was given; null where it was given none.
        list: Option<&'a ListRef> = it.request().list.as_ref(),
        /// The task that it was given; null where it was given none.
        task: Option<&'a TaskId> = it.request().task.as_ref(),
        /// The client that it works in.
        client: Client = it.request().client,
        /// The client's conversation; null where it has none.
        session: Option<&'a str> = it.request().session.as_deref(),
        /// The client's name of the tool.
        tool: &'a str = &it.request().tool,
        /// What it is about, in a line, which an agent has written.
        line: String = it.request().line(),
        /// Where the agent works; null where its client does not say.
        dir: Option<&'a str> = it.request().dir.as_deref(),
        /// Of the tool and its input: identical requests have the same.
        sha256: &'a str = it.request().sha256.as_str(),
        /// Since when it waits, or waited.
        at: Timestamp = it.request().at,
        /// Until when it waits.
        until: Timestamp = it.request().until,
        /// How it ended; null while it waits.
        verdict: Option<Verdict> = it.ended,
        /// Whether it is what was asked; what is not can be denied only.
        is_as_asked: bool = it.is_as_asked,
        /// What was decided; null where nobody decided.
        decision: Option<&'a PermissionDecision> = it.request().decision.as_ref(),
    }

    /// What an agent asks to be allowed, in full.
    ///
    /// After 'flagpost permission show'.
    pub struct PermissionInFull<'a> {
        /// All of it but the input.
        request: PermissionRow<'a>,
        /// What the tool is called with, as the client has it.
        input: &'a Value,
        /// The rule that would allow its like from now on, as the policy would have it; null where it is over, or where
        /// another rule has the operator asked.
        always: Option<String>,
    }
}

impl<'a> PermissionInFull<'a> {
    /// A request, and the rule that would allow its like.
    pub fn of(request: &'a StoredRequest, always: Option<&PermissionRule>) -> Self {
        let always = always.map(policy::spelled);
        Self::new(request.into(), &request.request().input, always)
    }
}

impl<'a> PermissionsAnswer<'a> {
    /// These requests.
    pub fn of(
        requests: impl IntoIterator<Item = &'a StoredRequest>,
        skipped: &'a [Skipped],
    ) -> Self {
        Self::new(each(requests), skipped)
    }
}
