//! `fleet`: three machines and the real server, from founding to a decision that counts everywhere. The
//! machines are three homes with a clone each.

mod a_lost_server;
mod clocks;
mod list_names;
mod mail_by_hand;
mod signs_of_life;
mod the_servers_machine;
mod three_servers;
mod while_the_server_is_away;

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_testkit::{nats, race::until, repository, sealed::World};
use serde_json::Value;

use crate::world;

/// A machine; its daemon is ended with it.
pub struct Machine(World);

impl std::ops::Deref for Machine {
    type Target = World;
    fn deref(&self) -> &World {
        &self.0
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.0.flagpost(["down"]);
    }
}

/// Where the tests' server is; none, and a line that says so, where it is not to be had.
pub fn server_dir() -> Option<std::path::PathBuf> {
    let dir = repository::root().join("target/nats");
    if dir.join("nats-server").exists() {
        return Some(dir);
    }
    eprintln!("skipped: there is no nats-server (./check puts one into target/nats/)");
    None
}

pub fn git(dir: &Path, args: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
    let mut git = Command::new("git");
    let done = git
        .current_dir(dir)
        .args(author)
        .args(args)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

pub fn machine(server: &Path) -> Machine {
    let mut world = world();
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", format!("{}:{path}", server.display()));
    Machine(world)
}

/// A machine whose repository is a clone of another one's.
pub fn clone(server: &Path, of: &World) -> Machine {
    let machine = machine(server);
    std::fs::remove_dir_all(machine.repository()).unwrap();
    let (from, to) = (of.repository(), machine.repository());
    let parent = to.parent().unwrap();
    git(
        parent,
        &[
            "clone",
            "--quiet",
            from.to_str().unwrap(),
            to.to_str().unwrap(),
        ],
    );
    machine
}

/// A machine that founded a fleet and shares its repository: a list with a task, and worker W3.
pub fn founded(server: &Path) -> Machine {
    found(machine(server))
}

fn found(machine: Machine) -> Machine {
    let first = ["commit", "--quiet", "--allow-empty", "-m", "first"];
    git(&machine.repository(), &first);
    machine.ok(["add", "Write the parser"]);
    machine.ok(["worker", "add", "W3"]);
    machine.ok(["fleet", "up", "--listen", &free_address()]);
    machine.ok(["fleet", "share"]);
    machine
}

/// A machine that joined the fleet of that one; people may decide there or not.
pub fn joined(server: &Path, founder: &World, gate: bool) -> Machine {
    join(clone(server, founder), founder, gate)
}

fn join(machine: Machine, founder: &World, gate: bool) -> Machine {
    let args: &[&str] = if gate { &["--gate"] } else { &[] };
    let line = founder.ok(["fleet", "invite"].iter().chain(args));
    let joined = machine.feed(["fleet", "join", "-"], line.as_bytes());
    assert_eq!(joined.code, 0, "{}", joined.stderr);
    machine
}

pub fn json(machine: &World, args: &[&str]) -> Value {
    let ran = machine.flagpost(args.iter().copied().chain(["--json"]));
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Where the one repository that is shared is in the home.
pub fn shared(machine: &World) -> PathBuf {
    let repositories = std::fs::read_dir(machine.home().join("repos")).unwrap();
    let mut dirs = repositories.map(|it| it.unwrap().path());
    dirs.find(|it| it.join(".shared").exists()).unwrap()
}

/// The text of its history.
pub fn history(machine: &World) -> String {
    std::fs::read_to_string(shared(machine).join("history.jsonl")).unwrap()
}

/// Where a server can listen that nobody else has.
fn free_address() -> String {
    nats::free_address().to_string()
}

#[test]
fn three_machines_share_one_list_and_one_gate() {
    let Some(server) = server_dir() else { return };
    let listen = free_address();
    let box_a = machine(&server);
    git(
        &box_a.repository(),
        &["commit", "--quiet", "--allow-empty", "-m", "first"],
    );
    box_a.ok(["add", "Write the parser"]);
    box_a.ok(["worker", "add", "W3"]);

    assert_eq!(box_a.flagpost(["fleet", "status"]).code, 3);
    assert_eq!(box_a.flagpost(["fleet", "share"]).code, 3);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = box_a.flagpost(["fleet", "up", "--listen", &address]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    box_a.ok(["fleet", "up", "--listen", &listen]);
    box_a.ok(["fleet", "up"]);
    let open = box_a.flagpost(["fleet", "up", "--private-network"]);
    assert_eq!(open.code, 2, "its way stays encrypted: {}", open.stderr);
    box_a.ok(["fleet", "share"]);
    assert_eq!(box_a.flagpost(["fleet", "share"]).code, 4);

    // A server that shows another certificate than the invitation names is believed nothing.
    let misled = clone(&server, &box_a);
    let line = box_a.ok(["fleet", "invite"]);
    let (way, hash) = line.trim().rsplit_once('.').unwrap();
    let other: String = hash.chars().rev().collect();
    let refused = misled.flagpost(["fleet", "join", &format!("{way}.{other}")]);
    assert_eq!(refused.code, 6, "{}", refused.stderr);
    assert_eq!(misled.flagpost(["fleet", "status"]).code, 3);
    misled.ok(["fleet", "join", line.trim()]);
    misled.ok(["fleet", "leave"]);

    // A clone of something else makes no member.
    let stranger = machine(&server);
    let first = ["commit", "--quiet", "--allow-empty", "-m", "another"];
    git(&stranger.repository(), &first);
    let another = box_a.ok(["fleet", "invite"]);
    let refused = stranger.flagpost(["fleet", "join", another.trim()]);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert_eq!(stranger.flagpost(["fleet", "status"]).code, 3);

    let [gate, plain] = [true, false].map(|gate| joined(&server, &box_a, gate));
    assert_eq!(plain.flagpost(["fleet", "invite"]).code, 4);
    assert_eq!(plain.flagpost(["fleet", "share"]).code, 4);

    // A task of one machine is done on another, and known on the third.
    assert!(plain.ok(["list"]).contains("Write the parser"));
    let token = json(&plain, &["claim", "1", "--as", "W3"])["claim"]["token"].to_string();
    plain.ok(["done", "1", "Written", "--as", "W3", "--token", &token]);
    until("it is done everywhere", || {
        [&box_a, &gate]
            .iter()
            .all(|it| json(it, &["show", "1"])["state"] == "completed")
    });
    assert_eq!(box_a.flagpost(["claim", "1"]).code, 4);

    // A brief waits until somebody decides who may.
    plain.ok(["assign", "2", "W3", "--inline", "Do it"]);
    until("it waits there", || {
        gate.ok(["inbox", "--briefs"]).contains("Do it")
    });
    let refused = plain.flagpost(["ratify", "W3", "1"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("not invited to decide"),
        "{}",
        refused.stderr
    );
    gate.ok(["ratify", "W3", "1"]);
    until("its worker has it", || {
        plain
            .flagpost(["worker", "next", "--as", "W3"])
            .stdout
            .contains("Do it")
    });

    let status = json(&box_a, &["fleet", "status"]);
    assert_eq!(status["machines"].as_array().unwrap().len(), 3, "{status}");
    assert_eq!(status["server"]["syncs"], true);
    until("no machine is behind", || {
        let status = json(&box_a, &["fleet", "status"]);
        let machines = status["machines"].as_array().unwrap();
        machines.iter().all(|it| it["lag"] == 0)
    });
    // The daemons write down what they see. Nobody's clock goes in this world but the server's.
    for (machine, may_decide) in [(&box_a, true), (&gate, true), (&plain, false)] {
        until("it is known how the fleet stands", || {
            let fleet = &json(machine, &["status"])["fleet"];
            let machines = fleet["standing"]["machines"].as_array();
            fleet["link"] == "connected" && machines.is_some_and(|it| it.len() == 3)
        });
        let standing = &json(machine, &["status"])["fleet"]["standing"];
        assert_eq!(standing["may_decide"], may_decide, "{standing}");
        let found = json(machine, &["doctor"]);
        let found = found["findings"].as_array().unwrap();
        let codes: Vec<&str> = found
            .iter()
            .map(|it| it["code"].as_str().unwrap())
            .collect();
        assert!(codes.contains(&"fleet-clock-wrong"), "{codes:?}");
        assert!(codes.contains(&"fleet-one-server"), "{codes:?}");
        assert!(!codes.contains(&"counter-behind"), "{codes:?}");
        until("all follow", || {
            machine
                .ok(["status"])
                .contains("fleet: 3 of 3 machines follow")
        });
    }
    until("the histories are the same bytes", || {
        let histories = [&box_a, &gate, &plain].map(|it| history(it));
        histories.windows(2).all(|pair| pair[0] == pair[1])
    });

    // What a hand writes while no daemon looks is everywhere once one does.
    plain.ok(["add", "Second"]);
    plain.ok(["down"]);
    let file = plain.list("web").join("2.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("Second", "By hand")).unwrap();
    plain.ok(["up"]);
    until("it is known everywhere", || {
        [&box_a, &gate]
            .iter()
            .all(|it| it.ok(["list"]).contains("By hand"))
    });

    // An invitation is one machine's, and the server's machine cannot leave.
    let another = box_a.ok(["fleet", "invite"]);
    assert_eq!(gate.flagpost(["fleet", "join", another.trim()]).code, 4);
    assert_eq!(box_a.flagpost(["fleet", "leave"]).code, 4);

    // Without its server a machine reads, and changes nothing.
    box_a.ok(["down"]);
    until("the server has ended", || {
        plain.flagpost(["add", "Alone"]).code == 5
    });
    assert_eq!(plain.flagpost(["fleet", "join"]).code, 5);
    assert!(plain.ok(["list", "--all"]).contains("Write the parser"));
    let status = plain.flagpost(["fleet", "status", "--json"]);
    assert_eq!(status.code, 5, "{}", status.stderr);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["server"]["version"], Value::Null);
    assert_eq!(status["machines"].as_array().unwrap().len(), 3, "{status}");
    until("it says that it is alone", || {
        plain.ok(["status"]).contains("fleet: alone since ")
    });
    let alone = json(&plain, &["doctor"])["findings"].to_string();
    assert!(alone.contains("fleet-alone"), "{alone}");
    box_a.ok(["up"]);
    until("it goes on", || {
        plain.flagpost(["add", "Together"]).code == 0
    });
    until("it is not alone any more", || {
        json(&plain, &["status"])["fleet"]["link"] == "connected"
    });
    plain.ok(["fleet", "leave"]);
    assert_eq!(json(&plain, &["status"])["fleet"], Value::Null);
    assert_eq!(plain.flagpost(["add", "After"]).code, 5);
}
