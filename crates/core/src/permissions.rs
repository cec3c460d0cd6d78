//! Permissions: what agents ask to be allowed, and what a person decided.
//!
//! Owns the repository's `requests` directory. A change of it is made under its lock, and the line in the history is
//! durable first: that line is the decision, the file repeats it. Invariants: a request is decided once; nobody is
//! allowed what was not asked; a decision without its line is none, and whoever waits puts the file back. Only a
//! person or a rule of theirs decides.

mod lines;
mod rules;
mod waiter;

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_disk::{
    dialects::requests::{self as layout, RequestFile},
    fsx::{self, Batch, Lock, Rank},
    process,
};
use flagpost_model::{
    ListRef, RepoId, SessionId, TaskId, WorkerId,
    client::Client,
    decision::Via,
    envelope::Hash,
    permission::{self, PermissionDecision, PermissionRequest, Verdict},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use lines::{decided, decision_of, entry, text};
pub use rules::AlwaysRule;

use crate::{
    error::{Error, Result},
    history::{History, HistoryFilter, Kind, Window, detail::REQUEST},
    home::Home,
    skipped::Skipped,
};

/// A request that ended so long ago is removed when the next one is asked.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// So many characters the words of a decision have at most: the agent is told all of them.
const LONGEST_REASON: usize = 500;

/// The requests of one repository.
#[derive(Debug)]
pub struct Permissions<'h> {
    home: &'h Home,
    repo: RepoId,
    dir: PathBuf,
    window: Window,
}

/// A request, as it lies there.
#[derive(Debug, Clone)]
pub struct StoredRequest {
    /// Its number.
    pub n: u64,
    /// How it ended; none while it waits.
    pub ended: Option<Verdict>,
    /// Whether its tool and input are those that were asked.
    pub is_as_asked: bool,
    file: RequestFile,
}

/// What an agent asks to be allowed.
#[derive(Debug)]
pub struct NewRequest {
    /// Which worker asks.
    pub worker: WorkerId,
    /// The task that it was given, and its list.
    pub task: Option<(ListRef, TaskId)>,
    /// The client that it works in.
    pub client: Client,
    /// The client's conversation.
    pub session: Option<String>,
    /// The client's name of the tool.
    pub tool: String,
    /// What the tool is called with.
    pub input: Value,
    /// Where the agent works.
    pub dir: Option<String>,
    /// The number of the history's line with the rules of its run, and that run's session, which lives.
    pub rules: Option<(u64, SessionId)>,
}

/// What the operator wants.
#[derive(Debug, Clone)]
pub struct PermissionOrder {
    /// Whether the agents may.
    pub verdict: Verdict,
    /// Which way it comes in.
    pub via: Via,
    /// Why; the agent is told.
    pub reason: Option<String>,
    /// Whether identical requests that wait are decided on as well.
    pub identical_too: bool,
}

/// What there is.
#[derive(Debug, Clone, Default)]
pub struct PermissionScan {
    /// Every request, by number.
    pub all: Vec<StoredRequest>,
    /// Files that cannot be understood, and requests that nobody asked.
    pub skipped: Vec<Skipped>,
}

impl StoredRequest {
    /// What was asked, and what was decided.
    pub fn request(&self) -> &PermissionRequest {
        &self.file.content
    }

    /// Whether its agent waits for a decision.
    pub fn waits(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether both ask for the same, as they were asked.
    fn is_identical(&self, other: &Self) -> bool {
        self.is_as_asked && other.is_as_asked && self.request().sha256 == other.request().sha256
    }
}

impl PermissionScan {
    /// The requests that wait, those that are identical together: oldest first, by the first of each.
    pub fn waiting(&self) -> Vec<Vec<&StoredRequest>> {
        let mut groups: Vec<Vec<&StoredRequest>> = Vec::new();
        for it in self.all.iter().filter(|it| it.waits()) {
            let is_same = |group: &&mut Vec<&StoredRequest>| {
                group.first().is_some_and(|first| first.is_identical(it))
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => group.push(it),
                None => groups.push(vec![it]),
            }
        }
        groups
    }
}

impl<'h> Permissions<'h> {
    /// Those of a registered repository.
    pub fn of(home: &'h Home, repo: &RepoId) -> Self {
        Self {
            home,
            repo: repo.clone(),
            dir: home.repository_dir(repo).join(layout::DIR),
            window: Window::default(),
        }
    }

    /// Where they are.
    pub(crate) fn dir(&self) -> &PathBuf {
        &self.dir
    }

    /// Their lock.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.dir.join(layout::LOCK)
    }

    /// What there is, and what cannot be understood.
    pub fn scan(&self) -> Result<PermissionScan> {
        let mut scan = PermissionScan::default();
        self.home.must_not_be_linked(&self.dir)?;
        let mut skip = |name: &str, reason: String| {
            scan.skipped
                .push(Skipped::new(format!("{}/{name}", layout::DIR), reason));
        };
        for name in fsx::names(self.home.fs(), &self.dir)? {
            let name = name.to_string_lossy();
            match layout::parse(&name) {
                None => continue,
                Some(None) => skip(&name, "its name is no number".to_owned()),
                Some(Some(n)) => match self.read(n)? {
                    // Somebody removed it meanwhile.
                    None => {}
                    Some(Ok(found)) => scan.all.push(found),
                    Some(Err(reason)) => skip(&name, reason),
                },
            }
        }
        scan.all.sort_by_key(|it| it.n);
        scan.skipped.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(scan)
    }

