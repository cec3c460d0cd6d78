//! What holds of every frame, whatever happened before.

use flagpost_run::events::{Awaited, ReportMeaning};
use proptest::prelude::*;

use super::*;
use crate::{fit::width, progress::results};

fn any_end() -> impl Strategy<Value = AttemptEnd> {
    prop_oneof![
        Just(PASSED),
        Just(FAILED),
        Just(AttemptEnd::Judged(Outcome::Partial)),
        Just(AttemptEnd::Stuck),
        Just(AttemptEnd::Parked),
    ]
}

/// Anything that may happen, in any order, with any words.
fn any_event() -> impl Strategy<Value = RunEvent> {
    const FATES: &[&str] = &[
        "passed",
        "partial",
        "failed",
        "stuck",
        "parked",
        "waits",
        "skipped",
        "interrupted",
        "new",
    ];
    let task = 1_u32..9;
    let words = ".{0,120}";
    prop_oneof![
        (0_usize..9).prop_map(started),
        (task.clone(), 1_u32..4).prop_map(|(task, number)| begins(task, number)),
        (task.clone(), any_end()).prop_map(|(task, end)| ends(task, 1, end, &["x"])),
        (task.clone(), prop::sample::select(FATES)).prop_map(|(task, fate)| settles(task, fate)),
        (task.clone(), words, words).prop_map(|(task, subject, question)| RunEvent::TaskAsks {
            task: id(task),
            subject,
            question,
        }),
        (task.clone(), words).prop_map(|(task, words)| RunEvent::TaskAnswered {
            task: id(task),
            by: words.clone(),
            words,
        }),
        (task.clone(), words, any::<bool>()).prop_map(|(task, words, asks)| RunEvent::TaskSaid {
            task: id(task),
            worker: "W1".parse().unwrap(),
            said: if asks {
                ReportMeaning::Question
            } else {
                ReportMeaning::Progress
            },
            words,
        }),
        (task.clone(), words).prop_map(|(task, subject)| RunEvent::TaskAdded {
            task: id(task),
            subject,
        }),
        (task.clone(), words).prop_map(|(task, why)| RunEvent::TaskRetries {
            task: id(task),
            attempt: 3,
            of: None,
            why,
        }),
        task.prop_map(|task| RunEvent::TaskStalled {
            task: id(task),
            worker: "W1".parse().unwrap(),
            since: second(0).now,
        }),
        (words, any::<bool>()).prop_map(|(agent, known)| RunEvent::AgentParked {
            until: known.then(|| second(100).now),
            why: agent.clone(),
            agent,
        }),
        words.prop_map(|why| RunEvent::Waits {
            on: Awaited::Room,
            why,
        }),
        words.prop_map(|words| RunEvent::Notice { words }),
        Just(RunEvent::Stays {
            asking: Vec::new(),
            until: None
        }),
        Just(RunEvent::GoesOn),
        Just(RunEvent::Draining),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever happens in whatever order: nothing panics, no line is wider than the screen or steers
    /// it, the frame leaves room for results, and no task is counted twice.
    #[test]
    fn every_frame_fits(
        events in prop::collection::vec(any_event(), 0..60),
        columns in 1_usize..130,
        rows in 1_usize..40,
    ) {
        let mut account = RunProgress::default();
        for (at, event) in (0..).zip(&events) {
            let moment = second(at);
            account.see(event, moment);
            let view = View { columns, rows, painted: false, moment };
            let frame = frame::lines(&account, view);
            prop_assert!(frame.len() <= rows.saturating_sub(1).max(1), "{frame:#?}");
            for line in frame.into_iter().chain(results::lines(event, &account, columns, false)) {
                prop_assert!(width(&line) <= columns, "{columns}: {line:?}");
                prop_assert!(!line.contains(char::is_control), "{line:?}");
            }
            let parts = account.parts();
            let told = parts.passed + parts.failed + parts.skipped + parts.asking + parts.running;
            prop_assert_eq!(told + parts.open(), parts.all);
            // Eight tasks there are, beside what the run said it has.
            prop_assert!(told <= 8, "{parts:?}");
        }
    }
}
