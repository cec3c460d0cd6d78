//! The golden corpus: the content of every file that each verb writes.
//!
//! Owns the fixtures in `fixtures/golden/`: commands, and below each the files that appeared, changed
//! or went, line for line. A change of the code that is meant to change no file changes none of them.
//! `FLAGPOST_GOLDEN=write` updates the fixtures; their difference is then part of the commit.

mod changes;
mod tree;

use std::{env, fs, path::PathBuf};

use flagpost_testkit::sealed::World;
use rustix::fs::Mode;

use self::tree::{Names, Tree};
use crate::world;

/// The hour of a corpus. Each command runs a second later than the one before, so that a time that is kept
/// differs from a time that is written again.
const BEGIN: &str = "2026-05-13T14";

/// A world whose files are looked at after each command.
struct Corpus {
    world: World,
    names: Names,
    tree: Tree,
    second: u32,
    told: String,
    said: String,
}

impl Corpus {
    fn new() -> Self {
        // Files that are not private are as public as on most machines.
        rustix::process::umask(Mode::WGRP | Mode::WOTH);
        let mut corpus = Self {
            world: world(),
            names: Names::default(),
            tree: Tree::new(),
            second: 0,
            told: String::new(),
            said: String::new(),
        };
        corpus.look();
        corpus
    }

    /// Runs each line and tells what it wrote.
    fn run(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|it| !it.is_empty()) {
            let (minute, second) = (25 + self.second / 60, self.second % 60);
            self.second += 1;
            let now = format!("{BEGIN}:{minute:02}:{second:02}Z");
            self.world.set("FLAGPOST_CLOCK", now);
            let outside = self.world.outside().to_str().unwrap();
            let words = shlex::split(&line.replace("[dir]", outside)).unwrap();
            let ran = self.world.flagpost(words);
            self.told += &format!("$ {line}\n");
            if ran.code != 0 {
                self.told += &format!("exit {}\n", ran.code);
                self.said += &format!("$ {line}\n{ran}");
            }
            self.tell();
        }
    }

    /// Writes a file by hand, below the world's directory.
    fn given(&mut self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = self.world.outside().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
        self.told += &format!("given {path}\n");
        self.look();
    }

    fn look(&mut self) {
        self.tree = self.names.tree(&self.world);
    }

    fn tell(&mut self) {
        let after = self.names.tree(&self.world);
        self.told += &changes::between(&self.tree, &after);
        self.tree = after;
    }

    /// Compares the corpus with the fixture of this name.
    fn holds(self, name: &str) {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/it/fixtures/golden")
            .join(format!("{name}.txt"));
        if env::var_os("FLAGPOST_GOLDEN").is_some_and(|it| it == "write") {
            fs::write(&path, &self.told).unwrap();
        }
        let corpus = fs::read_to_string(&path).unwrap_or_default();
        let fault = changes::fault(&corpus, &self.told);
        assert!(
            fault.is_empty(),
            "the files differ from {} (- expected, + written); if that is intended, \
             FLAGPOST_GOLDEN=write updates the corpus\n{fault}\n\
             commands that failed:\n{}",
            path.display(),
            self.said
        );
    }
}

#[test]
fn tasks() {
    let mut corpus = Corpus::new();
    corpus.run(
        "init --yes
        init --remove
        add 'Write the parser' --priority high --tag core --due 2026-06-01
        add 'Test it' --after 1
        task add 'Print it' --description 'In colour' --project web --group out --meta size=3
        task edit 3 --subject 'Print it well' --add-tag ui
        task edit 2,3 --priority low
        task undo
        task note 3 'Mind the width'
        task dep add 3 1
        task dep rm 3 1
        claim 1 --as W1
        task renew 1 --as W1
        task release 1 --as W1
        task start 1 --as W1
        task timer start 1 --as W1
        task timer stop --as W1
        done 1 'Parser written' --as W1
        claim --next --as W2
        stuck 2 'Which way?' --as W2
        answer 2 'This one'
        claim 2 --as W2
        fail 2 'It does not work' --as W2
        task reopen 2
        task cancel 2
        task move 3 --to later --create
        add 'Ship it' --due 2026-05-14
        done 4 'Once'
        task rm 2 --yes
        config set run.retries 2
        config set run.agents.own.command 'sh -c true'
        config unset run.retries",
    );
    corpus.holds("tasks");
}

#[test]
fn exchange() {
    let mut corpus = Corpus::new();
    corpus.given(
        "PLAN.md",
        "- [ ] Write the parser {priority: high, group: core}\n      It reads the grammar.\n\
         - [x] Read the grammar\n- [ ] Test the parser (after: 1)\n",
    );
    corpus.given(
        "more.json",
        r#"[{"id": "a", "subject": "From JSON", "priority": "low", "odd": {"kept": 1}}]"#,
    );
    corpus.given("more.csv", "id,subject,tags\nc1,From CSV,\"a,b\"\n");
    corpus.given(
        ".beads/issues.jsonl",
        "{\"id\":\"bd-1\",\"title\":\"From beads\",\"status\":\"open\",\"priority\":1,\
         \"created_at\":\"2026-05-01T10:00:00Z\",\"updated_at\":\"2026-05-01T10:00:00Z\"}\n",
    );
    corpus.run(
        "task import [dir]/PLAN.md
        task import [dir]/more.json
        task import [dir]/more.csv
        task import [dir]/.beads/issues.jsonl --from beads",
    );
    corpus.given(
        "PLAN.md",
        "- [ ] Write the parser {priority: low, group: core}\n      It reads the grammar twice.\n\
         - [x] Read the grammar\n- [ ] Test the parser (after: 1)\n- [ ] Print (after: 3)\n",
    );
    corpus.run(
        "task import [dir]/PLAN.md
        task export --out [dir]/all.json
        task export --out [dir]/all.csv
        task export --out [dir]/all.md",
    );
    corpus.holds("exchange");
}

