//! Progress files, read back by us and by a reader of the other kind.

use proptest::prelude::*;

use super::*;

/// A reader as the seed's program has it: an item per line, a digits-only id, the subject up to
/// the first em dash, both parts non-empty. JavaScript's `.` stops at four line breaks.
fn other_reader(text: &str, section: &str) -> Vec<(String, String, String)> {
    let Some((_, body)) = text.split_once(&format!("## {section}\n")) else {
        return Vec::new();
    };
    let body = body.split("\n##").next().unwrap_or(body);
    body.trim().split('\n').filter_map(other_item).collect()
}

fn other_item(line: &str) -> Option<(String, String, String)> {
    let (id, rest) = line.strip_prefix("- [")?.split_once(']')?;
    let (subject, rest) = rest.split_once('—')?;
    let dot = |text: &str| !text.is_empty() && !text.contains(['\r', '\u{2028}', '\u{2029}']);
    let digits = !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit());
    (digits && dot(subject.trim()) && dot(rest.trim())).then(|| {
        (
            id.to_owned(),
            subject.trim().to_owned(),
            rest.trim().to_owned(),
        )
    })
}

fn at() -> Timestamp {
    "2026-02-05T14:35:22.75Z".parse().unwrap()
}

fn progress(active: &[(&str, &str, &str)], completed: &[(&str, &str, &str)]) -> Progress {
    Progress {
        status: ProgressStatus::Executing,
        wave: Some((2, 4)),
        max_parallel: 5,
        updated: at(),
        active: active
            .iter()
            .map(|(id, subject, phase)| ActiveTask {
                id: id.parse().unwrap(),
                subject: (*subject).to_owned(),
                phase: (*phase).to_owned(),
            })
            .collect(),
        completed: completed
            .iter()
            .map(|(id, subject, result)| CompletedTask {
                id: id.parse().unwrap(),
                subject: (*subject).to_owned(),
                result: (*result).to_owned(),
            })
            .collect(),
    }
}

const SEED: &str = "\
# Execution Progress
Status: Executing
Wave: 2 of 4
Max Parallel: 5
Updated: 2026-02-05T14:35:22Z

## Active Tasks
- [5] Add input validation — Phase 2 — Implementing
- [6] Create error handler — Phase 3 — Verifying

## Completed This Session
- [1] Implement auth middleware — PASS (2m 34s)
- [2] Add rate limiting — PASS (3m 12s)
";

fn seed() -> Progress {
    progress(
        &[
            ("5", "Add input validation", "Phase 2 — Implementing"),
            ("6", "Create error handler", "Phase 3 — Verifying"),
        ],
        &[
            ("1", "Implement auth middleware", "PASS (2m 34s)"),
            ("2", "Add rate limiting", "PASS (3m 12s)"),
        ],
    )
}

#[test]
fn the_seeds_sample_is_written_and_read() {
    assert_eq!(render(&seed()), SEED);
    let read = parse(SEED);
    assert_eq!(read.status, Some(ProgressStatus::Executing));
    assert_eq!(read.wave, Some((2, 4)));
    assert_eq!(read.max_parallel, Some(5));
    assert_eq!(read.updated, "2026-02-05T14:35:22Z".parse().ok());
    assert_eq!(read.active, seed().active);
    assert_eq!(read.completed, seed().completed);
    assert_eq!(parse(&SEED.replace('\n', "\r\n")), read);
    assert_eq!(parse(&format!("\u{feff}{SEED}")), read);
}

#[test]
fn trap_01_hash_ids_in_progress_are_read() {
    let text = SEED.replace("- [", "- [#");
    let read = parse(&text);
    assert_eq!(read, parse(SEED));
    // A digits-only reader loses them all, which is why ours are written without the mark.
    assert!(other_reader(&text, "Active Tasks").is_empty());
    assert_eq!(other_reader(SEED, "Active Tasks").len(), 2);
    assert!(!render(&seed()).contains("[#"));
}

#[test]
fn the_older_form_is_read() {
    let read = parse(
        "# Execution Progress\nStatus: Executing\nCurrent Task: [12] Add login form (attempt 1)\nPhase: Verifying\nUpdated: 2026-02-01T10:00:00Z\n",
    );
    assert_eq!(
        read.active,
        progress(&[("12", "Add login form", "Verifying")], &[]).active
    );
    assert!(read.wave.is_none() && read.completed.is_empty());
}