    /// The request of this number.
    pub fn find(&self, n: u64) -> Result<StoredRequest> {
        there(n, self.read(n)?)
    }

    /// The same, ended as the history says, whatever its file does.
    fn on_record(&self, n: u64) -> Result<StoredRequest> {
        let mut file = there(n, self.file(n)?)?;
        file.content.decision = self.recorded(n)?;
        there(n, Some(self.stored(n, file)?))
    }

    /// Asks, unless a rule decides; durable on return. It waits for a decision so long.
    pub fn ask(&self, new: &NewRequest, length: SignedDuration) -> Result<StoredRequest> {
        self.home.transact(|| {
            let change = self.change()?;
            let (list, task) = new.task.clone().unzip();
            let sha256 = layout::hash(&new.tool, &new.input);
            let mut request = PermissionRequest {
                worker: new.worker.clone(),
                list,
                task,
                client: new.client,
                session: new.session.clone(),
                process: std::process::id(),
                tool: new.tool.clone(),
                input: new.input.clone(),
                dir: new.dir.clone(),
                sha256,
                at: change.at,
                until: change.at + length,
                decision: None,
            };
            let ruled = self.ruled(&request, new.rules.as_ref(), change.at)?;
            let history = self.history();
            let writer = history.writer(change.at)?;
            let n = writer.next();
            let asked = entry(Kind::PermissionAsked, n, &request);
            let mut entries = vec![asked.detail("about", request.line())];
            if let Some(decision) = ruled {
                let decision = PermissionDecision {
                    line: n + 1,
                    ..decision
                };
                entries.push(decided(n, &request, &decision));
                request.decision = Some(decision);
            }
            let ended = request.decision.as_ref().map(|it| it.verdict);
            let file = RequestFile::new(request);
            let mut batch = Batch::new();
            batch.create(self.path(n), file.write());
            for over in self.long_over(change.at)? {
                batch.remove(self.path(over));
            }
            let sealed = batch.stage(self.home.fs())?;
            writer.carry_out(&new.worker, entries, sealed)?;
            Ok(StoredRequest {
                n,
                ended,
                is_as_asked: true,
                file,
            })
        })
    }

    /// Decides on all of these requests, or on none; with them on those that are identical, where that is wanted.
    pub fn decide(
        &self,
        actor: &WorkerId,
        numbers: &[u64],
        order: &PermissionOrder,
    ) -> Result<Vec<StoredRequest>> {
        if let Some(reason) = &order.reason
            && reason.chars().count() > LONGEST_REASON
        {
            return Err(Error::Invalid {
                what: "reason".to_owned(),
                reason: format!("it has more than {LONGEST_REASON} characters"),
            });
        }
        self.home.transact(|| {
            let change = self.change()?;
            let mut meant = Vec::new();
            for n in numbers {
                let found = self.on_record(*n)?;
                let subject = (*n, found.request());
                permission::decide(subject, found.ended, found.is_as_asked, order.verdict)?;
                meant.push(found);
            }
            if order.identical_too {
                let is_like = |it: &StoredRequest| meant.iter().any(|other| other.is_identical(it));
                let mut others = self.scan()?.all;
                others.retain(|it| it.waits() && is_like(it));
                meant.extend(others);
            }
            meant.sort_by_key(|it| it.n);
            meant.dedup_by_key(|it| it.n);
            let decision = PermissionDecision {
                verdict: order.verdict,
                by: actor.clone(),
                at: change.at,
                via: Some(order.via),
                reason: order.reason.clone(),
                rule: None,
                policy: None,
                hand: Some(process::own_identity().clone()),
                line: 0,
            };
            self.put(actor, meant, &decision)
        })
    }

    /// The workers that wait for a decision.
    pub fn waiting_workers(&self) -> Result<BTreeSet<WorkerId>> {
        let all = self.scan()?.all.into_iter().filter(StoredRequest::waits);
        Ok(all.map(|it| it.file.content.worker).collect())
    }

    /// The requests of a conversation that wait although their client goes on: what they ask was answered there.
    /// `is_meant` says which.
    pub fn answered_there(
        &self,
        session: &str,
        is_meant: impl Fn(&PermissionRequest) -> bool,
    ) -> Result<()> {
        for it in self.scan()?.all {
            let request = it.request();
            let is_own = request.session.as_deref() == Some(session);
            if it.waits() && is_own && is_meant(request) {
                self.end(&it, Verdict::Withdrawn)?;
            }
        }
        Ok(())
    }

