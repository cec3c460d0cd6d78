//! The machine that keeps the server says why it does not run, and leaves none behind.

use std::{net::TcpListener, process::Command};

use flagpost_testkit::race::until;

use super::{founded, free_address, git, json, machine, server_dir};

#[test]
fn a_server_that_cannot_run_is_told_of_where_it_is_kept() {
    let Some(server) = server_dir() else { return };
    let mut founder = founded(&server);
    let says = |founder: &super::Machine, why: &str| {
        until("it is said why", || {
            let status = founder.flagpost(["fleet", "status"]);
            status.code == 5 && status.stdout.contains(why)
        });
    };
    let address = json(&founder, &["fleet", "status"])["server"]["address"].clone();
    let address = address
        .as_str()
        .unwrap()
        .rsplit('/')
        .next()
        .unwrap()
        .to_owned();

    founder.ok(["down"]);
    says(&founder, "no daemon runs here");
    let path = std::env::var("PATH").unwrap();
    founder.0.set("PATH", path.clone());
    founder.ok(["up"]);
    says(&founder, "there is no nats-server on this machine");
    until("doctor finds it", || {
        let found = json(&founder, &["doctor"]).to_string();
        found.contains("there is no nats-server")
    });
    founder.ok(["down"]);
    founder
        .0
        .set("PATH", format!("{}:{path}", server.display()));

    let taken = TcpListener::bind(&address).unwrap();
    founder.ok(["up"]);
    says(&founder, "address already in use");
    drop(taken);
    until("it runs once the port is free", || {
        founder.flagpost(["add", "Next"]).code == 0
    });
}

#[test]
fn a_server_that_a_killed_daemon_left_ends_with_down() {
    let Some(server) = server_dir() else { return };
    let founder = founded(&server);
    let note = std::fs::read_to_string(founder.home().join("run/daemon.json")).unwrap();
    let note: serde_json::Value = serde_json::from_str(&note).unwrap();
    let killed = Command::new("kill")
        .args(["-9", &note["pid"].to_string()])
        .status();
    assert!(killed.unwrap().success());
    let mut ended = String::new();
    until("the server has ended", || {
        ended += &founder.flagpost(["down"]).stderr;
        ended.contains("which a killed daemon left")
    });
    assert_eq!(founder.flagpost(["down"]).stderr, "");
}

#[test]
fn a_server_whose_directory_is_gone_is_founded_where_it_was() {
    let Some(server) = server_dir() else { return };
    for private in [false, true] {
        let founder = machine(&server);
        founder.ok(["add", "Write the parser"]);
        let first = ["commit", "--quiet", "--allow-empty", "-m", "first"];
        git(&founder.repository(), &first);
        let listen = free_address();
        let clear = private.then_some("--private-network");
        founder.ok(["fleet", "up", "--listen", &listen]
            .into_iter()
            .chain(clear));
        founder.ok(["fleet", "share"]);
        founder.ok(["down"]);
        std::fs::remove_dir_all(founder.home().join("fleet/server")).unwrap();
        let up = founder.flagpost(["fleet", "up"]);
        assert_eq!(up.code, 0, "{}", up.stderr);
        assert_eq!(up.stderr.contains("joins with a new invitation"), !private);
        let scheme = if private { "nats" } else { "tls" };
        let status = json(&founder, &["fleet", "status"]);
        assert_eq!(status["server"]["address"], format!("{scheme}://{listen}"));
        founder.ok(["fleet", "restore", "--yes"]);
        founder.ok(["add", "Next"]);
    }
}
