//! What is to land, and in which order.
//!
//! Owns the rule: the completed tasks whose branch holds commits that the target lacks, each after the
//! tasks that it builds on, and else in the order in which they passed. A task that builds on work which
//! is being done again waits for it, since its branch holds that work.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use flagpost_model::{
    ListRef, SessionId, TaskId, names,
    plan::Graph,
    task::{Approval, Landing, NotLanded, Outline, State},
};

use super::{
    Target,
    outcome::is_of_a_landing,
    refs::{BranchRefs, landed_ref, passed_ref},
    review::{self, ReviewRule},
};
use crate::{
    error::{Error, Result},
    git::{self, Branch, Git, branch},
    list::List,
    repository::Repository,
    sessions::Sessions,
};

/// What is to land.
#[derive(Debug)]
pub struct LandingQueue {
    /// Where.
    pub target: Target,
    /// A tested commit that waits to be taken into the target.
    pub staged: Option<String>,
    /// The branches, those that can land first.
    pub branches: Vec<QueuedBranch>,
}

/// A task's branch with work that is not on the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedBranch {
    /// Whose.
    pub task: TaskId,
    /// The task's one line.
    pub subject: String,
    /// The branch.
    pub branch: Branch,
    /// The session in which it was begun; none where that session's files are gone.
    pub session: Option<SessionId>,
    /// The commit that it stands on.
    pub tip: String,
    /// The approval of that very commit, where a person gave one.
    pub approval: Option<Approval>,
    /// The tasks of the queue that it builds on.
    pub builds_on: BTreeSet<TaskId>,
    /// Where it stands.
    pub state: BranchState,
}

/// Where a branch stands on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchState {
    /// It can land.
    Queued,
    /// It is not what it was when its task passed: somebody has to want it, by name.
    Changed {
        /// The commit that it stood on then.
        passed: String,
    },
    /// It lands once a person approves it.
    Unapproved,
    /// It builds on these, whose work is being done again or waits for an approval.
    Waits {
        /// Which tasks.
        on: Vec<TaskId>,
    },
    /// It did not land, and its task is done again or asks.
    Refused(NotLanded),
    /// It passed its check, and waits to be taken into the target.
    Staged,
}

names! {
    /// What can be done about a branch.
    BranchAction {
        /// A person approves the commit that it stands on.
        Approve = "approve",
        /// A person returns it with words.
        Return = "return",
        /// It lands by itself, without another task's work.
        Land = "land",
    }
}

impl QueuedBranch {
    /// What can be done about it as it stands.
    pub fn actions(&self) -> Vec<BranchAction> {
        use BranchAction::{Approve, Land, Return};
        let all: &[BranchAction] = match self.state {
            BranchState::Queued | BranchState::Changed { .. } => &[Approve, Return, Land],
            BranchState::Unapproved | BranchState::Waits { .. } => &[Approve, Return],
            BranchState::Staged => &[Land],
            BranchState::Refused(_) => &[],
        };
        let is_possible = |it: &BranchAction| match it {
            Approve => self.approval.is_none(),
            Return => true,
            Land => self.builds_on.is_empty(),
        };
        all.iter().copied().filter(is_possible).collect()
    }
}

impl LandingQueue {
    /// What can land now, in order.
    pub fn ready(&self) -> impl Iterator<Item = &QueuedBranch> {
        let ready = |it: &&QueuedBranch| it.state == BranchState::Queued;
        self.branches.iter().filter(ready)
    }

    /// The same of these tasks only, where some are named: by that somebody wants what came late, too.
    pub fn ready_of<'q>(&'q self, only: &'q [TaskId]) -> impl Iterator<Item = &'q QueuedBranch> {
        let is_meant = |it: &&QueuedBranch| match it.state {
            BranchState::Queued => only.is_empty() || only.contains(&it.task),
            BranchState::Changed { .. } => only.contains(&it.task),
            _ => false,
        };
        self.branches.iter().filter(is_meant)
    }

    /// How many commits of a branch the target lacks.
    pub fn ahead(&self, top: &Path, of: &QueuedBranch) -> Result<u64> {
        let counted = Git::at(top)
            .args(&["rev-list", "--count"])
            .arg(format!("{}..{}", self.target.tip, of.tip))
            .run()?;
        Ok(git::text(&counted).parse().unwrap_or_default())
    }
}

