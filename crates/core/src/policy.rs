//! `policy.toml`: which briefs and which requests of agents need no person, and whether a flag by hand counts.
//!
//! Owns where it lies, how it is read, and that it counts only as the operator accepted it: an agent can
//! write the file too. It lies in the home and not in the working tree: what is pulled from elsewhere must
//! not ratify itself. Without a file, the person is asked; with a broken one, or one that nobody accepted,
//! too.

mod permission_rules;

use std::path::{Path, PathBuf};

use flagpost_disk::{self as disk, fsx, process};
use flagpost_model::{
    RepoId, WorkerId,
    envelope::Hash,
    permission::rule::{PermissionRule, PermissionRuleKind},
    policy::{ForeignFlags, Rule, Then},
};
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table};

use crate::{
    error::{Error, Result, describe},
    history::{Entry, History, HistoryFilter, Kind, Line, Window},
    home::Home,
};

/// Its name.
pub(crate) const FILE: &str = "policy.toml";

/// Why nothing is decided by rules where the accepted one is gone, and what to do.
const GONE: &str =
    "the one that the operator accepted is gone; put it back, or 'flagpost policy accept'";

/// Why one that is there does not count, and what to do.
const WITHHELD: &str =
    "the operator has not accepted it as it is; 'flagpost policy accept' shows it and asks";

/// Names the line that tells which policy was accepted, beside the history.
const ACCEPTED: &str = ".policy-accepted";

/// What it says about flags that somebody touched.
const FOREIGN_FLAGS: &str = "foreign_flags";

/// What a rule may say.
const KEYS: [&str; 6] = ["name", "kind", "worker", "controller", "max_bytes", "then"];

/// A policy.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its rules on briefs, in order.
    pub rules: Vec<Rule>,
    /// Its rules on what agents ask to be allowed.
    pub permissions: Vec<PermissionRule>,
    /// What is done about a decision of a hand that nobody knows.
    pub foreign_flags: ForeignFlags,
    /// The file's hash; none where there is no file.
    pub sha256: Option<Hash>,
}

/// A policy that is there.
#[derive(Debug)]
pub struct PolicyFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub policy: Policy,
    /// What the file says.
    pub text: String,
}

impl Policy {
    /// The one that leaves everything to a person.
    pub(crate) fn asking() -> Self {
        Self {
            rules: Vec::new(),
            permissions: Vec::new(),
            foreign_flags: ForeignFlags::Ask,
            sha256: None,
        }
    }

    /// Whether it can spare a person a question.
    fn decides(&self) -> bool {
        let mut on_requests = self.permissions.iter().map(|it| it.kind);
        self.foreign_flags == ForeignFlags::Accept
            || self.rules.iter().any(|it| it.then == Then::Ratify)
            || on_requests.any(|kind| kind != PermissionRuleKind::Ask)
    }
}

/// The policy that holds for a repository: the file that is there, where the operator accepted it or it only
/// asks.
pub fn of(home: &Home, repo: &RepoId) -> Result<Policy> {
    Ok(as_accepted(home, repo)?.unwrap_or_else(Policy::asking))
}

/// The same; none where what is there is not as the operator accepted it, or what they accepted is gone: nobody knows
/// then what it would say.
pub(crate) fn as_accepted(home: &Home, repo: &RepoId) -> Result<Option<Policy>> {
    Ok(match there(home, repo)?.map(|it| it.policy) {
        Some(policy) if !policy.decides() || is_accepted(home, repo, &policy)? => Some(policy),
        Some(_) => None,
        None => (!was_accepted(home, repo)?).then(Policy::asking),
    })
}

