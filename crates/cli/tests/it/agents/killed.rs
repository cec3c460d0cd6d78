//! A run that is killed while an agent works: the next goes on with its conversation where that was, and
//! nothing of what it did is lost.

use std::{collections::BTreeSet, sync::Arc};

use flagpost_testkit::{
    clients::{self, Client},
    model_server::Step,
};
use rustix::process::Signal;

use super::{
    for_each_client,
    stage::{Stage, report, reports, runs},
};

for_each_client!(what_was_done_before_and_after_is_built_upon);

fn what_was_done_before_and_after_is_built_upon(client: Client) {
    let plan = "- [ ] Write the notes\n- [ ] Read them (after: 1)\n";
    let mut stage = or_skip!(Stage::new(client, plan));
    stage.set(clients::NO_RELAUNCH, "");
    let stage = Arc::new(stage);
    let there = Arc::clone(&stage);
    let write = Step::by(move |_| {
        let path = there.place_of(1).join("notes.md");
        Step::calls([clients::write(client, path.to_str().unwrap(), "Noted\n")])
    });
    let commit = |words: &str| runs(client, &format!("git commit --quiet -m '{words}'"));
    stage.script(
        1,
        [
            write,
            Step::hang(),
            // The run is killed here. What follows is said to whoever goes on.
            runs(client, "git add notes.md"),
            commit("Add the notes"),
            reports(client, &report("FAIL", "Not all of it")),
            Step::text("Reported."),
            // The second attempt.
            runs(client, "flagpost done 1 Noted"),
            Step::text("Said."),
        ],
    );
    let there = Arc::clone(&stage);
    let read = Step::by(move |_| {
        let is_there = there.place_of(2).join("notes.md").is_file();
        let word = if is_there { "done" } else { "fail" };
        runs(client, &format!("flagpost {word} 2 Read"))
    });
    stage.script(2, [read, Step::text("Said.")]);
    let args = [
        "--agent",
        client.as_str(),
        "--worktrees",
        "--max-parallel",
        "1",
        "--retries",
        "2",
    ];
    let mut first = stage.begin(&args);
    stage.until("it has written", &mut first, |_| stage.heard(1).len() == 2);
    assert!(first.is_running(), "{}\n{}", first.stdout(), first.stderr());
    first.signal(Signal::KILL);
    let told = first.end().stdout;

    let place = stage.place_of(1).display().to_string();
    let second = stage.run(&args);
    let shown = format!("{told}{}", second.shown);
    let ends = (second.ends(1), second.ends(2));
    let expected = (
        vec!["FAIL".to_owned(), "PASS".to_owned()],
        vec!["PASS".to_owned()],
    );
    assert_eq!((second.code, ends), (0, expected), "{shown}");
    let heard = &stage.heard(1)[2];
    assert!(heard.contains("The run that started you died"), "{heard}");
    // All of it in the one worktree, whose work the next has.
    assert_eq!(second.places(1), BTreeSet::from([&*place]), "{shown}");
    let of = |task: u32| format!("--glob=refs/heads/flagpost/*/{task}");
    let log = stage.git(&["log", "--format=%s", &of(2)]);
    assert_eq!(log, "Add the notes\nBegin\n", "{shown}");
    // It is told of, and goes, as every other.
    let said: Vec<_> = second
        .told("worktree")
        .into_iter()
        .filter(|it| it["task"] == "1")
        .collect();
    assert_eq!(said.len(), 1, "{shown}");
    let told = said[0]["said"].as_str().unwrap();
    assert!(told.ends_with("kept: its work has not landed"), "{shown}");
    assert!(!stage.git(&["worktree", "list"]).contains("/1 "), "{shown}");
}