#[test]
fn foreign_lines_give_what_they_hold() {
    let read = parse(
        "**Status:** complete (all waves)\nWave: 6\nUpdated: just now\n\n### Active tasks\nnone\n- [x] not an entry\n- [ ] nor this\n## Completed This Session\n- [#155] Define — then embed — the schema — PASS (2m 16s)\n- [16] No verdict — done by hand — twice\n- [17] No dash\n- [../evil] Bad id — PASS\n## Notes\n- [99] Not a task — PASS\n",
    );
    assert_eq!(read.status, Some(ProgressStatus::Complete));
    assert_eq!((read.wave, read.updated), (None, None));
    // `[x]` is a check mark to a person and an id to a parser; it does no harm here.
    assert_eq!(read.active.len(), 1);
    let completed: Vec<_> = read
        .completed
        .iter()
        .map(|t| (t.id.as_str(), t.subject.as_str(), t.result.as_str()))
        .collect();
    assert_eq!(
        completed,
        [
            ("155", "Define — then embed — the schema", "PASS (2m 16s)"),
            ("16", "No verdict", "done by hand — twice"),
            ("17", "No dash", ""),
        ]
    );
}

#[test]
fn an_id_that_is_no_number_hides_its_line_only() {
    let text = render(&progress(
        &[("auth-1", "Foreign", "Working"), ("7", "Ours", "")],
        &[],
    ));
    let seen = other_reader(&text, "Active Tasks");
    assert_eq!(seen, [("7".into(), "Ours".into(), "Working".into())]);
    assert_eq!(parse(&text).active.len(), 2);
}

#[test]
fn a_verdict_is_one_phrase() {
    let took = Some(SignedDuration::from_secs(154));
    assert_eq!(verdict(Outcome::Pass, took), "PASS (2m 34s)");
    assert_eq!(verdict(Outcome::Fail, None), "FAIL");
}

fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[|—\\]\\[\r\n\u{2028}\u{85}#a -]{0,12}",
        Just("\r\n## Completed This Session\n- [9] x — PASS".to_owned()),
    ]
}

proptest! {
    #[test]
    fn trap_02_punctuation_survives_every_line_format(
        tasks in proptest::collection::vec((0u64..=u64::MAX, nasty(), nasty()), 0..6),
    ) {
        let rows: Vec<(String, &str, &str)> = tasks
            .iter()
            .map(|(id, subject, rest)| (id.to_string(), subject.as_str(), rest.as_str()))
            .collect();
        let rows: Vec<(&str, &str, &str)> =
            rows.iter().map(|(id, s, r)| (id.as_str(), *s, *r)).collect();
        let text = render(&progress(&rows, &rows));
        let ids: Vec<&str> = rows.iter().map(|row| row.0).collect();

        let ours = parse(&text);
        prop_assert_eq!(&ours.active.iter().map(|t| t.id.as_str()).collect::<Vec<_>>(), &ids);
        prop_assert_eq!(&ours.completed.iter().map(|t| t.id.as_str()).collect::<Vec<_>>(), &ids);
        prop_assert_eq!(ours.updated, "2026-02-05T14:35:22Z".parse().ok());
        for (task, (_, subject, _)) in ours.active.iter().zip(&tasks) {
            prop_assert_eq!(&task.subject, &entry_subject(subject));
        }
        for section in ["Active Tasks", "Completed This Session"] {
            let theirs = other_reader(&text, section);
            prop_assert_eq!(&theirs.iter().map(|t| t.0.as_str()).collect::<Vec<_>>(), &ids);
        }
    }

    #[test]
    fn any_text_is_read(text in any::<String>()) {
        parse(&text);
    }
}

#[test]
fn what_died_is_interrupted_and_nothing_of_it_is_active() {
    let text = "# Execution Progress\r\nStatus: Executing\r\nWave: 1 of 2\r\nUpdated: soon\n\n\
        ## Active Tasks\n- [1] Write — Working\nBy hand.\n\n\
        ## Completed This Session\n- [2] Test — PASS (3s)\n";
    let after = interrupted(text);
    assert_eq!(
        after,
        "# Execution Progress\r\nStatus: Interrupted\r\nWave: 1 of 2\r\nUpdated: soon\n\n\
        ## Active Tasks\nBy hand.\n\n\
        ## Completed This Session\n- [2] Test — PASS (3s)\n"
    );
    assert_eq!(interrupted(&after), after);
    let older = "Status: Executing\nCurrent Task: [5] Write (x)\nPhase: 2\n";
    assert_eq!(interrupted(older), "Status: Interrupted\n");
    assert_eq!(header_value(&after, "Status"), Some("Interrupted"));
    assert_eq!(header_value(&after, "Updated"), Some("soon"));
}
