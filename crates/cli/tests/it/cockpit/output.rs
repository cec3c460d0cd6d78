//! What an agent prints, followed while it prints.

use crate::{cockpit::terminal::Terminal, run_stage::Stage};

const AGENT: &str = r#"echo 'the first line'; await go-1; echo 'the second line'; await go-2
    for n in $(seq 1 200); do echo "number $n of many"; done; await go-3; echo 'the last line'; report PASS"#;

#[test]
fn l_follows_a_log_as_it_grows_until_somebody_scrolls() {
    let stage = Stage::of_equal(1);
    let terminal = or_skip!(Terminal::open(&stage.world, 100, 30));
    let _run = stage.start(AGENT, &[]);
    terminal.cockpit();
    terminal.keys(&["5"]).shows("Tasks of the run 1");
    terminal.keys(&["l"]).shows("the first line");
    stage.mark("go-1");
    terminal.shows("the second line");
    stage.mark("go-2");
    terminal.shows("number 200 of many");
    // A look back is not disturbed by what comes.
    terminal.keys(&["k"]);
    terminal.keys(&["C-u"]);
    terminal.until("it is scrolled", |it| !it.contains("number 200 of many"));
    let before = terminal.rests();
    stage.mark("go-3");
    let after = terminal.until("the run is over", |it| {
        it.contains("ended") || stage.ended().len() == 1
    });
    drop(after);
    let after = terminal.rests();
    let lines = |it: &str| -> Vec<String> {
        let of = it.lines().filter(|line| line.contains("of many"));
        of.map(str::to_owned).collect()
    };
    assert_eq!(lines(&after), lines(&before), "{after}");
    terminal.keys(&["f"]).shows("the last line");
    terminal.keys(&["/"]);
    terminal.types("number 7");
    terminal.keys(&["Enter"]).until("it is filtered", |it| {
        it.contains("number 7 of many") && !it.contains("number 8 of many")
    });
    terminal.keys(&["Escape"]).shows("the last line");
    terminal.keys(&["Escape"]).shows("Tasks of the run");
}