/// The policy that is there for a repository, whether it counts or not: its own, else that of the home.
pub fn there(home: &Home, repo: &RepoId) -> Result<Option<PolicyFile>> {
    for dir in [&home.repository_dir(repo), home.root()] {
        let found = within(home, dir)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The policy that is there for a repository and does not count, since nobody accepted it as it is.
pub(crate) fn withheld(home: &Home, repo: &RepoId) -> Result<Option<PolicyFile>> {
    match there(home, repo)? {
        Some(it) if it.policy.decides() && !is_accepted(home, repo, &it.policy)? => Ok(Some(it)),
        _ => Ok(None),
    }
}

/// Why the policy that is there lets nothing through, where it would: it cannot be read, or nobody accepted it.
pub(crate) fn fault(home: &Home, repo: &RepoId) -> Option<String> {
    match withheld(home, repo) {
        Err(error) => Some(describe(&error)),
        Ok(Some(_)) => Some(WITHHELD.to_owned()),
        Ok(None) if is_gone(home, repo).unwrap_or(true) => Some(GONE.to_owned()),
        Ok(None) => None,
    }
}

/// Whether the policy that counted was taken away.
pub fn is_gone(home: &Home, repo: &RepoId) -> Result<bool> {
    Ok(was_accepted(home, repo)? && there(home, repo)?.is_none())
}

/// Whether there is a note that a policy was accepted.
fn was_accepted(home: &Home, repo: &RepoId) -> Result<bool> {
    Ok(fsx::stat(home.fs(), &note(home, repo))?.is_some())
}

/// The note that names the line which tells what was accepted.
fn note(home: &Home, repo: &RepoId) -> PathBuf {
    home.repository_dir(repo).join(ACCEPTED)
}

/// Has no policy count from now on, in this repository, durable on return: the one that was accepted is gone.
pub fn accept_none(home: &Home, repo: &RepoId, actor: &WorkerId) -> Result<()> {
    home.transact(|| {
        record(home, repo, actor, None)?;
        Ok(fsx::remove(home.fs(), &note(home, repo))?)
    })
}

/// Records that a policy was accepted, or that there is to be none: the number of the line.
fn record(
    home: &Home,
    repo: &RepoId,
    actor: &WorkerId,
    accepted: Option<&PolicyFile>,
) -> Result<u64> {
    let path = accepted.map(|it| it.path.display().to_string());
    let sha256 = accepted.and_then(|it| it.policy.sha256.as_ref());
    let entry = Entry::new(Kind::PolicyAccepted)
        .detail("path", path)
        .detail("sha256", sha256.map(Hash::as_str))
        .detail("hand", json!(process::own_identity()));
    History::of(home, repo).record_found(actor, home.now(), (vec![entry], &[]))
}

/// Has the policy of this content count from now on, in this repository, durable on return; whether it did
/// already. Another content than the one that was seen is refused.
pub fn accept(home: &Home, repo: &RepoId, actor: &WorkerId, seen: &PolicyFile) -> Result<bool> {
    let now = there(home, repo)?.map(|it| it.policy.sha256);
    if now.as_ref() != Some(&seen.policy.sha256) {
        let path = seen.path.clone();
        return Err(disk::Error::Changed { path }.into());
    }
    if is_accepted(home, repo, &seen.policy)? {
        return Ok(true);
    }
    home.transact(|| {
        let line = record(home, repo, actor, Some(seen))?;
        fsx::replace(home.fs(), &note(home, repo), format!("{line}\n").as_bytes())?;
        Ok(false)
    })
}

/// How a rule on requests stands in a policy, its heading with it.
pub fn spelled(rule: &PermissionRule) -> String {
    permission_rules::spelled(rule)
}

/// Adds a rule on requests to the policy of this repository and accepts it, durable on return: its file. The home's
/// policy is copied first, since it is that of other repositories too. One that nobody accepted is refused: what else it
/// says was not shown.
pub fn add(home: &Home, repo: &RepoId, actor: &WorkerId, rule: &PermissionRule) -> Result<PathBuf> {
    as_accepted(home, repo)?.ok_or(Error::PolicyWithheld)?;
    let there = there(home, repo)?;
    let path = home.repository_dir(repo).join(FILE);
    let before = there
        .as_ref()
        .map(|it| it.text.as_str())
        .unwrap_or_default();
    let gap = match before {
        "" => "",
        _ if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let text = format!("{before}{gap}{}", spelled(rule));
    let policy = read(path.clone(), text.as_bytes())?;
    let was = there.as_ref().filter(|it| it.path == path);
    let was = was.map(|it| it.text.as_bytes());
    fsx::rewrite(home.fs(), &path, was, text.as_bytes())?;
    let seen = PolicyFile { path, policy, text };
    accept(home, repo, actor, &seen)?;
    Ok(seen.path)
}

/// Whether a line of the history says that the operator accepted this policy. The note that names the line is
/// no more than a hint.
fn is_accepted(home: &Home, repo: &RepoId, policy: &Policy) -> Result<bool> {
    let note = fsx::read_lossy(home.fs(), &note(home, repo))?.unwrap_or_default();
    let Ok(line) = note.trim_end().parse() else {
        return Ok(false);
    };
    let line = History::of(home, repo).line(line, &Window::default())?;
    Ok(line.is_some_and(|it| accepts(&it, policy)))
}

/// Whether a later line says that another policy was accepted than this one, which counts: somebody put an
/// earlier note back.
pub(crate) fn is_outdated(home: &Home, repo: &RepoId) -> Result<bool> {
    let policy = of(home, repo)?;
    let filter = HistoryFilter {
        kinds: vec![Kind::PolicyAccepted.as_str().to_owned()],
        ..HistoryFilter::default()
    };
    let last = History::of(home, repo).latest(&filter, 1)?.lines.pop();
    Ok(policy.decides() && !last.is_some_and(|it| accepts(&it, &policy)))
}

fn accepts(line: &Line, policy: &Policy) -> bool {
    let hash = line.entry.detail.get("sha256").and_then(Value::as_str);
    line.entry.kind == Kind::PolicyAccepted
        && hash.is_some()
        && hash == policy.sha256.as_ref().map(Hash::as_str)
}

/// The policy that lies in a directory.
pub(crate) fn within(home: &Home, dir: &Path) -> Result<Option<PolicyFile>> {
    let path = dir.join(FILE);
    let Some(bytes) = fsx::read(home.fs(), &path)? else {
        return Ok(None);
    };
    let policy = read(path.clone(), &bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(PolicyFile { path, policy, text }))
}

/// Whether a decision of a hand that nobody knows counts. Where the policy cannot be read, a person is
/// asked.
pub(crate) fn accepts_foreign_flags(home: &Home, repo: &RepoId) -> bool {
    of(home, repo).is_ok_and(|policy| policy.foreign_flags == ForeignFlags::Accept)
}

fn read(path: PathBuf, bytes: &[u8]) -> Result<Policy> {
    let malformed = |reason: String| disk::Error::Malformed {
        path: path.clone(),
        reason,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().and_then(|it| text.get(..it.start));
        let line = before.map_or(1, |it| it.matches('\n').count() + 1);
        malformed(format!("line {line}: {}", error.message()))
    })?;
    let kinds = PermissionRuleKind::ALL.iter().map(|it| it.as_str());
    let known: Vec<&str> = kinds.chain(["rule", FOREIGN_FLAGS]).collect();
    if let Some((key, _)) = document.iter().find(|(key, _)| !known.contains(key)) {
        let reason = format!(
            "{key} is no part of a policy: write [[rule]], [[allow]], [[deny]] or [[ask]], and \
             {FOREIGN_FLAGS} before them"
        );
        return Err(malformed(reason).into());
    }
    let foreign_flags = match document.get(FOREIGN_FLAGS) {
        None => ForeignFlags::Ask,
        Some(item) => {
            let word = item.as_str().and_then(|word| word.parse().ok());
            word.ok_or_else(|| {
                let given = item.to_string();
                let words = ForeignFlags::ALL.iter().map(|it| format!("\"{it}\""));
                let words = words.collect::<Vec<_>>().join(" or ");
                malformed(format!("{FOREIGN_FLAGS} is {words}, not {}", given.trim()))
            })?
        }
    };
    let rules = match document.get("rule") {
        None => Vec::new(),
        Some(item) => {
            let tables = item.as_array_of_tables();
            let tables =
                tables.ok_or_else(|| malformed("write each rule under [[rule]]".to_owned()))?;
            let rules = (1..).zip(tables.iter()).map(|(n, table)| {
                rule(n, table).map_err(|reason| malformed(format!("rule {n}: {reason}")))
            });
            rules.collect::<Result<_, _>>()?
        }
    };
    Ok(Policy {
        rules,
        permissions: permission_rules::read(&document).map_err(malformed)?,
        foreign_flags,
        sha256: Some(Hash::of(bytes)),
    })
}

fn rule(n: usize, table: &Table) -> Result<Rule, String> {
    if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
        return Err(format!("{key} is none of {}", KEYS.join(", ")));
    }
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(item) => item
            .as_str()
            .map(Some)
            .ok_or_else(|| format!("{key} is a text")),
    };
    let max_bytes = match table.get("max_bytes") {
        None => None,
        Some(item) => {
            let number = item.as_integer().and_then(|it| u64::try_from(it).ok());
            Some(number.ok_or("max_bytes is a number of bytes")?)
        }
    };
    let then = text("then")?.ok_or("it lacks then = \"ratify\" or \"ask\"")?;
    Ok(Rule {
        name: text("name")?.map_or_else(|| format!("rule {n}"), str::to_owned),
        kinds: kinds(table.get("kind"))?,
        worker: text("worker")?.map(str::parse).transpose().map_err(words)?,
        controller: text("controller")?
            .map(str::parse)
            .transpose()
            .map_err(words)?,
        max_bytes,
        then: then.parse().map_err(words)?,
    })
}

