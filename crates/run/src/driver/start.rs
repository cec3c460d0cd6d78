//! Starting a client's process, or a plain command line's.
//!
//! Owns what a process is given: its prompt, its arguments, its environment, the files of its client.
//! Whether it may be started is decided before.

use std::{ffi::OsString, path::Path};

use flagpost_core::{git, sessions::AttemptDir};
use flagpost_model::{
    TaskId, Token, WorkerId,
    hook::settings::Injection,
    session::{Attempt, AttemptRecord, Usage},
};

use super::{Driver, conversation::Conversation, turns::Turns};
use crate::{
    agent::Agent,
    client::{
        Client, acp, codex,
        inject::Injected,
        opencode_config,
        preset::{self, Start, TemplateValues},
        turn,
    },
    error::Result,
    process::{self, Launch, Running, Stdin},
    variables::{ATTEMPT, RULES, SESSION, SESSION_DIR, TASK},
    worktree::{self, Provision},
};

/// What is to be started.
pub(super) struct Process<'t> {
    pub task: &'t TaskId,
    pub worker: &'t WorkerId,
    pub token: Token,
    pub attempt: Attempt,
    /// Which of the run's agents.
    pub agent: usize,
    /// Where it works.
    pub cwd: &'t Path,
    /// The directory of its attempt.
    pub dir: &'t AttemptDir,
    /// Its prompt.
    pub text: &'t str,
    /// The conversation that it goes on with, and what that used so far.
    pub resumes: Option<(&'t str, Usage)>,
    /// What the processes of this attempt told before.
    pub before: AttemptRecord,
}

/// Whether a program is Codex itself, and none that an operator starts in its place.
fn is_codex(program: &Path) -> bool {
    program.file_name() == Some("codex".as_ref())
}

