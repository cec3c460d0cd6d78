//! Calls as opencode and Gemini CLI describe them, and as none should.

use serde_json::json;

use super::*;
use crate::client::talk::call::stays_below;

const DIR: &str = "/web";

fn call(value: Value) -> AcpCall {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_command_line_is_the_shells_whoever_asks() {
    let opencode = json!({
        "kind": "other", "title": "cp a /x/b",
        "locations": [{"path": "/x"}],
        "rawInput": {"command": "cp a /x/b", "directories": ["/x"], "patterns": ["/x/*"]},
    });
    let announced = json!({
        "kind": "execute", "title": "cp a /x/b",
        "rawInput": {"command": "cp a /x/b", "description": "Copy", "cwd": DIR},
    });
    let elsewhere = json!({
        "kind": "execute",
        "rawInput": {"command": "ls", "description": "List", "workdir": "/x"},
    });
    for (before, now, input) in [
        // opencode, as recorded.
        (
            announced.clone(),
            opencode,
            json!({"command": "cp a /x/b", "description": "Copy"}),
        ),
        // What was announced beside the command changes what it does, and no rule for commands fits.
        (
            elsewhere,
            json!({"kind": "execute", "rawInput": {"command": "ls"}}),
            json!({"command": "ls", "description": "List", "workdir": "/x"}),
        ),
        // Gemini CLI, as recorded.
        (
            Value::Null,
            json!({"kind": "execute", "title": "cp a /x/b", "locations": []}),
            json!({"command": "cp a /x/b"}),
        ),
        // What is asked is not what was announced.
        (
            announced,
            json!({"kind": "execute", "rawInput": {"command": "true"}}),
            json!({"command": "true", "description": "Copy", "announced": "cp a /x/b"}),
        ),
        // A title is believed only where there is nothing else.
        (
            Value::Null,
            json!({"kind": "execute", "title": "ls", "rawInput": {"script": "rm"}}),
            json!({"script": "rm"}),
        ),
    ] {
        let before = (!before.is_null()).then(|| call(before));
        let asked = asked(before.as_ref(), &call(now), Path::new(DIR));
        assert_eq!((asked.call.tool.as_str(), asked.call.input), (SHELL, input));
        assert!(!asked.is_of_files);
    }
}

#[test]
fn a_file_is_named_where_it_is_one() {
    let diff = json!([{"type": "diff", "path": "/web/a.md", "oldText": "", "newText": "x"}]);
    for (now, tool, input) in [
        // opencode, as recorded.
        (
            json!({"kind": "edit", "title": "/web/a.md", "locations": [{"path": "/web/a.md"}],
                   "rawInput": {"filepath": "/web/a.md", "diff": "…"}, "content": diff}),
            "edit",
            json!({"filepath": "/web/a.md", "diff": "…", "file_path": "/web/a.md"}),
        ),
        // Gemini CLI, as recorded.
        (
            json!({"kind": "edit", "title": "Writing to a.md", "content": diff,
                   "locations": [{"path": "/web/a.md"}]}),
            "edit",
            json!({"title": "Writing to a.md", "content": diff, "file_path": "/web/a.md"}),
        ),
        (
            json!({"kind": "other", "title": "status (flagpost MCP Server)", "locations": []}),
            "other",
            json!({"title": "status (flagpost MCP Server)"}),
        ),
        (
            json!({"kind": "move", "title": "Move", "locations": [{"path": "/a"}, {"path": "/b"}]}),
            "move",
            json!({"title": "Move"}),
        ),
    ] {
        let asked = asked(None, &call(now), Path::new(DIR));
        assert_eq!((asked.call.tool.as_str(), asked.call.input), (tool, input));
    }
}

#[test]
fn what_stays_where_the_agent_works_is_told_from_what_does_not() {
    let at = |kind: &str, paths: &[&str]| {
        let places: Vec<Value> = paths.iter().map(|path| json!({"path": path})).collect();
        asked(
            None,
            &call(json!({"kind": kind, "locations": places})),
            Path::new(DIR),
        )
    };
    let dirs = [Path::new(DIR), Path::new("/live/7-1/out")];
    for (asked, stays) in [
        (at("edit", &["/web/src/a.rs"]), true),
        (at("edit", &["src/a.rs"]), true),
        (
            at("edit", &["/live/7-1/out/report.md", "/live/7-1/out"]),
            true,
        ),
        (at("read", &["/live/7-1/out"]), true),
        (at("edit", &["/web/src/a.rs", "/etc/x"]), false),
        (at("edit", &["/live/7-1/settings.json"]), false),
        (at("edit", &["/web/../etc/x"]), false),
        (at("edit", &["/web/.git/hooks/pre-commit"]), false),
        (at("edit", &["/web/.claude/settings.json"]), false),
        (at("edit", &["/web/.gitignore"]), true),
        (at("edit", &["/webs/a"]), false),
        (at("edit", &[]), false),
        (at("delete", &["/web/a"]), false),
        (at("execute", &["/web"]), false),
        (at("other", &["/web/a"]), false),
    ] {
        assert_eq!(
            stays_below(&asked, &dirs, Path::to_owned),
            stays,
            "{asked:?}"
        );
    }
    // Where a whole working tree lies below such a directory, that is no settings of it.
    let tree = Path::new("/web/.claude/worktrees/7");
    assert!(stays_below(
        &at("edit", &["/web/.claude/worktrees/7/a"]),
        &[tree],
        Path::to_owned
    ));
    let link = |path: &Path| match path.starts_with("/web/link") {
        true => PathBuf::from("/etc"),
        false => path.to_owned(),
    };
    assert!(!stays_below(&at("edit", &["/web/link/x"]), &dirs, link));
}
