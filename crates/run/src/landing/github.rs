//! Pull requests of GitHub, through its own program `gh`.
//!
//! Owns which repository of GitHub a remote is, and how `gh` is called: with the environment as it is, without a
//! prompt, for a bounded time. What it prints is judged here, and its complaints are handed on. It never pushes
//! or merges.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use flagpost_core::{
    git::{Git, PARENT_VARIABLES, text},
    landing::LandingRefusal,
};
use flagpost_model::plain::plain;

use crate::{
    ask::{ProgramCall, ProgramInput, ask},
    error::Result,
};

/// How long one call may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is asked of the requests of a branch, in the language of `jq`; those of forks have branches of the same
/// name.
const FIELDS: &str = "state,headRefOid,mergeCommit,url,isCrossRepository";
const LINES: &str = ".[] | select(.isCrossRepository | not) | [.state, .headRefOid, .mergeCommit.oid // \"-\", .url] | join(\" \")";

/// A repository of GitHub.
#[derive(Debug)]
pub(super) struct GitHub {
    dir: PathBuf,
    /// `host/owner/name`.
    repository: String,
}

/// A pull request of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PullRequest {
    /// It can be merged.
    Open { url: String },
    /// This commit of the branch was merged, as that commit of the target.
    Merged {
        tip: String,
        commit: String,
        url: String,
    },
}

impl GitHub {
    /// What a remote is at GitHub.
    pub(super) fn of(dir: &Path, remote: &str) -> Result<Self> {
        let no = |why| LandingRefusal::NoRequests {
            remote: remote.to_owned(),
            why,
        };
        let mut git = Git::at(dir).args(&["remote", "get-url", "--", remote]);
        let answer = git.ask()?;
        if answer.code() != Some(0) {
            return Err(no(git.refused(&answer).message).into());
        }
        let url = text(&answer.out);
        let found = repository(&url);
        let (host, name) = found.ok_or_else(|| no("it is no repository of GitHub".to_owned()))?;
        if host.contains("gitlab") {
            return Err(no(format!("{host} is GitLab, and only GitHub is known")).into());
        }
        Ok(Self {
            dir: dir.to_owned(),
            repository: format!("{host}/{name}"),
        })
    }

    /// The requests of a branch onto another one, the newest first.
    pub(super) fn requests(
        &self,
        head: &str,
        base: &str,
    ) -> Result<Vec<PullRequest>, LandingRefusal> {
        let (head, base) = (format!("--head={head}"), format!("--base={base}"));
        let out = self.gh(
            "pr list",
            &[&head, &base, "--state=all", "--json", FIELDS, "--jq", LINES],
        )?;
        Ok(out.lines().filter_map(parse).collect())
    }

    /// Opens a request; its address.
    pub(super) fn open(
        &self,
        (head, base): (&str, &str),
        title: &str,
        body: &str,
    ) -> Result<String, LandingRefusal> {
        let call = "pr create";
        let (head, base) = (format!("--head={head}"), format!("--base={base}"));
        let (title, body) = (format!("--title={title}"), format!("--body={body}"));
        let out = self.gh(call, &[&head, &base, &title, &body])?;
        let url = out.lines().rev().find(|line| line.starts_with("http"));
        url.map(str::to_owned).ok_or_else(|| LandingRefusal::Gh {
            call: call.to_owned(),
            why: format!("it did not say where: {}", out.trim()),
        })
    }

    fn gh(&self, call: &str, args: &[&str]) -> Result<String, LandingRefusal> {
        let failed = |why: String| LandingRefusal::Gh {
            call: call.to_owned(),
            why,
        };
        let place = ["--repo", &self.repository];
        let words = call.split(' ').chain(place).chain(args.iter().copied());
        let words: Vec<OsString> = words.map(OsString::from).collect();
        let quiet = ["GH_PROMPT_DISABLED", "GH_NO_UPDATE_NOTIFIER"];
        let unset: Vec<OsString> = PARENT_VARIABLES.iter().map(OsString::from).collect();
        let asked = ask(ProgramCall {
            program: Path::new("gh"),
            args: &words,
            set: &quiet.map(|name| (name.to_owned(), "1".into())),
            unset: &unset,
            stdin: ProgramInput::Nothing,
            dir: &self.dir,
            patience: PATIENCE,
        });
        let answer = match asked {
            Ok(answer) => answer,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LandingRefusal::NoGh);
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let said = plain(answer.text.trim()).into_owned();
        match (answer.code, answer.is_late) {
            (Some(0), _) => Ok(said),
            (_, true) => Err(failed(format!("no answer in {} s", PATIENCE.as_secs()))),
            _ if said.is_empty() => Err(failed("it said nothing".to_owned())),
            _ => Err(failed(said)),
        }
    }
}

/// A line of [`LINES`]. A request that was closed is none, and neither is what `gh` says besides.
fn parse(line: &str) -> Option<PullRequest> {
    let mut words = line.split(' ').map(str::to_owned);
    let (state, tip, commit, url) = (words.next()?, words.next()?, words.next()?, words.next()?);
    match &*state {
        "OPEN" => Some(PullRequest::Open { url }),
        "MERGED" => Some(PullRequest::Merged { tip, commit, url }),
        _ => None,
    }
}

/// The host and `owner/name` of a remote's URL. A password in it is left out.
fn repository(url: &str) -> Option<(&str, &str)> {
    let (authority, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url
            .split_once(':')
            .filter(|(host, _)| !host.contains('/'))?,
    };
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let (owner, name) = path.split_once('/')?;
    let is_one = !host.is_empty() && !owner.is_empty() && !name.is_empty() && !name.contains('/');
    is_one.then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remotes_repository_is_read_off_its_url() {
        let of = |url| repository(url).map(|(host, name)| format!("{host} {name}"));
        for url in [
            "https://github.com/o/r.git",
            "https://user:secret@github.com/o/r",
            "git@github.com:o/r.git",
            "github.com:o/r",
            "ssh://git@github.com:22/o/r.git/",
        ] {
            assert_eq!(of(url).as_deref(), Some("github.com o/r"), "{url}");
        }
        for url in [
            "/srv/r.git",
            "../r.git",
            "./a:b/r",
            "file:///srv/r.git",
            "https://github.com/r.git",
            "https://git.example.org/a/b/c",
        ] {
            assert_eq!(of(url), None, "{url}");
        }
    }

    #[test]
    fn a_line_is_an_open_or_a_merged_request() {
        let open = PullRequest::Open {
            url: "http://h/1".to_owned(),
        };
        let merged = PullRequest::Merged {
            tip: "aa".to_owned(),
            commit: "bb".to_owned(),
            url: "http://h/2".to_owned(),
        };
        for (line, expected) in [
            ("OPEN aa - http://h/1", Some(open)),
            ("MERGED aa bb http://h/2", Some(merged)),
            ("CLOSED aa - http://h/3", None),
            ("A new release of gh is available", None),
        ] {
            assert_eq!(parse(line), expected, "{line}");
        }
    }
}