/// What of a list is to land on a target, by this rule.
pub fn queue(
    sessions: &Sessions<'_>,
    repository: &Repository,
    list: &List<'_>,
    (target, rule): (Target, ReviewRule),
) -> Result<LandingQueue> {
    list.must_be_files("its rows have no place for what lands")?;
    let top = &repository.top;
    let mut refs = BranchRefs::of(top, &target)?;
    if let Some(commit) = &refs.staged
        && !(git::is_ancestor(top, &target.tip, commit)?
            && is_of_a_landing(list.home, repository, (&target.branch, commit))?)
    {
        // What is to land is merged anew.
        refs.staged = None;
    }
    let mut branches = Vec::new();
    if !refs.tips.is_empty() {
        let outlines = list.load()?.outlines;
        let owners = BranchOwners::of(sessions, repository, list, &outlines)?;
        let unmerged = unmerged(top, &target)?;
        let newest = newest(&owners, &refs, &target);
        let mut found = Vec::new();
        for (name, tip) in &refs.tips {
            let Some(owner) = owners.find(name).filter(|_| unmerged.contains(name)) else {
                continue;
            };
            if newest.get(&owner.task.id) == Some(name) {
                found.push(QueuedBranch {
                    task: owner.task.id.clone(),
                    subject: owner.task.subject.clone(),
                    branch: Branch::named(name),
                    session: owner.session,
                    tip: tip.clone(),
                    approval: None,
                    builds_on: BTreeSet::new(),
                    state: BranchState::Queued,
                });
            }
        }
        branches = judged((list, repository), &refs, (&target, rule), found)?;
        in_order(&outlines, &mut branches);
    }
    Ok(LandingQueue {
        target,
        staged: refs.staged,
        branches,
    })
}

/// The branch of each task of a list that its newest session made, with the commit that it stands on, wherever its
/// work is by now.
pub(super) fn branches(
    sessions: &Sessions<'_>,
    repository: &Repository,
    list: &List<'_>,
    target: &Target,
) -> Result<BTreeMap<TaskId, (Branch, String)>> {
    let refs = BranchRefs::of(&repository.top, target)?;
    let outlines = list.load()?.outlines;
    let owners = BranchOwners::of(sessions, repository, list, &outlines)?;
    let newest = newest(&owners, &refs, target).into_iter();
    let found = newest.filter_map(|(task, name)| {
        let tip = refs.tips.get(&name)?.clone();
        Some((task, (Branch::named(&name), tip)))
    });
    Ok(found.collect())
}

/// The branches of tasks that passed and are in none of these lists any more, with work that the target lacks: who
/// removed or moved such a task took it out of every queue.
pub fn ownerless<'l, 'h: 'l>(
    sessions: &Sessions<'_>,
    repository: &Repository,
    lists: impl Iterator<Item = (&'l List<'h>, &'l [Outline])>,
) -> Result<Vec<Branch>> {
    let target = Target::of(repository, None)?;
    let refs = BranchRefs::of(&repository.top, &target)?;
    let unmerged = unmerged(&repository.top, &target)?;
    let owners = lists.map(|(list, tasks)| BranchOwners::of(sessions, repository, list, tasks));
    let owners = owners.collect::<Result<Vec<_>>>()?;
    let branches = refs.tips.iter().filter_map(|(name, tip)| {
        let branch = Branch::named(name);
        let has_landed = refs.tags.get(&landed_ref(&branch));
        let waits = unmerged.contains(name)
            && refs.passed.contains_key(&passed_ref(&branch))
            && has_landed.is_none_or(|it| it.tip != *tip);
        // A list that was taken away comes back with its tasks.
        let is_of_one = owners.iter().any(|it| it.session(name).is_some());
        let is_ownerless = owners.iter().all(|it| it.find(name).is_none());
        (waits && is_of_one && is_ownerless).then_some(branch)
    });
    Ok(branches.collect())
}

/// The branch of each task that its newest session made, by its whole name, also where it has landed and is
/// gone: what earlier sessions left of the task was done anew.
fn newest(
    owners: &BranchOwners<'_>,
    refs: &BranchRefs,
    target: &Target,
) -> BTreeMap<TaskId, String> {
    let landed = refs.tags.values().filter(|it| it.onto == target.branch);
    let landed = landed.map(|it| it.branch.full());
    let mut newest: BTreeMap<TaskId, (usize, String)> = BTreeMap::new();
    for name in refs.tips.keys().cloned().chain(landed) {
        if let Some(owner) = owners.find(&name) {
            let last = newest.entry(owner.task.id.clone()).or_default();
            // Sessions whose files are gone have no age, but a time in their names.
            *last = (owner.age, name).max(std::mem::take(last));
        }
    }
    let names = newest.into_iter();
    names.map(|(task, (_, name))| (task, name)).collect()
}

