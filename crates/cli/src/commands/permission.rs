//! `allow`, `deny`, `permission`: what agents want to do, and what the operator says to it.
//!
//! Owns which requests the words of a command line mean, and that nothing is decided on that was not shown: a
//! number stands for one request, which does not change; a worker's name and `all` are shown and asked about.

use clap::Subcommand;
use flagpost_core::{
    Error,
    answers::{PermissionInFull, PermissionsAnswer},
    permissions::{PermissionOrder, Permissions, StoredRequest},
    policy,
};
use flagpost_model::{WorkerId, decision::Via, glob::Glob, permission::Verdict};

use crate::{
    context::Context,
    error::usage,
    output::Answer,
    screen::Screen,
    shape::skipped_notes,
    streams::{ask, confirm, say},
    terminal::{clean, counted},
    text::one_line,
};

/// Allow what an agent wants to do
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "flagpost allow [OPTIONS] <REQUEST|WORKER|all>…",
    after_help = "Example: flagpost allow 412\n\
    flagpost allow 412 --identical\n\
    flagpost allow 412 --always\n\
    flagpost allow all --scope 'W{1,2}'\n\n\
    'flagpost permission list' shows what waits. A worker's name means its request, all means every request that\n\
    waits: it is shown, and you are asked."
)]
pub struct AllowArgs {
    /// The request by its number, or a worker; several, or all
    #[arg(value_name = "REQUEST", required = true)]
    requests: Vec<String>,
    /// Also the identical requests of other workers
    #[arg(long)]
    identical: bool,
    /// Also add a rule to the policy that allows such requests from now on; it is shown, and you are asked
    #[arg(long, conflicts_with = "identical")]
    always: bool,
    /// With --always: do not ask
    #[arg(long, short, requires = "always")]
    yes: bool,
    /// Of all, only the workers that this pattern takes, as in W{1,2}
    #[arg(long, value_name = "GLOB")]
    scope: Option<String>,
}

/// Deny what an agent wants to do
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "flagpost deny [OPTIONS] <REQUEST|WORKER> [WORDS]",
    after_help = "Example: flagpost deny 412 'Use the test database'\n\n\
    The agent reads the words and goes on."
)]
pub struct DenyArgs {
    /// The request by its number, or a worker
    #[arg(value_name = "REQUEST")]
    request: String,
    /// What the agent is told; - reads stdin
    words: Option<String>,
    /// Also the identical requests of other workers
    #[arg(long)]
    identical: bool,
}

/// The verbs on requests.
#[derive(Debug, Subcommand)]
pub enum PermissionCommand {
    List(PermissionListArgs),
    Show(PermissionShowArgs),
}

/// List what agents want to do and wait for
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost permission list --all")]
pub struct PermissionListArgs {
    /// Those that ended within the last hour, too
    #[arg(long, short)]
    all: bool,
}

/// Show a request in full
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost permission show 412")]
pub struct PermissionShowArgs {
    /// Its number
    #[arg(value_name = "REQUEST")]
    request: u64,
}

/// Allows.
pub fn allow(context: &Context, args: &AllowArgs) -> anyhow::Result<Answer> {
    let is_all = args.requests.iter().any(|it| it == "all");
    if is_all && args.requests.len() > 1 {
        return Err(usage("all takes no other request beside it"));
    }
    if args.scope.is_some() && !is_all {
        return Err(usage("--scope goes with all, as in allow all"));
    }
    let permissions = permissions(context)?;
    if args.always {
        return match args.requests.as_slice() {
            [one] if !is_all => always(context, &permissions, one, args.yes),
            _ => Err(usage(
                "--always takes one request by its number, as in allow 412 --always",
            )),
        };
    }
    let meant = match is_all {
        true => everything(&permissions, args.scope.as_deref())?,
        false => named(&permissions, &args.requests, Verdict::Allowed)?,
    };
    if meant.is_empty() {
        let none = PermissionsAnswer::of([], &[]);
        return Ok(Answer::of(&none).text("nothing waits for you"));
    }
    decide(
        context,
        &meant,
        order(Verdict::Allowed, None, args.identical),
    )
}

