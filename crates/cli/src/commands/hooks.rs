//! `hooks`: Flagpost in the settings of agents' clients.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use flagpost_core::hooks::{HookChange, HookLine, HookScope, HookSettings, last_fired};
use flagpost_model::{
    client::Client,
    hook::{HookEvent, settings::HookGuard},
    view,
};
use jiff::Timestamp;

use super::query::named;
use crate::{
    context::Context,
    error::usage,
    output::Answer,
    screen::Screen,
    streams::{confirm, say},
};

/// The verbs on hooks.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    Install(InstallArgs),
    /// Show which hooks are installed, and when each fired last
    #[command(after_help = "Example: flagpost hooks status --agent claude")]
    Status(HookPlaceArgs),
    /// Take Flagpost's hooks out of a client's settings
    #[command(after_help = "Example: flagpost hooks uninstall --agent claude\n\n\
        Hooks of others stay. A file that nobody else changed is as it was before, to the byte.")]
    Uninstall(HookPlaceArgs),
}

/// Put Flagpost's hooks into a client's settings
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: flagpost hooks install --agent claude --deny-reserved\n\n\
    Sessions with FLAGPOST_WORKER set are then told of delivered briefs, and do not\n\
    end a turn while one is unread. 'flagpost run' gives hooks to its own Claude Code\n\
    and Codex processes without an installation. Your other hooks stay as they are. Codex asks\n\
    you to trust new hooks: open codex, type /hooks, and trust the entries."
)]
pub struct InstallArgs {
    #[command(flatten)]
    place: HookPlaceArgs,
    /// Also refuse edits of files that another worker reserved
    #[arg(long)]
    deny_reserved: bool,
    /// Print the file with the hooks in it, and write nothing
    #[arg(long)]
    print: bool,
    /// Do not ask, where a link leads to the settings
    #[arg(long, short)]
    yes: bool,
}

/// Whose settings.
#[derive(Debug, clap::Args)]
pub struct HookPlaceArgs {
    /// The client: claude, codex, gemini, cursor, opencode
    #[arg(long, value_name = "CLIENT", value_parser = named::<Client>)]
    agent: Client,
    /// In this repository, for yourself (the default)
    #[arg(long, conflicts_with_all = ["shared", "user"])]
    project: bool,
    /// In this repository, for everybody: the file is one that people commit
    #[arg(long, conflicts_with = "user")]
    shared: bool,
    /// In your own settings, for all repositories
    #[arg(long)]
    user: bool,
}

impl HookPlaceArgs {
    fn scope(&self) -> HookScope {
        match (self.shared, self.user) {
            (_, true) => HookScope::User,
            (true, false) => HookScope::Shared,
            (false, false) => HookScope::Project,
        }
    }

    fn settings<'c>(&self, context: &'c Context) -> anyhow::Result<HookSettings<'c>> {
        let scope = self.scope();
        let top = match scope {
            HookScope::User => PathBuf::new(),
            HookScope::Project | HookScope::Shared => {
                flagpost_core::Repository::top(&context.home, &context.dir)?
            }
        };
        let place = (&*top, &context.settings.client_dirs);
        let home = &context.home;
        Ok(HookSettings::of(home, self.agent, scope, place)?)
    }
}

view! {
    /// What came of a change of a client's settings.
    ///
    /// After 'flagpost hooks install' and uninstall.
    pub struct HooksChanged {
        client: Client,
        /// The settings.
        path: String,
        /// Whether the file is another than before.
        changed: bool,
        /// The file with the hooks in it, with --print; else null.
        text: Option<String>,
    }

    /// The hooks of a client.
    ///
    /// After 'flagpost hooks status'.
    pub struct HooksAnswer {
        client: Client,
        /// The settings.
        path: String,
        /// One for each event that the client has.
        hooks: Vec<HookState>,
    }

    /// A hook.
    struct HookState {
        event: HookEvent,
        #[schemars(extend("enum" = ["installed", "unread", "untrusted", "disabled", "shadowed", "stale", "missing"]))]
        state: &'static str,
        /// What the client calls; null where it is not installed.
        command: Option<String>,
        /// When it fired last, wherever it was installed; null where that is not known.
        fired: Option<Timestamp>,
        /// What it answered then.
        answer: Option<String>,
    }
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &HooksCommand) -> anyhow::Result<Answer> {
    match verb {
        HooksCommand::Install(args) => install(context, args),
        HooksCommand::Status(args) => status(context, args),
        HooksCommand::Uninstall(args) => uninstall(context, args),
    }
}

