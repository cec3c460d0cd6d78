//! Three servers, each kept by a machine: the fleet goes on without one of them.

use flagpost_testkit::race::until;

use super::{clone, free_address, git, history, json, machine, server_dir};

#[test]
fn a_fleet_of_three_servers_goes_on_without_one_of_them() {
    let Some(program) = server_dir() else { return };
    let listen = [(); 3].map(|()| free_address());
    let first = machine(&program);
    git(
        &first.repository(),
        &["commit", "--quiet", "--allow-empty", "-m", "first"],
    );
    first.ok(["add", "Write the parser"]);
    let up = [
        "fleet", "up", "--listen", &listen[0], "--beside", &listen[1],
    ];
    assert_eq!(first.flagpost(up).code, 2, "two servers are none");
    let three = up.into_iter().chain(["--beside", &listen[2]]);
    let waits = first.flagpost(three);
    assert_eq!(waits.code, 5, "{}", waits.stderr);

    let beside = [1, 2].map(|at| {
        let machine = clone(&program, &first);
        let name = format!("fleet/server/for-{}.json", listen[at].replace(':', "-"));
        let told = std::fs::read(first.home().join(name)).unwrap();
        let served = machine.feed(["fleet", "serve", "-"], &told);
        assert_eq!(served.code, 0, "{}", served.stderr);
        assert_eq!(machine.feed(["fleet", "serve", "-"], b"{}").code, 6);
        machine
    });
    until("it is up", || first.flagpost(["fleet", "up"]).code == 0);
    // Each new order is led by one of the three, which they choose first.
    until("it is shared", || {
        first.flagpost(["fleet", "share"]).code == 0
    });
    let [second, third] = &beside;
    second.ok(["fleet", "join"]);
    third.ok(["fleet", "join"]);
    assert!(third.ok(["list"]).contains("Write the parser"));

    // Whom the first machine lets in, the others let in soon; and out.
    assert_eq!(second.flagpost(["fleet", "invite"]).code, 4);
    assert_eq!(second.flagpost(["fleet", "leave"]).code, 4);
    let guest = clone(&program, &first);
    let starts = || {
        let starts = |it: &super::Machine| {
            let log = std::fs::read_to_string(it.home().join("fleet/server/server.log"));
            log.unwrap().matches("Server is ready").count()
        };
        [&first, second, third].map(starts)
    };
    let before = starts();
    let line = first.ok(["fleet", "invite"]);
    assert_eq!(guest.feed(["fleet", "join", "-"], line.as_bytes()).code, 0);
    let name = json(&guest, &["fleet", "status"])["machine"].clone();
    let name = name.as_str().unwrap();
    let let_in = || {
        let configured = |it: &super::Machine| {
            let text = std::fs::read_to_string(it.home().join("fleet/server/nats.conf"));
            text.unwrap().contains(name)
        };
        [&first, second, third].map(configured)
    };
    until("each server lets it in", || let_in() == [true; 3]);
    until("each was started anew for that", || {
        starts()
            .iter()
            .zip(before)
            .all(|(now, before)| *now > before)
    });

    // Without the first server, which may have led, the others go on once one of them leads.
    first.ok(["down"]);
    until("a change is taken", || {
        second.flagpost(["add", "Alone"]).code == 0
    });
    until("the others know it", || {
        [third, &guest]
            .iter()
            .all(|it| it.ok(["list"]).contains("Alone"))
    });
    first.ok(["up"]);
    until("it knows what it missed", || {
        first.ok(["list"]).contains("Alone")
    });
    until("the histories are the same bytes", || {
        let histories = [&first, second, third, &guest].map(|it| history(it));
        histories.windows(2).all(|pair| pair[0] == pair[1])
    });

    // Where two were away at once, they choose for seconds who leads.
    until("it is shut out here", || {
        first.flagpost(["fleet", "rm", name]).code == 0
    });
    assert_eq!(first.flagpost(["fleet", "rm", name]).code, 3);
    until("no server lets it in", || let_in() == [false; 3]);
    until("it is shut out", || {
        guest.flagpost(["add", "Late"]).code == 4
    });
    let machines = json(&first, &["fleet", "status"])["machines"].clone();
    assert_eq!(machines.as_array().unwrap().len(), 3, "{machines}");
}