/// Adds the rule that allows a request and its like; it is shown, and the operator is asked.
fn always(
    context: &Context,
    permissions: &Permissions<'_>,
    word: &str,
    is_agreed: bool,
) -> anyhow::Result<Answer> {
    let n = word.parse();
    let n =
        n.map_err(|_| usage("--always takes a request by its number, as in allow 412 --always"))?;
    let always = permissions.always(n)?;
    say(&clean(&policy::spelled(&always.rule), false));
    for n in always.meant.iter().filter(|it| **it != n) {
        say(&format!("it allows request {n} too, which waits"));
    }
    let name = &context.own_repository()?.name;
    let question = format!("add this rule to the policy of {name}, and accept that?");
    confirm(is_agreed, &question, "nothing was decided")?;
    let (path, allowed) = permissions.allow_always(&context.operator()?, &always, Via::Cli)?;
    let mut text = told(&allowed, Verdict::Allowed);
    text += &format!("the rule is in {}\n", path.display());
    Ok(Answer::of(&PermissionsAnswer::of(&allowed, &[]))
        .text(text)
        .ids(allowed.iter().map(|it| it.n)))
}

/// Denies.
pub fn deny(context: &Context, args: &DenyArgs) -> anyhow::Result<Answer> {
    let words = crate::text::TextArg::default().read(args.words.as_deref())?;
    let words = words.map(|it| one_line(&it)).transpose()?;
    let permissions = permissions(context)?;
    let request = std::slice::from_ref(&args.request);
    let meant = named(&permissions, request, Verdict::Denied)?;
    decide(
        context,
        &meant,
        order(Verdict::Denied, words, args.identical),
    )
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &PermissionCommand) -> anyhow::Result<Answer> {
    match verb {
        PermissionCommand::List(args) => list(context, args),
        PermissionCommand::Show(args) => show(context, args),
    }
}

fn list(context: &Context, args: &PermissionListArgs) -> anyhow::Result<Answer> {
    let mut scan = permissions(context)?.scan()?;
    scan.all.retain(|it| args.all || it.waits());
    let screen = Screen::of(context);
    let rows = scan.all.iter().map(|it| {
        let request = it.request();
        vec![
            it.n.to_string(),
            request.worker.to_string(),
            request
                .task
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            screen.state(state(it)),
            screen.time(request.at),
            request.line(),
        ]
    });
    let header = ["REQUEST", "WORKER", "TASK", "STATE", "ASKED", "WHAT"];
    let text = match scan.all.is_empty() {
        true => "nothing waits for you\n".to_owned(),
        false => screen.table(&header, rows.collect()),
    };
    Ok(Answer::of(&PermissionsAnswer::of(&scan.all, &scan.skipped))
        .text(text)
        .ids(scan.all.iter().map(|it| it.n))
        .notes(skipped_notes(&scan.skipped)))
}

fn show(context: &Context, args: &PermissionShowArgs) -> anyhow::Result<Answer> {
    let permissions = permissions(context)?;
    let found = permissions.find(args.request)?;
    let (request, screen) = (found.request(), Screen::of(context));
    let state = state(&found);
    let mut text = format!(
        "{} {}\n",
        screen.bold(&format!("request {}", found.n)),
        screen.state(state)
    );
    let decision = request.decision.as_ref().filter(|it| it.via.is_some());
    let task = request.task.as_ref().map(ToString::to_string);
    for (name, value) in [
        ("worker", Some(request.worker.to_string())),
        ("task", task),
        ("client", Some(request.client.to_string())),
        ("works in", request.dir.clone()),
        ("asked", Some(screen.time(request.at))),
        ("until", found.waits().then(|| screen.time(request.until))),
        (
            "decided",
            decision.map(|it| format!("by {} {}", it.by, screen.time(it.at))),
        ),
        ("reason", decision.and_then(|it| it.reason.clone())),
        ("rule", decision.and_then(|it| it.rule.clone())),
        ("tool", Some(request.tool.clone())),
    ] {
        if let Some(value) = value {
            text += &format!("  {name:<9}{}\n", crate::terminal::line(&value));
        }
    }
    if !found.is_as_asked {
        text += "  changed  by an unknown hand since it was asked: it can only be denied\n";
    }
    text += &format!("\n{:#}\n", request.input);
    let always = permissions.rule_for(&found).ok();
    Ok(Answer::of(&PermissionInFull::of(&found, always.as_ref()))
        .text(text)
        .ids([found.n]))
}

