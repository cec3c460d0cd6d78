//! `relay edit`: rewrite a brief and let it through.

use std::process::Command;

use anyhow::Context as _;
use flagpost_core::{
    Error,
    files::Draft,
    relay::{briefs, decide},
};
use flagpost_model::{Seq, WorkerId, decision::Via, envelope::Hash};

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    streams::{ask, say},
    text::TextArg,
};

/// Rewrite a brief in $EDITOR, or from a file, and let it through
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost relay edit W3 7\n\
    flagpost relay edit W3 7 --file better.md\n\n\
    Who leaves the editor and has changed nothing is asked whether it is to go through as it is.")]
pub struct RelayEditArgs {
    /// The worker
    worker: String,
    /// Which brief [default: the newest that waits]
    seq: Option<String>,
    #[command(flatten)]
    source: TextArg,
}

/// Rewrites it.
pub fn run(context: &Context, args: &RelayEditArgs) -> anyhow::Result<Answer> {
    let worker: WorkerId = args.worker.parse()?;
    let seq: Option<Seq> = args.seq.as_deref().map(str::parse).transpose()?;
    edit(context, &worker, seq, &args.source, Via::Cli)
}

/// The same for a slash command.
pub fn edit(
    context: &Context,
    worker: &WorkerId,
    seq: Option<Seq>,
    source: &TextArg,
    via: Via,
) -> anyhow::Result<Answer> {
    let actor = context.actor()?;
    let mail = context.fleet()?.mail(worker)?;
    let seq = match seq {
        Some(seq) => seq,
        None => briefs::newest_pending(&mail)?,
    };
    // Nobody writes for nothing.
    let letter = decide::open(&mail, seq)?;
    let seen = Hash::of(letter.body.as_bytes());
    let finish = |body: &str| decide::edit(&mail, &actor, seq, &seen, body, via);
    if let Some(body) = source.read(None)? {
        return Ok(super::decide::answer(&finish(&body)?));
    }
    let draft = Draft::new(&context.home, &letter.body)?;
    let body = edited(context, &draft)?;
    let question = || format!("approve {worker} {seq} as it is?");
    if body == letter.body && ask(&question())? != Some(true) {
        draft.discard()?;
        let worker = worker.clone();
        return Err(Error::Untouched { worker, seq }.into());
    }
    match finish(&body) {
        Ok(decided) => {
            draft.discard()?;
            Ok(super::decide::answer(&decided))
        }
        Err(error) => {
            let path = draft.path.display();
            say(&format!("flagpost: what you wrote is kept in {path}"));
            Err(error.into())
        }
    }
}

/// What the user's editor makes of it.
fn edited(context: &Context, draft: &Draft<'_>) -> anyhow::Result<String> {
    let Some(editor) = &context.settings.editor else {
        draft.discard()?;
        return Err(usage("set EDITOR, or give the new text with --file PATH"));
    };
    // A shell reads it, since an editor comes with options: code --wait.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(&draft.path)
        .status()
        .with_context(|| format!("cannot run {editor}"))?;
    if !status.success() {
        draft.discard()?;
        anyhow::bail!("{editor} ended with {status}: the brief is as it was");
    }
    let source = TextArg {
        file: Some(draft.path.clone()),
    };
    Ok(source.read(None)?.unwrap_or_default())
}
