//! A server that lost its disk, an order that has grown long, and a server that moves.

use std::process::Command;

use flagpost_testkit::race::until;

use super::{founded, history, joined, json, server_dir};

#[test]
fn a_lost_server_is_restored_and_another_machine_keeps_it() {
    let Some(server) = server_dir() else { return };
    let first = founded(&server);
    let [other, heir] = [false, true].map(|gate| joined(&server, &first, gate));
    other.ok(["add", "Second"]);
    until("it is known everywhere", || {
        [&first, &heir]
            .iter()
            .all(|it| it.ok(["list"]).contains("Second"))
    });
    let whole = first.flagpost(["fleet", "restore", "--yes"]);
    assert_eq!(whole.code, 4, "{}", whole.stderr);

    other.ok(["claim", "1", "--as", "W3"]);

    // The server's disk is gone.
    first.ok(["down"]);
    std::fs::remove_dir_all(first.home().join("fleet/server/store")).unwrap();
    first.ok(["up"]);
    until("it is said what to do", || {
        let refused = other.flagpost(["add", "Alone"]);
        assert_ne!(refused.code, 0);
        refused.stderr.contains("flagpost fleet restore")
    });
    assert!(other.ok(["list"]).contains("Second"));
    assert_eq!(other.flagpost(["fleet", "restore", "--yes"]).code, 4);
    assert_eq!(first.flagpost(["fleet", "restore"]).code, 2);
    let kept = other.ok(["done", "1", "Written", "--as", "W3"]);
    assert!(kept.contains("kept"), "{kept}");
    let begun = json(&first, &["fleet", "restore", "--yes"]);
    tells!(begun, {"epoch": 2, "repository": "web"});
    other.ok(["add", "Third"]);
    until("what was kept is told", || {
        json(&first, &["show", "1"])["state"] == "completed"
    });
    until("all are known again, and none is behind", || {
        let status = json(&first, &["fleet", "status"]);
        let machines = status["machines"].as_array().unwrap();
        machines.len() == 3 && machines.iter().all(|it| it["lag"] == 0)
    });
    assert_eq!(first.flagpost(["fleet", "compact"]).code, 2);
    assert_eq!(json(&first, &["fleet", "compact", "--yes"])["epoch"], 3);
    heir.ok(["add", "Fourth"]);

    // Another machine keeps the server from now on.
    until("the first one has it all", || {
        first.ok(["list"]).contains("Fourth")
    });
    first.ok(["down"]);
    heir.ok(["down"]);
    let (from, to) = (first.home().join("fleet"), heir.home().join("fleet"));
    std::fs::remove_dir_all(&to).unwrap();
    let copied = Command::new("cp")
        .arg("-a")
        .args([&from, &to])
        .output()
        .unwrap();
    assert!(copied.status.success());
    std::fs::remove_dir_all(&from).unwrap();
    std::fs::remove_dir_all(to.join("server/store")).unwrap();
    heir.ok(["fleet", "up"]);
    heir.ok(["fleet", "restore", "--yes"]);
    until("the others go on there", || {
        other.flagpost(["add", "Fifth"]).code == 0
    });
    until("all is there", || heir.ok(["list"]).contains("Fifth"));
    until("the histories are the same bytes", || {
        history(&heir) == history(&other)
    });
}
