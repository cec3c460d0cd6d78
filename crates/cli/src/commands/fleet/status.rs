//! `fleet status`: the server, what is shared, who is there.

use flagpost_fleet::{FleetError, Membership, ShareError, standing, standing_alone};
use flagpost_model::{
    MachineId,
    machines::{FleetMachine, FleetStanding},
};

use schemars::JsonSchema;
use serde::Serialize;

use super::verbs::judge_server;
use crate::{context::Context, output::Answer, screen::Screen};

/// A fleet of machines, as this one sees it.
///
/// After 'flagpost fleet status'.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FleetStatus {
    #[serde(flatten)]
    standing: FleetStanding,
}

/// Shows it. Without the server, what is known here, and the exit code says so.
pub fn run(context: &Context) -> anyhow::Result<Answer> {
    let member = Membership::read(&context.home)?.ok_or(ShareError::NoFleet)?;
    let (standing, code, hint) = match standing(&context.home, &member) {
        Ok(standing) => (standing, 0, None),
        Err(
            error @ (FleetError::Unreachable { .. }
            | FleetError::NotAllowed { .. }
            | FleetError::OtherCertificate { .. }),
        ) => {
            let alone = standing_alone(&context.home, &member, &error);
            let (kind, hint) = judge_server(&error);
            (alone, kind as u8, hint)
        }
        Err(error) => return Err(error.into()),
    };
    let unsynced = (standing.server.syncs == Some(false)).then(|| {
        "the server does not sync each message: a power cut there loses what was acknowledged"
            .to_owned()
    });
    let kept: usize = standing.repositories.iter().map(|it| it.kept).sum();
    let unheard = (kept > 0).then(|| unheard(kept));
    let text = told(&standing, &Screen::of(context));
    let ids: Vec<MachineId> = standing
        .machines
        .iter()
        .map(|it| it.machine.clone())
        .collect();
    let mut answer = Answer::of(&FleetStatus { standing })
        .text(text)
        .ids(ids)
        .notes(unsynced.into_iter().chain(unheard).chain(hint));
    answer.code = code;
    Ok(answer)
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

fn told(status: &FleetStanding, screen: &Screen) -> String {
    let server = &status.server;
    let mut text = match (&server.version, &server.fault) {
        (_, Some(fault)) => {
            let since = screen.time(status.since);
            format!("{} since {since}: {fault}\n", screen.state("alone"))
        }
        (version, None) => {
            let version = version.as_deref().unwrap_or_default();
            format!("{}, nats-server {version}\n", server.address)
        }
    };
    for (repository, why) in status.frozen() {
        let frozen = screen.state("frozen");
        text += &format!("{} is {frozen}: {why}\n", repository.name);
    }
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
    if !server.copies.is_empty() {
        let copies = server.copies.iter();
        let rows = copies.map(|it| vec![it.server.clone(), it.state.to_string()]);
        text += "\n";
        text += &screen.table(&["SERVER", "COPY"], rows.collect());
    }
    if !status.machines.is_empty() {
        let rows = status.machines.iter().map(|it| row(status, it));
        text += "\n";
        text += &screen.table(&["MACHINE", "HOST", "DAEMON", "BEHIND"], rows.collect());
    }
    text
}

fn row(status: &FleetStanding, it: &FleetMachine) -> Vec<String> {
    let me = match it.machine == status.machine {
        true => " (here)",
        false => "",
    };
    let daemon = match (&status.server.fault, it.since) {
        (Some(_), _) => "-",
        (None, Some(_)) => "follows",
        (None, None) => "silent",
    };
    vec![
        format!("{}{me}", it.machine),
        it.host.clone(),
        daemon.to_owned(),
        number(it.lag),
    ]
}

fn number(n: Option<u64>) -> String {
    n.map_or("-".to_owned(), |n| n.to_string())
}
