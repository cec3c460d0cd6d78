//! A person who starts a real client by hand, without a run.
//!
//! Owns how each client is asked something, and that its user trusts the hooks of the repository.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
};

use flagpost_testkit::{
    clients::Client,
    patience::patience,
    race::until,
    sealed::{Ran, World},
};
use serde_json::{Value, json};

use super::stage::Stage;

/// Somebody with a client, in the repository of a fleet with W3, for whom a brief waits.
pub struct Person {
    pub stage: Stage,
    client: Client,
}

impl Person {
    /// `None` where the client is not installed.
    pub fn with(client: Client) -> Option<Self> {
        let mut stage = Stage::new(client, "- [ ] Nothing\n")?;
        // Gemini CLI calls no hooks in a folder that it does not trust.
        stage.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
        let world = &stage.world;
        world.ok(["worker", "add", "W3"]);
        world.ok(["assign", "9", "W3", "--inline", "Rebase on main first"]);
        world.ok(["ratify", "W3"]);
        Some(Self { stage, client })
    }

    pub fn world(&self) -> &World {
        &self.stage.world
    }

    /// The client with `flagpost` in its `PATH`, as on the machine of a person who has installed it.
    pub fn command(&self) -> Command {
        let mut command = self.world().command_of(self.client.as_str());
        let path = command.get_envs().find(|(name, _)| *name == "PATH");
        let path = path.and_then(|(_, path)| path).unwrap().to_owned();
        let bin = Path::new(env!("CARGO_BIN_EXE_flagpost")).parent().unwrap();
        let dirs = [bin.to_owned()].into_iter().chain(env::split_paths(&path));
        command.env("PATH", env::join_paths(dirs).unwrap());
        command
    }

    /// Asks one thing, with this in the environment, and waits for the answer.
    pub fn asks(&self, prompt: &str, set: &[(&str, &str)]) -> Ran {
        let mut command = self.command();
        command.envs(set.iter().copied());
        match self.client {
            Client::Claude => command.args(["-p", prompt, "--allowedTools", "Bash"]),
            Client::Codex => command.args(["exec", "--sandbox", "danger-full-access", prompt]),
            Client::Gemini => command.args(["--approval-mode", "yolo", "-p", prompt]),
            other => panic!("{other} is not tried"),
        };
        let ran = self.world().run(&mut command);
        assert_eq!(ran.code, 0, "{ran}");
        ran
    }

    /// Lets Codex trust the repository and its hooks, as `/hooks` does: it is asked for their hashes, which
    /// are written into its configuration. The other clients need no such word.
    pub fn trusts_hooks(&self) {
        if self.client != Client::Codex {
            return;
        }
        let config = self.world().outside().join("home/.codex/config.toml");
        let top = self.world().repository().canonicalize().unwrap();
        let add = |text: &str| {
            let before = fs::read_to_string(&config).unwrap();
            fs::write(&config, before + text).unwrap();
        };
        add(&format!(
            "[projects.{:?}]\ntrust_level = \"trusted\"\n",
            top.display().to_string()
        ));
        let mut server = self.command();
        server.arg("app-server");
        let mut server = Dialog::with(&mut server);
        server.say(&json!({"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}}));
        server.say(&json!({"method": "initialized"}));
        server.say(&json!({"id": 1, "method": "hooks/list", "params": {"cwds": [top]}}));
        let answer = server.until(|it| it["id"] == 1);
        let hooks = answer["result"]["data"][0]["hooks"].as_array().unwrap();
        for hook in hooks {
            let (key, hash) = (
                hook["key"].as_str().unwrap(),
                hook["currentHash"].as_str().unwrap(),
            );
            add(&format!("[hooks.state.{key:?}]\ntrusted_hash = {hash:?}\n"));
        }
        assert!(!hooks.is_empty(), "{answer}");
    }
}

/// A program that is told and tells a line of JSON at a time; it ends with this.
pub struct Dialog {
    program: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
}

impl Dialog {
    pub fn with(command: &mut Command) -> Self {
        let program = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = program.stderr(Stdio::null()).spawn().unwrap();
        let stdin = program.stdin.take();
        let stdout = BufReader::new(program.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = stdout.lines().map_while(Result::ok);
            let values = lines.filter_map(|line| serde_json::from_str(&line).ok());
            values.for_each(|value| drop(send.send(value)));
        });
        Self {
            program,
            stdin,
            lines,
        }
    }

    /// Says no more, and waits for its end.
    pub fn ends(mut self) {
        drop(self.stdin.take());
        let mut ended = None;
        until("the program to end", || {
            ended = self.program.try_wait().unwrap();
            ended.is_some()
        });
        assert!(ended.is_some_and(|it| it.success()), "{ended:?}");
    }

    pub fn say(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }

    /// The next line like this; those before it are passed over.
    pub fn until(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut before = Vec::new();
        loop {
            match self.lines.recv_timeout(patience()) {
                Ok(line) if is_it(&line) => return line,
                Ok(line) => before.push(line.to_string()),
                Err(error) => panic!("{error} after\n{}", before.join("\n")),
            }
        }
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        // One that has ended needs no signal.
        let _ = self.program.kill().and_then(|()| self.program.wait());
    }
}
