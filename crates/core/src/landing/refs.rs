//! The names in git that landing keeps.
//!
//! Owns `refs/flagpost/landed/{session}/{task}`, an annotated tag of the commit that a task's branch had
//! when its work landed, and `refs/flagpost/staged/{target}`, a commit that passed its check and waits for
//! a working tree, and `refs/flagpost/passed/{session}/{task}`, the commit of a task's branch when it passed.
//! A tag's message says which commit of the target brought the work. It is made in one
//! transaction with the move of the target, so that a crash leaves both or neither.

use std::{collections::BTreeMap, path::Path};

use flagpost_model::task::Landed;
use jiff::Timestamp;

use super::Target;
use crate::git::{Branch, Git, GitResult, ancestors, branch, is_ancestor, text};

/// Below which the tags lie.
const LANDED: &str = "refs/flagpost/landed";
/// How git is asked for a name: what a line of [`BranchRefs`] is.
const FORMAT: &str =
    "--format=%(objectname) %(refname) %(*objectname) %(taggerdate:unix) %(contents:subject)";
/// Below which tested commits wait.
const STAGED: &str = "refs/flagpost/staged";

/// Below which the commits lie that branches had when their tasks passed.
const PASSED: &str = "refs/flagpost/passed";

/// The name of the tag of a task's branch.
pub fn landed_ref(branch: &Branch) -> String {
    below(LANDED, branch)
}

/// The name of the commit that a task's branch had when the task passed.
pub fn passed_ref(branch: &Branch) -> String {
    below(PASSED, branch)
}

fn below(place: &str, branch: &Branch) -> String {
    let rest = branch.as_str().split_once('/').map_or("", |(_, rest)| rest);
    format!("{place}/{rest}")
}

