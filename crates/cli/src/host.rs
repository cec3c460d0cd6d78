//! Another machine, where a verb is carried out instead of here.
//!
//! Owns the address of that machine, and the one call of `ssh` that carries the words of a command there. All
//! else is the other `flagpost`: its home, its rules, its answer and its exit code. Nothing of this machine's
//! home is read or written. How `ssh` gets there is its own configuration's business.

use std::{
    ffi::{OsStr, OsString},
    io::{self, IsTerminal},
    os::unix::ffi::{OsStrExt, OsStringExt},
    process::Command,
    str::FromStr,
};

use flagpost_core::{FailureKind, Settings};

use crate::{args::Globals, error::Invalid};

/// The option that names the machine.
const OPTION: &str = "--host";

/// How `ssh` is called. One connection is kept for a minute: the next command needs no new one.
const OPTIONS: &[&str] = &[
    "LogLevel=ERROR",
    "ControlMaster=auto",
    "ControlPath=~/.ssh/flagpost-%C",
    "ControlPersist=60",
];

/// The exit code of `ssh` where it did not get there, or lost the connection.
const UNREACHABLE: i32 = 255;
/// The exit code of a shell that knows no such program.
const NO_PROGRAM: i32 = 127;
/// The exit code that stands for a directory that is not there; `flagpost` has no such code.
const NO_DIRECTORY: i32 = 77;

/// A machine, and the directory there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteHost {
    /// As `ssh` takes it: `[user@]host`.
    destination: String,
    port: Option<u16>,
    /// Absolute, or below the login directory; none is the login directory.
    directory: Option<String>,
}

/// Why a verb was not carried out on another machine.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no `ssh` here.
    #[error("{host} is reached by ssh, which could not be started here")]
    NoSsh {
        /// The machine.
        host: String,
        /// The system's word.
        source: io::Error,
    },
    /// `ssh` said why before.
    #[error("{host} was not reached by ssh, or the connection was lost")]
    Unreachable {
        /// The machine.
        host: String,
    },
    /// There is no Flagpost there.
    #[error("ssh finds no flagpost on {host}")]
    NoProgram {
        /// The machine.
        host: String,
    },
    /// There is no such directory there.
    #[error("{host} has no directory {directory}")]
    NoDirectory {
        /// The machine.
        host: String,
        /// The directory.
        directory: String,
    },
}

impl HostError {
    /// Its kind, and what to do next.
    pub fn judge(&self) -> (FailureKind, String) {
        match self {
            Self::NoSsh { .. } => (
                FailureKind::NotFound,
                "install an OpenSSH client".to_owned(),
            ),
            Self::Unreachable { host } => (
                FailureKind::TimedOut,
                format!(
                    "'ssh {host} true' must work; a change may have been made before the connection was lost"
                ),
            ),
            Self::NoProgram { .. } => (
                FailureKind::NotFound,
                "a command over ssh reads no login profile: put flagpost into /usr/local/bin there"
                    .to_owned(),
            ),
            Self::NoDirectory { .. } => (
                FailureKind::NotFound,
                "ssh://HOST/DIR is an absolute directory, ssh://HOST/~/DIR one in your home there"
                    .to_owned(),
            ),
        }
    }
}

impl FromStr for RemoteHost {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = |reason: &str| Invalid {
            what: format!("{OPTION} {text}"),
            reason: reason.to_owned(),
        };
        let form = "a machine is ssh://[USER@]HOST[:PORT][/DIR]";
        let rest = text.strip_prefix("ssh://").ok_or_else(|| invalid(form))?;
        let (authority, directory) = match rest.split_once('/') {
            None => (rest, None),
            Some((authority, "" | "~" | "~/")) => (authority, None),
            Some((authority, path)) => match path.strip_prefix("~/") {
                Some(below) => (authority, Some(below.to_owned())),
                None => (authority, Some(format!("/{path}"))),
            },
        };
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            // It is not shown again.
            return Err(Invalid {
                what: OPTION.to_owned(),
                reason: "there is no room for a password: ssh asks for it, or uses a key"
                    .to_owned(),
            });
        }
        // The colons of an address in brackets are no port's.
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                let port = port.parse().ok().filter(|port| *port > 0);
                (host, Some(port.ok_or_else(|| invalid(form))?))
            }
            _ => (place, None),
        };
        let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let host = bare.unwrap_or(host);
        let is_word = |word: &str| {
            let is_fit = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
            !word.is_empty() && !word.starts_with('-') && word.chars().all(is_fit)
        };
        if !is_word(host) || !user.is_none_or(is_word) {
            return Err(invalid(form));
        }
        let destination = match user {
            Some(user) => format!("{user}@{host}"),
            None => host.to_owned(),
        };
        Ok(Self {
            destination,
            port,
            directory,
        })
    }
}

impl RemoteHost {
    /// The machine that the command line or the environment names.
    pub fn named(globals: &Globals, settings: &Settings) -> Result<Option<Self>, Invalid> {
        let named = globals.host.as_ref().or(settings.host.as_ref());
        let named = named.filter(|text| !text.is_empty());
        named.map(|text| text.parse()).transpose()
    }

