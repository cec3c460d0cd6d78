//! Messages: what an orchestrator and its workers can rely on.

mod a_crash_leaves_whole_messages;
mod a_restart_goes_on_from_files;
mod a_run_lets_its_own_tasks_through;
mod a_thread_is_kept_in_order;
mod another_programs_messages_are_taken_over;
mod trap_26_busy_senders;
mod trap_27_one_message_five_receivers;
mod trap_28_ack_on_receipt;
mod trap_29_in_anothers_name;
mod trap_30_nothing_is_null;

use flagpost_core::{
    Result,
    messages::{self, Acked, Ask, NewMessage, Party, Received, Sent},
    relay::{Fleet, decide::Gate},
};
use flagpost_model::{
    decision::Via,
    message::{MessageAddress, Speaker, Subject},
};

use crate::world::{World, worker};

/// Somebody who speaks for itself.
pub fn speaker(name: &str) -> Speaker {
    Speaker {
        name: worker(name),
        by: None,
    }
}

pub fn words(subject: Subject, body: &str) -> NewMessage {
    NewMessage {
        subject,
        body: body.to_owned(),
        to: None,
        thread: None,
        answers: None,
        id: None,
    }
}

pub fn task(id: &str) -> String {
    format!(r#"{{"bead_id":"{id}","title":"Do {id}","prompt":"Do it"}}"#)
}

pub fn done(id: &str) -> String {
    format!(r#"{{"bead_id":"{id}","summary":"Did {id}"}}"#)
}

pub fn place(text: &str) -> MessageAddress {
    text.parse().unwrap()
}

/// One side of the mail of a fleet.
pub struct Side<'w> {
    pub fleet: Fleet<'w>,
    pub speaker: Speaker,
}

impl<'w> Side<'w> {
    pub fn of(world: &'w World, name: &str) -> Self {
        Self {
            fleet: world.fleet(),
            speaker: speaker(name),
        }
    }

    pub fn party(&self) -> Party<'_> {
        Party {
            fleet: &self.fleet,
            speaker: &self.speaker,
        }
    }

    pub fn try_send(&self, words: NewMessage) -> Result<Sent> {
        messages::send(&self.party(), words, Gate::Writer(Via::Cli))
    }

    pub fn send(&self, words: NewMessage) -> Sent {
        self.try_send(words).unwrap()
    }

    /// A TASK for a worker, in thread `epic-1`, let through.
    pub fn give(&self, to: &str, id: &str) -> Sent {
        self.send(NewMessage {
            to: Some(worker(to)),
            thread: Some("epic-1".to_owned()),
            ..words(Subject::Task, &task(id))
        })
    }

    pub fn receive(&self) -> Option<Received> {
        messages::receive(&self.party(), &Ask::default()).unwrap()
    }

    pub fn ack(&self, at: &str) -> Result<Acked> {
        messages::ack(&self.party(), &place(at))
    }

    /// What a restart would do, as `W1/inbox/1 offer`.
    pub fn steps(&self) -> Vec<String> {
        let (open, skipped) = messages::unacked(&self.fleet).unwrap();
        assert!(skipped.is_empty(), "{skipped:?}");
        let each = open.iter();
        each.map(|it| format!("{} {}", it.seen.message.place, it.next))
            .collect()
    }
}

/// Where a received message lies.
pub fn at(received: Option<&Received>) -> Option<String> {
    received.map(|it| it.message.place.to_string())
}
