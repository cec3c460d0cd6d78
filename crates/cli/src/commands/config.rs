//! `config`: what is settled for all runs, seen and changed.

use std::borrow::Cow;

use clap::Subcommand;
use flagpost_core::{
    Config as File,
    answers::{self, SettingsAnswer},
    config::{self, Origin, Setting, SettingValue, Unknown},
    mirror,
};
use flagpost_model::view;
use serde_json::json;

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    screen::Screen,
    terminal::line,
    text::{TextArg, one_line},
};

/// The verbs on settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting, its value, and where the value is from
    #[command(after_help = "Example: flagpost config list --json")]
    List,
    Get(GetArgs),
    Set(SetArgs),
    Unset(UnsetArgs),
    /// Print where the settings are kept
    #[command(after_help = "Example: $EDITOR \"$(flagpost config path)\"")]
    Path,
}

/// Print the value of a setting
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost config get run.agent\n\
    A list is printed with one item per line. Exit code 3 where there is no value.")]
pub struct GetArgs {
    /// The setting
    key: String,
}

/// Store a setting; comments in the file stay
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    flagpost config set run.max_parallel 8\n  \
    flagpost config set run.agent 'sh agent.sh {prompt_file}'\n  \
    flagpost config set tasks.roots ~/.claude/tasks /srv/tasks\n  \
    flagpost config set run.agents.claude.args -- --model opus\n\n\
    A list takes one word for each item, and is replaced as a whole. An option comes before the\n\
    environment, the environment before the file, the file before the default.")]
pub struct SetArgs {
    /// The setting
    key: String,
    /// The value; - is stdin
    #[arg(value_name = "VALUE")]
    values: Vec<String>,
    #[command(flatten)]
    source: TextArg,
}

/// Take a setting out of the file: its default holds again
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost config unset run.agent")]
pub struct UnsetArgs {
    /// The setting
    key: String,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &ConfigCommand) -> anyhow::Result<Answer> {
    match verb {
        ConfigCommand::List => list(context),
        ConfigCommand::Get(args) => get(context, args),
        ConfigCommand::Set(args) => set(context, args),
        ConfigCommand::Unset(args) => unset(context, args),
        ConfigCommand::Path => path(context),
    }
}

/// What stands for a value that is called like a secret.
const NOT_SHOWN: &str = "set, not shown";

fn list(context: &Context) -> anyhow::Result<Answer> {
    let file = File::read(&context.home)?;
    let settings = file.settings()?;
    let unknown = file.unknown();
    let rows = settings.iter().map(|setting| {
        let value = setting
            .value
            .as_ref()
            .map(|value| match setting.is_secret() {
                true => NOT_SHOWN.to_owned(),
                false => value.to_string(),
            });
        vec![
            setting.name.clone(),
            origin(setting),
            line(&value.unwrap_or_default()),
        ]
    });
    let answer = SettingsAnswer::new(
        file.path().to_string_lossy(),
        answers::each(&settings),
        answers::each(&unknown),
    );
    Ok(Answer::of(&answer)
        .text(Screen::of(context).table(&["KEY", "FROM", "VALUE"], rows.collect()))
        .ids(settings.iter().map(|setting| &setting.name))
        .notes(unknown.iter().map(|unknown| note(&file, unknown))))
}

fn note(file: &File<'_>, unknown: &Unknown) -> String {
    let meant = unknown.suggestion.as_ref();
    let meant = meant.map(|name| format!("; do you mean {name}?"));
    format!(
        "{}, line {}: there is no setting {}{}",
        file.path().display(),
        unknown.line,
        unknown.name,
        meant.unwrap_or_default()
    )
}

fn get(context: &Context, args: &GetArgs) -> anyhow::Result<Answer> {
    let setting = File::read(&context.home)?.setting(&args.key)?;
    let Some(value) = &setting.value else {
        let name = setting.name;
        return Err(flagpost_core::Error::Unset { name }.into());
    };
    Ok(Answer::of(&answers::SettingAnswer::in_full(&setting))
        .text(value.to_string())
        .ids([value]))
}

fn set(context: &Context, args: &SetArgs) -> anyhow::Result<Answer> {
    let typed = match (args.values.as_slice(), args.source.read(None)?) {
        ([], Some(text)) => vec![text.strip_suffix('\n').unwrap_or(&text).to_owned()],
        ([], None) => return Err(usage("which value? 'flagpost config unset' takes one away")),
        (_, Some(_)) => return Err(usage("give the value or --file, not both")),
        ([one], None) => vec![one_line(one)?],
        (several, None) => several.to_vec(),
    };
    let stored = mirror::set(&context.home, &args.key, &typed)?;
    let overridden = stored.overridden;
    let note = overridden.map(|name| format!("${name} is set, and comes before the file"));
    let value = (!config::is_secret(&args.key)).then_some(&stored.value);
    let text = match value {
        None => format!("{}: {NOT_SHOWN}", args.key),
        Some(value) => format!("{} = {}", args.key, json!(value)),
    };
    let answer = Stored::new(&args.key, value, overridden);
    Ok(Answer::of(&answer).text(text).ids([&args.key]).notes(note))
}

fn unset(context: &Context, args: &UnsetArgs) -> anyhow::Result<Answer> {
    let key = &args.key;
    let was_set = config::unset(&context.home, key)?;
    let text = match was_set {
        true => format!("{key} is taken out of the file"),
        false => format!("{key} is not in the file"),
    };
    Ok(Answer::of(&Unset::new(key, was_set)).text(text).ids([key]))
}

fn path(context: &Context) -> anyhow::Result<Answer> {
    let path = config::path(&context.home)?;
    let kept = SettingsFile::new(path.to_string_lossy(), path.exists());
    let text = path.display().to_string();
    Ok(Answer::of(&kept).ids([&text]).text(text))
}

/// Where the value is from, for a person.
fn origin(setting: &Setting) -> String {
    match (setting.origin, setting.about.variable) {
        (Origin::Environment, Some(name)) => format!("${name}"),
        (origin, _) => origin.as_str().to_owned(),
    }
}

view! {
    /// A setting that was stored.
    ///
    /// After 'flagpost config set'.
    pub struct Stored<'a> {
        key: &'a str,
        /// Null where it is called like a secret.
        value: Option<&'a SettingValue>,
        /// The variable of the environment that comes before the file; null where it is not set.
        overridden_by: Option<&'a str>,
    }

    /// A setting that was taken out of the file.
    ///
    /// After 'flagpost config unset'.
    pub struct Unset<'a> {
        key: &'a str,
        /// Whether it was in the file.
        was_set: bool,
    }

    /// Where the settings are kept.
    ///
    /// After 'flagpost config path'.
    pub struct SettingsFile<'a> {
        path: Cow<'a, str>,
        exists: bool,
    }
}
