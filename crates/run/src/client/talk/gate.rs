//! The decision on what an agent asks to be allowed in a conversation that Flagpost carries on.
//!
//! Owns when nobody need be asked: a file that somebody else has reserved is not changed, and one below the places
//! that were given to the agent is. Everything else is asked as hooks ask it, of the operator's rules and then of the
//! operator. It decides nothing itself.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use flagpost_core::{
    describe, files, hooks::HookCaller, permissions::StoredRequest, sessions::agent_requests,
};
use flagpost_disk::fsx;
use flagpost_model::{
    hook::{HookAnswer, HookEvent, HookInput},
    permission::Verdict,
};

use super::{
    CallVerdict,
    call::{AskedCall, stays_below},
};

/// Who decides for one agent.
#[derive(Debug)]
pub struct OperatorGate<'h> {
    caller: HookCaller<'h>,
    /// Where the agent works.
    dir: PathBuf,
    /// The file that it reports into.
    report: Option<PathBuf>,
    open: Mutex<OpenRequests>,
}

/// The requests that wait, by the number under which the conversation knows each.
#[derive(Debug, Default)]
struct OpenRequests {
    waiting: BTreeMap<u64, StoredRequest>,
    /// Whether nobody is to wait any more.
    is_closed: bool,
}

impl<'h> OperatorGate<'h> {
    /// The gate of an agent that works in `dir` and reports into the file `report`.
    pub fn new(caller: HookCaller<'h>, dir: &Path, report: Option<&Path>) -> Self {
        Self {
            caller,
            dir: dir.to_owned(),
            report: report.map(Path::to_owned),
            open: Mutex::default(),
        }
    }

    /// What is decided on a call; it takes as long as the operator takes. `n` is how the conversation knows it.
    pub fn decide(&self, n: u64, asked: &AskedCall, session: Option<&str>) -> CallVerdict {
        match self.try_to_decide(n, asked, session) {
            Ok(verdict) => verdict,
            Err(error) => CallVerdict::Refused(format!(
                "Flagpost could not ask for it: {}",
                describe(&error)
            )),
        }
    }

    /// Nobody is to wait for the decision on this call any more.
    pub fn withdraw(&self, n: u64) {
        let asked = self.lock().waiting.remove(&n);
        if let Some(asked) = asked {
            self.end(&asked);
        }
    }

    /// The same of all calls, and of any that is asked from now on.
    pub fn close(&self) {
        let waiting = {
            let mut open = self.lock();
            open.is_closed = true;
            std::mem::take(&mut open.waiting)
        };
        waiting.values().for_each(|asked| self.end(asked));
    }

    /// Whether the agent has said how its attempt ended: by its report, or by a word on its task.
    pub fn has_reported(&self) -> bool {
        let home = self.caller.home;
        let is_said = |report: &PathBuf| {
            let words = report.parent().map(|out| agent_requests::left(home, out));
            let has_words = words.is_some_and(|it| it.is_ok_and(|it| !it.is_empty()));
            has_words || matches!(fsx::stat(home.fs(), report), Ok(Some(_)))
        };
        let is_over = || {
            let (list, id, token) = self.caller.task.as_ref()?;
            let task = list.task(id).ok()?.task;
            Some(task.state.claim().map(|claim| claim.token) != *token)
        };
        self.report.as_ref().is_some_and(is_said) || is_over().unwrap_or_default()
    }

    fn try_to_decide(
        &self,
        n: u64,
        asked: &AskedCall,
        session: Option<&str>,
    ) -> flagpost_core::Result<CallVerdict> {
        let changed = asked.changes.then(|| asked.paths.clone());
        let input = HookInput {
            session: session.map(str::to_owned),
            dir: Some(self.dir.clone()),
            paths: changed.unwrap_or_default(),
            calls: vec![asked.call.clone()],
            ..HookInput::default()
        };
        if let HookAnswer::Deny(why) = self.caller.answer(HookEvent::PreTool, &input)? {
            return Ok(CallVerdict::Refused(why));
        }
        let out = self.report.as_deref().and_then(Path::parent);
        let given: Vec<&Path> = [self.dir.as_path()].into_iter().chain(out).collect();
        if stays_below(asked, &given, where_it_leads) {
            return Ok(CallVerdict::Allowed);
        }
        let Some(request) = self.caller.ask(&input)? else {
            let words = "Nobody is asked about this agent any more";
            return Ok(CallVerdict::Refused(words.to_owned()));
        };
        let is_closed = {
            let mut open = self.lock();
            open.waiting.insert(n, request.clone());
            open.is_closed
        };
        if is_closed {
            self.close();
        }
        let answer = self.caller.wait(&request);
        self.lock().waiting.remove(&n);
        Ok(match answer? {
            HookAnswer::Allow => CallVerdict::Allowed,
            HookAnswer::Deny(why) => CallVerdict::Refused(why),
            HookAnswer::Nothing | HookAnswer::Context(_) | HookAnswer::Hold(_) => {
                CallVerdict::Withdrawn
            }
        })
    }

    /// Ends a request; where that fails, it ends with this process, or by its time.
    fn end(&self, asked: &StoredRequest) {
        let _ = self.caller.permissions().end(asked, Verdict::Withdrawn);
    }

    fn lock(&self) -> MutexGuard<'_, OpenRequests> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file that a path leads to, links followed; nowhere where that cannot be told, as with a link to what is not
/// there yet.
fn where_it_leads(path: &Path) -> PathBuf {
    let is_open = |it: &Path| it.is_symlink() && !it.exists();
    let real = files::real(path);
    match path.ancestors().any(is_open) || files::real(&files::plain(path)) != real {
        true => PathBuf::new(),
        false => real,
    }
}