/// The branches with their states, less those whose work is on the target already or is not done yet.
fn judged(
    (list, repository): (&List<'_>, &Repository),
    refs: &BranchRefs,
    (target, rule): (&Target, ReviewRule),
    found: Vec<QueuedBranch>,
) -> Result<Vec<QueuedBranch>> {
    let top = &repository.top;
    let tag = |it: &QueuedBranch| {
        let tag = refs.tags.get(&landed_ref(&it.branch));
        tag.filter(|tag| tag.tip == it.tip)
    };
    let brought = found.iter().filter_map(tag).map(|it| it.commit.as_str());
    let brought: Vec<&str> = brought.collect();
    let landed = git::ancestors(top, brought.iter().copied(), &target.tip)?;
    let tips = found.iter().map(|it| it.tip.as_str());
    let passed = match &refs.staged {
        Some(staged) => git::ancestors(top, brought.into_iter().chain(tips), staged)?,
        None => BTreeSet::new(),
    };
    let mut branches = Vec::new();
    for it in &found {
        let commit = tag(it).map(|it| it.commit.as_str());
        if commit.is_some_and(|it| landed.contains(it)) {
            continue;
        }
        let mut it = it.clone();
        if passed.contains(&*it.tip) || commit.is_some_and(|it| passed.contains(it)) {
            it.state = BranchState::Staged;
        } else {
            let task = match list.task(&it.task) {
                Ok(file) => file.task,
                // Somebody removed it meanwhile.
                Err(Error::NotFound { .. }) => continue,
                Err(error) => return Err(error),
            };
            let is_bare = task
                .landing
                .as_ref()
                .is_some_and(|it| it.no_commit().is_some());
            it.approval = task.landing.as_ref().and_then(Landing::approved).cloned();
            it.state = match (task.state.clone(), task.not_landed()) {
                (State::Completed, _) => match refs.passed.get(&passed_ref(&it.branch)) {
                    Some(passed) if *passed != it.tip => BranchState::Changed {
                        passed: passed.clone(),
                    },
                    // Its branch holds what the tasks committed that it builds on.
                    Some(_) | None if is_bare => continue,
                    Some(_) | None => BranchState::Queued,
                },
                // Nobody wants it any more.
                (State::Cancelled, _) => continue,
                (_, Some(refused)) => BranchState::Refused(refused.clone()),
                // It is being done for the first time.
                (_, None) => continue,
            };
        }
        branches.push(it);
    }
    let claimed = branches.iter().filter_map(|it| {
        let approval = it.approval.as_ref().filter(|to| to.commit == it.tip)?;
        Some((it.task.clone(), approval.clone()))
    });
    let approved = review::on_record(list, repository, &claimed.collect::<Vec<_>>())?;
    for it in &mut branches {
        it.approval.take_if(|_| !approved.contains(&it.task));
        it.state = by_rule(rule, it);
    }
    Ok(branches)
}

/// Where a branch stands once it is asked whether a person approved it: who did wants it as it is.
fn by_rule(rule: ReviewRule, it: &QueuedBranch) -> BranchState {
    match (&it.state, rule, &it.approval) {
        (BranchState::Changed { .. } | BranchState::Queued, _, Some(_)) => BranchState::Queued,
        (BranchState::Changed { .. } | BranchState::Queued, ReviewRule::Required, None) => {
            BranchState::Unapproved
        }
        (state, _, _) => state.clone(),
    }
}

/// Puts each behind what it builds on, and says of those that build on refused work that they wait.
fn in_order(outlines: &[Outline], branches: &mut Vec<QueuedBranch>) {
    let graph = Graph::new(outlines);
    let out =
        |it: &&QueuedBranch| matches!(it.state, BranchState::Refused(_) | BranchState::Unapproved);
    let out = branches.iter().filter(out).map(|it| it.task.clone());
    let out: BTreeSet<TaskId> = out.collect();
    let all: BTreeSet<TaskId> = branches.iter().map(|it| it.task.clone()).collect();
    for it in branches.iter_mut() {
        let builds_on = all_blockers(&graph, &it.task);
        let on: Vec<TaskId> = builds_on.intersection(&out).cloned().collect();
        if it.state == BranchState::Queued && !on.is_empty() {
            it.state = BranchState::Waits { on };
        }
        it.builds_on = builds_on.intersection(&all).cloned().collect();
    }
    let passed = |id: &TaskId| graph.get(id).and_then(|it| it.ended_at);
    let mut left = std::mem::take(branches);
    left.sort_by_key(|it| (passed(&it.task), it.task.clone()));
    let mut placed: BTreeSet<TaskId> = BTreeSet::new();
    while !left.is_empty() {
        let is_free = |it: &QueuedBranch| it.builds_on.is_subset(&placed);
        // A circle of dependencies has no first; its oldest goes first.
        let at = left.iter().position(is_free).unwrap_or_default();
        let next = left.remove(at);
        placed.insert(next.task.clone());
        branches.push(next);
    }
    branches.sort_by_key(|it| it.state != BranchState::Queued);
}

/// Everything that a task builds on.
fn all_blockers(graph: &Graph<'_>, task: &TaskId) -> BTreeSet<TaskId> {
    let mut found = BTreeSet::new();
    let mut open = vec![task.clone()];
    while let Some(id) = open.pop() {
        for blocker in graph.blockers(&id) {
            if blocker.id != *task && found.insert(blocker.id.clone()) {
                open.push(blocker.id.clone());
            }
        }
    }
    found
}

/// The tasks' branches that hold commits which the target lacks, by their whole names.
fn unmerged(top: &Path, target: &Target) -> Result<BTreeSet<String>> {
    let out = Git::at(top)
        .args(&["for-each-ref", "--format=%(refname)"])
        .arg(format!("--no-merged={}", target.tip))
        .arg("refs/heads/flagpost")
        .run()?;
    Ok(String::from_utf8_lossy(&out)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// Which task of a list a branch or its tag belongs to.
pub(super) struct BranchOwners<'o> {
    /// How old each session is, the newest highest, and whose list it ran; by its name in a branch.
    sessions: HashMap<String, (usize, Option<ListRef>, SessionId)>,
    tasks: HashMap<String, &'o Outline>,
    list: ListRef,
    is_default: bool,
}

/// The task of a branch.
pub(super) struct BranchOwner<'o> {
    pub(super) task: &'o Outline,
    age: usize,
    pub(super) session: Option<SessionId>,
}

impl<'o> BranchOwners<'o> {
    pub(super) fn of(
        sessions: &Sessions<'_>,
        repository: &Repository,
        list: &List<'_>,
        outlines: &'o [Outline],
    ) -> Result<Self> {
        let all = sessions.locks()?.into_iter().enumerate();
        let tasks = outlines.iter();
        Ok(Self {
            sessions: all
                .map(|(age, (id, lock))| (branch::component(id.as_str()), (age + 1, lock.list, id)))
                .collect(),
            tasks: tasks
                .map(|it| (branch::component(it.id.as_str()), it))
                .collect(),
            is_default: list.id().as_str() == repository.name.as_str(),
            list: list.id().clone(),
        })
    }

    /// The task that a name belongs to, `…/{session}/{task}`.
    pub(super) fn find(&self, name: &str) -> Option<BranchOwner<'o>> {
        let task = *self.tasks.get(name.rsplit('/').next()?)?;
        let (age, session) = self.session(name)?;
        Some(BranchOwner { task, age, session })
    }

    /// The session that a name belongs to, and how old that is; none where it ran another list.
    fn session(&self, name: &str) -> Option<(usize, Option<SessionId>)> {
        match self.sessions.get(name.rsplit('/').nth(1)?) {
            Some((age, list, id)) => {
                let is_ours = list.as_ref().map_or(self.is_default, |it| *it == self.list);
                is_ours.then(|| (*age, Some(id.clone())))
            }
            // The files of that session are gone: the repository's own list is the likely one.
            None => self.is_default.then_some((0, None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flagpost_model::task::Task;

    fn outline(id: &str, waits_for: &[&str], ended: i64) -> Outline {
        let mut task = Task::new(id.parse().unwrap(), format!("Task {id}"));
        task.blocked_by = waits_for.iter().map(|it| it.parse().unwrap()).collect();
        task.state = State::Completed;
        let mut outline = Outline::from(&task);
        outline.ended_at = Some(jiff::Timestamp::from_second(ended).unwrap());
        outline
    }

    fn branch(id: &str, state: BranchState) -> QueuedBranch {
        let task: TaskId = id.parse().unwrap();
        QueuedBranch {
            branch: Branch::new(&"s".parse().unwrap(), &task),
            task,
            subject: String::new(),
            session: None,
            tip: String::new(),
            approval: None,
            builds_on: BTreeSet::new(),
            state,
        }
    }

    fn refused() -> BranchState {
        BranchState::Refused(NotLanded {
            times: 1,
            why: String::new(),
            onto: "main".to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
            by: None,
        })
    }

    fn order(outlines: &[Outline], mut branches: Vec<QueuedBranch>) -> Vec<(String, bool)> {
        in_order(outlines, &mut branches);
        let state = |it: &QueuedBranch| it.state == BranchState::Queued;
        branches
            .iter()
            .map(|it| (it.task.to_string(), state(it)))
            .collect()
    }

    #[test]
    fn each_lands_after_what_it_builds_on_and_else_as_they_passed() {
        let outlines = [
            outline("1", &["3"], 10),
            outline("2", &[], 30),
            outline("3", &[], 20),
        ];
        let all = ["1", "2", "3"]
            .map(|id| branch(id, BranchState::Queued))
            .to_vec();
        let expected = [("3", true), ("1", true), ("2", true)];
        let expected = expected.map(|(id, is)| (id.to_owned(), is));
        assert_eq!(order(&outlines, all), expected);
    }

    #[test]
    fn an_approval_lets_in_what_changed_and_a_rule_keeps_out_what_has_none() {
        let changed = || BranchState::Changed {
            passed: "a".to_owned(),
        };
        let (optional, required) = (ReviewRule::Optional, ReviewRule::Required);
        let rows = [
            (BranchState::Queued, optional, false, BranchState::Queued),
            (
                BranchState::Queued,
                required,
                false,
                BranchState::Unapproved,
            ),
            (BranchState::Queued, required, true, BranchState::Queued),
            (changed(), optional, false, changed()),
            (changed(), optional, true, BranchState::Queued),
            (changed(), required, false, BranchState::Unapproved),
            (changed(), required, true, BranchState::Queued),
            (refused(), required, true, refused()),
            (BranchState::Staged, required, false, BranchState::Staged),
        ];
        for (state, rule, is_approved, expected) in rows {
            let mut branch = branch("1", state.clone());
            branch.approval = is_approved.then(|| Approval {
                commit: String::new(),
                by: "ann".parse().unwrap(),
                at: jiff::Timestamp::UNIX_EPOCH,
            });
            let found = by_rule(rule, &branch);
            assert_eq!(found, expected, "{state:?} {rule:?} {is_approved}");
        }
    }

    #[test]
    fn what_can_be_done_about_a_branch_follows_from_where_it_stands() {
        use BranchAction::{Approve, Land, Return};
        let changed = BranchState::Changed {
            passed: "a".to_owned(),
        };
        let waits = BranchState::Waits {
            on: vec!["9".parse().unwrap()],
        };
        let rows = [
            (BranchState::Queued, &[Approve, Return, Land][..]),
            (changed, &[Approve, Return, Land]),
            (BranchState::Unapproved, &[Approve, Return]),
            (waits, &[Approve, Return]),
            (BranchState::Staged, &[Land]),
            (refused(), &[]),
        ];
        for (state, expected) in rows {
            let mut branch = branch("1", state.clone());
            assert_eq!(branch.actions(), expected, "{state:?}");
            branch.builds_on.insert("9".parse().unwrap());
            assert!(!branch.actions().contains(&Land), "{state:?}");
        }
    }

    #[test]
    fn what_builds_on_refused_work_waits_also_behind_others_and_the_rest_does_not() {
        let outlines = [
            outline("1", &[], 1),
            outline("2", &["1"], 2),
            outline("3", &["2"], 3),
            outline("4", &[], 4),
        ];
        // Task 2 has no branch of its own.
        let all = vec![
            branch("1", refused()),
            branch("3", BranchState::Queued),
            branch("4", BranchState::Queued),
        ];
        let expected = [("4", true), ("1", false), ("3", false)];
        let expected = expected.map(|(id, is)| (id.to_owned(), is));
        assert_eq!(order(&outlines, all), expected);
    }
}
