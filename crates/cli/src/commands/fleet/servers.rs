//! Founding a fleet: its server on this machine, or the three of which this machine keeps one.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    time::{Duration, Instant},
};

use flagpost_core::FailureKind;
use flagpost_fleet::{
    Certificate, Cluster, FleetError, FleetRecord, HostPort, Hub, Invitation, KeptServer,
    MachineAccess, MayDecide, Membership, ReplicaInvite, Replicas, Seed, ServerAccess, ShareError,
    Transport, find_program, hand_out,
};
use flagpost_model::{MachineId, view};

use super::{FleetServeArgs, FleetUpArgs, verbs::record};
use crate::{commands::daemon::started, context::Context, error::usage_with, output::Answer, text};

/// Where a server listens that nobody told where.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4222);

/// How long a server that was just started may take until it answers, and several until one of them leads.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

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

    /// The server that this machine keeps for a fleet.
    ///
    /// After 'flagpost fleet serve'.
    pub struct FleetServing {
        /// Where it listens.
        listen: SocketAddr,
        /// What this machine is called.
        machine: MachineId,
    }
}

/// Of three servers so few run that none leads.
#[derive(Debug, thiserror::Error)]
#[error("the fleet is not founded yet: two of its three servers must run")]
pub struct TooFewServers {
    /// Where each of the others is to listen, and what it is told.
    handouts: Vec<(SocketAddr, PathBuf)>,
}

impl TooFewServers {
    /// Its kind, and what to do next.
    pub fn judge(&self) -> (FailureKind, Option<String>) {
        let each = self.handouts.iter().map(|(listen, path)| {
            let (host, path) = (listen.ip(), path.display());
            format!("ssh {host} flagpost fleet serve - < {path}; ")
        });
        let each: String = each.collect();
        (
            FailureKind::TimedOut,
            Some(format!("{each}then 'flagpost fleet up' again")),
        )
    }
}

/// Founds a fleet, or goes on where that was cut short.
pub fn up(context: &Context, args: &FleetUpArgs) -> anyhow::Result<Answer> {
    let home = &context.home;
    let known = KeptServer::of_home(home)?
        .map(|it| it.access())
        .transpose()?;
    let member = Membership::read(home)?;
    let there = known.as_ref().map(|it| it.listen);
    let listen = args
        .listen
        .or(there)
        .or_else(|| founded_at(member.as_ref()?));
    let listen = listen.unwrap_or(DEFAULT_LISTEN);
    let cluster = cluster(args, listen, known.as_ref())?;
    let certificate = certificate(args, listen, known.as_ref(), member.as_ref())?;
    let transport = Transport::from(certificate.as_ref());
    let is_new = member
        .as_ref()
        .is_some_and(|it| *it.invitation.transport() != transport);
    let (member, already) = match member {
        // Where the server's directory is gone, there is a new certificate.
        Some(member) if member.admin.is_some() => {
            let invitation = member.invitation.over(transport);
            (
                Membership {
                    invitation,
                    ..member
                },
                true,
            )
        }
        Some(member) => {
            let server = member.invitation.to_string();
            let machine = member.machine;
            return Err(ShareError::Member { server, machine }.into());
        }
        None => {
            let beside = args.beside.iter().copied();
            let servers = [reached_at(listen)].into_iter().chain(beside);
            let servers = servers.map(HostPort::from).collect();
            let invitation = Invitation::new(transport, servers, Seed::generate()?)?;
            (Membership::of(invitation, Some(Seed::generate()?))?, false)
        }
    };
    let Some(admin) = member.admin.clone() else {
        return Err(ShareError::NotFounder.into());
    };
    find_program(None, context.settings.path.as_deref())?;
    if !already {
        must_be_free(listen)?;
        cluster.iter().try_for_each(|it| must_be_free(it.listen))?;
    }
    let now = home.now();
    let replicas = match cluster {
        Some(_) => Replicas::Three,
        None => Replicas::One,
    };
    let access = ServerAccess::new(listen, admin.public_key()?, cluster).with(certificate);
    let server = KeptServer::found(&KeptServer::dir_in(home), &access, now)?;
    let own = MachineAccess::of(member.invitation.seed(), MayDecide::Yes)?;
    server.let_in(own, now)?;
    let handouts = hand_out(home, &server, &member)?;
    member.write(home)?;
    if server.keeper()?.is_none() {
        start_daemon_anew(context, "with the fleet's server")?;
    }
    // Of the others none can run that was told of nothing yet.
    let patience = match already || handouts.is_empty() {
        true => STARTS_WITHIN,
        false => Duration::ZERO,
    };
    match found(&member, &admin, replicas, patience) {
        Err(FleetError::Unreachable { .. }) if !handouts.is_empty() => {
            return Err(TooFewServers { handouts }.into());
        }
        founded => founded.map_err(|error| error.explained(home))?,
    }
    let nowhere = home.root();
    flagpost_fleet::join(home, &member.invitation, &record(context), nowhere)?;
    let machine = member.machine;
    let text = format!("the fleet's server listens at {listen}, and this machine is {machine}\n");
    let hint =
        "'flagpost fleet share' shares a repository, 'flagpost fleet invite' lets a machine in";
    let anew = is_new.then(|| {
        "its certificate is another one than before: each other machine leaves the fleet and joins with a new invitation"
            .to_owned()
    });
    Ok(Answer::of(&FleetUp::new(listen, machine.clone(), already))
        .text(text)
        .ids([machine])
        .notes([hint.to_owned()].into_iter().chain(anew)))
}

