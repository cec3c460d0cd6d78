//! How each client's command line is spelled.
//!
//! Owns the presets: the options that make a client work without a person, print what it does, ask
//! nobody, and reach what its agent reports through. Each one was tried with the real client at the
//! version that `tested` names; `docs/run.md` says why each option is there. Pure.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use flagpost_model::TaskId;

use super::{Client, inject::Injected, opencode_config};

/// The version that a preset was tried with; none where it was only read.
pub fn tested(client: Client) -> Option<&'static str> {
    match client {
        Client::Claude => Some("2.1.330"),
        Client::Codex => Some("0.169.0"),
        Client::Gemini => Some("0.61.0"),
        Client::Opencode => Some("1.18.33"),
        Client::Acp | Client::Aider | Client::Cursor => None,
    }
}

/// The program of a client.
pub fn program(client: Client) -> &'static str {
    match client {
        Client::Cursor => "cursor-agent",
        client => client.as_str(),
    }
}

/// The agents that speak the Agent Client Protocol and were tried: the name, which is the program's too, and the
/// arguments by which it does.
pub const ACP_AGENTS: &[(&str, &[&str])] = &[("gemini", &["--acp"]), ("opencode", &["acp"])];

/// How a conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start<'a> {
    /// Anew, under this id where the client takes one.
    New(&'a str),
    /// The one of this id goes on.
    Resume(&'a str),
}

/// What a command line is filled in with.
#[derive(Debug, Clone, Copy)]
pub struct TemplateValues<'a> {
    /// The list.
    pub list: &'a str,
    /// The task.
    pub task: &'a TaskId,
    /// Which attempt.
    pub attempt: u32,
    /// The prompt's file.
    pub prompt: &'a Path,
    /// The prompt itself.
    pub text: &'a str,
    /// The directory that the agent reports in.
    pub out: &'a Path,
    /// The directory of what the client is given.
    pub dir: &'a Path,
    /// The directories of git that a commit writes to. A sandbox may close that of a worktree although it
    /// lies within one that is open.
    pub git: &'a [PathBuf],
    /// What is added to the client.
    pub inject: Injected<'a>,
}

/// Whether a client takes up a conversation by its id.
pub fn can_resume(client: Client) -> bool {
    !matches!(client, Client::Aider)
}

/// The arguments with which a person takes up a conversation, in the client's own window; none where it cannot be.
pub fn taken_up(client: Client, session: &str) -> Option<[&str; 2]> {
    match client {
        Client::Claude | Client::Gemini | Client::Cursor => Some(["--resume", session]),
        Client::Codex => Some(["resume", session]),
        Client::Opencode => Some(["--session", session]),
        Client::Acp | Client::Aider => None,
    }
}

/// Whether the client takes its conversation's id from us.
pub fn takes_id(client: Client) -> bool {
    matches!(client, Client::Claude | Client::Gemini)
}

/// Where the prompt goes.
pub fn reads_stdin(client: Client) -> bool {
    !matches!(client, Client::Cursor | Client::Aider)
}

/// The options that say how a conversation is identified and what is printed: they are ours alone.
pub fn ours(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &[
            "--session-id",
            "--resume",
            "-r",
            "--continue",
            "-c",
            "--output-format",
            "--input-format",
            "--settings",
        ],
        Client::Codex => &["--json", "-o", "--output-last-message", "-C", "--cd"],
        Client::Gemini => &["--session-id", "--resume", "-r", "-o", "--output-format"],
        Client::Opencode => &["--format", "-s", "--session", "-c", "--continue"],
        // Its agent is told over the protocol.
        Client::Acp => &[],
        Client::Cursor => &["--resume", "--output-format"],
        Client::Aider => &["--message-file", "--message"],
    }
}

/// The option that says what an agent may do, and its other spelling: given by the operator, it takes the
/// place of ours.
fn rights(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &["--permission-mode"],
        Client::Codex => &["--sandbox", "-s"],
        Client::Gemini => &["--approval-mode"],
        Client::Opencode | Client::Acp | Client::Cursor | Client::Aider => &[],
    }
}

