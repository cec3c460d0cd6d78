//! Whoever has come over the loopback and has not yet shown that it may.
//!
//! Owns their connections' standing: there are only so many, and the one that came first gives way, so
//! that those who show nothing keep out nobody who would. Everybody has a moment to say who it is.

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::{Notify, oneshot},
    time::timeout,
};

/// So long one may stay, whoever comes after it.
const MOMENT: Duration = Duration::from_millis(50);

/// All of them, the first that came in front.
#[derive(Debug, Clone)]
pub(crate) struct Strangers {
    most: usize,
    moment: Duration,
    all: Arc<Mutex<Queue>>,
    left: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Queue {
    next: u64,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    since: Instant,
    cut: oneshot::Sender<()>,
}

/// Whoever is at the other end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    number: u64,
    among: Strangers,
}

/// Is over when a visitor has to give way.
#[derive(Debug)]
pub(crate) struct Stay(oneshot::Receiver<()>);

impl Strangers {
    /// At most so many.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            moment: MOMENT,
            all: Arc::default(),
            left: Arc::default(),
        }
    }

    /// One more, once there is room for it: where there is none, the first that had its moment goes.
    pub(crate) async fn arrive(&self) -> (Visitor, Stay) {
        while let Some(stayed) = self.longest_if_full() {
            match self.moment.checked_sub(stayed) {
                Some(rest) if !rest.is_zero() => {
                    // Over, or one of them has left.
                    let _ = timeout(rest, self.left.notified()).await;
                }
                _ => self.cut_first(),
            }
        }
        let (cut, stay) = oneshot::channel();
        let mut all = self.all();
        let number = all.next;
        all.next += 1;
        all.waiting.push_back(Waiting {
            number,
            since: Instant::now(),
            cut,
        });
        let among = self.clone();
        (Visitor { number, among }, Stay(stay))
    }

    /// How long the first has been here, where there is no room for another.
    fn longest_if_full(&self) -> Option<Duration> {
        let all = self.all();
        let is_full = all.waiting.len() >= self.most;
        let first = all.waiting.front().filter(|_| is_full);
        first.map(|it| it.since.elapsed())
    }

    /// Sends the first away: its place is wanted.
    pub(crate) fn cut_first(&self) {
        if let Some(first) = self.all().waiting.pop_front() {
            // One that is gone needs no telling.
            let _: Result<(), ()> = first.cut.send(());
        }
    }

    fn all(&self) -> MutexGuard<'_, Queue> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visitor {
    /// It has shown that it may be here, or is gone: from now on it is no stranger.
    pub(crate) fn welcome(&self) {
        let mut all = self.among.all();
        all.waiting.retain(|it| it.number != self.number);
        drop(all);
        self.among.left.notify_one();
    }
}

impl Stay {
    /// Waits until the visitor has to go; for ever, once it is no stranger.
    pub(crate) async fn over(self) {
        if self.0.await.is_err() {
            future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use flagpost_testkit::patience::patience;

    use super::*;

    impl Stay {
        fn is_over(&mut self) -> bool {
            self.0.try_recv().is_ok()
        }
    }

    /// Two at once, who may stay so long.
    fn staying(moment: Duration) -> Strangers {
        Strangers {
            moment,
            ..Strangers::new(2)
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap()
    }

    #[test]
    fn the_first_stranger_gives_way_and_whoever_is_welcome_stays() {
        runtime().block_on(async {
            let strangers = staying(MOMENT);
            let (first, mut of_first) = strangers.arrive().await;
            let (_second, mut of_second) = strangers.arrive().await;
            first.welcome();
            let (_third, mut of_third) = strangers.arrive().await;
            assert!(!of_second.is_over());
            let (_fourth, mut of_fourth) = strangers.arrive().await;
            assert!(of_second.is_over());
            strangers.cut_first();
            assert!(of_third.is_over());
            assert!(!of_first.is_over() && !of_fourth.is_over());
        });
    }

    #[test]
    fn whoever_shows_the_token_in_its_moment_is_not_sent_away_by_a_crowd() {
        runtime().block_on(async {
            let strangers = staying(patience() * 2);
            let (first, mut of_first) = strangers.arrive().await;
            let (_second, mut of_second) = strangers.arrive().await;
            let third = timeout(patience(), strangers.arrive());
            let shown = async { first.welcome() };
            let (third, ()) = tokio::join!(third, shown);
            assert!(third.is_ok(), "it waited though there was room");
            assert!(!of_first.is_over() && !of_second.is_over());
        });
    }

    #[test]
    fn whoever_shows_nothing_in_its_moment_gives_way_after_it() {
        runtime().block_on(async {
            let strangers = staying(MOMENT);
            let begun = Instant::now();
            let (_first, mut of_first) = strangers.arrive().await;
            let (_second, _) = strangers.arrive().await;
            let (_third, _) = strangers.arrive().await;
            assert!(begun.elapsed() >= MOMENT && of_first.is_over());
        });
    }
}
