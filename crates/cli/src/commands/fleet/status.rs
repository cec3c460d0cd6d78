//! `fleet status`: the server, what is shared, who is there.

use flagpost_core::{Home, order, registry};
use flagpost_fleet::{FleetError, FleetStanding, Membership, ShareError, standing};
use flagpost_model::{MachineId, view};
use jiff::Timestamp;

use crate::{context::Context, output::Answer, screen::Screen};

view! {
    /// A fleet of machines, as this one sees it.
    ///
    /// After 'flagpost fleet status'.
    pub struct FleetStatus {
        server: FleetServer,
        /// What this machine is called.
        machine: MachineId,
        /// This machine founded the fleet.
        founder: bool,
        repositories: Vec<FleetRepository>,
        machines: Vec<FleetMachine>,
    }

    /// The server of a fleet.
    pub struct FleetServer {
        /// Where it is.
        address: String,
        /// Its version; null where it cannot be reached.
        version: Option<String>,
        /// Why it cannot be reached.
        fault: Option<String>,
        /// It syncs each message before it acknowledges it.
        syncs: Option<bool>,
    }

    /// A repository that is shared.
    pub struct FleetRepository {
        name: String,
        id: String,
        /// The number of its last line here; null where it is not on this machine.
        here: Option<u64>,
        /// The number of its last line in the fleet; null where that is not known.
        there: Option<u64>,
        /// How many reports of agents on this machine the fleet has not heard yet.
        kept: usize,
    }

    /// A machine of the fleet.
    pub struct FleetMachine {
        machine: MachineId,
        /// What it is called in its network.
        host: String,
        /// The version of its Flagpost.
        flagpost: String,
        /// Since when its daemon follows; null where it does not now.
        since: Option<Timestamp>,
        /// How many lines it is behind, over all repositories.
        lag: Option<u64>,
    }
}

/// Shows it.
pub fn run(context: &Context) -> anyhow::Result<Answer> {
    let member = Membership::read(&context.home)?.ok_or(ShareError::NoFleet)?;
    let (standing, fault) = match standing(&member) {
        Ok(standing) => (Some(standing), None),
        Err(error @ FleetError::Unreachable { .. }) => (None, Some(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    let here = registry::repositories(&context.home)?;
    let last = |id| order::last(&context.home, id);
    let mut repositories = Vec::new();
    for repository in here
        .iter()
        .filter(|it| order::is_shared(&context.home, &it.id).unwrap_or_default())
    {
        let there = standing.as_ref().and_then(|it| it.ends.get(&repository.id));
        repositories.push(FleetRepository::new(
            repository.name.to_string(),
            repository.id.to_string(),
            Some(last(&repository.id)?),
            there.copied(),
            order::kept(&context.home, &repository.id)?,
        ));
    }
    for (id, record) in standing.iter().flat_map(|it| &it.repositories) {
        if repositories.iter().all(|it| it.id != id.as_str()) {
            let there = standing.as_ref().and_then(|it| it.ends.get(id)).copied();
            repositories.push(FleetRepository::new(
                record.name.clone(),
                id.to_string(),
                None,
                there,
                0,
            ));
        }
    }
    let of = |it| machines(&context.home, &member.machine, it);
    let machines: Vec<FleetMachine> = standing.iter().flat_map(of).collect();
    let server = FleetServer::new(
        member.invitation.to_string(),
        standing.as_ref().map(|it| it.version.clone()),
        fault,
        standing.as_ref().map(|it| it.syncs),
    );
    let status = FleetStatus::new(
        server,
        member.machine,
        member.admin.is_some(),
        repositories,
        machines,
    );
    let text = told(&status, &Screen::of(context));
    let hint = standing.as_ref().filter(|it| !it.syncs).map(|_| {
        "the server does not sync each message: a power cut there loses what was acknowledged"
            .to_owned()
    });
    let kept: usize = status.repositories.iter().map(|it| it.kept).sum();
    let unheard = (kept > 0).then(|| unheard(kept));
    let ids: Vec<String> = status
        .machines
        .iter()
        .map(|it| it.machine.to_string())
        .collect();
    Ok(Answer::of(&status)
        .text(text)
        .ids(ids)
        .notes(hint.into_iter().chain(unheard)))
}

/// That so many reports are kept.
pub fn unheard(kept: usize) -> String {
    let reports = if kept == 1 {
        "report is"
    } else {
        "reports are"
    };
    format!("{kept} {reports} kept here, which the fleet has not heard yet")
}

/// The machines; of this one it is known how far it is at this moment, of others how far they were a
/// second ago.
fn machines(home: &Home, me: &MachineId, standing: &FleetStanding) -> Vec<FleetMachine> {
    let each = standing.machines.iter().map(|(id, record)| {
        let sign = standing.signs.iter().find(|(of, _)| of == id);
        let lag = sign.map(|(_, sign)| {
            let behind = sign.applied.iter().map(|(repo, told)| {
                let now = (id == me).then(|| order::last(home, repo).ok()).flatten();
                let end = standing.ends.get(repo).copied().unwrap_or_default();
                end.saturating_sub(now.unwrap_or(*told))
            });
            behind.sum()
        });
        FleetMachine::new(
            id.clone(),
            record.host.clone(),
            record.flagpost.clone(),
            sign.map(|(_, it)| it.since),
            lag,
        )
    });
    each.collect()
}

fn told(status: &FleetStatus, screen: &Screen) -> String {
    let mut text = match (&status.server.version, &status.server.fault) {
        (Some(version), _) => format!("{}, nats-server {version}\n", status.server.address),
        (None, fault) => format!("{}\n", fault.as_deref().unwrap_or_default()),
    };
    let number = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
    if !status.repositories.is_empty() {
        let mut head = vec!["REPOSITORY", "HERE", "THERE"];
        let is_any_kept = status.repositories.iter().any(|it| it.kept > 0);
        head.extend(is_any_kept.then_some("KEPT"));
        let rows = status.repositories.iter().map(|it| {
            let mut row = vec![it.name.clone(), number(it.here), number(it.there)];
            row.extend(is_any_kept.then(|| it.kept.to_string()));
            row
        });
        text += "\n";
        text += &screen.table(&head, rows.collect());
    }
    if !status.machines.is_empty() {
        let rows = status.machines.iter().map(|it| {
            let me = if it.machine == status.machine {
                " (here)"
            } else {
                ""
            };
            let follows = if it.since.is_some() {
                "follows"
            } else {
                "silent"
            };
            vec![
                format!("{}{me}", it.machine),
                it.host.clone(),
                follows.to_owned(),
                number(it.lag),
            ]
        });
        text += "\n";
        text += &screen.table(&["MACHINE", "HOST", "DAEMON", "BEHIND"], rows.collect());
    }
    text
}