/// How a request stands, in a word.
fn state(request: &StoredRequest) -> &'static str {
    match (request.ended, request.is_as_asked) {
        (Some(verdict), _) => verdict.as_str(),
        (None, true) => "waiting",
        (None, false) => "changed",
    }
}

fn permissions(context: &Context) -> anyhow::Result<Permissions<'_>> {
    Ok(context.fleet()?.permissions())
}

fn order(verdict: Verdict, reason: Option<String>, identical_too: bool) -> PermissionOrder {
    PermissionOrder {
        verdict,
        via: Via::Cli,
        reason,
        identical_too,
    }
}

/// The requests that these words mean. What a worker waits for is shown, and the operator is asked.
fn named(
    permissions: &Permissions<'_>,
    words: &[String],
    verdict: Verdict,
) -> anyhow::Result<Vec<u64>> {
    let mut meant = Vec::new();
    for word in words {
        if let Ok(n) = word.parse() {
            meant.push(n);
            continue;
        }
        if word == "all" || word.bytes().all(|it| it.is_ascii_digit()) {
            return Err(usage(
                "name one request by its number, as in deny 412 'Not here'",
            ));
        }
        let worker: WorkerId = word.parse()?;
        let waiting = permissions.scan()?.all;
        let of_worker = |it: &&StoredRequest| it.waits() && it.request().worker == worker;
        let waiting: Vec<&StoredRequest> = waiting.iter().filter(of_worker).collect();
        match waiting.as_slice() {
            [] => {
                return Err(Error::NothingAsked { worker }.into());
            }
            [one] => {
                must_agree(&waiting, verdict)?;
                meant.push(one.n);
            }
            several => {
                return Err(Error::Ambiguous {
                    given: worker.to_string(),
                    candidates: several.iter().map(|it| it.n.to_string()).collect(),
                }
                .into());
            }
        }
    }
    Ok(meant)
}

/// What waits of these workers; it is shown, and the operator is asked.
fn everything(permissions: &Permissions<'_>, scope: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let scope: Option<Glob> = scope.map(str::parse).transpose()?;
    let all = permissions.scan()?.all;
    let is_meant = |it: &&StoredRequest| {
        let worker = it.request().worker.as_str();
        it.waits() && it.is_as_asked && scope.as_ref().is_none_or(|glob| glob.takes(worker))
    };
    let waiting: Vec<&StoredRequest> = all.iter().filter(is_meant).collect();
    if !waiting.is_empty() {
        must_agree(&waiting, Verdict::Allowed)?;
    }
    Ok(waiting.iter().map(|it| it.n).collect())
}

/// Shows requests, and has the operator agree.
fn must_agree(requests: &[&StoredRequest], verdict: Verdict) -> anyhow::Result<()> {
    for it in requests {
        say(&format!(
            "{} {}: {}",
            it.n,
            it.request().worker,
            it.request().line()
        ));
    }
    let what = match requests {
        [one] => format!("is request {}", one.n),
        several => format!("are all {}", several.len()),
    };
    match ask(&format!("{what} to be {verdict}?"))? {
        Some(true) => Ok(()),
        Some(false) => Err(usage("nothing was decided")),
        None => Err(usage(
            "nobody is there to be asked: name each request by its number",
        )),
    }
}

fn decide(context: &Context, meant: &[u64], order: PermissionOrder) -> anyhow::Result<Answer> {
    let decided = permissions(context)?.decide(&context.operator()?, meant, &order)?;
    Ok(Answer::of(&PermissionsAnswer::of(&decided, &[]))
        .text(told(&decided, order.verdict))
        .ids(decided.iter().map(|it| it.n)))
}

/// What was decided, a line each.
fn told(decided: &[StoredRequest], verdict: Verdict) -> String {
    let mut text = String::new();
    for it in decided {
        let request = it.request();
        text += &format!(
            "{verdict} {} of {}: {}\n",
            it.n,
            request.worker,
            request.line()
        );
    }
    if decided.len() > 1 {
        text += &format!(
            "{} {verdict}\n",
            counted(decided.len(), "request", "requests")
        );
    }
    text
}