/// The files that the client is given: their names and what is in them.
pub fn files(client: Client, inject: &Injected<'_>) -> Vec<(&'static str, String)> {
    match client {
        // Without it a headless Gemini does not even offer its agent a shell.
        Client::Gemini => vec![("policy.toml", include_str!("gemini_policy.toml").to_owned())],
        _ => inject.files(client),
    }
}

/// The arguments of a client. `added` are the operator's.
pub fn arguments(
    client: Client,
    start: Start<'_>,
    places: &TemplateValues<'_>,
    added: &[String],
) -> Vec<OsString> {
    let (rights_given, added) = split_rights(client, added);
    let mut args = ArgBuilder(Vec::new());
    match client {
        Client::Claude => claude(&mut args, start, places, rights_given.is_none()),
        Client::Codex => codex(&mut args, places, rights_given.as_deref()),
        Client::Gemini => gemini(&mut args, start, places, rights_given.is_none()),
        Client::Opencode => {
            args.all(["run", "--format", "json"]);
            if let Start::Resume(id) = start {
                args.all(["-s", id]);
            }
        }
        Client::Cursor => {
            args.all(["-p", "--force", "--output-format", "stream-json"]);
            if let Start::Resume(id) = start {
                args.all(["--resume", id]);
            }
        }
        // Its options are those of its own command line.
        Client::Acp => {}
        Client::Aider => args.all([
            "--yes-always",
            "--no-check-update",
            "--no-stream",
            "--no-pretty",
            "--analytics-disable",
            "--no-suggest-shell-commands",
        ]),
    }
    if let Some(rights) = rights_given.filter(|_| client != Client::Codex) {
        args.all([rights_of(client), &rights]);
    }
    args.all(added.iter().map(String::as_str));
    match client {
        Client::Codex => {
            // Options stand before it: it knows few by itself.
            if let Start::Resume(id) = start {
                args.all(["resume", id]);
            }
            args.all(["-"]);
        }
        Client::Cursor => args.all([places.text]),
        Client::Aider => args.path("--message-file", places.prompt),
        Client::Claude | Client::Gemini | Client::Opencode | Client::Acp => {}
    }
    args.0
}

/// Variables that the client needs; `config` is what opencode is configured with by a variable already.
pub fn variables(
    client: Client,
    places: &TemplateValues<'_>,
    config: Option<&str>,
) -> Vec<(&'static str, OsString)> {
    match client {
        // Its agent may write where it reports, which is outside of its project.
        Client::Opencode => {
            let tools = places.inject.opencode_server();
            let config = opencode_config::configured(config, places.out, tools);
            vec![(opencode_config::VARIABLE, config.into())]
        }
        _ => Vec::new(),
    }
}

fn claude(args: &mut ArgBuilder, start: Start<'_>, places: &TemplateValues<'_>, with_rights: bool) {
    args.all(["-p", "--output-format", "stream-json", "--verbose"]);
    if with_rights {
        args.all(["--permission-mode", "acceptEdits"]);
    }
    match start {
        Start::New(id) => {
            let TemplateValues {
                list,
                task,
                attempt,
                ..
            } = places;
            args.all(["--session-id", id, "--name"]);
            args.all([format!("{list}/{task}#{attempt}").as_str()]);
        }
        Start::Resume(id) => args.all(["--resume", id]),
    }
    args.all([
        "--allowedTools",
        "Bash(flagpost:*)",
        "Bash(git add:*)",
        "Bash(git commit:*)",
    ]);
    args.all(places.inject.allowed());
    args.path("--add-dir", places.out);
    args.0
        .extend(places.inject.arguments(Client::Claude, places.dir));
}

fn codex(args: &mut ArgBuilder, places: &TemplateValues<'_>, rights: Option<&str>) {
    let rights = rights.unwrap_or("workspace-write");
    args.all(["exec", "--json", "--sandbox", rights]);
    args.all(["--skip-git-repo-check"]);
    args.path("--add-dir", places.out);
    for dir in places.git {
        args.path("--add-dir", dir);
    }
    args.all(["-c", "allow_login_shell=false"]);
    args.path("-o", &places.dir.join("last-message.md"));
    args.0
        .extend(places.inject.arguments(Client::Codex, places.dir));
}