fn install(context: &Context, args: &InstallArgs) -> anyhow::Result<Answer> {
    let settings = args.place.settings(context)?;
    let guard = match args.deny_reserved {
        true => HookGuard::DenyReserved,
        false => HookGuard::TellOnly,
    };
    let program = program(context)?;
    let path = settings.path.display().to_string();
    if args.print {
        let text = settings.with(&program, guard)?;
        let changed = HooksChanged::new(settings.client, path, false, Some(text.clone()));
        return Ok(Answer::of(&changed).exact(text));
    }
    if let Some(real) = &settings.leads_to {
        // They may be another project's.
        say(&format!("flagpost: a link leads to {}", real.display()));
        confirm(
            args.yes,
            "install the hooks there?",
            "nothing was installed",
        )?;
    }
    if args.place.scope() != HookScope::User {
        // Elsewhere a hook says nothing.
        context.repository_or_register()?;
    }
    let had_guard = settings.entries()?;
    let had_guard = had_guard.iter().any(|it| it.event == HookEvent::PreTool);
    let change = settings.install(&program, guard)?;
    let said = match change {
        HookChange::Written => format!("installed the hooks of {} in {path}", settings.client),
        HookChange::Unchanged => format!("the hooks of {} are in {path} already", settings.client),
    };
    let (client, is_new) = (settings.client, change == HookChange::Written);
    let trust = (client == Client::Codex)
        .then(|| "open codex, type /hooks, and trust the entries".to_owned());
    // The environment of Codex' shared server is that of the session which started it.
    let alone = match client {
        Client::Codex => " --no-daemon",
        _ => "",
    };
    // Its plugin does not say which session asks.
    let joins = match client {
        Client::Opencode => "",
        _ => ", or after 'flagpost worker join W1'",
    };
    let speaks = is_new.then(|| {
        format!(
            "a session speaks for a worker if it is started with 'FLAGPOST_WORKER=W1 {client}{alone}'{joins}"
        )
    });
    let is_freed = had_guard && !args.deny_reserved;
    let freed = is_freed.then(|| {
        "edits of files that others reserved are refused no more: that takes --deny-reserved"
            .to_owned()
    });
    let changed = HooksChanged::new(settings.client, path, is_new, None);
    Ok(Answer::of(&changed)
        .text(said)
        .notes(freed)
        .notes(unread(&settings)?)
        .notes(trust)
        .notes(speaks))
}

fn uninstall(context: &Context, args: &HookPlaceArgs) -> anyhow::Result<Answer> {
    let settings = args.settings(context)?;
    let path = settings.path.display().to_string();
    let change = settings.uninstall()?;
    let said = match change {
        HookChange::Written => format!("took the hooks of {} out of {path}", settings.client),
        HookChange::Unchanged => format!("there are no hooks of Flagpost in {path}"),
    };
    let changed = HooksChanged::new(settings.client, path, change == HookChange::Written, None);
    Ok(Answer::of(&changed).text(said))
}

