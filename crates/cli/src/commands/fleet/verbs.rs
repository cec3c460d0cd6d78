//! Sharing, inviting, joining, leaving, shutting out.

use std::{io::Read, time::Duration};

use flagpost_core::{FailureKind, error, order};
use flagpost_fleet::{
    FleetError, InvalidCertificate, InvalidInvitation, InvalidReplicaInvite, KeptServer,
    MachineAccess, MachineRecord, MayDecide, Membership, MembershipError, Seed, ServerError,
    ShareError, WIRE, machine_of,
};
use flagpost_model::{MachineId, view};

use super::{
    FleetCommand, FleetInviteArgs, FleetJoinArgs, FleetLeaveArgs, FleetRmArgs, FleetShareArgs,
    reseed::{self, FleetBegun},
    servers::{
        self, FleetServing, FleetUp, TooFewServers, answers, restart_daemon, start_daemon_anew,
    },
    status::{self, FleetStatus},
};
use crate::{context::Context, error::usage_with, output::Answer};

/// How long it may take until it lets in whom it was told of.
const LETS_IN_WITHIN: Duration = Duration::from_secs(5);

view! {
    /// A repository that is shared now.
    ///
    /// After 'flagpost fleet share'.
    pub struct FleetShared {
        repository: String,
        /// The number of the last line of its history.
        n: u64,
    }

    /// One machine's way into the fleet.
    ///
    /// After 'flagpost fleet invite'.
    pub struct FleetInvitation {
        /// The line that it joins with, a secret.
        invitation: String,
        /// What it will be called.
        machine: MachineId,
        /// People decide on briefs there.
        gate: bool,
    }

    /// The fleet that was joined.
    ///
    /// After 'flagpost fleet join'.
    pub struct FleetJoined {
        fleet: String,
        /// What this machine is called.
        machine: MachineId,
        /// The repository of the clone; null outside of one.
        repository: Option<String>,
        /// The number of the last line of its history.
        n: Option<u64>,
    }

    /// The machine that was shut out.
    ///
    /// After 'flagpost fleet rm'.
    pub struct FleetRemoved {
        machine: MachineId,
    }

    /// The fleet that was left.
    ///
    /// After 'flagpost fleet leave'.
    pub struct FleetLeft {
        /// Its server; null where the home was in none.
        server: Option<String>,
    }
}

flagpost_core::answers! {
    "fleet" => FleetStatus,
    "fleet_begun" => FleetBegun,
    "fleet_invitation" => FleetInvitation,
    "fleet_joined" => FleetJoined,
    "fleet_left" => FleetLeft,
    "fleet_removed" => FleetRemoved,
    "fleet_serving" => FleetServing,
    "fleet_shared" => FleetShared,
    "fleet_up" => FleetUp,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &FleetCommand) -> anyhow::Result<Answer> {
    match verb {
        FleetCommand::Up(args) => servers::up(context, args),
        FleetCommand::Serve(args) => servers::serve(context, args),
        FleetCommand::Share(FleetShareArgs {}) => share(context),
        FleetCommand::Invite(args) => invite(context, args),
        FleetCommand::Join(args) => join(context, args),
        FleetCommand::Status(_) => status::run(context),
        FleetCommand::Leave(FleetLeaveArgs {}) => leave(context),
        FleetCommand::Rm(args) => rm(context, args),
        FleetCommand::Restore(args) => reseed::restore(context, args),
        FleetCommand::Compact(args) => reseed::compact(context, args),
    }
}

pub fn record(context: &Context) -> MachineRecord {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    MachineRecord {
        host,
        flagpost: env!("CARGO_PKG_VERSION").to_owned(),
        wire: WIRE,
        joined: context.home.now(),
        left: None,
    }
}

fn share(context: &Context) -> anyhow::Result<Answer> {
    let repository = context.own_repository()?;
    let n = flagpost_fleet::share(&context.home, &repository, &context.actor()?)?;
    let name = repository.name.to_string();
    let lines = if n == 1 { "line" } else { "lines" };
    let text = format!("{name} is shared, with {n} {lines} of history\n");
    let hint = "'flagpost fleet join' in a clone of it takes it over on another machine";
    Ok(Answer::of(&FleetShared::new(name.clone(), n))
        .text(text)
        .ids([name])
        .notes([hint.to_owned()]))
}

