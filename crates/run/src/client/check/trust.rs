//! Which hooks of ours a client must be told to trust, as it names them.
//!
//! Owns what Codex is asked: it skips a hook in silence whose hash it was not told. It is asked for the hashes
//! of these hooks alone; those of anybody else stay untrusted.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CheckTarget, scratch::Scratch};
use crate::{
    ask::{self, ProgramCall, ProgramInput},
    client::{
        Client,
        inject::{self, TrustedHook},
    },
};

/// What is noted where it does not say.
pub(super) const LACKING: &str = "it does not say which hooks it trusts, so a run gives it none: its agents learn of briefs by 'flagpost worker next'";

/// Which of the requests is the one for the hooks, and how its answer begins.
const ID: u64 = 1;
const ANSWER: &str = "\"id\":1,";

/// The hooks that a client is told to trust, none for one that trusts by itself; `None` where it does not
/// answer.
pub(super) fn hooks(
    subject: &CheckTarget,
    scratch: &Scratch,
    patience: Duration,
) -> Option<Vec<TrustedHook>> {
    if subject.client != Client::Codex {
        return Some(Vec::new());
    }
    let mut args = vec!["app-server".into()];
    args.extend(inject::codex_hooks());
    let answer = ask::ask(ProgramCall {
        program: &subject.program,
        args: &args,
        set: &scratch.variables(subject),
        unset: &[],
        stdin: ProgramInput::Until(&request(&scratch.0.to_string_lossy()), ANSWER),
        dir: &scratch.0,
        patience,
    });
    let hooks = hooks_in(&answer.ok()?.text);
    (!hooks.is_empty()).then_some(hooks)
}

/// The lines that ask for the hooks that are on in a directory: Codex' app-server speaks JSON-RPC.
fn request(dir: &str) -> String {
    let client = json!({"name": "flagpost", "version": env!("CARGO_PKG_VERSION")});
    let lines = [
        json!({"id": 0, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"method": "initialized"}),
        json!({"id": ID, "method": "hooks/list", "params": {"cwds": [dir]}}),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The hooks that came with the command line.
fn hooks_in(text: &str) -> Vec<TrustedHook> {
    let lines = text.lines();
    let answers = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = answers.into_iter().find(|it| it["id"] == ID);
    let of_dirs = answer
        .as_ref()
        .and_then(|it| it["result"]["data"].as_array());
    let hooks = of_dirs.into_iter().flatten();
    let hooks = hooks.filter_map(|it| it["hooks"].as_array()).flatten();
    let ours = hooks.filter(|it| it["source"] == "sessionFlags");
    let trusted = ours.filter_map(|it| {
        Some(TrustedHook {
            key: it["key"].as_str()?.to_owned(),
            hash: it["currentHash"].as_str()?.to_owned(),
        })
    });
    trusted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hooks_of_the_command_line_are_trusted() {
        let key = "/<session-flags>/config.toml:stop:0:0";
        let hooks = json!([
            {"key": key, "source": "sessionFlags", "currentHash": "sha256:aa"},
            {"key": "/x/.codex/hooks.json:stop:0:0", "source": "project", "currentHash": "sha256:bb"},
            {"key": "/<session-flags>/config.toml:pre_tool_use:0:0", "source": "sessionFlags"},
        ]);
        let answer = json!({"id": 1, "result": {"data": [{"cwd": "/x", "hooks": hooks}]}});
        assert!(answer.to_string().contains(ANSWER));
        let hook = TrustedHook {
            key: key.to_owned(),
            hash: "sha256:aa".to_owned(),
        };
        assert_eq!(
            hooks_in(&format!("{{\"id\":0}}\nno JSON\n{answer}\n")),
            [hook]
        );
        assert_eq!(hooks_in("error: unrecognized subcommand"), []);
    }
}
