//! Asking the operator for what a client may not do by its own rules.
//!
//! Owns when a request is made for it, what the client is answered once it has ended, and when the client's own
//! window has answered it. It decides nothing.

use flagpost_model::{
    SessionId,
    client::Client,
    hook::{HookAnswer, HookEvent, HookInput},
    permission::{PermissionDecision, Verdict},
    task::Claim,
};
use jiff::SignedDuration;

use super::{HookCaller, HookLog, short};
use crate::{
    config::{Config, keys::GATE_WAIT},
    error::{FailureKind, Result, judge},
    permissions::{NewRequest, Permissions, StoredRequest},
    sessions::{SessionStatus, Sessions},
};

/// So often it is tried where many others ask at the same moment.
const TRIES: usize = 10;

impl HookCaller<'_> {
    /// Asks for what the client is about to do; none where nobody is to be asked.
    pub fn ask(&self, input: &HookInput) -> Result<Option<StoredRequest>> {
        let wait = Config::read(self.home)?.need(&GATE_WAIT)?;
        // A client asks by its own rules first. Who asks over a protocol has none but the operator's: those
        // decide though nobody waits for a person.
        let has_own = !matches!(self.client, Client::Acp | Client::Codex);
        let is_asked = wait > SignedDuration::ZERO || !has_own;
        let Some(call) = input.calls.first().filter(|_| is_asked) else {
            return Ok(None);
        };
        if self.fleet().has_retired(&self.worker)? {
            return Ok(None);
        }
        let task = self.task.as_ref();
        let new = NewRequest {
            worker: self.worker.clone(),
            task: task.map(|(list, id, _)| (list.id().clone(), id.clone())),
            client: self.client,
            session: input.session.clone(),
            tool: call.tool.clone(),
            input: call.input.clone(),
            dir: input
                .dir
                .as_ref()
                .map(|it| it.to_string_lossy().into_owned()),
            // Where that cannot be told, the operator is asked.
            rules: self.rules.zip(self.session().unwrap_or_default()),
        };
        let permissions = self.permissions();
        let mut asked = permissions.ask(&new, wait);
        for _ in 1..TRIES {
            match asked {
                Err(error) if judge(&error).0 == FailureKind::TimedOut => {
                    asked = permissions.ask(&new, wait);
                }
                asked => return asked.map(Some),
            }
        }
        asked.map(Some)
    }

    /// Waits until the request has ended; what the client is answered. The claim is renewed meanwhile.
    pub fn wait(&self, asked: &StoredRequest) -> Result<HookAnswer> {
        let permissions = self.permissions();
        // A lease that cannot be renewed is told of by whoever ends the task.
        let renew = || self.renew().unwrap_or_default();
        let decision = match &asked.request().decision {
            Some(by_rule) => by_rule.clone(),
            None => match permissions.wait(asked, renew)? {
                Some(decision) => decision,
                None => permissions.end(asked, Verdict::Expired)?,
            },
        };
        let answer = self.answer_to(&decision);
        let log = HookLog::of(self.home, &self.worker);
        log.add(self.client, HookEvent::Permission, &answer, None)?;
        Ok(answer)
    }

    /// The session that lives and in which the worker holds its task.
    fn session(&self) -> Result<Option<SessionId>> {
        let Some((list, id, Some(token))) = self.task.as_ref().filter(|_| self.rules.is_some())
        else {
            return Ok(None);
        };
        let task = list.task(id)?.task;
        let is_held = |claim: &&Claim| claim.by == self.worker && claim.token == *token;
        let claim = task.state.claim().filter(is_held);
        let Some(session) = claim.and_then(|it| it.session.clone()) else {
            return Ok(None);
        };
        let status = Sessions::of(self.home, &self.repository).status()?;
        let lives = status.is_some_and(|(status, lock)| {
            status == SessionStatus::Live && lock.session.as_ref() == Some(&session)
        });
        Ok(lives.then_some(session))
    }

    fn answer_to(&self, decision: &PermissionDecision) -> HookAnswer {
        match decision.verdict {
            Verdict::Allowed => HookAnswer::Allow,
            Verdict::Denied => HookAnswer::Deny(short(&match (&decision.reason, &decision.rule) {
                (Some(reason), _) => format!("The operator denied this: {reason}"),
                (None, Some(rule)) => format!("A rule of the operator's denies this: {rule}"),
                (None, None) => "The operator denied this.".to_owned(),
            })),
            // Whoever sits there is asked by the client itself.
            Verdict::Expired if !self.is_unattended => HookAnswer::Nothing,
            Verdict::Expired => HookAnswer::Deny(
                "Nobody decided in time. Do what you can without it, or say what you need: \
                 `flagpost stuck`."
                    .to_owned(),
            ),
            Verdict::Withdrawn => HookAnswer::Nothing,
        }
    }

    /// A client that goes on was answered in its own window.
    pub(super) fn settle_requests(&self, event: HookEvent, input: &HookInput) -> Result<()> {
        let Some(session) = &input.session else {
            return Ok(());
        };
        match event {
            HookEvent::Batch => self.permissions().answered_there(session, |request| {
                let mut calls = input.calls.iter();
                calls.any(|it| it.tool == request.tool && it.input == request.input)
            }),
            HookEvent::Prompt | HookEvent::Stop | HookEvent::StopFailure if !input.goes_on => {
                self.permissions().answered_there(session, |_| true)
            }
            HookEvent::SessionEnd => self.permissions().answered_there(session, |_| true),
            HookEvent::SessionStart
            | HookEvent::PreTool
            | HookEvent::Permission
            | HookEvent::Prompt
            | HookEvent::Stop
            | HookEvent::StopFailure => Ok(()),
        }
    }

    /// The requests of the repository.
    pub fn permissions(&self) -> Permissions<'_> {
        Permissions::of(self.home, &self.repository.id)
    }
}
