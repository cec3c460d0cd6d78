//! Moving the target branch to a commit that passed.
//!
//! Owns that the move is one transaction of git with the old value named: it happens together with the
//! tags that say what landed, or not at all. Where the target is checked out, the tested commit is staged
//! under a name first and then taken into that working tree by a fast-forward, which git refuses rather
//! than touch a change. A staged commit is never lost: the next landing takes it, or a person does.

use std::path::{Path, PathBuf};

use flagpost_core::{
    git::{self, Git, is_ancestor, with_hooks, worktrees},
    history::Kind,
    landing::{
        LandedTag, LandingQueue, LandingRefusal, QueuedBranch, Target, landed_ref, record_move,
        staged_ref,
    },
    shell::quoted,
};

use super::Landing;
use crate::{error::Result, events::RunEvent, worktree::status};

/// What came of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Moved {
    /// The target stands on the commit.
    Yes,
    /// The commit waits for a working tree with changes.
    Staged,
    /// Somebody moved the target first.
    Meanwhile,
}

impl Landing<'_> {
    /// Moves the target from where the queue saw it to a commit on `base`.
    pub(super) fn move_target(
        &mut self,
        queue: &LandingQueue,
        (base, commit): (&str, &str),
        merged: &[(QueuedBranch, String)],
    ) -> Result<Moved> {
        let top = &self.stage.repository.top;
        let target = &queue.target;
        let mut refs = String::new();
        for (branch, commit) in merged {
            let tag = LandedTag {
                branch: branch.branch.clone(),
                tip: branch.tip.clone(),
                commit: commit.clone(),
                onto: target.branch.clone(),
                at: self.stage.home.now().as_second(),
            };
            let object = tag.write(top)?;
            refs += &format!("update {} {object}\n", landed_ref(&branch.branch));
        }
        let (full, staged) = (target.full(), staged_ref(&target.branch));
        let stands = standing_on(top, target)?;
        let is_direct = self.terms.push.is_none() && stands.is_none();
        refs += &match (is_direct, &queue.staged) {
            (true, _) => format!("update {full} {commit} {}\n", target.tip),
            (false, Some(_)) => format!(
                "verify {full} {}\nupdate {staged} {commit} {base}\n",
                target.tip
            ),
            (false, None) => format!("verify {full} {}\ncreate {staged} {commit}\n", target.tip),
        };
        self.will_move(target, commit)?;
        if !self.at_once(target, None, &refs)? {
            return Ok(Moved::Meanwhile);
        }
        if is_direct {
            *self.known = Some(commit.to_owned());
            return Ok(Moved::Yes);
        }
        if !self.pushed(target, commit)? {
            self.unstage(target, commit)?;
            return Ok(Moved::Meanwhile);
        }
        match stands {
            // What it was merged onto is on the target: nobody else may move that but by a commit there.
            Some(dir) if queue.staged.is_none() && self.terms.push.is_none() => {
                self.take(target, commit, &dir)
            }
            // A push takes its time, in which the operator may have gone to another branch.
            _ => self.advance(target, commit),
        }
    }

    /// Refuses to land on what somebody else brought onto the target meanwhile: nobody looked at it, and no
    /// check ran. Whoever lands next has been told of it.
    pub(super) fn must_be_known(&mut self, target: &Target) -> Result<()> {
        let Some(from) = self.known.replace(target.tip.clone()) else {
            return Ok(());
        };
        let repository = self.stage.repository;
        let known = Target {
            branch: target.branch.clone(),
            tip: from.clone(),
        };
        if known
            .moved_by_others(self.stage.home, repository)?
            .is_none()
        {
            return Ok(());
        }
        let (branch, to) = (target.branch.clone(), target.tip.clone());
        let told = (self.stage.home, repository, self.actor);
        record_move(Kind::TargetMoved, told, (&branch, &from, &to))?;
        let subject = git::subject(&repository.top, &to)?;
        Err(LandingRefusal::Moved {
            branch,
            from,
            to,
            subject,
        }
        .into())
    }

    /// Takes a commit that was staged by an earlier landing, where that can be done now.
    pub(super) fn take_staged(&mut self, target: &Target) -> Result<()> {
        let top = &self.stage.repository.top;
        self.report.take = None;
        self.waiting = None;
        let Some((commit, is_tested)) = target.staged(self.stage.home, self.stage.repository)?
        else {
            return Ok(());
        };
        if !is_tested {
            let staged = staged_ref(&target.branch);
            self.notice(format!(
                "{staged} named {commit:.10}, which no landing tested: the name is removed, and the commit is not taken"
            ))?;
            return self.unstage(target, &commit);
        }
        let is_new = !is_ancestor(top, &commit, &target.tip)?;
        if is_new && is_ancestor(top, &target.tip, &commit)? && !self.pushed(target, &commit)? {
            return self.unstage(target, &commit);
        }
        self.advance(target, &commit)?;
        Ok(())
    }

    /// Moves the target on to a staged commit.
    pub(super) fn advance(&mut self, target: &Target, commit: &str) -> Result<Moved> {
        let top = self.stage.repository.top.clone();
        let tip = git::commit(&top, &target.full())?.unwrap_or_default();
        if is_ancestor(&top, commit, &tip)? {
            self.unstage(target, commit)?;
            return Ok(Moved::Yes);
        }
        if !is_ancestor(&top, &tip, commit)? {
            self.unstage(target, commit)?;
            return Ok(Moved::Meanwhile);
        }
        let staged = staged_ref(&target.branch);
        let Some(dir) = standing_on(&top, target)? else {
            let full = target.full();
            let refs = format!("update {full} {commit} {tip}\ndelete {staged} {commit}\n");
            return Ok(match self.at_once(target, None, &refs)? {
                true => {
                    *self.known = Some(commit.to_owned());
                    Moved::Yes
                }
                false => Moved::Meanwhile,
            });
        };
        self.take(target, commit, &dir)
    }

    /// Takes a staged commit into the working tree that stands on the target.
    fn take(&mut self, target: &Target, commit: &str, dir: &Path) -> Result<Moved> {
        let mut why = unfit(dir)?;
        if why.is_none() {
            let mut git = fast_forward(dir, target, commit)?;
            let answer = self.calls().ask(&mut git)?;
            let top = &self.stage.repository.top;
            let is_on = git::commit(top, &target.full())?.as_deref() == Some(commit);
            match answer.code() {
                Some(0) if is_on => {
                    *self.known = Some(commit.to_owned());
                    self.report.take = None;
                    self.waiting = None;
                    self.unstage(target, commit)?;
                    return Ok(Moved::Yes);
                }
                _ if !self.is_ahead(target, commit)? => {
                    self.unstage(target, commit)?;
                    return Ok(Moved::Meanwhile);
                }
                Some(0) => why = Some("git moved something else".to_owned()),
                _ => why = Some(format!("git says: {}", git.refused(&answer).message)),
            }
        }
        let why = why.unwrap_or_default();
        let staged = staged_ref(&target.branch);
        let take = format!("git -C {} merge --ff-only {staged}", quoted(dir));
        self.report.take = Some(take.clone());
        self.waiting = Some(RunEvent::LandStaged {
            onto: target.branch.clone(),
            commit: commit.to_owned(),
            why: format!("{} stands on {} and {why}", dir.display(), target.branch),
            take,
        });
        Ok(Moved::Staged)
    }

    /// Whether the target can be moved on to a commit.
    fn is_ahead(&self, target: &Target, commit: &str) -> Result<bool> {
        let top = &self.stage.repository.top;
        let tip = git::commit(top, &target.full())?.unwrap_or_default();
        Ok(is_ancestor(top, &tip, commit)?)
    }

    /// Makes this the commit that waits, in place of whatever waited.
    pub(super) fn stage(&self, target: &Target, commit: &str) -> Result<()> {
        self.will_move(target, commit)?;
        let refs = format!("update {} {commit}\n", staged_ref(&target.branch));
        // A name of ours, of which no hook need hear.
        self.at_once(target, Some(git::NO_HOOKS), &refs)?;
        Ok(())
    }

    /// Has the history name a commit before the target moves to it.
    fn will_move(&self, target: &Target, commit: &str) -> Result<()> {
        let told = (self.stage.home, self.stage.repository, self.actor);
        Ok(record_move(
            Kind::TargetMoving,
            told,
            (&target.branch, &target.tip, commit),
        )?)
    }

    /// Lets a staged commit go: it is on the target, or the target went elsewhere.
    fn unstage(&self, target: &Target, commit: &str) -> Result<()> {
        let refs = format!("delete {} {commit}\n", staged_ref(&target.branch));
        // A name of ours, of which no hook need hear.
        self.at_once(target, Some(git::NO_HOOKS), &refs)?;
        Ok(())
    }

    /// One transaction; not carried out where the target has moved.
    fn at_once(&self, target: &Target, hooks: Option<&str>, refs: &str) -> Result<bool> {
        let top = &self.stage.repository.top;
        let mut git = with_hooks(Git::at(top), hooks)
            .args(&[
                "update-ref",
                "-m",
                "flagpost: landed",
                "--create-reflog",
                "--stdin",
            ])
            .input(format!("start\n{refs}prepare\ncommit\n"));
        let answer = git.ask_patiently()?;
        if answer.code() == Some(0) {
            return Ok(true);
        }
        let now = git::commit(top, &target.full())?;
        match now.as_ref() == Some(&target.tip) {
            true => Err(flagpost_core::Error::from(git.refused(&answer)).into()),
            false => Ok(false),
        }
    }
}