    /// Carries the command that was typed here out there; its exit code. Its input and outputs are ours.
    pub fn carry_out(&self, settings: &Settings) -> Result<u8, HostError> {
        let host = self.destination.clone();
        let words = without_host(std::env::args_os().skip(1));
        let is_screen = io::stdin().is_terminal() && io::stdout().is_terminal();
        let mut ssh = Command::new("ssh");
        ssh.arg(if is_screen { "-t" } else { "-T" });
        for option in OPTIONS {
            ssh.args(["-o", option]);
        }
        if let Some(port) = self.port {
            ssh.args(["-p", &port.to_string()]);
        }
        ssh.args(["--", &host]).arg(self.line(settings, &words));
        let status = ssh.status().map_err(|source| HostError::NoSsh {
            host: host.clone(),
            source,
        })?;
        match (status.code(), &self.directory) {
            (Some(UNREACHABLE), _) => Err(HostError::Unreachable { host }),
            (Some(NO_PROGRAM), _) => Err(HostError::NoProgram { host }),
            (Some(NO_DIRECTORY), Some(directory)) => Err(HostError::NoDirectory {
                host,
                directory: directory.clone(),
            }),
            // Whoever ended it by a signal wants no answer.
            (code, _) => Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        }
    }

    /// The line that the other machine's shell reads: as whom, on what, for which terminal, and the words of the
    /// command.
    fn line(&self, settings: &Settings, words: &[OsString]) -> OsString {
        let mut line = Vec::new();
        if let Some(directory) = &self.directory {
            line.extend(b"cd ");
            line.extend(quoted(directory.as_ref()));
            line.extend(format!(" 2>/dev/null || exit {NO_DIRECTORY}; ").bytes());
        }
        line.extend(b"exec ");
        let says = |is_so: bool, value: &'static str| is_so.then_some(value);
        let variables = [
            ("FLAGPOST_WORKER", settings.worker.as_deref()),
            ("FLAGPOST_LIST", settings.list.as_deref()),
            ("FLAGPOST_TASK", settings.task.as_deref()),
            ("FLAGPOST_TOKEN", settings.token.as_deref()),
            // What this terminal can show.
            ("LC_CTYPE", says(settings.utf8, "C.UTF-8")),
            ("COLORTERM", says(settings.true_color, "truecolor")),
            ("NO_COLOR", says(settings.no_color, "1")),
        ];
        line.extend(b"env ");
        for (name, value) in variables {
            if let Some(value) = value {
                line.extend(format!("{name}=").bytes());
                line.extend(quoted(value.as_ref()));
                line.push(b' ');
            }
        }
        line.extend(b"flagpost");
        for word in words {
            line.push(b' ');
            line.extend(quoted(word));
        }
        OsString::from_vec(line)
    }
}

/// The words of a command without those that say where it is carried out.
fn without_host(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut kept, mut words) = (Vec::new(), words);
    while let Some(word) = words.next() {
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        if word == OPTION {
            words.next();
            continue;
        }
        let is_joined = word.as_bytes().strip_prefix(OPTION.as_bytes());
        match is_joined {
            Some([b'=', ..]) => {}
            _ => kept.push(word),
        }
    }
    kept
}

/// A word as a shell takes it for one.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend(br"'\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_machine_a_port_and_a_directory() {
        let of = |text: &str| {
            let host: RemoteHost = text.parse().unwrap();
            let port = host.port.map_or_else(String::new, |port| port.to_string());
            let directory = host.directory.unwrap_or_default();
            format!("{}|{port}|{directory}", host.destination)
        };
        for (text, expected) in [
            ("ssh://box", "box||"),
            ("ssh://box/", "box||"),
            ("ssh://ann@box:2222/srv/app", "ann@box|2222|/srv/app"),
            ("ssh://box/~/app of mine", "box||app of mine"),
            ("ssh://box/~", "box||"),
            ("ssh://[::1]:22/a", "::1|22|/a"),
            ("ssh://[fe80::1%eth0]", "fe80::1%eth0||"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "box",
            "http://box",
            "ssh://",
            "ssh:///srv",
            "ssh://-oProxyCommand=x",
            "ssh://ann@-x",
            "ssh://ann@",
            "ssh://box:0",
            "ssh://box:port",
            "ssh://box:99999",
            "ssh://b ox",
            "ssh://ann:secret@box",
            "ssh://$(id)",
        ] {
            assert!(text.parse::<RemoteHost>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_words_that_name_the_machine_stay_here() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, carried) in [
            ("--host ssh://box list", "list"),
            ("list --host=ssh://box --json", "list --json"),
            ("add --hostile --host ssh://box x", "add --hostile x"),
            ("add -- --host x", "add -- --host x"),
        ] {
            assert_eq!(without_host(words(typed).into_iter()), words(carried));
        }
    }

    #[test]
    fn the_other_shell_gets_each_word_as_it_was_typed() {
        let host: RemoteHost = "ssh://box/~/it's".parse().unwrap();
        let settings = Settings {
            worker: Some("W3".to_owned()),
            utf8: true,
            ..Settings::default()
        };
        let words = ["add", "$(id) 'x'\n\"y\""].map(OsString::from);
        assert_eq!(
            host.line(&settings, &words),
            "cd 'it'\\''s' 2>/dev/null || exit 77; exec env FLAGPOST_WORKER='W3' LC_CTYPE='C.UTF-8' flagpost 'add' \
             '$(id) '\\''x'\\''\n\"y\"'"
        );
    }
}
