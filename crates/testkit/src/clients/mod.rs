//! Real clients, as tests use them.
//!
//! Owns where they are, how each is aimed at a [`ModelServer`](crate::model_server::ModelServer), and how
//! a test says "run a command" or "write a file" in the words of each one's tools. `./check` installs
//! them into `target/agents/`; `FLAGPOST_TEST_CLAUDE=/path` and its kin name one that is elsewhere. One
//! that is not there is said to be skipped, by name.

mod aim;
mod tools;

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

pub use aim::{COMPILE_CACHE, Login, NO_RELAUNCH, aim, aim_as};
pub use flagpost_model::client::Client;
pub use tools::{api, served, shell, write};

use crate::repository;

/// The clients that can be tested: those that talk to a server of ours without a person.
pub const TESTED: [Client; 4] = [
    Client::Claude,
    Client::Codex,
    Client::Gemini,
    Client::Opencode,
];

/// A client that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Which.
    pub client: Client,
    /// Its program.
    pub program: PathBuf,
}

impl Installed {
    /// The client, or `None` and a line that says what is skipped.
    ///
    /// # Panics
    /// Where a variable names a program that is not there.
    pub fn find(client: Client) -> Option<Self> {
        let variable = format!("FLAGPOST_TEST_{}", client.as_str().to_uppercase());
        if let Some(program) = std::env::var_os(&variable).filter(|path| !path.is_empty()) {
            let program = PathBuf::from(program);
            assert!(program.is_file(), "{variable} names no program");
            return Some(Self { client, program });
        }
        let program = programs().join(client.as_str());
        if program.exists() {
            return Some(Self { client, program });
        }
        eprintln!(
            "skipped: {client} is not installed (./check installs it into target/agents/, or set {variable})"
        );
        None
    }

    /// What `PATH` is to be so that its name is found: a directory below `dir` with this client and no
    /// other in it, whatever `node` it needs, and then the system's programs.
    ///
    /// # Panics
    /// Where the directory cannot be filled.
    pub fn path(&self, dir: &Path) -> OsString {
        let bin = dir.join("bin");
        fs::create_dir_all(&bin).expect("a scratch directory is writable");
        let node = programs().join("node");
        let named = [(self.client.as_str(), &self.program), ("node", &node)];
        for (name, program) in named {
            if program.exists() && fs::symlink_metadata(bin.join(name)).is_err() {
                symlink(program, bin.join(name)).expect("a link can be made");
            }
        }
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let entries = std::iter::once(bin).chain(std::env::split_paths(&rest));
        std::env::join_paths(entries).expect("the paths of a test can be joined")
    }
}

/// Where `./check` has installed them.
fn programs() -> PathBuf {
    repository::root().join("target/agents/node_modules/.bin")
}