fn invite(context: &Context, args: &FleetInviteArgs) -> anyhow::Result<Answer> {
    let member = Membership::read(&context.home)?.ok_or(ShareError::NoFleet)?;
    let server = KeptServer::of_home(&context.home)?.filter(|_| member.admin.is_some());
    let server = server.ok_or(ShareError::NotFounder)?;
    let seed = Seed::generate()?;
    let invitation = match &args.address {
        None => member.invitation.with_seed(seed),
        Some(addresses) => {
            let reached = member.invitation.with_seed(seed).reached_at(addresses);
            reached.map_err(|_| {
                usage_with(
                    format!("{addresses} does not say where the server is reached"),
                    "--address 192.168.7.4:4222, box.example.org:4222 or [::1]:4222; of three servers all, with commas between",
                )
            })?
        }
    };
    let may_decide = match args.gate {
        true => MayDecide::Yes,
        false => MayDecide::No,
    };
    let access = MachineAccess::of(invitation.seed(), may_decide)?;
    let machine = access.machine.clone();
    server.let_in(access, context.home.now())?;
    let own = member.invitation.with_seed(invitation.seed().clone());
    let is_in = answers(&own, LETS_IN_WITHIN).is_ok();
    let line = invitation.reveal();
    let hint = format!(
        "there: flagpost fleet join '{invitation}#…', in a clone of what is shared; the line is a secret"
    );
    let waits = (!is_in)
        .then(|| "the server does not let it in yet: 'flagpost daemon logs' tells why".to_owned());
    let answer = FleetInvitation::new(line.clone(), machine, args.gate);
    Ok(Answer::of(&answer)
        .text(format!("{line}\n"))
        .ids([line])
        .notes([hint].into_iter().chain(waits)))
}

fn join(context: &Context, args: &FleetJoinArgs) -> anyhow::Result<Answer> {
    let invitation = match args.invitation.as_deref() {
        Some("-") => {
            let mut line = String::new();
            std::io::stdin().read_to_string(&mut line)?;
            line.trim().parse()?
        }
        Some(line) => line.trim().parse()?,
        None => {
            let member = Membership::read(&context.home)?;
            member.ok_or(ShareError::NoFleet)?.invitation
        }
    };
    let joined = flagpost_fleet::join(&context.home, &invitation, &record(context), &context.dir)?;
    let machine = machine_of(&invitation.seed().public_key()?);
    start_daemon_anew(context, "to follow the fleet")?;
    let (name, n) = match &joined.repository {
        Some((repository, n)) => (Some(repository.name.to_string()), Some(*n)),
        None => (None, None),
    };
    let text = match (&name, n) {
        (Some(name), Some(n)) => {
            format!("this machine is {machine}, and has {name} up to line {n}\n")
        }
        _ => format!("this machine is {machine}\n"),
    };
    let hint = name
        .is_none()
        .then(|| "'flagpost fleet join' in a clone of what is shared brings that".to_owned());
    let notes = hint.into_iter().chain(joined.put_aside);
    let fleet = joined.fleet.name;
    Ok(
        Answer::of(&FleetJoined::new(fleet, machine.clone(), name, n))
            .text(text)
            .ids([machine])
            .notes(notes),
    )
}

fn rm(context: &Context, args: &FleetRmArgs) -> anyhow::Result<Answer> {
    let machine = args.machine.clone();
    flagpost_fleet::shut_out(&context.home, &machine)?;
    let text = format!("{machine} is shut out of the fleet\n");
    Ok(Answer::of(&FleetRemoved::new(machine.clone()))
        .text(text)
        .ids([machine]))
}

fn leave(context: &Context) -> anyhow::Result<Answer> {
    let member = flagpost_fleet::leave(&context.home)?;
    if member.is_some() {
        restart_daemon(context, "to follow the fleet no more")?;
    }
    let server = member.map(|it| it.invitation.to_string());
    let text = match &server {
        Some(server) => format!("this machine belongs to the fleet at {server} no more\n"),
        None => "this machine belonged to no fleet\n".to_owned(),
    };
    let shared = order::shared(&context.home)?;
    let hint = (!shared.is_empty()).then(|| {
        "what is shared can be read here, and is changed again once this machine joins again"
            .to_owned()
    });
    let mut kept = 0;
    for repo in &shared {
        kept += order::kept(&context.home, repo)?;
    }
    let unheard = (kept > 0).then(|| status::unheard(kept));
    Ok(Answer::of(&FleetLeft::new(server.clone()))
        .text(text)
        .ids(server)
        .notes(hint.into_iter().chain(unheard)))
}

