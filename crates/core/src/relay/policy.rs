//! `policy.toml`: which briefs need no person, and whether a flag by hand counts.
//!
//! Owns where it lies and how it is read. It lies in the home and not in the working tree: what is
//! pulled from elsewhere must not ratify itself. Without a file, the person is asked; with a broken
//! one too.

use std::path::{Path, PathBuf};

use flagpost_disk::{self as disk, dialects::relay::EnvelopePart, fsx};
use flagpost_model::{
    RepoId,
    envelope::Hash,
    policy::{ForeignFlags, Rule},
};
use toml_edit::{DocumentMut, Item, Table};

use super::{Mail, envelope_files::EnvelopeFiles};
use crate::{error::Result, home::Home};

/// Its name.
pub(crate) const FILE: &str = "policy.toml";

/// What it says about flags that somebody touched.
const FOREIGN_FLAGS: &str = "foreign_flags";

/// What a rule may say.
const KEYS: [&str; 6] = ["name", "kind", "worker", "controller", "max_bytes", "then"];

/// A policy.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its rules, in order.
    pub rules: Vec<Rule>,
    /// What is done about a decision of a hand that nobody knows.
    pub foreign_flags: ForeignFlags,
    /// The file's hash; none where there is no file.
    pub sha256: Option<Hash>,
}

/// The policy that holds for a repository: its own, else that of the home.
pub fn of(home: &Home, repo: &RepoId) -> Result<Policy> {
    for dir in [&home.repository_dir(repo), home.root()] {
        if let Some(policy) = within(home, dir)? {
            return Ok(policy);
        }
    }
    Ok(Policy {
        rules: Vec::new(),
        foreign_flags: ForeignFlags::Ask,
        sha256: None,
    })
}

/// The policy that lies in a directory.
pub(crate) fn within(home: &Home, dir: &Path) -> Result<Option<Policy>> {
    let path = dir.join(FILE);
    let bytes = fsx::read(home.fs(), &path)?;
    bytes.map(|bytes| read(path, &bytes)).transpose()
}

/// Whether a decision of a hand that nobody knows counts. Where the policy cannot be read, a person is
/// asked.
pub(super) fn accepts_foreign_flags(home: &Home, repo: &RepoId) -> bool {
    of(home, repo).is_ok_and(|policy| policy.foreign_flags == ForeignFlags::Accept)
}

/// The same of a brief's flags. Of one in a shared repository that is on record as an unknown hand's a person
/// is asked: it may be the hand of a machine that decides nothing.
pub(super) fn accepts_flags_of(mail: &Mail<'_>, slot: &EnvelopeFiles) -> Result<bool> {
    let accepts = accepts_foreign_flags(mail.home, &mail.repo);
    Ok(accepts && !(slot.has(EnvelopePart::Foreign) && mail.history().is_shared()?))
}

fn read(path: PathBuf, bytes: &[u8]) -> Result<Policy> {
    let malformed = |reason: String| disk::Error::Malformed {
        path: path.clone(),
        reason,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
    let document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| malformed(error.message().to_owned()))?;
    let known = ["rule", FOREIGN_FLAGS];
    if let Some((key, _)) = document.iter().find(|(key, _)| !known.contains(key)) {
        let reason =
            format!("{key} is no part of a policy: write [[rule]], and {FOREIGN_FLAGS} before it");
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
    use std::path::Path;

    use flagpost_model::policy::Then;

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
            ("[[rule", "malformed"),
        ] {
            let error = rules_of(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
