//! `diff`: what a task changes, as a landing would bring it.

use std::fs;

use serde_json::{Value, json};

use crate::{
    exits,
    land_yard::{Yard, branch, executable},
};

fn change(yard: &Yard, task: usize) -> Value {
    let (code, shown) = yard.world.json(["diff", &task.to_string()]);
    assert_eq!(code, 0, "{shown}");
    shown
}

#[test]
fn what_is_to_land_is_shown_as_the_target_would_have_it() {
    let yard = Yard::of(1);
    // What the target got meanwhile is no change of the task's.
    yard.write("later", "later\n");
    yard.commit("later");
    let shown = exits(yard.world.flagpost(["diff", "1"]), 0);
    assert!(
        shown.stdout.contains("+++ b/file-1\n@@ -0,0 +1 @@\n+1\n"),
        "{shown}"
    );
    assert!(!shown.stdout.contains("later"), "{shown}");
    assert!(
        shown.stderr.contains("task 1 as it would be on main"),
        "{shown}"
    );
    let stat = yard.world.ok(["diff", "1", "--stat"]);
    assert!(stat.contains("file-1 | 1 +"), "{stat}");
    let told = change(&yard, 1);
    tells!(told, {"stage": "to_land", "branch": branch(1), "onto": "main"});
    assert_eq!(
        told["files"],
        json!([{"path": "file-1", "added": 1, "removed": 0, "patch": null}])
    );
    assert_eq!(told["before"], yard.git(&["rev-parse", "main"]));
    yard.assert_tidy();
}

#[test]
fn what_landed_is_shown_however_it_landed() {
    for method in ["merge", "rebase", "squash"] {
        let yard = Yard::of(1);
        yard.git(&["checkout", "-q", &branch(1)]);
        yard.write("second", "2\n");
        yard.commit("and more");
        yard.git(&["checkout", "-q", "main"]);
        yard.write("later", "later\n");
        yard.commit("later");
        yard.lands(&["--how", method]);
        let told = change(&yard, 1);
        tells!(told, {"stage": "landed", "branch": null});
        let files = told["files"].as_array().unwrap().iter();
        let files: Vec<&Value> = files.map(|it| &it["path"]).collect();
        assert_eq!(files, ["file-1", "second"], "{method}");
    }
}

#[test]
fn a_branch_that_conflicts_is_shown_by_itself_and_where() {
    let yard = Yard::of(0);
    let plan = yard.outside("PLAN.md");
    fs::write(&plan, "- [x] Change the shared file\n").unwrap();
    yard.world.ok(["task", "import", plan.to_str().unwrap()]);
    yard.branch(1, "main", |yard| yard.write("shared", "of the task\n"));
    yard.write("shared", "of the target\n");
    yard.commit("in the way");
    let shown = exits(yard.world.flagpost(["diff", "1"]), 0);
    assert!(
        shown.stderr.contains("meets conflicts on main in shared"),
        "{shown}"
    );
    assert!(shown.stdout.contains("-base\n+of the task\n"), "{shown}");
    tells!(change(&yard, 1), {"stage": "conflicts", "conflicts": ["shared"]});
}

#[test]
fn what_is_being_done_is_shown_as_its_worktree_has_it() {
    let yard = Yard::of(1);
    yard.world.ok(["reopen", "1"]);
    let tree = yard.outside("tree");
    yard.git(&["worktree", "add", "-q", tree.to_str().unwrap(), &branch(1)]);
    fs::write(tree.join("file-1"), "another\n").unwrap();
    fs::write(tree.join("unknown"), "new\n").unwrap();
    let shown = exits(yard.world.flagpost(["diff", "1"]), 0);
    assert!(shown.stdout.contains("+another\n"), "{shown}");
    assert!(shown.stderr.contains("this is its work so far"), "{shown}");
    assert!(
        shown
            .stderr
            .contains("1 new file that git does not know yet is left out: unknown"),
        "{shown}"
    );
    tells!(change(&yard, 1), {"stage": "underway", "after": null, "unknown": ["unknown"]});
}

#[test]
fn what_changes_nothing_says_so() {
    let yard = Yard::of(1);
    yard.world.ok(["add", "Not begun"]);
    let none = exits(yard.world.flagpost(["diff", "2"]), 3);
    assert!(
        none.stderr.contains("task 2 has no changes of its own"),
        "{none}"
    );
    exits(yard.world.flagpost(["diff", "9"]), 3);
    let no_target = exits(yard.world.flagpost(["diff", "1", "--onto", "nowhere"]), 3);
    assert!(
        no_target.stderr.contains("there is no branch nowhere"),
        "{no_target}"
    );
}

/// An agent can write git's settings, which a diff would run.
#[test]
fn a_program_that_an_agent_put_into_gits_settings_is_not_run() {
    let yard = Yard::of(2);
    // A run looks at the settings when it begins.
    yard.world.ok(["add", "Run once"]);
    yard.world.ok(["run", "--agent", "true"]);
    let (script, mark) = (yard.outside("evil"), yard.outside("mark"));
    executable(&script, &format!("touch {}; cat", mark.display()));
    for key in ["diff.external", "core.pager", "pager.diff"] {
        yard.git(&["config", key, script.to_str().unwrap()]);
    }
    let shown = exits(yard.world.flagpost(["diff", "1"]), 0);
    assert!(
        shown.stderr.contains("its pager and tools are left out"),
        "{shown}"
    );
    assert!(shown.stdout.contains("+1\n"), "{shown}");
    assert_ne!(yard.world.flagpost(["diff", "1", "--tool"]).code, 0);
    assert!(!mark.exists());
}
