//! The channels that leave the terminal: the desktop, and a program of the user's.
//!
//! Owns what each is started with. Text that an agent may have written is never in the arguments of the
//! user's program; the desktop's gets it, as one argument, only where `notify.body` asks for it. The
//! terminal belongs to the face that draws there.

use std::{sync::atomic::AtomicBool, time::Duration};

use flagpost_model::notification::{Channel, Notice};

use super::{
    NoticeSettings,
    command::{self, NoticeProgram},
};
use crate::answers;

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Why a notice was not sent.
#[derive(Debug, thiserror::Error)]
pub enum ChannelFault {
    /// There is no program.
    #[error(
        "notify.command is not set: 'flagpost config set notify.command -- PROGRAM ARGS' sets it"
    )]
    Unset,
    /// It did not start.
    #[error("{program} cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// It failed.
    #[error("{program} ended with {how}")]
    Exit {
        /// The program.
        program: String,
        /// How it ended.
        how: String,
    },
    /// It took too long, and was killed.
    #[error("{program} took longer than {} s and was killed", limit.as_secs_f64())]
    Late {
        /// The program.
        program: String,
        /// What it had.
        limit: Duration,
    },
    /// The sender ends.
    #[error("the sender ended meanwhile")]
    Stopped,
}

/// Sends a notice by a channel; none for the terminal, which is its face's own. Setting `stop` ends it.
pub fn tell(
    channel: Channel,
    settings: &NoticeSettings,
    notice: &Notice,
    stop: &AtomicBool,
) -> Option<Result<(), ChannelFault>> {
    let (argv, input, variables) = match channel {
        Channel::Terminal => return None,
        Channel::Desktop => (desktop(&notice.text()), String::new(), Vec::new()),
        Channel::Command => {
            let input = format!("{}\n", answers::document(notice));
            (settings.command.clone(), input, variables(notice))
        }
    };
    let program = NoticeProgram {
        argv: &argv,
        input: input.as_bytes(),
        variables: &variables,
        limit: LIMIT,
    };
    Some(command::run(&program, stop))
}

/// What macOS runs to show its first argument.
const SHOW: &str = "display notification (item 1 of argv) with title \"Flagpost\"";

/// The desktop's own program, with a text that it cannot take for an option.
fn desktop(text: &str) -> Vec<String> {
    let (argv, text): (&[&str], _) = match cfg!(target_os = "macos") {
        true => {
            let argv = &[
                "osascript",
                "-e",
                "on run argv",
                "-e",
                SHOW,
                "-e",
                "end run",
                "--",
            ];
            (argv, text.to_owned())
        }
        false => {
            let argv = &["notify-send", "--app-name=Flagpost", "--", "Flagpost"];
            (argv, unmarked(text))
        }
    };
    let argv = argv.iter().map(|it| (*it).to_owned());
    argv.chain([text]).collect()
}

/// The text without the marks that many desktops read in it.
fn unmarked(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// What a program can read without JSON: fixed words and numbers.
fn variables(notice: &Notice) -> Vec<(&'static str, String)> {
    vec![
        ("FLAGPOST_NOTICE_KIND", notice.kind.to_string()),
        ("FLAGPOST_NOTICE_COUNT", notice.count.to_string()),
        ("FLAGPOST_NOTICE_AGE_S", notice.age_s.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_argument_and_no_markup() {
        let argv = desktop("--x <b>&</b>");
        assert_eq!(argv.last().unwrap(), "--x &lt;b&gt;&amp;&lt;/b&gt;");
        assert!(argv.contains(&"--".to_owned()));
    }
}