#[test]
fn relay() {
    let mut corpus = Corpus::new();
    corpus.given("better.md", "Merge the seal, then tell ann.\n");
    corpus.run(
        "worker add W3 --agent claude --can rust
        worker heartbeat --as W3
        assign 1192 W3 --inline 'Merge the seal'
        inbox W3 1
        ratify W3 1
        worker next --as W3
        worker ack 1 --as W3
        worker report 'Merged' --ticket 1192 --pr 7 --as W3
        outbox W3 1
        worker confirm 1 --as W3
        assign 1193 W3 --inline 'Drop the seal'
        inbox W3 2
        relay reject W3 2
        assign 1194 W3 --inline 'Merge'
        inbox W3 3
        relay edit W3 3 --file [dir]/better.md
        relay redirect W3 'Look at #1244 first'
        relay merge 7
        inbox --briefs
        ratify all
        assign 1195 W3 --inline 'Wait'
        slash '/ratify W3'
        relay gc
        worker rm W3 --force",
    );
    corpus.holds("relay");
}

#[test]
fn messages() {
    let mut corpus = Corpus::new();
    corpus.run(
        "add 'Write the parser'
        worker add W1
        msg send --to W1 --subject TASK --task 1 --thread epic-1 'Write it'
        inbox --briefs
        ratify all
        msg recv --as W1
        msg ack W1/inbox/1 --as W1
        msg send --subject PROGRESS --task 1 'Half way' --as W1
        msg recv --as ann
        msg ack W1/outbox/1 --as ann
        msg send --subject STUCK --task 1 --needs guidance 'Which way?' --as W1
        answer W1/outbox/2 'This one'
        msg recv --as W1
        msg ack W1/inbox/2 --as W1
        msg send --subject DONE --task 1 'Parser written' --as W1
        msg recv
        reserve add 'src/**' docs --as W1
        reserve add docs --as W1 --for 1h
        reserve release docs --as W1
        reserve release --all --as W1",
    );
    corpus.run("index path");
    let database = fs::read(corpus.world.home().join("index.db")).unwrap();
    corpus.holds("messages");
    let mut corpus = Corpus::new();
    corpus.given("messages.db", database);
    corpus.run("init --yes\nmsg import [dir]/messages.db");
    corpus.holds("messages_imported");
}

#[test]
fn coordination() {
    let mut corpus = Corpus::new();
    corpus.given(
        "batch.json",
        r#"{"tasks": [{"description": "Test it", "dependencies": ["task-001"]}]}"#,
    );
    corpus.run(
        "add 'From the list'
        coord leader init 'Build it'
        coord leader goal 'Build it well'
        coord leader add-task 'Write it' --priority 2
        coord leader batch-add [dir]/batch.json
        coord register W1 --can rust
        coord worker claim --as W1
        coord worker start task-001 --as W1
        coord worker heartbeat --as W1
        coord worker subtask task-001 'A part' --as W1
        coord discoveries add 'It is there already' --as W1
        coord worker complete task-001 'Written' --as W1
        coord worker claim task-002 --as W1
        coord worker start task-002 --as W1
        coord worker fail task-002 'It breaks' --as W1
        coord leader cancel task-003
        coord leader retry task-003
        coord leader aggregate
        coord import
        coord export",
    );
    corpus.holds("coordination");
}

#[test]
fn bridge() {
    let mut corpus = Corpus::new();
    corpus.run("init --yes");
    corpus.given(
        "home/.flagpost/agent-inbox.json",
        r#"[{"id": "a", "command": "create", "payload": {"title": "Fix login bug", "priority": "high"}},
            {"id": "b", "command": "show", "payload": {"taskId": "9"}}, null]"#,
    );
    corpus.run(
        r#"agent start --once
        agent send '{"id": "c", "command": "update", "payload": {"taskId": "1", "title": "Fix it"}}'
        agent send '{"id": "d", "command": "complete", "payload": {"taskId": "1"}}'
        agent clear"#,
    );
    corpus.holds("bridge");
}

#[test]
fn run() {
    let mut corpus = Corpus::new();
    corpus.run(
        "add 'Write the parser'
        add 'Test it' --after 1
        run --agent 'sh -c true'
        add 'Break'
        run --agent 'sh -c false' --retries 1
        run --agent 'sh -c true'
        add 'Ask'
        run --agent 'sh -c \"$FLAGPOST_BIN\"\\ stuck\\ Which?'
        answer 4 'This one'
        run --agent 'sh -c \"$FLAGPOST_BIN\"\\ done\\ Asked'",
    );
    // As a run leaves it that was killed at its very end.
    let sessions = corpus.world.repository().join(".claude/sessions");
    let live = sessions.join("__live_session__");
    fs::remove_dir(&live).unwrap();
    fs::rename(sessions.join("exec-session-20260513-142502"), live).unwrap();
    corpus.look();
    corpus.run("session archive");
    corpus.holds("run");
}
