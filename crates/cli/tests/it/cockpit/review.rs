//! Work is reviewed, returned, approved and landed by keys alone.

use flagpost_testkit::race::until;

use crate::{cockpit::terminal::Terminal, land_yard::Yard};

#[test]
fn work_is_returned_with_a_remark_or_approved_and_landed_from_the_cockpit_alone() {
    let yard = Yard::of(2);
    yard.world.ok(["config", "set", "land.review", "true"]);
    let terminal = or_skip!(Terminal::with_cockpit(&yard.world, 100, 30));
    terminal.shows("1 Task 1: to review");
    terminal.keys(&["Enter"]).shows("file-1  +1 -0");
    terminal.keys(&["j", "Enter"]).shows("1 +1");
    terminal.keys(&["j", "j", "c"]).shows("file-1:1:");
    terminal.types("Say which");
    terminal.keys(&["Enter"]).shows("1 remark");
    terminal
        .keys(&["n"])
        .shows("return #1, what is to be different");
    terminal.types("Almost");
    terminal.keys(&["Enter"]).shows("#1 is returned");
    let shown = yard.world.json(["show", "1"]).1;
    let refused = &shown["landing"]["refused"];
    assert_eq!(refused["why"], "Almost\n\nfile-1:1\n> 1\nSay which");

    terminal.keys(&["4"]).shows("2 Task 2: to review");
    terminal.keys(&["Enter"]).shows("file-2  +1 -0");
    terminal.keys(&["y"]).shows("#2 is approved");
    terminal.keys(&["7"]).shows("approved   #2 Task 2");
    terminal.keys(&["L"]).shows("land 1 branch?");
    terminal.keys(&["y"]).shows("landed     #2 on main");
    until("the landing is over", || yard.recorded(2) == 1);
    yard.assert_landed([2]);
}