fn gemini(args: &mut ArgBuilder, start: Start<'_>, places: &TemplateValues<'_>, with_rights: bool) {
    if with_rights {
        args.all(["--approval-mode", "auto_edit"]);
    }
    args.all(["--skip-trust", "-o", "stream-json"]);
    match start {
        Start::New(id) => args.all(["--session-id", id]),
        Start::Resume(id) => args.all(["--resume", id]),
    }
    args.path("--policy", &places.dir.join("policy.toml"));
    args.path("--include-directories", places.out);
}

fn rights_of(client: Client) -> &'static str {
    rights(client).first().copied().unwrap_or_default()
}

/// What the operator says that the agent may do, and the rest of what they added.
fn split_rights(client: Client, added: &[String]) -> (Option<String>, Vec<String>) {
    let (mut given, mut rest) = (None, Vec::new());
    let mut words = added.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if rights(client).contains(&name) {
            given = value.or_else(|| words.next().cloned());
        } else {
            rest.push(word.clone());
        }
    }
    (given, rest)
}

/// Arguments in the making.
struct ArgBuilder(Vec<OsString>);

impl ArgBuilder {
    fn all<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.0.extend(words.into_iter().map(OsString::from));
    }

    fn path(&mut self, option: &str, path: &Path) {
        self.0.push(option.into());
        self.0.push(path.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(client: Client, start: Start<'_>, added: &[&str]) -> String {
        let task = TaskId::from(7);
        let places = TemplateValues {
            list: "web",
            task: &task,
            attempt: 2,
            prompt: Path::new("/p.md"),
            text: "Do it",
            out: Path::new("/live/7-2/out"),
            dir: Path::new("/live/7-2"),
            git: &["/web/.git".into(), "/web/.git/worktrees/7".into()],
            inject: Injected::NONE,
        };
        let added: Vec<String> = added.iter().map(|it| (*it).to_owned()).collect();
        let args = arguments(client, start, &places, &added);
        let args: Vec<_> = args.iter().map(|it| it.to_string_lossy()).collect();
        args.join(" ")
    }

    #[test]
    fn what_the_operator_adds_stands_at_the_end_of_the_options() {
        let codex = line(Client::Codex, Start::New(""), &["--model", "o9"]);
        assert!(
            codex.ends_with("-o /live/7-2/last-message.md --model o9 -"),
            "{codex}"
        );
        let claude = line(Client::Claude, Start::New("u"), &["--model", "opus"]);
        assert!(
            claude.ends_with("--add-dir /live/7-2/out --model opus"),
            "{claude}"
        );
        let cursor = line(Client::Cursor, Start::New(""), &["--model", "x"]);
        assert!(cursor.ends_with("--model x Do it"), "{cursor}");
    }

    #[test]
    fn other_rights_take_the_place_of_ours() {
        for (client, given, ours) in [
            (Client::Claude, "--permission-mode plan", "acceptEdits"),
            (Client::Codex, "--sandbox read-only", "workspace-write"),
            (Client::Gemini, "--approval-mode yolo", "auto_edit"),
        ] {
            let words: Vec<&str> = given.split(' ').collect();
            let line = line(client, Start::New("u"), &words);
            assert!(line.contains(given) && !line.contains(ours), "{line}");
        }
        let resumed = line(Client::Codex, Start::Resume("t"), &["--sandbox=read-only"]);
        assert!(
            resumed.starts_with("exec --json --sandbox read-only ")
                && resumed.ends_with(" resume t -"),
            "{resumed}"
        );
    }

    #[test]
    fn a_conversation_is_named_by_us_and_taken_up_by_that_name() {
        for client in [Client::Claude, Client::Gemini] {
            assert!(line(client, Start::New("u-1"), &[]).contains("--session-id u-1"));
            let resumed = line(client, Start::Resume("u-1"), &[]);
            assert!(resumed.contains("--resume u-1") && !resumed.contains("--session-id"));
        }
        assert!(line(Client::Opencode, Start::Resume("ses_1"), &[]).ends_with("-s ses_1"));
    }
}