/// Takes a commit into a working tree. Files there that the repository ignores are somebody's, too. Hooks that the
/// commit brings run from the operator's next git command on, and not in this one.
fn fast_forward(dir: &Path, target: &Target, commit: &str) -> Result<Git> {
    let git = match brings_hooks(dir, commit)? {
        true => Git::at(dir).config(git::NO_HOOKS),
        false => Git::at(dir),
    };
    let git = match target.branch.contains('=') {
        // Such a name cannot be told here; the options below take back most of what it may say.
        true => git,
        false => git.config(&format!("branch.{}.mergeOptions=", target.branch)),
    };
    Ok(git
        .args(&["merge", "--quiet", "--ff-only", "--no-squash", "--commit"])
        .args(&["--no-overwrite-ignore", commit]))
}

/// Whether git's hooks lie among the files of a working tree and are others in a commit.
fn brings_hooks(dir: &Path, commit: &str) -> Result<bool> {
    let Some(hooks) = git::hooks_path(dir)? else {
        return Ok(false);
    };
    let (hooks, dir) = match (hooks.canonicalize(), dir.canonicalize()) {
        (Ok(hooks), Ok(dir)) => (hooks, dir),
        // There are none yet.
        _ => (hooks, dir.to_owned()),
    };
    let mut differ = Git::at(&dir).args(&["diff", "--quiet", "HEAD", commit, "--"]);
    differ = differ.arg(&hooks);
    Ok(hooks.starts_with(&dir) && differ.ask()?.code() != Some(0))
}

/// The working tree that stands on the target.
fn standing_on(top: &Path, target: &Target) -> Result<Option<PathBuf>> {
    let full = target.full();
    let entries = worktrees::entries(top)?.into_iter();
    let mut here = entries.filter(|it| it.branch.as_ref() == Some(&full) && it.path.is_dir());
    // A bare repository is listed with the branch of its HEAD, and has no files.
    Ok(here
        .find(|it| status::stands_alone(&it.path).is_ok())
        .map(|it| it.path))
}

/// Why nothing may be taken into a working tree.
fn unfit(dir: &Path) -> Result<Option<String>> {
    if let Some(what) = status::underway(dir)? {
        return Ok(Some(format!("a {what} is under way there")));
    }
    let changed = status::changed(dir)?;
    Ok((!changed.is_empty()).then(|| format!("has uncommitted changes: {changed}")))
}