/// The name of what waits to be taken into a target.
pub fn staged_ref(target: &str) -> String {
    format!("{STAGED}/{target}")
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandedTag {
    /// The task's branch.
    pub branch: Branch,
    /// The commit of the task's branch that landed.
    pub tip: String,
    /// The commit of the target that brought it.
    pub commit: String,
    /// The target.
    pub onto: String,
    /// When, in seconds since 1970.
    pub at: i64,
}

impl LandedTag {
    /// What a task keeps of it.
    pub fn outcome(&self) -> Landed {
        Landed {
            commit: self.commit.clone(),
            onto: self.onto.clone(),
            tip: self.tip.clone(),
            at: Timestamp::from_second(self.at).unwrap_or_default(),
        }
    }

    /// Makes the tag's object; its name.
    pub fn write(&self, top: &Path) -> GitResult<String> {
        let Self {
            branch,
            tip,
            commit,
            onto,
            at,
        } = self;
        let made = Git::at(top)
            .args(&["mktag", "--no-strict"])
            .input(format!(
                "object {tip}\ntype commit\ntag {branch}\ntagger Flagpost <flagpost@localhost> {at} +0000\n\n\
                 {commit} {onto}\n"
            ))
            .run()?;
        Ok(text(&made))
    }
}

/// What git says of the tasks' branches, in one question.
#[derive(Debug, Default)]
pub(super) struct BranchRefs {
    /// The tip of each branch of a task, by its whole name.
    pub(super) tips: BTreeMap<String, String>,
    /// The tag of each that landed, by the tag's whole name.
    pub(super) tags: BTreeMap<String, LandedTag>,
    /// The commit of each branch when its task passed, by that name's whole name.
    pub(super) passed: BTreeMap<String, String>,
    /// What waits to be taken into the target.
    pub(super) staged: Option<String>,
}

impl BranchRefs {
    pub(super) fn of(top: &Path, target: &Target) -> GitResult<Self> {
        let out = Git::at(top)
            .args(&[
                "for-each-ref",
                FORMAT,
                "refs/heads/flagpost",
                LANDED,
                PASSED,
            ])
            .arg(staged_ref(&target.branch))
            .run()?;
        let mut refs = Self::default();
        for line in String::from_utf8_lossy(&out).lines() {
            refs.add(line, target);
        }
        Ok(refs)
    }

    fn add(&mut self, line: &str, target: &Target) {
        let mut words = line.splitn(3, ' ');
        let (Some(object), Some(name)) = (words.next(), words.next()) else {
            return;
        };
        let rest = words.next().unwrap_or_default();
        if name.starts_with(LANDED) {
            let tag = parse_tag(name, rest);
            self.tags.extend(tag.map(|tag| (name.to_owned(), tag)));
        } else if name.starts_with(PASSED) {
            self.passed.insert(name.to_owned(), object.to_owned());
        } else if name == staged_ref(&target.branch) {
            self.staged = Some(object.to_owned());
        } else if name.starts_with("refs/heads/") {
            self.tips.insert(name.to_owned(), object.to_owned());
        }
    }
}

/// The tips of branches that `branch`, a commit, builds on and whose work is in `base`, a commit for the
/// target: their own commits need not be there, where they were squashed.
pub fn landed_below(
    top: &Path,
    branch: &str,
    base: &str,
    target: &Target,
) -> GitResult<Vec<String>> {
    let out = Git::at(top)
        .args(&["for-each-ref", FORMAT])
        .arg(format!("--merged={branch}"))
        .arg(LANDED)
        .run()?;
    let mut refs = BranchRefs::default();
    for line in String::from_utf8_lossy(&out).lines() {
        refs.add(line, target);
    }
    let tags = refs.tags.values().filter(|it| it.onto == target.branch);
    let commits = tags.clone().map(|it| it.commit.as_str());
    let on = ancestors(top, commits, base)?;
    let tips = tags.filter(|it| on.contains(&*it.commit));
    Ok(tips.map(|it| it.tip.clone()).collect())
}

/// Whether the work of a task's branch is on its target: the tag is made before a working tree takes the commit.
pub fn has_landed(top: &Path, branch: &Branch) -> GitResult<bool> {
    let asked = Git::at(top).args(&["for-each-ref", FORMAT]);
    let out = text(&asked.arg(landed_ref(branch)).run()?);
    let mut words = out.splitn(3, ' ').skip(1);
    let (Some(name), Some(rest)) = (words.next(), words.next()) else {
        return Ok(false);
    };
    match parse_tag(name, rest) {
        Some(tag) => is_ancestor(top, &tag.commit, &format!("refs/heads/{}", tag.onto)),
        None => Ok(false),
    }
}

/// `{tip} {seconds} {commit} {target}`.
fn parse_tag(name: &str, text: &str) -> Option<LandedTag> {
    let mut words = text.splitn(4, ' ');
    let (tip, at) = (words.next()?, words.next()?.parse().ok()?);
    let (commit, onto) = (words.next()?, words.next()?);
    let rest = name.strip_prefix(LANDED)?;
    Some(LandedTag {
        branch: Branch::named(&format!("{}{rest}", branch::PREFIX)),
        tip: tip.to_owned(),
        commit: commit.to_owned(),
        onto: onto.to_owned(),
        at,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_what_landed_where_and_when() {
        let tag = parse_tag(
            "refs/flagpost/landed/web-1/7",
            "aa 1778682300 bb release/1.0",
        )
        .unwrap();
        assert_eq!(
            (&*tag.tip, &*tag.commit, &*tag.onto),
            ("aa", "bb", "release/1.0")
        );
        assert_eq!(tag.branch.as_str(), "flagpost/web-1/7");
        let theirs = parse_tag("refs/flagpost/landed/web-1/7", "aa  bb main");
        assert_eq!(theirs, None, "a tag of somebody else's");
    }

    #[test]
    fn a_branch_and_its_tag_have_the_same_end() {
        let branch = Branch::new(&"web-1".parse().unwrap(), &"7".parse().unwrap());
        assert_eq!(landed_ref(&branch), "refs/flagpost/landed/web-1/7");
    }
}