    /// The decision that the history has on a request since it was asked, whatever its file says.
    fn recorded(&self, n: u64) -> Result<Option<PermissionDecision>> {
        let wanted = HistoryFilter {
            since: n,
            about: None,
            worker: None,
            kinds: ["permission", "history.void"].map(str::to_owned).to_vec(),
        };
        let lines = self.history().latest(&wanted, usize::MAX)?.lines;
        let void: Vec<u64> = lines.iter().filter_map(|it| it.entry.voids()).collect();
        let mut of_this = lines
            .iter()
            .filter(|it| it.entry.number(REQUEST) == Some(n) && !void.contains(&it.n));
        Ok(of_this.find_map(decision_of))
    }

    /// The request of this number, or why its file is none; nothing where there is no such file.
    fn read(&self, n: u64) -> Result<Option<Result<StoredRequest, String>>> {
        match self.file(n)? {
            Some(Ok(file)) => self.stored(n, file).map(Some),
            Some(Err(reason)) => Ok(Some(Err(reason))),
            None => Ok(None),
        }
    }

    /// The same of what its file says.
    fn file(&self, n: u64) -> Result<Option<Result<RequestFile, String>>> {
        match fsx::read(self.home.fs(), &self.path(n)) {
            Ok(bytes) => Ok(bytes.map(|bytes| layout::read(&bytes))),
            Err(error) if error.is_no_such_file() => Ok(Some(Err(error.reason()))),
            Err(error) => Err(error.into()),
        }
    }

    /// How a request stands whose file says this; why it is none.
    fn stored(&self, n: u64, file: RequestFile) -> Result<Result<StoredRequest, String>> {
        let request = &file.content;
        let ended = request.ended(self.home.now(), process::is_alive(request.process));
        // What is over is decided on by nobody: its line need not be looked for.
        let is_as_asked = match ended {
            Some(_) => true,
            None => {
                let line = self.history().line(n, &self.window)?;
                let asked = line.filter(|it| it.entry.kind == Kind::PermissionAsked);
                let Some(asked) = asked else {
                    return Ok(Err("nobody asked for it".to_owned()));
                };
                let now = layout::hash(&request.tool, &request.input);
                let is_same = |hash: &Hash| text(&asked.entry, "sha256") == Some(hash.as_str());
                is_same(&now)
                    && is_same(&request.sha256)
                    && asked.entry.worker.as_ref() == Some(&request.worker)
            }
        };
        Ok(Ok(StoredRequest {
            n,
            ended,
            is_as_asked,
            file,
        }))
    }

    /// Puts a decision on these requests on record.
    fn put(
        &self,
        actor: &WorkerId,
        mut meant: Vec<StoredRequest>,
        decision: &PermissionDecision,
    ) -> Result<Vec<StoredRequest>> {
        if meant.is_empty() {
            return Ok(meant);
        }
        let history = self.history();
        let writer = history.writer(decision.at)?;
        let (mut entries, mut batch) = (Vec::new(), Batch::new());
        for (line, it) in (writer.next()..).zip(&mut meant) {
            let request = &mut it.file.content;
            request.decision = Some(PermissionDecision {
                line,
                ..decision.clone()
            });
            it.ended = Some(decision.verdict);
            batch.put(self.path(it.n), it.file.write());
            entries.push(decided(it.n, it.request(), decision));
        }
        let sealed = batch.stage(self.home.fs())?;
        writer.carry_out(actor, entries, sealed)?;
        Ok(meant)
    }

    /// The requests that ended long ago.
    fn long_over(&self, now: Timestamp) -> Result<Vec<u64>> {
        let is_over = |it: &StoredRequest| {
            let request = it.request();
            let end = request.decision.as_ref().map(|it| it.at);
            let end = end.or(it.ended.map(|_| request.at));
            end.is_some_and(|end| now.duration_since(end) > KEPT)
        };
        let all = self.scan()?.all.into_iter();
        Ok(all.filter(is_over).map(|it| it.n).collect())
    }

    fn change(&self) -> Result<PermissionChange> {
        self.home.make_dirs(&self.dir)?;
        let lock = fsx::lock(
            self.home.fs(),
            &self.lock_path(),
            Rank::Requests,
            fsx::DEFAULT_WAIT,
            self.home.now(),
        )?;
        Ok(PermissionChange {
            // A request waits from when it is there, however long others had the lock.
            at: self.home.now(),
            _lock: lock,
        })
    }

    fn history(&self) -> History<'_> {
        History::of(self.home, &self.repo)
    }

    fn path(&self, n: u64) -> PathBuf {
        self.dir.join(layout::name(n))
    }
}

/// What was found in a request's place, or why that is none; an error where there is nothing.
fn there<T>(n: u64, found: Option<Result<T, String>>) -> Result<T> {
    match found {
        Some(Ok(found)) => Ok(found),
        Some(Err(reason)) => Err(Error::Invalid {
            what: format!("{}/{}", layout::DIR, layout::name(n)),
            reason,
        }),
        None => Err(Error::NotFound {
            what: "request",
            id: n.to_string(),
            list: None,
        }),
    }
}

/// A change of the requests, under their lock.
struct PermissionChange {
    at: Timestamp,
    _lock: Lock,
}
