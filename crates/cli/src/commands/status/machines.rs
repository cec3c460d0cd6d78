//! What `status` tells of the fleet of machines that share the repository.

use flagpost_core::order;
use flagpost_model::machines::{FleetMachine, FleetSight, FleetStanding};

use crate::{
    context::Context,
    screen::Screen,
    terminal::{counted, line},
};

/// So many machines that are behind are named.
const NAMED: usize = 3;

/// How the fleet stands, in a line; nothing where the repository is not shared.
pub fn words(context: &Context, sight: Option<&FleetSight>) -> anyhow::Result<Option<String>> {
    let (Some(sight), Some(repository)) = (sight, context.repository()?) else {
        return Ok(None);
    };
    if !order::is_shared(&context.home, &repository.id)? {
        return Ok(None);
    }
    let screen = Screen::of(context);
    let n = order::last(&context.home, &repository.id)?;
    let words = match sight {
        FleetSight::Unknown(since) => unknown(screen, *since),
        FleetSight::Known(standing) => {
            let own = standing.repository(&repository.id);
            let frozen = own.and_then(|it| it.frozen.as_deref());
            match (frozen, &standing.server.fault) {
                (Some(why), _) => format!(
                    "{} at n {n}: nothing of {} is changed here any more: {}; 'flagpost doctor' says what to do",
                    screen.state("frozen"),
                    repository.name,
                    line(why)
                ),
                (None, Some(fault)) => format!(
                    "{} since {}, n {n}: what would change something is refused: {}",
                    screen.state("alone"),
                    screen.time(standing.since),
                    line(fault)
                ),
                (None, None) => connected(screen, standing),
            }
        }
    };
    Ok(Some(format!("fleet: {words}")))
}

fn unknown(screen: Screen, since: Option<jiff::Timestamp>) -> String {
    let since = since.map_or(String::new(), |at| format!(" since {}", screen.time(at)));
    format!(
        "{}{since}: no daemon follows it here; 'flagpost up' starts one",
        screen.state("unknown")
    )
}

fn connected(screen: Screen, standing: &FleetStanding) -> String {
    let (following, all) = (standing.following(), standing.machines.len());
    let mut words = format!(
        "{following} of {} follow",
        counted(all, "machine", "machines")
    );
    let behind: Vec<&FleetMachine> = standing.behind().collect();
    let named = behind.iter().take(NAMED).map(|it| {
        let lines = counted(lag_of(it), "line", "lines");
        let since = it.behind_since.map(|at| screen.time(at));
        let whose = match it.machine == standing.machine {
            true => "this one".to_owned(),
            false => line(&it.host),
        };
        let since = since.unwrap_or_default();
        format!(
            ", {whose} is {} by {lines} since {since}",
            screen.state("behind")
        )
    });
    words.extend(named);
    words.extend(standing.lacking().map(|it| format!(", {it}")));
    if behind.len() > NAMED {
        words += &format!(", and {} more are", behind.len() - NAMED);
    }
    words
}

fn lag_of(machine: &FleetMachine) -> usize {
    usize::try_from(machine.lag.unwrap_or_default()).unwrap_or(usize::MAX)
}
