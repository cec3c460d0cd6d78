//! What is started for a task: a client by its preset, or any command line.
//!
//! Owns how an agent's command is spelled and whether its program is there. It must never start
//! anything: the driver does.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    str::FromStr,
};

use flagpost_core::{Home, Settings, accounts::Account, config::AgentSettings, shell};
use flagpost_model::{plain::plain, task::Task};

use crate::{
    client::{
        Client,
        check::{self, CheckTarget, Surroundings},
        inject::TrustedHook,
        preset::{self, Start, TemplateValues},
    },
    error::{Error, Result},
};

/// Stands for the prompt's path in a command line.
const PROMPT_FILE: &str = "{prompt_file}";

/// Words that mean something to a shell only. Without one they would be arguments, and a command
/// that never ran would count as done.
const SHELL: &[&str] = &["|", "||", "&", "&&", ";", ">", ">>", "<"];

/// Programs that take a script after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// The agent that a task asks for by name: it is given to no other.
pub(crate) fn asked_for(task: &Task) -> Option<&str> {
    let name = task.metadata.get("agent")?.as_str()?.trim();
    (!name.is_empty()).then_some(name)
}

/// Why a run leaves a task alone that asks for an agent which the run does not have.
pub(crate) fn lacking(name: &str) -> String {
    // A file may say anything, at any length.
    let name: String = plain(name).chars().take(LONGEST_NAME).collect();
    let typed = shell::quoted(&name);
    format!("needs agent {name}, which this run does not have: add --agent {typed}")
}

/// What stands before the name of an agent that is spoken to by the Agent Client Protocol.
pub const ACP: &str = "acp:";

/// So much of a name is told.
const LONGEST_NAME: usize = 200;

/// What does one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// As the operator named it.
    pub name: String,
    /// The client that it is, or is like: as that it is started, read and judged. None is a plain
    /// command line.
    pub client: Option<Client>,
    program: String,
    args: Vec<String>,
    /// The operator's own options of a client.
    added: Vec<String>,
    /// Variables of its environment that the operator set.
    pub env: Vec<(String, String)>,
    /// The hooks of a run that its client is told to trust.
    pub trusted: Vec<TrustedHook>,
}

impl FromStr for Agent {
    type Err = Error;

    /// A client's name, or a command line split as a shell would, without running one.
    fn from_str(text: &str) -> Result<Self> {
        let name = text.trim().to_owned();
        let is_acp = name.starts_with(ACP);
        let client = is_acp.then_some(Client::Acp).or(name.parse().ok());
        let (program, args) = match client {
            Some(Client::Acp) if !is_acp => {
                return Err(Error::AgentCommand {
                    line: name,
                    reason: "it names no agent: acp:NAME",
                });
            }
            // Its command is known once its settings are.
            Some(Client::Acp) => (String::new(), Vec::new()),
            Some(client) => (preset::program(client).to_owned(), Vec::new()),
            None => split(text)?,
        };
        Ok(Self {
            name,
            client,
            program,
            args,
            added: Vec::new(),
            env: Vec::new(),
            trusted: Vec::new(),
        })
    }
}

/// A command line, as a shell would split it.
fn split(line: &str) -> Result<(String, Vec<String>)> {
    let refused = |reason| Error::AgentCommand {
        line: line.to_owned(),
        reason,
    };
    let words = shlex::split(line).ok_or_else(|| refused("a quote is not closed"))?;
    if words.iter().any(|word| SHELL.contains(&word.as_str())) {
        return Err(refused("no shell reads it: wrap it in sh -c '…'"));
    }
    let mut words = words.into_iter();
    let program = words.next().filter(|program| !program.is_empty());
    let program = program.ok_or_else(|| refused("it names no program"))?;
    Ok((program, words.collect()))
}

impl Agent {
    /// The name under which it is configured: an agent has one, whichever way it is spoken to.
    pub fn settings_name(&self) -> &str {
        self.name.strip_prefix(ACP).unwrap_or(&self.name)
    }

    /// The agent with what is configured under its name.
    pub fn with(mut self, settings: &AgentSettings) -> Result<Self> {
        let is_acp = self.client == Some(Client::Acp);
        let client = settings.like.filter(|_| !is_acp).or(self.client);
        if let Some(line) = &settings.command {
            (self.program, self.args) = split(line)?;
        } else if client == Some(Client::Acp) {
            let mut known = preset::ACP_AGENTS.iter();
            let known = known.find(|(name, _)| *name == self.settings_name());
            let (program, args) = known.ok_or_else(|| Error::AcpCommand {
                agent: self.settings_name().to_owned(),
            })?;
            self.program = (*program).to_owned();
            self.args = args.iter().map(|it| (*it).to_owned()).collect();
        } else if let Some(client) = client.filter(|_| self.client.is_none()) {
            self.program = preset::program(client).to_owned();
        }
        self.client = client;
        self.added.clone_from(&settings.args);
        self.env.clone_from(&settings.env);
        match self.client {
            None => self.args.append(&mut self.added),
            Some(client) => {
                let taken = |word: &&String| {
                    let name = word.split('=').next().unwrap_or_default();
                    preset::ours(client).contains(&name)
                };
                if let Some(option) = self.added.iter().find(taken) {
                    return Err(Error::AgentOption {
                        agent: self.name,
                        option: option.clone(),
                    });
                }
            }
        }
        Ok(self)
    }

