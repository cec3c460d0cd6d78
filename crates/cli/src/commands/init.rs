//! `init`: make a repository known, and Flagpost known to its agents.

mod words;

use std::{borrow::Cow, path::Path};

use flagpost_core::{
    Error, List, Repository, answers,
    instructions::{Done, ExpectedBlock, InspectedFile, InstructionStatus, Intent},
};
use flagpost_model::{ListId, RepoId, client::Client, marked_block::BlockStatus, view};
use flagpost_run::agent::Agent;

use words::{File, FileDone, status};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    context::Context,
    instructions::{
        AGENTS, AGENTS_BRIDGED, CLAUDE, COPILOT, COPILOT_BRIDGED, GEMINI, OF_THE_BRIDGE,
    },
    output::Answer,
};

/// Register this repository and tell its agents
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: cd my-project && flagpost init --claude\n\n\
    It asks nothing, and doing it again changes nothing. What it writes stands between two marker \
    lines; the rest of the file is yours and stays as it is, and so does what you change between \
    them.\n\n\
    Your own sessions learn of briefs by 'flagpost hooks install --agent claude', and have tools by \
    'claude mcp add flagpost -- flagpost mcp'; those of a run have both.\n\n\
    --bridge adds what 'flagpost bridge snippet' prints, with the bridge in ~/.flagpost, and later \
    calls keep it.\n\n\
    --check exits with 1 when a block is missing, outdated or changed. --remove leaves the \
    repository registered.")]
pub struct InitArgs {
    /// Also make CLAUDE.md import AGENTS.md
    #[arg(long)]
    claude: bool,
    /// Also make GEMINI.md import AGENTS.md
    #[arg(long)]
    gemini: bool,
    /// Also write .github/copilot-instructions.md
    #[arg(long)]
    copilot: bool,
    /// Also tell agents of the JSON bridge, wherever they are told anything
    #[arg(long, conflicts_with = "remove")]
    bridge: bool,
    /// Only register, and write into no file of the repository
    #[arg(long, conflicts_with_all = ["claude", "gemini", "copilot", "bridge", "remove"])]
    no_instructions: bool,
    /// Change nothing; say whether all is as it should be
    #[arg(long, conflicts_with_all = ["remove", "dry_run"])]
    check: bool,
    /// Take the blocks out again, or only those that are named
    #[arg(long)]
    remove: bool,
    /// Say what would happen, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing; it never does, and scripts may say so
    #[arg(long)]
    yes: bool,
}

/// A repository that Flagpost knows.
///
/// After 'flagpost init'.
#[derive(Serialize, JsonSchema)]
pub struct Registered<'a> {
    /// Null in a dry run where it is not registered yet.
    id: Option<&'a RepoId>,
    /// Its name, which its list has too; null likewise.
    name: Option<&'a ListId>,
    /// Its top directory.
    path: Cow<'a, str>,
    home: Cow<'a, str>,
    /// Whether it was registered just now, or would be.
    created: bool,
    /// The files that tell its agents.
    files: Vec<FileDone>,
    /// The clients whose programs are on PATH.
    clients: &'a [Client],
    /// Whether nothing was done.
    dry_run: bool,
}

view! {
    /// Blocks that were taken out of a repository's files.
    ///
    /// After 'flagpost init --remove'.
    pub struct TakenOut<'a> {
        /// The repository's top directory.
        path: Cow<'a, str>,
        /// Whether nothing was done.
        dry_run: bool,
        files: Vec<FileDone>,
    }

    /// Whether a repository's agents are told.
    ///
    /// After 'flagpost init --check'. Exit code 1 unless all is as it should be.
    pub struct AreTold<'a> {
        /// The repository's top directory.
        path: Cow<'a, str>,
        /// Whether this machine's home knows the repository.
        registered: bool,
        /// Whether all that was asked about is as it should be.
        ok: bool,
        files: Vec<Checked>,
    }

    /// A file that tells a repository's agents.
    struct Checked {
        /// Its name from the top of the repository.
        file: &'static str,
        /// How the block in it stands; imported: it imports AGENTS.md instead; same_file: it is AGENTS.md
        /// under another name.
        #[schemars(extend("enum" = ["current", "newer", "missing", "outdated", "edited", "imported", "same_file"]))]
        standing: &'static str,
        ok: bool,
    }
}