/// Keeps one of three servers on this machine, as another machine said.
pub fn serve(context: &Context, args: &FleetServeArgs) -> anyhow::Result<Answer> {
    let home = &context.home;
    let text = text::many(&args.file)?;
    let ReplicaInvite { invitation, access } = text.trim().parse()?;
    let member = Membership::of(invitation, None)?;
    match Membership::read(home)? {
        Some(known) if known.machine != member.machine => {
            let server = known.invitation.to_string();
            let machine = known.machine;
            return Err(ShareError::Member { server, machine }.into());
        }
        Some(_) => {}
        None => {
            find_program(None, context.settings.path.as_deref())?;
            must_be_free(access.listen)?;
            access
                .cluster
                .iter()
                .try_for_each(|it| must_be_free(it.listen))?;
        }
    }
    KeptServer::found(&KeptServer::dir_in(home), &access, home.now())?;
    member.write(home)?;
    start_daemon_anew(context, "with one of the fleet's servers")?;
    let (listen, machine) = (access.listen, member.machine);
    let said =
        format!("one of the fleet's servers listens at {listen}, and this machine is {machine}\n");
    let hint = "once 'flagpost fleet up' has founded the fleet, 'flagpost fleet join' in a clone brings what it shares";
    Ok(Answer::of(&FleetServing::new(listen, machine.clone()))
        .text(said)
        .ids([machine])
        .notes([hint.to_owned()]))
}

/// The three servers, where there are to be three.
fn cluster(
    args: &FleetUpArgs,
    listen: SocketAddr,
    known: Option<&ServerAccess>,
) -> anyhow::Result<Option<Cluster>> {
    let before = known.and_then(|it| it.cluster.clone());
    match (&args.beside[..], known) {
        ([], _) => Ok(before),
        (_, Some(_)) => Err(usage_with(
            "where this fleet's servers are was said before, and stays so",
            "'flagpost fleet up' alone goes on; where no server holds anything yet, 'flagpost down', remove fleet/ of the home and begin again",
        )),
        ([second, third], None) => {
            let cluster = Cluster::of([listen, *second, *third], &Seed::generate()?);
            let cluster = cluster.ok_or_else(|| {
                usage_with(
                    "three servers want three addresses of their own, with a port below 63536; none may be 2000 ports behind another one",
                    "--listen 10.0.0.5:4222 --beside 10.0.0.6:4222 --beside 10.0.0.7:4222",
                )
            })?;
            Ok(Some(cluster))
        }
        (_, None) => Err(usage_with(
            "a fleet has one server, or three",
            "say --beside twice",
        )),
    }
}

/// The certificate of the fleet's servers; none where everything goes in the clear. A fleet that was founded
/// before keeps its own.
fn certificate(
    args: &FleetUpArgs,
    listen: SocketAddr,
    known: Option<&ServerAccess>,
    member: Option<&Membership>,
) -> anyhow::Result<Option<Certificate>> {
    let in_the_clear = |it: &Membership| *it.invitation.transport() == Transport::Plain;
    match known.map(|it| &it.certificate) {
        Some(Some(_)) if args.private_network => Err(usage_with(
            "this fleet was founded with a certificate, and the way to its servers stays encrypted",
            "'flagpost fleet up' alone goes on",
        )),
        Some(certificate) => Ok(certificate.clone()),
        // One whose server's directory is gone stays as it was.
        None if args.private_network || member.is_some_and(in_the_clear) => Ok(None),
        None => {
            let servers = [listen].into_iter().chain(args.beside.iter().copied());
            let addresses: Vec<IpAddr> = servers.map(|it| it.ip()).collect();
            Ok(Some(Certificate::generate(&addresses)?))
        }
    }
}

/// Starts the daemon; one that runs already knows nothing of the fleet.
pub fn start_daemon_anew(context: &Context, why: &str) -> anyhow::Result<()> {
    if !restart_daemon(context, why)? {
        started(context, Vec::new())?;
    }
    Ok(())
}

/// Starts the daemon anew where one runs; whether one does.
pub fn restart_daemon(context: &Context, why: &str) -> anyhow::Result<bool> {
    let ran = flagpost_daemon::stop(&context.home)?.is_some();
    if ran {
        crate::streams::say(&format!("the daemon is started anew, {why}"));
        started(context, Vec::new())?;
    }
    Ok(ran)
}

/// Refuses an address that no server could listen at, before anything is founded.
fn must_be_free(listen: SocketAddr) -> anyhow::Result<()> {
    if listen.port() == 0 {
        return Err(usage_with(
            format!("{listen} names no port"),
            "others reach the server where --listen says: 127.0.0.1:4222",
        ));
    }
    match TcpListener::bind(listen) {
        Ok(_) => Ok(()),
        Err(error) => Err(usage_with(
            format!("no server can listen at {listen}: {error}"),
            "--listen names another address or port of this machine",
        )),
    }
}

/// Where the server of this machine's fleet was founded, as its own invitation says.
fn founded_at(member: &Membership) -> Option<SocketAddr> {
    let own = member.admin.as_ref().and(member.invitation.first())?;
    own.to_string().parse().ok()
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
pub fn answers(
    to: &Invitation,
    within: Duration,
) -> Result<(Hub, flagpost_fleet::Runtime), FleetError> {
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
            Err(error) => return Err(error),
        }
    }
}

/// Founds the fleet on its servers, as soon as they answer and one of them leads.
fn found(
    member: &Membership,
    admin: &Seed,
    replicas: Replicas,
    patience: Duration,
) -> Result<(), FleetError> {
    let to = member.invitation.with_seed(admin.clone());
    let deadline = Instant::now() + patience;
    let (hub, _runtime) = answers(&to, STARTS_WITHIN)?;
    let record = FleetRecord::new(replicas);
    loop {
        match hub.found(&record) {
            Ok(_) | Err(FleetError::Exists { .. }) => return Ok(()),
            Err(FleetError::Unreachable { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => return Err(error),
        }
    }
}