fn status(context: &Context, args: &HookPlaceArgs) -> anyhow::Result<Answer> {
    let settings = args.settings(context)?;
    let (entries, has_plugin) = (settings.entries()?, settings.has_plugin()?);
    let fired = last_fired(&context.home, settings.client)?;
    let untrusted = settings.untrusted(&codex_home(context))?;
    let is_disabled = settings.is_disabled()?;
    let unread = unread(&settings)?;
    let is_unread = unread.is_some();
    let events = HookEvent::ALL.iter().copied();
    let events = events.filter(|it| it.name_in(settings.client).is_some());
    let hooks = events.map(|event| {
        let entry = entries.iter().find(|it| it.event == event);
        let state = match entry {
            Some(entry) if is_stale(context, &entry.command) => "stale",
            Some(entry) if is_shadowed(context, &entry.command) => "shadowed",
            Some(_) if is_unread => "unread",
            Some(_) if is_disabled => "disabled",
            Some(entry) if untrusted.contains(entry) => "untrusted",
            Some(_) => "installed",
            None if has_plugin => "installed",
            None => "missing",
        };
        let fired: Option<&HookLine> = fired.iter().find(|it| it.event == event.as_str());
        HookState::new(
            event,
            state,
            entry.map(|it| it.command.clone()),
            fired.map(|it| it.at),
            fired.map(|it| it.answer.clone()),
        )
    });
    let hooks: Vec<HookState> = hooks.collect();
    let screen = Screen::of(context);
    let rows = hooks.iter().map(|it| {
        let fired = it.fired.map(|at| screen.time(at)).unwrap_or_default();
        let answer = it.answer.clone().unwrap_or_default();
        vec![it.event.to_string(), it.state.to_owned(), fired, answer]
    });
    let path = settings.path.display().to_string();
    let table = screen.table(&["EVENT", "STATE", "FIRED", "ANSWER"], rows.collect());
    let answer = HooksAnswer::new(settings.client, path.clone(), hooks);
    Ok(Answer::of(&answer)
        .text(format!("{path}\n{table}"))
        .notes(unread))
}

/// That the client itself does not read its settings, where it is so.
fn unread(settings: &HookSettings<'_>) -> anyhow::Result<Option<String>> {
    let (client, path) = (settings.client, settings.path.display());
    let why = settings.unread()?;
    Ok(why.map(|why| format!("{client} does not read {path}, with its hooks: {why}")))
}

/// How a client's shell calls this program: by its name where that finds it, else by its path.
fn program(context: &Context) -> anyhow::Result<String> {
    let own = std::env::current_exe()?;
    if found(context, "flagpost").is_some_and(|it| is_this(&it)) {
        return Ok("flagpost".to_owned());
    }
    let own = own
        .to_str()
        .ok_or_else(|| usage("the path of this program is no UTF-8"))?;
    let quoted =
        shlex::try_quote(own).map_err(|_| usage("the path of this program holds a NUL"))?;
    Ok(quoted.into_owned())
}

/// Whether the program that an entry calls is gone.
fn is_stale(context: &Context, command: &str) -> bool {
    let called = called(command);
    called.is_some_and(|it| found(context, &it).is_none())
}

/// Whether the name that an entry calls leads to another program than this one.
fn is_shadowed(context: &Context, command: &str) -> bool {
    let by_name = called(command).filter(|it| !it.contains('/'));
    let found = by_name.and_then(|it| found(context, &it));
    found.is_some_and(|it| !is_this(&it))
}

/// The program that an entry calls.
fn called(command: &str) -> Option<String> {
    shlex::split(command)?.into_iter().next()
}

/// The file that a shell finds for a program.
fn found(context: &Context, program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|it| it.is_file());
    }
    let dirs = context.settings.path.iter().flat_map(std::env::split_paths);
    dirs.map(|dir| dir.join(program)).find(|it| it.is_file())
}

/// Whether a file is this program.
fn is_this(path: &Path) -> bool {
    let own = std::env::current_exe().and_then(|it| it.canonicalize());
    own.is_ok_and(|own| path.canonicalize().is_ok_and(|it| it == own))
}

/// Where Codex keeps its configuration.
fn codex_home(context: &Context) -> PathBuf {
    let home = context.home.environment().user_home.as_deref();
    let own = context.settings.codex_home.clone();
    own.unwrap_or_else(|| home.unwrap_or(Path::new("")).join(".codex"))
}
