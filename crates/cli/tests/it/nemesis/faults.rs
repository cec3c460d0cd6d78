//! What can befall servers, machines and the ways between them.

use std::{thread, time::Duration};

use flagpost_testkit::{chance::Chance, passage::PassageState};

use super::stage::{MACHINES, Stage};

/// What befalls something; which server or machine is its number.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Whoever leads is killed.
    LeaderKilled,
    ServerKilled(usize),
    /// All three are killed, and are away for a second.
    AllKilled,
    ServerHangs(usize),
    LeaderHangs,
    ServerEnded(usize),
    /// A server is cut from the other two, and every machine reaches all three.
    ServerAlone(usize, PassageState),
    LeaderAlone(PassageState),
    /// No machine reaches a server, and the servers reach each other.
    ServerUnreached(usize, PassageState),
    /// A machine reaches no server.
    MachineAlone(usize, PassageState),
    DaemonKilled(usize),
}

impl Fault {
    pub fn any(chance: &mut Chance) -> Self {
        let cut = [PassageState::Silent, PassageState::Closed][chance.below(2)];
        let (server, machine) = (chance.below(3), chance.below(MACHINES));
        match chance.below(11) {
            0 => Self::LeaderKilled,
            1 => Self::ServerKilled(server),
            2 => Self::AllKilled,
            3 => Self::ServerHangs(server),
            4 => Self::LeaderHangs,
            5 => Self::ServerEnded(server),
            6 => Self::ServerAlone(server, cut),
            7 => Self::LeaderAlone(cut),
            8 => Self::ServerUnreached(server, cut),
            9 => Self::MachineAlone(machine, cut),
            _ => Self::DaemonKilled(machine),
        }
    }

    /// Lets it happen, and mends it.
    pub fn befall(self, stage: &Stage, chance: &mut Chance) {
        let a_while = Duration::from_millis(2000 + chance.below(6000) as u64);
        match self {
            Self::LeaderKilled => kill(stage, stage.leader(), chance),
            Self::ServerKilled(server) => kill(stage, server, chance),
            Self::AllKilled => {
                let mut three = stage.three();
                for server in &mut three.servers {
                    server.kill();
                }
                thread::sleep(Duration::from_secs(1));
                for server in &mut three.servers {
                    server.restart();
                }
            }
            Self::ServerHangs(server) => hang(stage, server),
            Self::LeaderHangs => hang(stage, stage.leader()),
            Self::ServerEnded(server) => {
                stage.three().servers[server].terminate();
                thread::sleep(Duration::from_millis(chance.below(3000) as u64));
                stage.three().servers[server].restart();
            }
            Self::ServerAlone(server, cut) => alone(stage, server, cut, a_while),
            Self::LeaderAlone(cut) => alone(stage, stage.leader(), cut, a_while),
            Self::ServerUnreached(server, cut) => {
                stage.to_servers(|_, to| to == server, cut);
                thread::sleep(a_while);
                stage.to_servers(|_, to| to == server, PassageState::Whole);
            }
            Self::MachineAlone(machine, cut) => {
                stage.to_servers(|from, _| from == machine, cut);
                thread::sleep(a_while);
                stage.to_servers(|from, _| from == machine, PassageState::Whole);
            }
            Self::DaemonKilled(machine) => {
                stage.kill_daemon(machine);
                thread::sleep(Duration::from_millis(chance.below(1000) as u64));
                stage.start_daemon(machine);
            }
        }
    }
}

fn kill(stage: &Stage, server: usize, chance: &mut Chance) {
    stage.three().servers[server].kill();
    thread::sleep(Duration::from_millis(chance.below(6000) as u64));
    stage.three().servers[server].restart();
}

fn hang(stage: &Stage, server: usize) {
    stage.three().servers[server].stop();
    thread::sleep(Duration::from_secs(5));
    stage.three().servers[server].cont();
}

fn alone(stage: &Stage, server: usize, cut: PassageState, time: Duration) {
    stage.three().ways.set_alone(server, cut);
    thread::sleep(time);
    stage.three().ways.set_alone(server, PassageState::Whole);
}