impl Driver<'_> {
    /// Starts it.
    pub(super) fn start_process(
        &mut self,
        it: Process<'_>,
    ) -> Result<(Running, Option<Conversation>)> {
        let agent = self.capacity.agent(it.agent).clone();
        let part = match it.resumes {
            Some(_) => "-resumed",
            None => "",
        };
        let name = format!("task-{}-attempt-{}{part}.md", it.task, it.attempt.number);
        let prompt = self.keeping(|live| live.keep_prompt(&name, it.text))?;
        let own = std::env::current_exe().ok();
        let program = own.as_deref().unwrap_or(Path::new("flagpost"));
        let mut wanted = self.options.terms.inject.clone();
        wanted.retain(|it| *it != Injection::Turns || !agent.says_how_it_reads());
        let inject = Injected {
            wanted: &wanted,
            program: &program.to_string_lossy(),
            trusted: &agent.trusted,
        };
        if let Some(client) = agent.client {
            let home = self.stage.home;
            for (name, text) in preset::files(client, &inject) {
                self.patiently(|_| it.dir.put(home, name, &text))?;
            }
        }
        let given = uuid::Uuid::new_v4().to_string();
        let start = match it.resumes {
            Some((id, _)) => Start::Resume(id),
            None => Start::New(&given),
        };
        let out = it.dir.out();
        // Only who is told of it needs to know.
        let git = match agent.client {
            Some(Client::Codex) => worktree::git_dirs(it.cwd),
            _ => Vec::new(),
        };
        self.note_mount_points(&git);
        let list = self.stage.list.id().to_string();
        let places = TemplateValues {
            list: &list,
            task: it.task,
            attempt: it.attempt.number,
            prompt: &prompt,
            text: it.text,
            out: &out,
            dir: it.dir.path(),
            git: &git,
            inject,
        };
        let log = self.keeping(|live| live.open_log(it.task, it.attempt.number))?;
        let printed = log.metadata().map_or(0, |file| file.len());
        let command = agent.command(start, &places);
        let (program, args) = match agent.client {
            // Whoever speaks its protocol is a process of ours, which starts it.
            Some(Client::Acp) => (
                program.to_owned(),
                acp::arguments(start, &wanted, self.capacity.program(it.agent), command),
            ),
            // The same who can be asked to let it beyond its sandbox.
            Some(Client::Codex) if is_codex(self.capacity.program(it.agent)) => (
                program.to_owned(),
                codex::arguments(self.capacity.program(it.agent).into(), command),
            ),
            _ => (self.capacity.program(it.agent).clone(), command),
        };
        let launch = Launch {
            program,
            args,
            dir: it.cwd.to_owned(),
            stdin: match agent.client {
                Some(client) if inject.takes_turns(client) => Stdin::Open(turn(it.text)),
                _ if agent.reads_stdin() => Stdin::File(prompt.clone()),
                _ => Stdin::Nothing,
            },
            log,
            set: self.environment(&it, &agent, &places, own.as_deref()),
            unset: self.unwanted(),
        };
        // One of an earlier run is known by its name only.
        let resumes = it.resumes.map(|(id, used)| match used.is_unknown() {
            true => (id, self.used_before(&agent, id)),
            false => (id, used),
        });
        let began = self.stage.home.now();
        let (running, pipe) = process::start(launch, it.task, self.ended)?;
        let talk = agent.client.map(|client| {
            let id = match resumes {
                Some((id, _)) => Some(id.to_owned()),
                None => preset::takes_id(client).then_some(given),
            };
            let talk = Conversation::new(client, it.before, printed).named(id);
            let talk = talk.taking_turns(pipe.map(|pipe| Turns::new(pipe, began)));
            match resumes {
                Some((_, used)) => talk.resuming(used),
                None => talk,
            }
        });
        Ok((running, talk))
    }

    fn environment(
        &self,
        it: &Process<'_>,
        agent: &Agent,
        places: &TemplateValues<'_>,
        own: Option<&Path>,
    ) -> Vec<(String, OsString)> {
        let mut set: Vec<(&str, OsString)> = vec![
            (
                "FLAGPOST_HOME",
                self.stage.home.root().clone().into_os_string(),
            ),
            ("FLAGPOST_LIST", self.stage.list.id().as_str().into()),
            (TASK, it.task.as_str().into()),
            ("FLAGPOST_WORKER", it.worker.as_str().into()),
            ("FLAGPOST_TOKEN", it.token.to_string().into()),
            (ATTEMPT, it.attempt.number.to_string().into()),
            ("FLAGPOST_REPORT", it.dir.report().into_os_string()),
            (SESSION, self.live.id().as_str().into()),
            (SESSION_DIR, self.live.dir().as_os_str().to_owned()),
        ];
        let rules = self.rules.map(|line| line.to_string().into());
        set.extend(rules.map(|line| (RULES, line)));
        // An agent reports through `flagpost`, installed or not.
        set.extend(own.map(|own| ("FLAGPOST_BIN", own.as_os_str().to_owned())));
        let own = own.and_then(Path::parent).map(Path::to_owned);
        let path = self.stage.settings.path.iter();
        let path = path.flat_map(std::env::split_paths).chain(own);
        if let Ok(path) = std::env::join_paths(path) {
            set.push(("PATH", path));
        }
        let set = set.into_iter();
        let set = set.map(|(name, value)| (name.to_owned(), value));
        // The ports of a worktree stay with it, whoever works there.
        let own = self
            .worktrees
            .as_ref()
            .and_then(|_| Provision::slot_of(it.cwd));
        let slot = own.or(it.worker.process_number()).unwrap_or_default();
        let set = set.chain(self.options.provision.variables(slot));
        let added = agent.env.iter();
        let added = added.map(|(name, value)| (name.clone(), OsString::from(value)));
        let mut set: Vec<(String, OsString)> = set.chain(added).collect();
        if let Some(client) = agent.client {
            let config = opencode_config::given(&agent.env, self.stage.settings);
            let needed = preset::variables(client, places, config).into_iter();
            set.extend(needed.map(|(name, value)| (name.to_owned(), value)));
        }
        set
    }

    /// Variables that point at whatever this run was started from.
    fn unwanted(&self) -> Vec<OsString> {
        let set = &self.stage.settings.variables;
        let of_git = git::parent_variables(|name| set.contains(name));
        let parents = self.stage.settings.parent_agent.iter().cloned();
        // Those of the run that this one was started in are not its own.
        let rules = self.rules.is_none().then_some(RULES);
        parents
            .chain(of_git.into_iter().chain(rules).map(OsString::from))
            .collect()
    }
}
