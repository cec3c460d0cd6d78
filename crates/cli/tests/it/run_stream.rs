//! `run --json`: one object per line, with cursors that `session show` resumes.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::run_stage::{Stage, lines};

#[test]
fn every_line_is_an_object_and_the_last_one_the_answer() {
    let stage = Stage::new("- [ ] A\n- [ ] B (after: 1)\n- [ ] C\n");
    let ran = stage.run(
        r#"echo noise; echo noise >&2; [ $task != 3 ] || exit 1; report PASS"#,
        &["--json", "--retries", "2"],
    );
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stderr, "");
    let mut all = lines(&ran.stdout);
    let answer = all.pop().unwrap();
    assert_eq!(answer["schema"], "flagpost.run/1");
    let counts = [&answer["passed"], &answer["failed"], &answer["skipped"]];
    assert_eq!(counts, [2, 1, 0]);
    let cursors: Vec<u64> = all
        .iter()
        .map(|line| line["cursor"].as_u64().unwrap())
        .collect();
    assert_eq!(cursors, (1..=all.len() as u64).collect::<Vec<_>>());
    assert!(all.iter().all(|line| line["schema"] == "flagpost.event/1"));
    assert!(all.iter().all(|line| line["session"] == answer["session"]));
    let kinds: Vec<_> = all
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        (kinds[0], *kinds.last().unwrap()),
        ("session.started", "session.finished")
    );
    let attempts = all
        .iter()
        .filter(|line| line["event"] == "task.ended" && line["task"] == "3");
    assert_eq!(attempts.count(), 2);

    // Whoever lost the stream takes it up again where it was.
    for since in [0, 5, cursors.len()] {
        let since_text = since.to_string();
        let rest = stage
            .world
            .ok(["session", "show", "--events", "--since", &since_text]);
        assert_eq!(lines(&rest), all[since..], "{since}");
        let events = ["session", "show", "--events", "--json"];
        let json = stage
            .world
            .ok([&events[..], &["--since", &since_text]].concat());
        assert_eq!(json, rest);
    }
}

#[test]
fn a_closed_stream_does_not_stop_the_run() {
    for args in [&["--json"][..], &[]] {
        let stage = Stage::of_equal(3);
        let agent = stage.agent(r#"await closed; report PASS"#);
        let mut command = stage.world.command();
        command
            .args(["run", "--max-parallel", "1", "--agent", &agent])
            .args(args);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        match args.is_empty() {
            true => BufReader::new(child.stderr.take().unwrap())
                .read_line(&mut line)
                .unwrap(),
            false => BufReader::new(child.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap(),
        };
        drop((child.stdout.take(), child.stderr.take()));
        stage.mark("closed");
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{args:?}");
        assert_eq!(stage.states(3), ["completed"; 3]);
        stage.archived();
    }
}
