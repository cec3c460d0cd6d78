//! Who is believed, case by case.

use super::*;

fn report(outcome: Option<Outcome>) -> TaskReport {
    TaskReport {
        outcome,
        summary: "did it".into(),
        issues: "one test fails".into(),
        ..TaskReport::default()
    }
}

const NOTHING: Evidence<'_> = Evidence {
    report: None,
    said: None,
    exit: Exit::Code(0),
    tail: "",
    client: None,
};

const QUIET: ClientReport<'_> = ClientReport {
    limit: None,
    error: None,
    last_words: "I am done.",
    denied: &[],
};

fn verdict(finding: Assessment) -> Judged {
    match finding {
        Assessment::Judged(judged) => judged,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_acknowledged_word_stands_before_the_report_and_the_report_before_the_exit_code() {
    use Outcome::{Fail, Partial, Pass};
    let completed = Some((Ending::Completed, "done"));
    let failed = Some((Ending::Failed, "no"));
    for (report, said, exit, expected) in [
        (Some(report(Some(Pass))), failed, Exit::Code(1), Fail),
        (Some(report(Some(Fail))), completed, Exit::Code(0), Pass),
        (Some(report(Some(Partial))), None, Exit::Code(0), Partial),
        (Some(report(Some(Pass))), None, Exit::TimedOut, Pass),
        (Some(report(None)), completed, Exit::Code(7), Pass),
        (Some(report(None)), None, Exit::Code(0), Pass),
        (None, completed, Exit::Signal(9), Pass),
        (None, failed, Exit::Code(0), Fail),
        (None, None, Exit::Code(0), Pass),
        (None, None, Exit::Code(2), Fail),
        (None, None, Exit::Signal(9), Fail),
        (None, None, Exit::TimedOut, Fail),
        (None, None, Exit::Stopped, Fail),
        (Some(report(Some(Pass))), completed, Exit::ClaimLost, Fail),
        // What it said before its conversation was taken over stands.
        (Some(report(Some(Fail))), completed, Exit::HandedOver, Pass),
        (Some(report(Some(Partial))), None, Exit::HandedOver, Partial),
    ] {
        let judged = verdict(judge(Evidence {
            report: report.as_ref(),
            said,
            exit,
            ..NOTHING
        }));
        assert_eq!(judged.outcome, expected, "{report:?} {said:?} {exit:?}");
    }
}

#[test]
fn a_client_that_says_nothing_never_passes() {
    for exit in [
        Exit::Code(0),
        Exit::Code(1),
        Exit::Signal(9),
        Exit::TimedOut,
    ] {
        for unclear in [None, Some("status: GREAT")] {
            let report = unclear.map(|why| TaskReport {
                unclear: Some(why.into()),
                ..report(None)
            });
            let finding = judge(Evidence {
                report: report.as_ref(),
                exit,
                client: Some(QUIET),
                ..NOTHING
            });
            match (exit, finding) {
                (Exit::Code(0), Assessment::Unreported(words)) => {
                    assert_eq!(words, unclear.unwrap_or("I am done."));
                }
                (_, Assessment::Judged(judged)) => {
                    assert_eq!((judged.outcome, judged.retryable), (Outcome::Fail, true));
                }
                (_, other) => panic!("{exit:?} {other:?}"),
            }
        }
    }
}

#[test]
fn a_limit_is_no_failure_and_an_error_of_the_client_is_one() {
    let limit = Limit::Reached {
        until: None,
        window: "five_hour".into(),
    };
    let limited = ClientReport {
        limit: Some(&limit),
        error: Some("usage limit"),
        ..QUIET
    };
    let end = Evidence {
        exit: Exit::Code(1),
        client: Some(limited),
        ..NOTHING
    };
    assert_eq!(judge(end), Assessment::Limited(limit.clone()));
    let reported = report(Some(Outcome::Pass));
    let end = Evidence {
        report: Some(&reported),
        ..end
    };
    assert_eq!(verdict(judge(end)).outcome, Outcome::Pass);
    let error = ClientReport {
        error: Some("no such model"),
        ..QUIET
    };
    let judged = verdict(judge(Evidence {
        exit: Exit::Code(1),
        client: Some(error),
        ..NOTHING
    }));
    assert_eq!(judged.words, "it exited with code 1: no such model");
}

/// As Codex ends whose configuration cannot be read: no event tells of it.
#[test]
fn the_error_that_a_client_died_of_is_told_first() {
    let died = |tail| {
        let evidence = Evidence {
            exit: Exit::Code(1),
            client: Some(QUIET),
            tail,
            ..NOTHING
        };
        verdict(judge(evidence)).words
    };
    assert_eq!(
        died("WARNING: no aliases\nError loading config.toml: invalid type\nin `model`"),
        "it exited with code 1: Error loading config.toml: invalid type in `model`\n\n\
         The end of its output:\nWARNING: no aliases\nError loading config.toml: invalid type\nin `model`"
    );
    assert_eq!(
        died("I give up."),
        "it exited with code 1\n\nThe end of its output:\nI give up."
    );
}

#[test]
fn a_later_report_that_says_otherwise_is_shown() {
    let late = report(Some(Outcome::Fail));
    let judged = verdict(judge(Evidence {
        report: Some(&late),
        said: Some((Ending::Completed, "all done")),
        ..NOTHING
    }));
    let words = "all done\n\n(its report, which came later, says FAIL: one test fails\n\ndid it)";
    assert_eq!(judged.words, words);
}

#[test]
fn a_verdict_that_nobody_understands_is_not_taken_for_success() {
    let unclear = TaskReport {
        unclear: Some("`result-task-1.md` says \"status: FAILED\"".into()),
        ..report(None)
    };
    let end = Evidence {
        report: Some(&unclear),
        ..NOTHING
    };
    let judged = verdict(judge(end));
    assert_eq!((judged.outcome, judged.retryable), (Outcome::Fail, true));
    assert!(judged.words.contains("status: FAILED"), "{}", judged.words);
    let said = Some((Ending::Completed, "done"));
    assert_eq!(
        verdict(judge(Evidence { said, ..end })).outcome,
        Outcome::Pass
    );
}

#[test]
fn whoever_asks_for_help_has_a_question_and_no_verdict() {
    let said = Some((Ending::Stuck, "which API?"));
    let reported = report(Some(Outcome::Fail));
    for report in [None, Some(&reported)] {
        let finding = judge(Evidence {
            report,
            said,
            ..NOTHING
        });
        assert_eq!(finding, Assessment::Asks("which API?".into()));
    }
}

#[test]
fn a_failure_carries_its_reason() {
    let judged = verdict(judge(Evidence {
        exit: Exit::Code(3),
        tail: "boom\n",
        ..NOTHING
    }));
    assert_eq!(
        judged.words,
        "it exited with code 3\n\nThe end of its output:\nboom"
    );
    let failed = report(Some(Outcome::Fail));
    let judged = verdict(judge(Evidence {
        report: Some(&failed),
        ..NOTHING
    }));
    assert_eq!(judged.words, "one test fails\n\ndid it");
    let long = TaskReport {
        left_out: 9,
        ..report(Some(Outcome::Pass))
    };
    let judged = verdict(judge(Evidence {
        report: Some(&long),
        ..NOTHING
    }));
    let words = "did it\n\n(the last 9 bytes of its report were not read)";
    assert_eq!(
        (judged.outcome, judged.words.as_str()),
        (Outcome::Pass, words)
    );
}

#[test]
fn a_refused_report_is_the_presets_fault() {
    let denied = |what: &str| Denied {
        tool: "Bash".into(),
        what: what.into(),
    };
    assert!(refused(&[denied("flagpost done 1")]).contains("fault of the preset"));
    assert!(!refused(&[denied("rm -rf x")]).contains("fault"));
    let words = unreported("bye", &[denied("rm -rf x")]);
    assert_eq!(
        words,
        "It ended without saying how. Its last words: bye\n\nIts client refused:\n- Bash rm -rf x"
    );
}

#[test]
fn refused_commands_are_named_with_what_allows_them_the_next_time() {
    let denied = |tool: &str, what: &str| Denied {
        tool: tool.into(),
        what: what.into(),
    };
    let words = refusals(&[
        denied("Bash", "npm test"),
        denied("Bash", "npm test"),
        denied("Bash", "a && b"),
        denied("run_shell_command", "make"),
    ]);
    let last = words.lines().last();
    assert_eq!(
        last,
        Some("The next run allows it with: flagpost run --allow 'npm test'")
    );
    assert!(!refusals(&[denied("Write", "/etc/x")]).contains("--allow"));
}