fn kinds(item: Option<&Item>) -> Result<Vec<flagpost_model::envelope::BriefKind>, String> {
    let Some(item) = item else {
        return Ok(Vec::new());
    };
    let names: Option<Vec<&str>> = match item.as_array() {
        Some(array) => array.iter().map(toml_edit::Value::as_str).collect(),
        None => item.as_str().map(|name| vec![name]),
    };
    let names = names.ok_or("kind is a text or a list of texts")?;
    names
        .into_iter()
        .map(|name| name.parse().map_err(words))
        .collect()
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy_of(text: &str) -> Result<Policy, String> {
        read(Path::new("/policy.toml").to_owned(), text.as_bytes()).map_err(words)
    }

    fn rules_of(text: &str) -> Result<Vec<Rule>, String> {
        policy_of(text).map(|policy| policy.rules)
    }

    #[test]
    fn a_flag_by_hand_counts_only_where_the_policy_says_so() {
        for (text, expected) in [
            ("", ForeignFlags::Ask),
            ("foreign_flags = \"ask\"", ForeignFlags::Ask),
            (
                "foreign_flags = \"accept\"\n[[rule]]\nthen = \"ask\"",
                ForeignFlags::Accept,
            ),
        ] {
            let policy = policy_of(text).unwrap();
            assert_eq!(policy.foreign_flags, expected, "{text}");
            assert_eq!(policy.sha256, Some(Hash::of(text.as_bytes())));
        }
    }

    #[test]
    fn a_policy_is_read_rule_by_rule() {
        let rules = rules_of(
            "[[rule]]\nname = \"small\"\nkind = [\"redirect\", \"freeform\"]\nworker = \"W{1,2}\"\n\
             controller = \"ann\"\nmax_bytes = 2000\nthen = \"ratify\"\n[[rule]]\nthen = \"ask\"\n",
        );
        let rules = rules.unwrap();
        assert_eq!((rules[0].name.as_str(), rules[0].kinds.len()), ("small", 2));
        assert_eq!(
            (rules[0].max_bytes, rules[0].then),
            (Some(2000), Then::Ratify)
        );
        assert_eq!(
            (rules[1].name.as_str(), rules[1].then),
            ("rule 2", Then::Ask)
        );
        assert!(rules_of("").unwrap().is_empty());
    }

    #[test]
    fn what_is_no_policy_says_where_and_why() {
        for (text, told) in [
            ("[[rule]]\n", "rule 1: it lacks then"),
            (
                "[[rule]]\nthen = \"reject\"",
                "rule 1: \"reject\" is none of ratify, ask",
            ),
            (
                "[[rule]]\nthen = \"ask\"\nworkers = \"W1\"",
                "rule 1: workers is none of name",
            ),
            (
                "[[rule]]\nthen = \"ask\"\nkind = \"order\"",
                "rule 1: \"order\" is none of",
            ),
            (
                "[[rule]]\nthen = \"ask\"\nkind = 1",
                "rule 1: kind is a text or a list",
            ),
            (
                "[[rule]]\nthen = \"ask\"\nmax_bytes = -1",
                "rule 1: max_bytes is a number",
            ),
            (
                "[[rule]]\nthen = \"ask\"\nworker = \"W{\"",
                "rule 1: \"W{\" is not a pattern",
            ),
            ("[rule]\nthen = \"ask\"", "write each rule under [[rule]]"),
            ("then = \"ratify\"", "then is no part of a policy"),
            (
                "foreign_flags = true",
                "foreign_flags is \"ask\" or \"accept\", not true",
            ),
            (
                "[[allow]]\nworker = \"W1\"",
                "allow 1: it lacks input, exactly or tool",
            ),
            ("[[rule", "malformed"),
        ] {
            let error = rules_of(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
