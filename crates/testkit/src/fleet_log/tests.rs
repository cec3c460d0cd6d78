//! Histories and logs that can be true, and what breaks each rule.

use super::*;

/// A line of a history; its number is its place.
fn history(lines: &[&str]) -> String {
    let numbered = lines.iter().zip(1..).map(|(line, n)| {
        let words: Vec<&str> = line.split(' ').collect();
        let (kind, actor, task) = (words[0], words[1], words[2]);
        match kind.starts_with("relay") {
            true => {
                format!("{{\"n\":{n},\"kind\":\"{kind}\",\"worker\":\"{actor}\",\"seq\":{task}}}\n")
            }
            false => {
                format!(
                    "{{\"n\":{n},\"kind\":\"{kind}\",\"actor\":\"{actor}\",\"task\":\"{task}\"}}\n"
                )
            }
        }
    });
    numbered.collect()
}

fn home(history: &str, file: &str) -> HomeAfter {
    HomeAfter {
        name: "home".to_owned(),
        history: history.to_owned(),
        files: BTreeMap::from([("tasks/1.json".to_owned(), file.into())]),
    }
}

fn claim(task: &str, token: u64) -> Claim {
    Claim {
        task: task.to_owned(),
        token,
    }
}

fn step(actor: &str, (began, ended): (u64, u64), act: Act) -> Deed {
    let (began, ended) = (Duration::from_secs(began), Duration::from_secs(ended));
    Deed {
        actor: actor.to_owned(),
        began,
        ended,
        act,
    }
}

fn claimed(actor: &str, times: (u64, u64), task: &str, token: u64) -> Deed {
    step(actor, times, Act::Claim(Told::Ok(claim(task, token))))
}

/// What the history of most cases tells: two tasks, of which the first was given back once.
const LINES: [&str; 8] = [
    "task.created ann 1",
    "task.created ann 2",
    "task.claimed W1 1",
    "task.claimed W2 2",
    "task.released W1 1",
    "task.completed W2 2",
    "task.claimed W2 1",
    "task.completed W2 1",
];

fn good() -> Vec<Deed> {
    vec![
        claimed("W1", (0, 2), "1", 3),
        claimed("W2", (1, 3), "2", 4),
        step("W1", (3, 5), Act::Release(claim("1", 3), Told::Ok(()))),
        step("W2", (4, 6), Act::Complete(claim("2", 4), Told::Ok(()))),
        claimed("W2", (6, 8), "1", 7),
        step("W2", (8, 9), Act::Complete(claim("1", 7), Told::Unknown)),
        step("W3", (8, 20), Act::Claim(Told::Unknown)),
        step("W3", (20, 21), Act::Claim(Told::Refused)),
    ]
}

/// The faults of a log, with homes that all hold what `LINES` tell.
fn faults_of(log: &[Deed]) -> Vec<String> {
    let text = history(&LINES);
    faults(log, &[home(&text, "a"), home(&text, "a"), home(&text, "a")])
}

#[test]
fn what_can_be_true_has_no_fault() {
    assert_eq!(faults_of(&good()), [""; 0]);
    assert_eq!(
        longest_silence(&good()),
        (Duration::from_secs(2), Duration::from_secs(6))
    );
}

#[test]
fn each_rule_about_the_log_finds_what_breaks_it() {
    let changed = |at: usize, with: Deed| {
        let mut log = good();
        log[at] = with;
        log
    };
    let cases: [(&str, Vec<Deed>); 9] = [
        ("one token twice", changed(1, claimed("W2", (1, 3), "2", 3))),
        (
            "a token that goes back in time",
            changed(4, claimed("W2", (0, 0), "1", 7)),
        ),
        ("a claim of a task that another one has", {
            changed(
                2,
                step("W1", (3, 5), Act::Release(claim("1", 3), Told::Refused)),
            )
        }),
        ("a task that was given back only later", {
            changed(
                2,
                step("W1", (9, 10), Act::Release(claim("1", 3), Told::Ok(()))),
            )
        }),
        ("a claim after the task was done", {
            changed(
                2,
                step("W1", (3, 5), Act::Complete(claim("1", 3), Told::Ok(()))),
            )
        }),
        (
            "a claim that is in no history",
            changed(6, claimed("W3", (8, 9), "3", 9)),
        ),
        (
            "a claim that another one has in the history",
            changed(4, claimed("W1", (6, 8), "1", 7)),
        ),
        (
            "a claim that was refused and is there",
            changed(4, step("W2", (6, 8), Act::Claim(Told::Refused))),
        ),
        ("an end that was refused and is there", {
            changed(
                3,
                step("W2", (4, 6), Act::Complete(claim("2", 4), Told::Refused)),
            )
        }),
    ];
    for (what, log) in cases {
        assert_ne!(faults_of(&log), [""; 0], "{what}");
    }
}

#[test]
fn each_rule_about_homes_finds_what_breaks_it() {
    let good_home = home(&history(&LINES), "a");
    let gap = good_home.history.replace("\"n\":8", "\"n\":9");
    let unread = good_home.history.clone() + "{\"n\":9,";
    let lost = history(&LINES[..7]);
    let delivered = history(&[&LINES[..], &["relay.delivered W3 1"]].concat());
    let decided_late =
        history(&[&LINES[..], &["relay.delivered W3 1", "relay.decided W3 1"]].concat());
    let decided = history(&[&LINES[..], &["relay.decided W3 1", "relay.delivered W3 1"]].concat());
    let mut log = good();
    assert_eq!(faults(&log, &[home(&decided, "a")]), [""; 0]);
    for text in [&gap, &unread, &delivered, &decided_late] {
        assert_ne!(faults(&log, &[home(text, "a")]), [""; 0], "{text}");
    }
    // What is not the same everywhere.
    for other in [home(&lost, "a"), home(&good_home.history, "b")] {
        assert_ne!(faults(&log, &[good_home.clone(), other]), [""; 0]);
    }
    let nothing = HomeAfter {
        files: BTreeMap::new(),
        ..good_home.clone()
    };
    assert_ne!(faults(&log, &[good_home.clone(), nothing]), [""; 0]);
    // An end that somebody was told of is lost everywhere; one of which nobody knew may be.
    assert_eq!(faults(&log, &[home(&lost, "a")]), [""; 0]);
    log[5].act = Act::Complete(claim("1", 7), Told::Ok(()));
    assert_ne!(faults(&log, &[home(&lost, "a")]), [""; 0]);
}
