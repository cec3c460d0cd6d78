//! What agents print: all of it in their logs, none of it in the runner's memory.

use std::fs;

use crate::{exits, run_stage::Stage};

const ONCE: &[&str] = &["--retries", "1"];

#[test]
fn an_agent_that_prints_a_gigabyte_costs_the_runner_no_memory() {
    let stage = Stage::of_equal(1);
    let room = rustix::fs::statvfs(&stage.place).unwrap();
    let bytes: u64 = if room.f_bavail * room.f_frsize > 4_000_000_000 {
        1_000_000_000
    } else {
        200_000_000
    };
    let body = format!("head -c {bytes} /dev/zero; echo; echo the last words >&2; exit 3");
    let ended = exits(stage.start(&body, ONCE).end(), 1);
    assert!(
        (1_000..64 << 10).contains(&ended.peak_kib),
        "{} KiB",
        ended.peak_kib
    );
    let log = stage.archived().join("logs/task-1-attempt-1.log");
    assert!(fs::metadata(log).unwrap().len() > bytes);
    let task = stage.task("1");
    let said = task["metadata"]["flagpost"]["result"]["text"]
        .as_str()
        .unwrap();
    assert!(
        said.starts_with("it exited with code 3\n\nThe end of its output:\n"),
        "{said}"
    );
    assert!(
        said.ends_with("the last words") && said.len() < 3_000,
        "{said}"
    );
}

#[test]
fn output_that_is_no_text_is_kept_as_it_is_and_told_as_far_as_it_can_be() {
    let stage = Stage::of_equal(1);
    let ran = stage.run(r"printf 'sch\366n \033[31mred\0 \377\n'; exit 4", ONCE);
    assert_eq!(ran.code, 1);
    let log = fs::read(stage.archived().join("logs/task-1-attempt-1.log")).unwrap();
    assert_eq!(log, b"sch\xf6n \x1b[31mred\0 \xff\n");
    let said = stage.task("1")["metadata"]["flagpost"]["result"]["text"].clone();
    assert!(said.as_str().unwrap().contains("sch\u{fffd}n"), "{said}");
    // Nothing of it steers the terminal of whoever looks.
    let shown = stage.world.ok(["show", "1"]);
    assert!(
        !shown.contains('\x1b') && !ran.stderr.contains('\x1b'),
        "{shown}"
    );
}

#[test]
fn an_agent_that_closes_its_output_is_waited_for_all_the_same() {
    let stage = Stage::of_equal(2);
    let ran = stage.run(
        r#"exec >&- 2>&- < /dev/null
        if [ $task = 1 ]; then await other; report PASS "after the other"; else mark other; fi"#,
        ONCE,
    );
    assert_eq!(ran.code, 0, "{ran}");
    assert_eq!(stage.states(2), ["completed"; 2]);
}

#[test]
fn each_attempt_has_a_log_of_its_own() {
    let stage = Stage::of_equal(1);
    exits(stage.run(r#"nth; echo "attempt $n"; [ $n = 2 ]"#, &[]), 0);
    let log = |n: u8| stage.session_file(&format!("logs/task-1-attempt-{n}.log"));
    assert_eq!([log(1), log(2)], ["attempt 1\n", "attempt 2\n"]);
}
