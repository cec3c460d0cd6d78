//! Founding, sharing, inviting, joining, leaving.

use std::{
    io::Read,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    time::{Duration, Instant},
};

use flagpost_core::{FailureKind, order};
use flagpost_fleet::{
    FleetError, FleetRecord, Hub, InvalidInvitation, Invitation, KeptServer, MachineAccess,
    MachineRecord, MayDecide, Membership, MembershipError, Replicas, Seed, ServerError, ShareError,
    Transport, WIRE, find_program, machine_of,
};
use flagpost_model::{MachineId, view};

use super::{
    FleetCommand, FleetInviteArgs, FleetJoinArgs, FleetLeaveArgs, FleetShareArgs, FleetUpArgs,
    status::{self, FleetStatus},
};
use crate::{commands::daemon::started, context::Context, error::usage_with, output::Answer};

/// Where a server listens that nobody told where.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4222);

/// How long a server that was just started may take until it answers.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// How long it may take until it lets in whom it was told of.
const LETS_IN_WITHIN: Duration = Duration::from_secs(5);

view! {
    /// The fleet that was founded.
    ///
    /// After 'flagpost fleet up'.
    pub struct FleetUp {
        /// Where its server listens.
        listen: SocketAddr,
        /// What this machine is called.
        machine: MachineId,
        /// It was founded before.
        already: bool,
    }

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
    "fleet_invitation" => FleetInvitation,
    "fleet_joined" => FleetJoined,
    "fleet_left" => FleetLeft,
    "fleet_shared" => FleetShared,
    "fleet_up" => FleetUp,
}

/// Carries out the verb.
pub fn run(context: &Context, verb: &FleetCommand) -> anyhow::Result<Answer> {
    match verb {
        FleetCommand::Up(args) => up(context, args),
        FleetCommand::Share(FleetShareArgs {}) => share(context),
        FleetCommand::Invite(args) => invite(context, args),
        FleetCommand::Join(args) => join(context, args),
        FleetCommand::Status(_) => status::run(context),
        FleetCommand::Leave(FleetLeaveArgs {}) => leave(context),
    }
}

fn up(context: &Context, args: &FleetUpArgs) -> anyhow::Result<Answer> {
    let listen = match (args.listen, KeptServer::open(&server_dir(context))?) {
        (Some(listen), _) => listen,
        (None, Some(server)) => server.access()?.listen,
        (None, None) => DEFAULT_LISTEN,
    };
    if !listen.ip().is_loopback() && !args.private_network {
        return Err(usage_with(
            format!("at {listen} everything would go over the network in the clear"),
            "leave it at 127.0.0.1 and reach it through 'ssh -L', or say --private-network where the network is one",
        ));
    }
    let home = &context.home;
    let member = Membership::read(home)?;
    let (seed, admin, already) = match member {
        Some(Membership {
            invitation,
            admin: Some(admin),
            ..
        }) => (invitation.seed().clone(), admin, true),
        Some(member) => {
            let server = member.invitation.to_string();
            let machine = member.machine;
            return Err(ShareError::Member { server, machine }.into());
        }
        None => (Seed::generate()?, Seed::generate()?, false),
    };
    find_program(None, context.settings.path.as_deref())?;
    if !already {
        must_be_free(listen)?;
    }
    let now = home.now();
    let server = KeptServer::found(&server_dir(context), listen, &admin.public_key()?, now)?;
    let key = seed.public_key()?;
    let machine = machine_of(&key);
    let may_decide = MayDecide::Yes;
    server.let_in(
        MachineAccess {
            machine: machine.clone(),
            key,
            may_decide,
        },
        now,
    )?;
    let servers = vec![reached_at(listen).into()];
    let invitation = Invitation::new(Transport::Plain, servers, seed)?;
    let member = Membership::of(invitation, Some(admin.clone()))?;
    member.write(home)?;
    start_daemon_anew(context, "with the fleet's server")?;
    found(&member, &admin)?;
    join_as(context, &member)?;
    let text = format!(
        "the fleet's server listens at {}, and this machine is {machine}\n",
        listen
    );
    let hint =
        "'flagpost fleet share' shares a repository, 'flagpost fleet invite' lets a machine in";
    Ok(Answer::of(&FleetUp::new(listen, machine.clone(), already))
        .text(text)
        .ids([machine])
        .notes([hint.to_owned()]))
}

/// Starts the daemon; one that runs already knows nothing of the fleet.
fn start_daemon_anew(context: &Context, why: &str) -> anyhow::Result<()> {
    if flagpost_daemon::stop(&context.home)?.is_some() {
        crate::output::say(&format!("the daemon is started anew, {why}"));
    }
    started(context, Vec::new())?;
    Ok(())
}

/// Refuses an address that no server could listen at, before anything is founded.
fn must_be_free(listen: SocketAddr) -> anyhow::Result<()> {
    match TcpListener::bind(listen) {
        Ok(_) => Ok(()),
        Err(error) => Err(usage_with(
            format!("no server can listen at {listen}: {error}"),
            "--listen names another address or port of this machine",
        )),
    }
}

/// Where the server's files are.
pub fn server_dir(context: &Context) -> std::path::PathBuf {
    flagpost_fleet::dir(&context.home).join("server")
}

/// How others on this machine reach what listens there.
fn reached_at(listen: SocketAddr) -> SocketAddr {
    let host = match listen.ip() {
        ip if ip.is_unspecified() => DEFAULT_LISTEN.ip(),
        ip => ip,
    };
    SocketAddr::new(host, listen.port())
}

