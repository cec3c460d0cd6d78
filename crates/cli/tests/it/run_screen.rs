//! A run on a real terminal: what stays visible, and what is left when it is over.

use flagpost_testkit::race::until;

use crate::{run_stage::Stage, tmux::Tmux};

/// Three pass at once; the others wait for a mark.
const AGENT: &str = r#"mark "runs-$task"; if [ $task -gt 3 ]; then await go; fi; report PASS"#;

/// The command line of a run, as a shell takes it.
fn run(stage: &Stage, options: &str) -> String {
    run_of(stage, AGENT, options)
}

/// The same with an agent that does this.
fn run_of(stage: &Stage, body: &str, options: &str) -> String {
    let agent = stage.agent(body).replace('\'', "'\\''");
    let binary = env!("CARGO_BIN_EXE_flagpost");
    format!("{binary} run --agent '{agent}' {options}")
}

/// A window in which this runs, and a word when it is over.
fn window(tmux: &Tmux<'_>, command: &str) {
    tmux.open(80, 24, &format!("{command}; echo it is over; exec cat"));
}

/// Whether anything of the frame is there.
fn has_frame(screen: &str) -> bool {
    screen.contains("[█") || screen.contains(" running, ")
}

#[test]
fn twenty_five_agents_leave_room_for_results_and_nothing_of_it_is_left() {
    let stage = Stage::of_equal(30);
    let tmux = Tmux::of(&stage.world);
    window(&tmux, &run(&stage, "--max-parallel 25"));
    let screen = tmux.until("25 run", |it| it.contains("25 running, 2 to do"));
    for seen in ["passed 1 Task 1 ", "passed 2 Task 2 ", "passed 3 Task 3 "] {
        assert!(screen.contains(seen), "{screen}");
    }
    assert!(screen.contains(" 3 of 30 passed "), "{screen}");
    assert!(screen.contains("\n   4 Task 4 "), "{screen}");
    assert!(screen.contains("\n  … and 11 more\n"), "{screen}");

    tmux.resize(44, 12);
    let narrow = tmux.until("it fits", |it| {
        it.lines().filter(|line| line.contains("[█")).count() == 1 && it.contains("… and 20 more")
    });
    assert!(narrow.contains("25 running, 2 to do"), "{narrow}");
    tmux.resize(100, 30);
    let wide = tmux.until("it is wide", |it| it.contains("… and 6 more"));
    assert_eq!(wide.matches("[█").count(), 1, "{wide}");

    tmux.keys(&["C-c"]);
    tmux.until("it says so", |it| {
        it.contains("Ctrl-C once more stops them")
    });
    tmux.keys(&["C-c"]);
    let end = tmux.until("it is over", |it| it.contains("it is over"));
    assert!(!has_frame(&end) && !end.contains("^C"), "{end}");
    assert!(
        end.contains("3 of 30 passed, 27 not done; interrupted"),
        "{end}"
    );
    // It has the variables of a run itself.
    drop(tmux);
    stage.assert_no_process();
}

#[test]
fn a_session_that_may_still_run_is_asked_about() {
    let stage = Stage::of_equal(1);
    let lock = stage.put_unsure_session();
    // One server for both: one that is being ended hangs up on whoever opens the next.
    let tmux = Tmux::of(&stage.world);
    for (key, is_started) in [("n", false), ("y", true)] {
        window(&tmux, &run_of(&stage, "report PASS", ""));
        tmux.until("it asks", |it| it.contains("start all the same? [y/N]"));
        tmux.keys(&[key, "Enter"]);
        tmux.until("it is over", |it| it.contains("it is over"));
        assert_eq!(lock.exists(), !is_started);
    }
    assert_eq!(stage.state("1"), "completed");
}

/// It asks the first time, and reads the answer the second.
const ASKING: &str = r#"nth
    if [ $task = 1 ] && [ $n = 1 ]; then flagpost stuck 1 'argparse or click?' > /dev/null; exit 0; fi
    if [ $task = 2 ]; then await go; fi
    report PASS"#;

#[test]
fn a_question_rings_once_and_stays_until_it_is_answered() {
    let stage = Stage::of_equal(2);
    let tmux = Tmux::of(&stage.world);
    window(&tmux, &run_of(&stage, ASKING, ""));
    let asked = tmux.until("it asks", |it| it.contains("1 asks, 1 running"));
    let question = "\nasks 1 Task 1: argparse or click?\n  flagpost answer 1 'WORDS'\n";
    assert!(asked.contains(question), "{asked}");
    // A moment after it is drawn.
    until("it rings", || tmux.has_rung());
    stage.world.ok(["answer", "1", "click"]);
    let answered = tmux.until("it goes on", |it| it.contains("passed 1 Task 1"));
    assert!(answered.contains("answered 1 by ann: click"), "{answered}");
    assert!(!answered.contains("asks 1"), "{answered}");
    stage.mark("go");
    let end = tmux.until("it is over", |it| it.contains("it is over"));
    assert!(end.contains("2 of 2 passed\n"), "{end}");
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_takes_it_again() {
    let stage = Stage::of_equal(5);
    let tmux = Tmux::of(&stage.world);
    tmux.open(
        80,
        24,
        "PS1='at your service: ' exec bash --norc --noprofile -i",
    );
    tmux.until("the shell is there", |it| it.contains("at your service:"));
    tmux.keys(&["-l", &run(&stage, "")]);
    tmux.keys(&["Enter"]);
    tmux.until("two run", |it| {
        it.contains("3 of 5 passed") && it.contains("2 running")
    });
    tmux.keys(&["C-z"]);
    let stopped = tmux.until("it has stopped", |it| it.contains("Stopped"));
    assert!(
        !stopped.contains("2 running") && stopped.contains("passed 1 Task 1"),
        "{stopped}"
    );
    tmux.keys(&["fg", "Enter"]);
    tmux.until("two run again", |it| it.contains("2 running"));
    stage.mark("go");
    let end = tmux.until("all passed", |it| it.contains("session_summary.md"));
    assert!(!has_frame(&end), "{end}");
}

#[test]
fn outcomes_are_coloured_where_that_is_wanted_and_always_in_words() {
    for (options, is_coloured) in [("", true), ("--color never", false)] {
        let stage = Stage::of_equal(5);
        let tmux = Tmux::of(&stage.world);
        window(&tmux, &run(&stage, options));
        let screen = tmux.until("two run", |it| {
            it.contains("3 of 5 passed") && it.contains("2 running")
        });
        let styled = tmux.screen(true);
        assert!(screen.contains("passed 1 Task 1"), "{screen}");
        assert_eq!(styled.contains('\u{1b}'), is_coloured, "{styled}");
        if is_coloured {
            assert!(styled.contains("\u{1b}[32mpassed"), "{styled}");
        }
        stage.mark("go");
        tmux.until("it is over", |it| it.contains("it is over"));
    }
}

#[test]
fn a_terminal_that_can_move_no_cursor_gets_plain_lines() {
    let stage = Stage::of_equal(4);
    let tmux = Tmux::of(&stage.world);
    window(&tmux, &format!("TERM=dumb {}", run(&stage, "")));
    let screen = tmux.until("one runs", |it| it.contains("start 4 Task 4 (try 1 of 3)"));
    assert!(!has_frame(&screen), "{screen}");
    stage.mark("go");
    tmux.until("it is over", |it| it.contains("it is over"));
}
