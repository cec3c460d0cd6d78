//! What is started for a task: a preset, or any command line.
//!
//! Owns how an agent's command is spelled and whether its program is there. It must never start
//! anything: the driver does.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::error::{Error, Result};

/// Stands for the prompt's path in a command line.
const PROMPT_FILE: &str = "{prompt_file}";

/// Words that mean something to a shell only. Without one they would be arguments, and a command
/// that never ran would count as done.
const SHELL: &[&str] = &["|", "||", "&", "&&", ";", ">", ">>", "<"];

/// Programs that take a script after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// The presets: what makes each program read a prompt, work, and end.
pub const PRESETS: &[(&str, &str)] = &[
    ("claude", "claude -p --permission-mode acceptEdits"),
    ("codex", "codex exec --full-auto -"),
    ("gemini", "gemini --approval-mode auto_edit"),
    (
        "aider",
        "aider --yes-always --no-check-update --message-file {prompt_file}",
    ),
];

/// A command line that does one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// As the operator named it.
    pub name: String,
    program: String,
    args: Vec<String>,
}

impl FromStr for Agent {
    type Err = Error;

    /// A preset's name, or a command line split as a shell would, without running one.
    fn from_str(text: &str) -> Result<Self> {
        let preset = PRESETS.iter().find(|(name, _)| *name == text.trim());
        let line = preset.map_or(text, |(_, line)| line);
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
        Ok(Self {
            name: text.trim().to_owned(),
            program,
            args: words.collect(),
        })
    }
}

impl Agent {
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

    /// The arguments, with the prompt's path filled in wherever it is asked for.
    pub fn args(&self, prompt: &Path) -> Vec<OsString> {
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
        !self.args.iter().any(|arg| arg.contains(PROMPT_FILE))
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    #[test]
    fn a_preset_is_a_name_and_everything_else_a_command_line() {
        let claude: Agent = "claude".parse().unwrap();
        assert_eq!(
            (claude.program.as_str(), claude.reads_stdin()),
            ("claude", true)
        );
        let aider: Agent = "aider".parse().unwrap();
        assert!(!aider.reads_stdin());
        assert_eq!(aider.args(Path::new("/p q.md")).last().unwrap(), "/p q.md");
        let own: Agent = "./agent.sh --file={prompt_file} 'two words'"
            .parse()
            .unwrap();
        assert_eq!(own.args(Path::new("/p")), ["--file=/p", "two words"]);
        let twice: Agent = "sh -c 'wc {prompt_file}; cat {prompt_file}'"
            .parse()
            .unwrap();
        assert_eq!(twice.args(Path::new("/p")), ["-c", "wc /p; cat /p"]);
    }

    #[test]
    fn a_script_does_not_hold_a_path_that_a_shell_takes_apart() {
        for (line, blank_is_fine) in [
            ("sh -c 'cat {prompt_file}'", false),
            (
                "env A=1 /bin/bash -o pipefail -lc 'cat {prompt_file} | agent'",
                false,
            ),
            ("bash --norc -c 'cat \"{prompt_file}\"'", false),
            ("sh -c 'cat \"$1\"' sh {prompt_file}", true),
            ("sh agent.sh -c {prompt_file}", true),
            ("agent -c {prompt_file}", true),
            ("agent --file={prompt_file} 'Read {prompt_file}'", true),
            ("sh -c 'cat'", true),
        ] {
            let agent: Agent = line.parse().unwrap();
            let fine = |dir: &str| agent.can_name(Path::new(dir)).is_ok();
            assert!(fine("/home/me/my-web_2.0/.claude/äöü"), "{line}");
            for odd in ["/home/my web", "/home/it's", "/home/$x", "/home/a;b"] {
                assert_eq!(fine(odd), blank_is_fine, "{line} {odd}");
            }
        }
    }

    #[test]
    fn what_names_no_program_is_refused() {
        for bad in [
            "",
            "  ",
            "'' x",
            "sh -c 'open",
            "a | b",
            "make && make test",
        ] {
            assert!(bad.parse::<Agent>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_entry_of_the_path_is_seen_from_where_the_agent_works() {
        let sh: Agent = "sh".parse().unwrap();
        for (path, dir) in [("bin", "/"), (":/nowhere", "/bin"), ("/nowhere:.", "/bin")] {
            let found = sh.locate(Some(path.as_ref()), Path::new(dir)).unwrap();
            assert!(found.is_absolute(), "{}", found.display());
        }
        let odd = OsString::from_vec(b"/\xff:/bin".to_vec());
        assert!(sh.locate(Some(&odd), Path::new("/")).is_ok());
    }

    #[test]
    fn a_program_is_found_before_anything_starts() {
        let sh: Agent = "sh -c true".parse().unwrap();
        assert!(
            sh.locate(Some("/nowhere:/bin".as_ref()), Path::new("/"))
                .is_ok()
        );
        let none: Agent = "no-such-program-here".parse().unwrap();
        let error = none
            .locate(Some("/bin".as_ref()), Path::new("/"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("no-such-program-here"), "{error}");
        assert!(
            "./etc"
                .parse::<Agent>()
                .unwrap()
                .locate(None, Path::new("/"))
                .is_err()
        );
    }
}