    /// How its program is started.
    pub fn command(&self, start: Start<'_>, places: &TemplateValues<'_>) -> Vec<OsString> {
        let mut args = self.args(places.prompt);
        if let Some(client) = self.client {
            args.extend(preset::arguments(client, start, places, &self.added));
        }
        args
    }

    /// The arguments with which a person takes up a conversation with it, in its own window; none where it has none.
    pub fn taken_up(&self, session: &str) -> Option<Vec<String>> {
        let ours = preset::taken_up(self.client?, session)?;
        let words = self.args.iter().chain(&self.added).cloned();
        Some(words.chain(ours.map(str::to_owned)).collect())
    }

    /// Whether a conversation with it can be taken up again.
    pub fn can_resume(&self) -> bool {
        self.client.is_some_and(preset::can_resume)
    }

    /// Whether its own command line says how it reads its stdin.
    pub fn says_how_it_reads(&self) -> bool {
        let is_said = |arg: &String| arg.split('=').next() == Some("--input-format");
        self.args.iter().any(is_said)
    }

    /// What can be looked at before it is started, of a client at this place. A command line of the
    /// operator's own is none: nobody knows what it does when it is asked for help.
    pub fn subject(&self, program: &Path) -> Option<CheckTarget> {
        let client = self.client?;
        let is_plain = self.args.is_empty() && self.program == preset::program(client);
        is_plain.then(|| CheckTarget {
            name: self.name.clone(),
            client,
            program: program.to_owned(),
            added: self.added.clone(),
            env: self.env.clone(),
        })
    }

    /// What it logs in with, as far as can be told; a command line has an account of its own.
    pub fn account(&self, home: &Home, settings: &Settings) -> Account {
        match self.client {
            None | Some(Client::Acp) => Account::of(&self.name),
            Some(client) => {
                let around = Surroundings::of(home, settings, &self.env);
                check::account(client, &around, &self.env)
            }
        }
    }

    /// Where the agent's program is: looked up in `path` as the system would, from `dir`.
    pub fn locate(&self, path: Option<&OsStr>, dir: &Path) -> Result<PathBuf> {
        let missing = || Error::AgentMissing {
            agent: self.name.clone(),
            program: self.program.clone(),
        };
        if self.program.contains('/') {
            let program = dir.join(&self.program);
            return if is_program(&program) {
                Ok(program)
            } else {
                Err(missing())
            };
        }
        path.into_iter()
            .flat_map(std::env::split_paths)
            .map(|entry| dir.join(entry).join(&self.program))
            .find(|program| is_program(program))
            .ok_or_else(missing)
    }

    /// The arguments of its own command line, with the prompt's path filled in wherever it is asked for.
    fn args(&self, prompt: &Path) -> Vec<OsString> {
        let fill = |arg: &String| {
            let mut parts = arg.split(PROMPT_FILE);
            let mut filled = OsString::from(parts.next().unwrap_or_default());
            for part in parts {
                filled.push(prompt);
                filled.push(part);
            }
            filled
        };
        self.args.iter().map(fill).collect()
    }

    /// Refuses prompts below `dir` where a shell's script holds their path and the shell would read
    /// it as something else.
    pub fn can_name(&self, dir: &Path) -> Result<()> {
        let asked = self.script().is_some_and(|it| it.contains(PROMPT_FILE));
        let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
        if !asked || dir.to_str().is_some_and(|dir| dir.chars().all(plain)) {
            return Ok(());
        }
        Err(Error::PromptInScript {
            line: self.name.clone(),
            dir: dir.to_owned(),
        })
    }

    /// The script that a shell in this command line is given with `-c`.
    fn script(&self) -> Option<&str> {
        let words = || std::iter::once(&self.program).chain(&self.args);
        let is_shell = |word: &String| {
            let name = Path::new(word).file_name().and_then(OsStr::to_str);
            name.is_some_and(|name| SHELLS.contains(&name))
        };
        let mut after = words().skip_while(|word| !is_shell(word)).skip(1);
        while let Some(word) = after.next() {
            match word.strip_prefix('-')? {
                "o" | "O" => drop(after.next()),
                flags if flags.starts_with('-') || !flags.contains('c') => {}
                _ => return after.next().map(String::as_str),
            }
        }
        None
    }

    /// Whether the prompt comes on stdin: it does unless the command line says where to put it.
    pub fn reads_stdin(&self) -> bool {
        match self.client {
            Some(client) => preset::reads_stdin(client),
            None => !self.args.iter().any(|arg| arg.contains(PROMPT_FILE)),
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
