//! `doctor --agents`: look whether the programs that do tasks can be started.
//!
//! Owns which agents are looked at (every client, and those that are settled under a name of the
//! user's), and how that is shown. What is asked of a client is the run's business.

use std::borrow::Cow;

use flagpost_core::{Config, answers};
use flagpost_model::{client::Client, view};
use flagpost_run::{
    agent::Agent,
    client::{
        check::{self, CheckTarget, Checked, Login, Surroundings, VersionStatus},
        preset,
    },
};

use super::DoctorArgs;
use crate::{
    context::Context,
    output::Answer,
    screen::Screen,
    streams::{confirm, say},
    terminal::line,
};

/// An agent, and what is settled for it.
struct Named {
    name: String,
    client: Client,
    env: Vec<(String, String)>,
    /// How it would be started, or why it would not.
    agent: Result<Agent, String>,
}

/// What is known of an agent.
struct AgentCheck {
    name: String,
    client: Client,
    /// None where its program is not there.
    checked: Option<Checked>,
    login: Login,
    notes: Vec<String>,
    /// Why no run takes what is settled for it.
    refused: Option<String>,
    /// What came of having it write a report; none where it was not tried.
    tried: Option<Result<(), String>>,
}

/// Looks at every agent.
pub fn run(context: &Context, args: &DoctorArgs) -> anyhow::Result<Answer> {
    let named = named(&Config::read(&context.home)?)?;
    let subjects: Vec<Option<CheckTarget>> = named.iter().map(|it| subject(context, it)).collect();
    let there: Vec<CheckTarget> = subjects.iter().flatten().cloned().collect();
    let mut checked = check::check_all(&there).into_iter();
    let mut looked = Vec::new();
    for (named, subject) in named.iter().zip(&subjects) {
        let checked = subject.as_ref().and_then(|_| checked.next());
        looked.push(look(context, named, checked));
    }
    if args.r#try {
        let fit = |it: &&mut AgentCheck| it.is_fit();
        let fit: Vec<&mut AgentCheck> = looked.iter_mut().filter(fit).collect();
        must_agree(args, &fit)?;
        for it in fit {
            let subject = there.iter().find(|subject| subject.name == it.name);
            it.tried = subject.map(|subject| check::attempt(subject, &context.settings));
        }
    }
    Ok(answer(context, &looked))
}

/// Every client, and every name of the user's own that is one.
fn named(config: &Config<'_>) -> anyhow::Result<Vec<Named>> {
    let mut all = Vec::new();
    // What speaks a protocol is no program.
    let clients = Client::ALL.iter().filter(|client| **client != Client::Acp);
    let clients = clients.map(|client| client.as_str().to_owned());
    let own = config.agents().into_iter();
    for name in clients.chain(own.filter(|name| name.parse::<Client>().is_err())) {
        let settled = config.agent(&name)?;
        // A command line of its own is not asked: it may do anything.
        let client = settled.like.or_else(|| name.parse().ok());
        let is_asked = |client: &Client| settled.command.is_none() && *client != Client::Acp;
        if let Some(client) = client.filter(is_asked) {
            let agent: Result<Agent, _> = name.parse();
            let agent = agent.and_then(|agent| agent.with(&settled));
            all.push(Named {
                name,
                client,
                agent: agent.map_err(|error| error.to_string()),
                env: settled.env,
            });
        }
    }
    Ok(all)
}

/// What can be looked at of an agent, where its program is there.
fn subject(context: &Context, named: &Named) -> Option<CheckTarget> {
    let agent = named.agent.as_ref().ok()?;
    let path = context.settings.path.as_deref();
    let program = agent.locate(path, &context.dir).ok()?;
    agent.subject(&program)
}

fn look(context: &Context, named: &Named, checked: Option<Checked>) -> AgentCheck {
    let around = Surroundings::of(&context.home, &context.settings, &named.env);
    let folder = match context.repository() {
        Ok(Some(repository)) => repository.top,
        _ => context.dir.clone(),
    };
    let mut notes = Vec::new();
    if let Some(checked) = &checked {
        notes.clone_from(&checked.notes);
        notes.extend(check::advice(named.client, &around, &folder));
    }
    AgentCheck {
        name: named.name.clone(),
        client: named.client,
        checked,
        login: check::login(named.client, &around),
        notes,
        refused: named.agent.as_ref().err().cloned(),
        tried: None,
    }
}

fn must_agree(args: &DoctorArgs, fit: &[&mut AgentCheck]) -> anyhow::Result<()> {
    let names: Vec<&str> = fit.iter().map(|it| it.name.as_str()).collect();
    if names.is_empty() || args.yes {
        return Ok(());
    }
    say(&format!(
        "flagpost: {} would write one report each, at your cost",
        names.join(", ")
    ));
    confirm(false, "do it?", "nothing was tried")
}

impl AgentCheck {
    /// Whether a run could begin with it.
    fn is_fit(&self) -> bool {
        let checked = self.checked.as_ref();
        checked.is_some_and(|checked| checked.faults.is_empty())
    }

    /// What is wrong with it, each with what to do.
    fn wrong(&self) -> Vec<(String, String)> {
        let faults = self.checked.iter().flat_map(|checked| {
            let told = |fault: &check::ClientFault| (fault.describe(checked), fault.hint(checked));
            checked.faults.iter().map(told)
        });
        let refused = self.refused.iter().map(|why| {
            let hint = format!(
                "'flagpost config set run.agents.{}.args' without it",
                self.name
            );
            (why.clone(), hint)
        });
        let tried = self.tried.iter().filter_map(|tried| tried.as_ref().err());
        let tried = tried.map(|why| {
            let program = preset::program(self.client);
            let hint = format!("see that '{program}' works here by hand, and is signed in");
            (format!("it was tried: {why}"), hint)
        });
        faults.chain(refused).chain(tried).collect()
    }

