//! Each real client, started as `run` starts it, does what the model server tells it to.
//!
//! Owns that the server satisfies the clients at all, and the streams that they print, which are kept
//! as fixtures for the readers of them: `FLAGPOST_FIXTURES=write` writes them anew.

mod behaviour;
mod fixtures;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_testkit::{
    background::{Background, Ended},
    clients::{self, Client, Installed, Login},
    model_server::{Api, Call, ModelServer},
};
use serde_json::json;

/// The id of the conversation, for the clients that are given one.
const SESSION: &str = "6f0c2b1e-8f43-4f7e-9d0c-4f0f8a1b2c3d";

const PROMPT: &str = "# Task 1: Write the parser\n\nRead every line once.\n";

/// A client with a home, a repository to work in, and a place for its report; none of them in a
/// temporary directory of the system, which a sandbox may leave writable.
struct Bench {
    client: Client,
    installed: Installed,
    server: ModelServer,
    login: Login,
    dir: tempfile::TempDir,
}

impl Bench {
    /// `None` where the client is not installed.
    fn new(client: Client) -> Option<Self> {
        let installed = Installed::find(client)?;
        let dir = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["home", "web", "out", "run", "tmp"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        let bench = Self {
            client,
            installed,
            server: ModelServer::start(),
            login: Login::Key,
            dir,
        };
        let path = bench.installed.path(bench.dir.path());
        let bin = std::env::split_paths(&path).next().unwrap();
        bench.write_program(&bin.join("flagpost"), "#!/bin/sh\necho \"heard: $*\"\n");
        let made = bench.command("git").args(["init", "-q", "."]).status();
        assert!(made.unwrap().success());
        Some(bench)
    }

    fn with_login(mut self, login: Login) -> Self {
        self.login = login;
        self
    }

    fn api(&self) -> Api {
        clients::api(self.client)
    }

    /// Where a report is to lie.
    fn report(&self) -> PathBuf {
        self.dir.path().join("out/report.md")
    }

    /// Writes the report with the client's own tool.
    fn reports(&self) -> Call {
        let path = self.report();
        clients::write(self.client, path.to_str().unwrap(), "status: PASS\n")
    }

    /// Runs a verb that its command line allows.
    fn speaks(&self) -> Call {
        clients::shell(self.client, "flagpost done 1 written")
    }

    /// Does what nobody has allowed.
    fn trespasses(&self) -> Call {
        let path = self.dir.path().join("elsewhere.txt");
        clients::write(self.client, path.to_str().unwrap(), "mine\n")
    }

    fn write_program(&self, path: &Path, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.dir.path().join("home"))
            .env("PATH", self.installed.path(self.dir.path()))
            .env("TMPDIR", self.dir.path().join("tmp"))
            .env(
                clients::COMPILE_CACHE,
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled"),
            )
            .current_dir(self.dir.path().join("web"));
        command
    }

    /// Runs the client on the prompt.
    fn run(&self) -> Ended {
        self.begin().end()
    }

    /// Begins the same.
    fn begin(&self) -> Background {
        self.start(&self.first_line(), PROMPT)
    }

    /// Goes on with the conversation.
    fn resume(&self, id: &str, prompt: &str) -> Ended {
        self.start(&self.resumed_line(id), prompt).end()
    }

    fn start(&self, line: &[String], prompt: &str) -> Background {
        let home = self.dir.path().join("home");
        let mut command = self.command(self.client.as_str());
        command
            .envs(clients::aim_as(
                self.client,
                self.login,
                &self.server,
                &home,
            ))
            .env("FLAGPOST_REPORT", self.report())
            .args(line);
        if self.client == Client::Opencode {
            // It asks for leave outside its project, and nobody answers.
            let out = self.dir.path().join("out/**");
            let permission = json!({"external_directory": {out.to_str().unwrap(): "allow"}});
            let config = json!({"permission": permission});
            command.env("OPENCODE_CONFIG_CONTENT", config.to_string());
        }
        Background::fed(&mut command, prompt.as_bytes())
    }

    fn first_line(&self) -> Vec<String> {
        match self.client {
            Client::Claude => self.claude(&["--session-id", SESSION]),
            Client::Codex => self.codex(&[], &["--sandbox", "workspace-write"]),
            Client::Gemini => self.gemini(&["--session-id", SESSION]),
            _ => self.opencode(&[]),
        }
    }

    fn resumed_line(&self, id: &str) -> Vec<String> {
        match self.client {
            Client::Claude => self.claude(&["--resume", id]),
            Client::Codex => {
                self.codex(&["resume", id], &["-c", "sandbox_mode=\"workspace-write\""])
            }
            Client::Gemini => self.gemini(&["--resume", id]),
            _ => self.opencode(&["-s", id]),
        }
    }

    fn claude(&self, conversation: &[&str]) -> Vec<String> {
        let own = "-p --output-format stream-json --verbose --permission-mode acceptEdits";
        let mut line = self.words(own, conversation);
        line.extend(self.words("--add-dir {out} --allowedTools", &["Bash(flagpost:*)"]));
        line
    }

    fn codex(&self, command: &[&str], sandbox: &[&str]) -> Vec<String> {
        let mut line = self.words("exec", command);
        line.extend(self.words("--json --skip-git-repo-check", sandbox));
        line.extend(self.words(
            "-c allow_login_shell=false -c sandbox_workspace_write.exclude_slash_tmp=true \
             -c sandbox_workspace_write.exclude_tmpdir_env_var=true",
            &[],
        ));
        // What a resumed conversation may write is no option of the subcommand.
        let out = self.dir.path().join("out");
        let roots = format!("sandbox_workspace_write.writable_roots=[{out:?}]");
        line.extend(["-c", &roots, "-"].map(str::to_owned));
        line
    }

    fn gemini(&self, conversation: &[&str]) -> Vec<String> {
        let policy = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"flagpost\"\n\
                      decision = \"allow\"\npriority = 500\n";
        fs::write(self.dir.path().join("run/policy.toml"), policy).unwrap();
        self.words(
            "--approval-mode auto_edit --skip-trust -o stream-json --policy {run}/policy.toml \
             --include-directories {out}",
            conversation,
        )
    }

    fn opencode(&self, conversation: &[&str]) -> Vec<String> {
        self.words("run --format json", conversation)
    }

    /// The words of a line with the bench's directories filled in, and some more.
    fn words(&self, line: &str, more: &[&str]) -> Vec<String> {
        let fill = |word: &str| {
            ["out", "run"].iter().fold(word.to_owned(), |word, name| {
                let path = self.dir.path().join(name);
                word.replace(&format!("{{{name}}}"), path.to_str().unwrap())
            })
        };
        let own = line.split_whitespace().map(fill);
        own.chain(more.iter().map(|word| (*word).to_owned()))
            .collect()
    }
}