/// The kind of a failure of the fleet, and what to do next.
pub fn judge(cause: &(dyn std::error::Error + 'static)) -> Option<(FailureKind, Option<String>)> {
    if let Some(error) = cause.downcast_ref::<FleetError>() {
        return Some(judge_server(error));
    }
    if cause.is::<InvalidInvitation>() {
        let next = "'flagpost fleet invite' on the server's machine prints one";
        return Some((FailureKind::Invalid, Some(next.to_owned())));
    }
    if cause.is::<InvalidCertificate>() {
        return Some((FailureKind::Failed, None));
    }
    if cause.is::<InvalidReplicaInvite>() {
        let next = "'flagpost fleet up' on the first machine says where it wrote it";
        return Some((FailureKind::Invalid, Some(next.to_owned())));
    }
    if let Some(error) = cause.downcast_ref::<TooFewServers>() {
        return Some(error.judge());
    }
    if cause.is::<MembershipError>() {
        return Some((FailureKind::Invalid, None));
    }
    if let Some(error) = cause.downcast_ref::<ServerError>() {
        return Some(judge_kept(error));
    }
    let (kind, next) = match cause.downcast_ref::<ShareError>()? {
        ShareError::NoFleet => (
            FailureKind::NotFound,
            "'flagpost fleet up' founds one; 'flagpost fleet join' joins another machine's",
        ),
        ShareError::NotFounder => (
            FailureKind::Conflict,
            "run it there; 'flagpost fleet status' tells where the server is",
        ),
        ShareError::NoCommit => (FailureKind::Conflict, "commit something first"),
        ShareError::KeepsServer => (
            FailureKind::Conflict,
            "'flagpost down' ends the server until it is up again",
        ),
        ShareError::NoMachine { .. } => {
            (FailureKind::NotFound, "'flagpost fleet status' names them")
        }
        ShareError::Shared { .. } => (
            FailureKind::Conflict,
            "'flagpost fleet status' shows what is shared",
        ),
        ShareError::NotShared { .. } => (FailureKind::Conflict, "'flagpost fleet share' shares it"),
        ShareError::Whole { .. } => (
            FailureKind::Conflict,
            "'flagpost fleet status' shows what the fleet has",
        ),
        ShareError::Behind { .. } => (
            FailureKind::Conflict,
            "--even-behind begins without them, and that machine keeps them in quarantine",
        ),
        ShareError::Unheard { .. } => (
            FailureKind::TimedOut,
            "try again once a machine follows: 'flagpost fleet status' shows which does; 'flagpost fleet restore' waits for none",
        ),
        ShareError::Unknown { .. } => (
            FailureKind::NotFound,
            "stand in a clone of one of them, or share this one with 'flagpost fleet share'",
        ),
        ShareError::Unfinished { .. } => (
            FailureKind::Conflict,
            "'flagpost fleet share' there does the rest",
        ),
        ShareError::Member { .. } => (
            FailureKind::Conflict,
            "an invitation is for one machine; 'flagpost fleet leave' leaves, and then another one can be taken",
        ),
        ShareError::Membership(_) => return Some((FailureKind::Invalid, None)),
        ShareError::Fleet(error) => return Some(judge_server(error)),
        ShareError::Server(error) => return Some(judge_kept(error)),
        ShareError::Core(error) => return Some(error::judge(error)),
    };
    Some((kind, Some(next.to_owned())))
}

fn judge_kept(error: &ServerError) -> (FailureKind, Option<String>) {
    (FailureKind::Failed, Some(error.hint().to_owned()))
}

pub fn judge_server(error: &FleetError) -> (FailureKind, Option<String>) {
    let kind = match error {
        FleetError::Unreachable { .. } => FailureKind::TimedOut,
        FleetError::NotAllowed { .. } | FleetError::Exists { .. } => FailureKind::Conflict,
        FleetError::Gone { .. } => FailureKind::NotFound,
        FleetError::OtherCertificate { .. }
        | FleetError::TooOld { .. }
        | FleetError::NoStore { .. }
        | FleetError::Configuration { .. }
        | FleetError::Shorter { .. }
        | FleetError::Replaced { .. }
        | FleetError::Malformed { .. } => FailureKind::Invalid,
        FleetError::Refused { .. } => FailureKind::Failed,
    };
    (kind, Some(error.hint().to_owned()))
}