    /// How its version stands.
    fn version_text(&self) -> String {
        let Some(checked) = &self.checked else {
            return match self.refused {
                Some(_) => "not looked at".to_owned(),
                None => "not installed".to_owned(),
            };
        };
        match (checked.version_status(), preset::tested(self.client)) {
            (standing @ (VersionStatus::Newer | VersionStatus::Older), Some(tested)) => {
                format!("{} than {tested}", standing.as_str())
            }
            (standing, _) => standing.as_str().to_owned(),
        }
    }
}

fn answer(context: &Context, looked: &[AgentCheck]) -> Answer {
    let answer = Agents::new(
        answers::each(looked),
        looked.iter().filter(|it| it.is_fit()).count(),
    );
    let mut answer = Answer::of(&answer)
        .text(text(context, looked))
        .ids(looked.iter().filter(|it| it.is_fit()).map(|it| &it.name));
    answer.code = u8::from(looked.iter().any(|it| !it.wrong().is_empty()));
    answer
}

view! {
    /// Whether the programs that do tasks can be started.
    ///
    /// After 'flagpost doctor --agents'. Exit code 1 where one that is installed cannot.
    pub struct Agents<'a> {
        agents: Vec<Shown<'a>>,
        /// With how many of them a run could begin.
        fit: usize,
    }

    /// A program that does tasks.
    struct Shown<'a> from it: &'a AgentCheck {
        /// Its name: the client's, or one of the user's own.
        agent: &'a str = &it.name,
        client: Client = it.client,
        /// Where it is; null where it is not installed, or was not looked at.
        program: Option<Cow<'a, str>> = it.checked.as_ref().map(|it| it.program.to_string_lossy()),
        /// As it tells it.
        version: Option<&'a str> = it.checked.as_ref().and_then(|it| it.version.as_deref()),
        /// The version that its command line was tried with; null where none was.
        tested: Option<&'a str> = preset::tested(it.client),
        /// How its version stands to that one; untested where that cannot be told.
        #[schemars(extend("enum" = ["missing", "tested", "newer", "older", "untested"]))]
        standing: &'a str = match (&it.checked, &it.refused) {
            (Some(checked), _) => checked.version_status().as_str(),
            (None, Some(_)) => "untested",
            (None, None) => "missing",
        },
        login: Account<'a> = match &it.login {
            Login::Variable(name) => Account::new("variable", Some(name.to_string().into())),
            Login::File(path) => Account::new("file", Some(path.to_string_lossy())),
            Login::NotFound => Account::new("not_found", None),
        },
        /// Why no run could begin with it, or what came of trying it.
        faults: Vec<Wrong> = it.wrong().into_iter().map(|(what, hint)| Wrong::new(what, hint)).collect(),
        /// What is worth knowing besides.
        notes: &'a [String] = &it.notes,
        /// With --try: whether it wrote its report; null where it was not tried.
        tried: Option<bool> = it.tried.as_ref().map(Result::is_ok),
        /// Whether a run could begin with it.
        fit: bool = it.is_fit(),
    }

    /// Whether somebody is signed in.
    struct Account<'a> {
        /// Where a sign of an account was found; not_found does not say that there is none.
        #[schemars(extend("enum" = ["variable", "file", "not_found"]))]
        how: &'a str,
        /// The variable's name, or the file. Never what is in it.
        by: Option<Cow<'a, str>>,
    }

    /// Something that is wrong with it.
    struct Wrong {
        what: String,
        /// What to do about it.
        hint: String,
    }
}

fn text(context: &Context, looked: &[AgentCheck]) -> String {
    let screen = Screen::of(context);
    let home = context.home.environment().user_home.as_deref();
    let rows = looked.iter().map(|it| {
        let checked = it.checked.as_ref();
        let version = checked.and_then(|checked| checked.version.clone());
        let login = match (&it.login, checked) {
            (_, None) => String::new(),
            (Login::Variable(name), _) => format!("${name}"),
            (Login::File(path), _) => match home.and_then(|home| path.strip_prefix(home).ok()) {
                Some(path) => format!("~/{}", path.display()),
                None => path.display().to_string(),
            },
            (Login::NotFound, _) => "not found".to_owned(),
        };
        let program = checked.map(|checked| checked.program.display().to_string());
        vec![
            it.name.clone(),
            version.unwrap_or_default(),
            it.version_text(),
            line(&program.unwrap_or_default()),
            line(&login),
        ]
    });
    let header = ["AGENT", "VERSION", "STATE", "PROGRAM", "LOGIN"];
    let mut text = screen.fitted(&header, rows.collect(), &[3]);
    let mut told = String::new();
    for it in looked {
        let name = screen.bold(&it.name);
        for (what, hint) in it.wrong() {
            let error = screen.state("error");
            told += &format!(
                "{error} {name}: {}\n  repair  {}\n",
                line(&what),
                line(&hint)
            );
        }
        for note in &it.notes {
            told += &format!("note {name}: {}\n", line(note));
        }
        if it.tried == Some(Ok(())) {
            told += &format!("tried {name}: it wrote its report\n");
        }
    }
    if !told.is_empty() {
        text += &format!("\n{told}");
    }
    text
}