/// A connection to the server, as soon as it answers and lets this key in.
fn answers(to: &Invitation, within: Duration) -> anyhow::Result<(Hub, flagpost_fleet::Runtime)> {
    let deadline = Instant::now() + within;
    let runtime = flagpost_fleet::runtime(&to.to_string())?;
    loop {
        match Hub::connect(to, runtime.handle()) {
            Ok(hub) => return Ok((hub, runtime)),
            Err(FleetError::Unreachable { .. } | FleetError::NotAllowed { .. })
                if Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Founds the fleet on the server, as soon as it answers.
fn found(member: &Membership, admin: &Seed) -> anyhow::Result<()> {
    let to = member.invitation.with_seed(admin.clone());
    let (hub, _runtime) = answers(&to, STARTS_WITHIN)?;
    let record = FleetRecord {
        name: "fleet".to_owned(),
        epoch: 1,
        wire_min: WIRE,
        replicas: Replicas::One,
    };
    match hub.found(&record) {
        Ok(_) | Err(FleetError::Exists { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Says in the fleet's records that this machine belongs to it.
fn join_as(context: &Context, member: &Membership) -> anyhow::Result<()> {
    let nowhere = context.home.root();
    flagpost_fleet::join(&context.home, &member.invitation, &record(context), nowhere)?;
    Ok(())
}

fn record(context: &Context) -> MachineRecord {
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    MachineRecord {
        host,
        flagpost: env!("CARGO_PKG_VERSION").to_owned(),
        wire: WIRE,
        joined: context.home.now(),
    }
}

fn share(context: &Context) -> anyhow::Result<Answer> {
    let repository = context.own_repository()?;
    let n = flagpost_fleet::share(&context.home, &repository, &context.actor()?, Vec::new())?;
    let name = repository.name.to_string();
    let text = format!("{name} is shared, with {n} lines of history\n");
    let hint = "'flagpost fleet join' in a clone of it takes it over on another machine";
    Ok(Answer::of(&FleetShared::new(name.clone(), n))
        .text(text)
        .ids([name])
        .notes([hint.to_owned()]))
}

fn invite(context: &Context, args: &FleetInviteArgs) -> anyhow::Result<Answer> {
    let Some(server) = KeptServer::open(&server_dir(context))? else {
        return Err(usage_with(
            "this machine keeps no server of a fleet, and only its machine lets others in",
            "'flagpost fleet up' founds a fleet; 'flagpost fleet status' tells where another one's server is",
        ));
    };
    let member = Membership::read(&context.home)?.ok_or(ShareError::NoFleet)?;
    let seed = Seed::generate()?;
    let key = seed.public_key()?;
    let machine = machine_of(&key);
    let invitation = match &args.address {
        None => member.invitation.with_seed(seed),
        Some(address) => format!("nats://{address}#{}", seed.reveal()).parse()?,
    };
    let may_decide = match args.gate {
        true => MayDecide::Yes,
        false => MayDecide::No,
    };
    let access = MachineAccess {
        machine: machine.clone(),
        key,
        may_decide,
    };
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
    let fleet = joined.fleet.name;
    Ok(
        Answer::of(&FleetJoined::new(fleet, machine.clone(), name, n))
            .text(text)
            .ids([machine])
            .notes(hint),
    )
}

fn leave(context: &Context) -> anyhow::Result<Answer> {
    let member = flagpost_fleet::leave(&context.home)?;
    let server = member.map(|it| it.invitation.to_string());
    let text = match &server {
        Some(server) => format!("this machine belongs to the fleet at {server} no more\n"),
        None => "this machine belonged to no fleet\n".to_owned(),
    };
    let kept = order::shared(&context.home)?.len();
    let hint = (kept > 0).then(|| {
        "what is shared can be read here, and is changed again once this machine joins with a new invitation"
            .to_owned()
    });
    Ok(Answer::of(&FleetLeft::new(server.clone()))
        .text(text)
        .ids(server)
        .notes(hint))
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
    if cause.is::<MembershipError>() {
        return Some((FailureKind::Invalid, None));
    }
    if let Some(error) = cause.downcast_ref::<ServerError>() {
        return Some((FailureKind::Failed, Some(error.hint().to_owned())));
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
        ShareError::Founder => (
            FailureKind::Conflict,
            "'flagpost down' ends the server; the others go on once it is up again",
        ),
        ShareError::Shared { .. } => (
            FailureKind::Conflict,
            "'flagpost fleet status' shows what is shared",
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
        // Their own kinds are found further down the chain.
        ShareError::Membership(_) | ShareError::Fleet(_) | ShareError::Core(_) => return None,
    };
    Some((kind, Some(next.to_owned())))
}

fn judge_server(error: &FleetError) -> (FailureKind, Option<String>) {
    let kind = match error {
        FleetError::Unreachable { .. } => FailureKind::TimedOut,
        FleetError::NotAllowed { .. } | FleetError::Exists { .. } => FailureKind::Conflict,
        FleetError::Gone { .. } => FailureKind::NotFound,
        FleetError::TooOld { .. }
        | FleetError::NoStore { .. }
        | FleetError::Configuration { .. }
        | FleetError::Shorter { .. }
        | FleetError::Replaced { .. }
        | FleetError::Malformed { .. } => FailureKind::Invalid,
        FleetError::Refused { .. } => FailureKind::Failed,
    };
    (kind, Some(error.hint().to_owned()))
}
