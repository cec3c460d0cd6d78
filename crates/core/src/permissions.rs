//! Permissions: what agents ask to be allowed, and what a person decided.
//!
//! Owns the repository's `requests` directory. A change of it is made under its lock, and the line in the history is
//! durable first: that line is the decision, the file repeats it. Invariants: a request is decided once; nobody is
//! allowed what was not asked; a decision without its line is none, and whoever waits puts the file back. It must
//! never decide by itself.

mod lines;

use std::{collections::BTreeSet, path::PathBuf};

use flagpost_disk::{
    dialects::requests::{self as layout, RequestFile},
    fsx::{self, Batch, Lock, Rank},
    process,
};
use flagpost_model::{
    ListRef, RepoId, TaskId, WorkerId,
    client::Client,
    decision::Via,
    envelope::Hash,
    permission::{self, PermissionDecision, PermissionRequest, Verdict},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use lines::{decision_of, entry, kind, text};

use crate::{
    error::{Error, Result},
    history::{Entry, History, HistoryFilter, Kind, Window, detail::REQUEST},
    home::Home,
    skipped::Skipped,
    waiting,
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
}

impl PermissionScan {
    /// The requests that wait, those that are identical together: oldest first, by the first of each.
    pub fn waiting(&self) -> Vec<Vec<&StoredRequest>> {
        let mut groups: Vec<Vec<&StoredRequest>> = Vec::new();
        for it in self.all.iter().filter(|it| it.waits()) {
            let is_same = |group: &&mut Vec<&StoredRequest>| {
                group.first().is_some_and(|first| {
                    first.request().sha256 == it.request().sha256
                        && first.is_as_asked
                        && it.is_as_asked
                })
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
        match self.read(n)? {
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

    /// Asks; durable on return. It waits for a decision so long.
    pub fn ask(&self, new: &NewRequest, length: SignedDuration) -> Result<StoredRequest> {
        self.home.transact(|| {
            let change = self.change()?;
            let (list, task) = new.task.clone().unzip();
            let sha256 = layout::hash(&new.tool, &new.input);
            let request = PermissionRequest {
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
            let file = RequestFile::new(request);
            let history = self.history();
            let writer = history.writer(change.at)?;
            let n = writer.next();
            let mut batch = Batch::new();
            batch.create(self.path(n), file.write());
            for over in self.long_over(change.at)? {
                batch.remove(self.path(over));
            }
            let entry = entry(Kind::PermissionAsked, n, &file.content);
            let entry = entry.detail("about", file.content.line());
            let sealed = batch.stage(self.home.fs())?;
            writer.carry_out(&new.worker, vec![entry], sealed)?;
            Ok(StoredRequest {
                n,
                ended: None,
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
                let found = self.find(*n)?;
                let ended = match self.recorded(*n)? {
                    Some(decision) => Some(decision.verdict),
                    None => found.ended,
                };
                let subject = (*n, found.request());
                permission::decide(subject, ended, found.is_as_asked, order.verdict)?;
                meant.push(found);
            }
            if order.identical_too {
                let is_meant = |it: &StoredRequest, meant: &[StoredRequest]| {
                    let is_new = meant.iter().all(|other| other.n != it.n);
                    let same = |other: &StoredRequest| {
                        other.is_as_asked && other.request().sha256 == it.request().sha256
                    };
                    it.waits() && it.is_as_asked && is_new && meant.iter().any(same)
                };
                for it in self.scan()?.all {
                    if is_meant(&it, &meant) {
                        meant.push(it);
                    }
                }
            }
            meant.sort_by_key(|it| it.n);
            meant.dedup_by_key(|it| it.n);
            let decision = PermissionDecision {
                verdict: order.verdict,
                by: actor.clone(),
                at: change.at,
                via: Some(order.via),
                reason: order.reason.clone(),
                hand: Some(process::own_identity().clone()),
                line: 0,
            };
            self.put(actor, meant, &decision)
        })
    }

    /// Waits for the decision on a request of this process; none where its time is over before there is one.
    /// `meanwhile` is called now and then.
    pub fn wait(
        &self,
        asked: &StoredRequest,
        meanwhile: impl Fn(),
    ) -> Result<Option<PermissionDecision>> {
        let dirs = [self.dir.clone()];
        loop {
            let left = asked.request().until.duration_since(self.home.now());
            let left = Some(left.max(SignedDuration::ZERO));
            let looked = waiting::until(&dirs, left, || match self.guard(asked)? {
                Guarded::Untouched => {
                    meanwhile();
                    Ok(None)
                }
                other => Ok(Some(other)),
            })?;
            match looked {
                Some(Guarded::Decided(decision)) => return Ok(Some(decision)),
                // The directory may be another one now: it is watched anew.
                Some(Guarded::PutBack) => {}
                Some(Guarded::Untouched) | None => return Ok(None),
            }
        }
    }

    /// The workers that wait for a decision.
    pub fn waiting_workers(&self) -> Result<BTreeSet<WorkerId>> {
        let all = self.scan()?.all.into_iter().filter(StoredRequest::waits);
        Ok(all.map(|it| it.file.content.worker).collect())
    }

    /// Ends a request on which nobody decided, if that is still so: the decision that holds.
    pub fn end(&self, asked: &StoredRequest, verdict: Verdict) -> Result<PermissionDecision> {
        self.home.transact(|| {
            let change = self.change()?;
            if let Some(decision) = self.decision_on(asked)? {
                return Ok(decision);
            }
            let worker = asked.request().worker.clone();
            let decision = PermissionDecision {
                verdict,
                by: worker.clone(),
                at: change.at,
                via: None,
                reason: None,
                hand: None,
                line: 0,
            };
            let ended = self.put(&worker, vec![asked.clone()], &decision)?;
            let ended = ended.into_iter().next();
            Ok(ended
                .and_then(|it| it.file.content.decision)
                .unwrap_or(decision))
        })
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

    /// The decision on a request of this process, where there is one. What an unknown hand made of its file is
    /// undone.
    fn guard(&self, asked: &StoredRequest) -> Result<Guarded> {
        if let Some(decision) = self.decision_on(asked)? {
            return Ok(Guarded::Decided(decision));
        }
        if self.is_untouched(asked)? {
            return Ok(Guarded::Untouched);
        }
        self.home.transact(|| {
            let change = self.change()?;
            // Whoever decided has let go of the lock since.
            if let Some(decision) = self.decision_on(asked)? {
                return Ok(Guarded::Decided(decision));
            }
            if self.is_untouched(asked)? {
                return Ok(Guarded::Untouched);
            }
            // A decision that was made before its file was touched holds.
            let decision = self.recorded(asked.n)?;
            let mut file = asked.file.clone();
            file.content.decision.clone_from(&decision);
            let history = self.history();
            let writer = history.writer(change.at)?;
            let mut batch = Batch::new();
            batch.put(self.path(asked.n), file.write());
            let sealed = batch.stage(self.home.fs())?;
            let entry = entry(Kind::PermissionChanged, asked.n, asked.request());
            writer.carry_out(&asked.request().worker, vec![entry], sealed)?;
            Ok(decision.map_or(Guarded::PutBack, Guarded::Decided))
        })
    }

    /// Whether the file of a request is as it was asked.
    fn is_untouched(&self, asked: &StoredRequest) -> Result<bool> {
        match self.read(asked.n)? {
            Some(Ok(found)) => Ok(found.file.content == asked.file.content),
            Some(Err(_)) | None => Ok(false),
        }
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

    /// The decision on a request as it was asked, where there is one on record, which its file repeats.
    fn decision_on(&self, asked: &StoredRequest) -> Result<Option<PermissionDecision>> {
        let found = match self.read(asked.n)? {
            Some(Ok(found)) => found.file.content.decision,
            Some(Err(_)) | None => None,
        };
        let Some(decision) = found else {
            return Ok(None);
        };
        let sha256 = &asked.request().sha256;
        let is_of_this = |entry: &Entry| {
            entry.kind == kind(decision.verdict)
                && entry.number(REQUEST) == Some(asked.n)
                && (text(entry, "sha256") == Some(sha256.as_str())
                    || decision.verdict != Verdict::Allowed)
        };
        let line = self.history().line(decision.line, &self.window)?;
        Ok(line
            .is_some_and(|it| is_of_this(&it.entry))
            .then_some(decision))
    }

    /// The request of this number, or why its file is none; nothing where there is no such file.
    fn read(&self, n: u64) -> Result<Option<Result<StoredRequest, String>>> {
        let bytes = match fsx::read(self.home.fs(), &self.path(n)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(None),
            Err(error) if error.is_no_such_file() => return Ok(Some(Err(error.reason()))),
            Err(error) => return Err(error.into()),
        };
        let file = match layout::read(&bytes) {
            Ok(file) => file,
            Err(reason) => return Ok(Some(Err(reason))),
        };
        let request = &file.content;
        let ended = request.ended(self.home.now(), process::is_alive(request.process));
        // What is over is decided on by nobody: its line need not be looked for.
        let is_as_asked = match ended {
            Some(_) => true,
            None => {
                let line = self.history().line(n, &self.window)?;
                let asked = line.filter(|it| it.entry.kind == Kind::PermissionAsked);
                let Some(asked) = asked else {
                    return Ok(Some(Err("nobody asked for it".to_owned())));
                };
                let now = layout::hash(&request.tool, &request.input);
                let is_same = |hash: &Hash| text(&asked.entry, "sha256") == Some(hash.as_str());
                is_same(&now)
                    && is_same(&request.sha256)
                    && asked.entry.worker.as_ref() == Some(&request.worker)
            }
        };
        Ok(Some(Ok(StoredRequest {
            n,
            ended,
            is_as_asked,
            file,
        })))
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
            let request = it.request();
            let mut entry = entry(kind(decision.verdict), it.n, request);
            if let Some(via) = decision.via {
                entry = entry.detail("via", via.as_str());
            }
            if let Some(reason) = &decision.reason {
                entry = entry.detail("reason", reason.as_str());
            }
            if let Some(hand) = &decision.hand {
                entry = entry.detail("hand", json!(hand));
            }
            entries.push(entry);
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

/// What a look at a request's file came to.
enum Guarded {
    /// It is as it was asked.
    Untouched,
    /// It was put back as it was asked.
    PutBack,
    /// There is a decision.
    Decided(PermissionDecision),
}

/// A change of the requests, under their lock.
struct PermissionChange {
    at: Timestamp,
    _lock: Lock,
}