/// Does what is asked.
pub fn run(context: &Context, args: &InitArgs) -> anyhow::Result<Answer> {
    let top = Repository::top(&context.home, &context.dir)?;
    let places = places(context, args, &top)?;
    if args.check {
        check(context, args, &top, &places)
    } else if args.remove {
        remove(context, args, &top, places)
    } else {
        insert(context, args, &top, places)
    }
}

/// The files that are meant: those asked for, and any other that holds a block of ours.
fn places(
    context: &Context,
    args: &InitArgs,
    top: &Path,
) -> anyhow::Result<Vec<InspectedFile<'static>>> {
    let named = args.claude || args.gemini || args.copilot;
    let mut places = Vec::new();
    let all: [(ExpectedBlock<'static>, ExpectedBlock<'static>, bool); 4] = [
        (AGENTS, AGENTS_BRIDGED, !args.remove),
        (CLAUDE, CLAUDE, args.claude),
        (GEMINI, GEMINI, args.gemini),
        (COPILOT, COPILOT_BRIDGED, args.copilot),
    ];
    for (plain, bridged, is_asked_for) in all {
        if args.no_instructions || (args.remove && named && !is_asked_for) {
            continue;
        }
        let place = match args.bridge {
            true => InspectedFile::look(&context.home, top, bridged),
            // Who told of the bridge once means to go on.
            false => InspectedFile::look(&context.home, top, plain).and_then(|place| {
                match place.block_names(OF_THE_BRIDGE) {
                    true => InspectedFile::look(&context.home, top, bridged),
                    false => Ok(place),
                }
            }),
        };
        match place {
            Ok(place) if is_asked_for || place.has_block() => {
                places.push(place.unless_same_as(&places));
            }
            Ok(_) => {}
            // Whatever is there, it was not asked for; markers of ours out of order count all the same.
            Err(Error::Disk(error)) if !is_asked_for && !error.is_malformed() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(places)
}

fn insert(
    context: &Context,
    args: &InitArgs,
    top: &Path,
    places: Vec<InspectedFile<'static>>,
) -> anyhow::Result<Answer> {
    for place in &places {
        // What is refused is refused before anything is registered.
        place.would(Intent::Insert)?;
    }
    let known = context.repository()?;
    let is_known = known.is_some();
    let repository = match known {
        _ if !args.dry_run => {
            let made = Repository::register(&context.home, &context.dir, &context.actor()?)?;
            // An empty list, so that whoever asks for tasks hears "none" and not "no such list".
            let list = List::open_or_create(&context.home, &made.name, &made)?;
            let elsewhere = list.root().map(|root| format!(" in {}", root.display()));
            Some((made, elsewhere.unwrap_or_default()))
        }
        known => known.map(|known| (known, String::new())),
    };
    let files = carry_out(context, args, places, Intent::Insert)?;
    let mut lines = vec![match &repository {
        Some((repository, elsewhere)) if is_known => format!(
            "{} is registered; its list is {}{elsewhere}",
            top.display(),
            repository.name
        ),
        Some((repository, elsewhere)) => {
            let (top, name) = (top.display(), &repository.name);
            format!("registered {top} as {name}{elsewhere}")
        }
        None => format!("would register {}", top.display()),
    }];
    lines.extend(files.iter().map(|file| file.line(args.dry_run)));
    let clients = installed(context);
    if !args.no_instructions {
        lines.extend(unaware(context, args, top, &clients));
    }
    if !is_known && !args.dry_run {
        lines.extend(words::first_steps(&clients));
    }
    let repository = repository.map(|(repository, _)| repository);
    let answer = Registered {
        id: repository.as_ref().map(|repository| &repository.id),
        name: repository.as_ref().map(|repository| &repository.name),
        path: top.to_string_lossy(),
        home: context.home.root().to_string_lossy(),
        created: !is_known,
        files: answers::each(&files),
        clients: &clients,
        dry_run: args.dry_run,
    };
    Ok(Answer::of(&answer)
        .text(lines.join("\n"))
        .ids(repository.map(|repository| repository.id))
        .notes(files.iter().filter_map(File::note)))
}

/// The clients whose programs are here.
fn installed(context: &Context) -> Vec<Client> {
    let path = context.settings.path.as_deref();
    let is_here = |client: &Client| {
        let agent = client.as_str().parse::<Agent>();
        agent.is_ok_and(|agent| agent.locate(path, &context.dir).is_ok())
    };
    Client::ALL.iter().copied().filter(is_here).collect()
}

/// Files that the agents of a client read in place of `AGENTS.md`, and that do not import it. One that is
/// not there is missed where the client is here.
fn unaware(context: &Context, args: &InitArgs, top: &Path, clients: &[Client]) -> Vec<String> {
    let others = [
        (CLAUDE, args.claude, "--claude", Client::Claude),
        (GEMINI, args.gemini, "--gemini", Client::Gemini),
    ];
    let is_unaware = |wanted, client: &Client| {
        InspectedFile::look(&context.home, top, wanted).is_ok_and(|place| {
            let is_read = place.exists() || clients.contains(client);
            is_read && place.found == InstructionStatus::Block(BlockStatus::Missing)
        })
    };
    let unaware = others
        .into_iter()
        .filter(|(wanted, is_named, _, client)| !is_named && is_unaware(*wanted, client));
    unaware
        .map(|(wanted, _, option, _)| {
            format!(
                "{}: does not import AGENTS.md; 'flagpost init {option}' makes it",
                wanted.file
            )
        })
        .collect()
}

fn remove(
    context: &Context,
    args: &InitArgs,
    top: &Path,
    places: Vec<InspectedFile<'static>>,
) -> anyhow::Result<Answer> {
    for place in &places {
        if let Done::KeptEdited { line } = place.would(Intent::Remove)? {
            let file = place.wanted.file.to_owned();
            return Err(Error::EditedBlock { file, line }.into());
        }
    }
    let files = carry_out(context, args, places, Intent::Remove)?;
    let changed: Vec<&File> = files
        .iter()
        .filter(|file| file.done != Done::Unchanged)
        .collect();
    let text = match changed.as_slice() {
        [] => format!("no block of ours is in {}", top.display()),
        changed => changed
            .iter()
            .map(|file| file.line(args.dry_run) + "\n")
            .collect(),
    };
    let answer = TakenOut::new(top.to_string_lossy(), args.dry_run, answers::each(&files));
    Ok(Answer::of(&answer)
        .text(text)
        .ids(changed.iter().map(|file| file.name)))
}

fn carry_out(
    context: &Context,
    args: &InitArgs,
    places: Vec<InspectedFile<'static>>,
    intent: Intent,
) -> anyhow::Result<Vec<File>> {
    let one = |place: InspectedFile<'static>| {
        let name = place.wanted.file;
        let done = match args.dry_run {
            true => place.would(intent)?,
            false => place.carry_out(&context.home, intent)?,
        };
        Ok(File { name, done })
    };
    places.into_iter().map(one).collect()
}

fn check(
    context: &Context,
    args: &InitArgs,
    top: &Path,
    places: &[InspectedFile<'static>],
) -> anyhow::Result<Answer> {
    // A registration is this machine's affair and no part of the repository: it counts only where
    // nothing else is asked for.
    let is_known = context.repository()?.is_some();
    let mut lines = Vec::new();
    let mut faulty = Vec::new();
    let mut files = Vec::new();
    for place in places {
        let (standing, words) = status(place);
        let name = place.wanted.file;
        let ok = words.is_none();
        lines.push(format!("{name}: {}", words.unwrap_or("as it should be")));
        faulty.extend((!ok).then_some(name));
        files.push(Checked::new(name, standing, ok));
    }
    if args.no_instructions {
        lines.push(format!(
            "{} is {}registered",
            top.display(),
            if is_known { "" } else { "not " }
        ));
    }
    let ok = faulty.is_empty() && (is_known || !args.no_instructions);
    let helps = places.iter().any(|place| {
        matches!(
            place.found,
            InstructionStatus::Block(BlockStatus::Missing | BlockStatus::Outdated { .. })
        )
    });
    if helps || (args.no_instructions && !ok) {
        lines.push(format!("next: {}", again(args)));
    }
    let answer = AreTold::new(top.to_string_lossy(), is_known, ok, files);
    let mut answer = Answer::of(&answer).text(lines.join("\n")).ids(faulty);
    answer.code = u8::from(!ok);
    Ok(answer)
}

/// The command that puts in order what is checked.
fn again(args: &InitArgs) -> String {
    let options = [
        (args.claude, " --claude"),
        (args.gemini, " --gemini"),
        (args.copilot, " --copilot"),
        (args.bridge, " --bridge"),
        (args.no_instructions, " --no-instructions"),
    ];
    let options = options.into_iter().filter(|(given, _)| *given);
    options.fold("flagpost init".to_owned(), |line, (_, option)| {
        line + option
    })
}
