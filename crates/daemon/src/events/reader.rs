//! One listener's way through what is told.
//!
//! Owns where it begins: with the state as it is, or after the last event that it had, however long ago
//! and by whichever daemon. The end of the histories is taken before the state is read, so that the
//! state lacks nothing that is not told afterwards.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use flagpost_core::{
    Home, Repository, answers,
    history::{History, NewLines, Tail},
    registry,
};
use flagpost_model::RepoId;
use tokio::sync::watch;

use super::{
    Cursor, FeedEvent, Hub, Text, event,
    feed::{FeedStep, Listener},
    hub::{After, Position},
    state::{FleetChange, state},
};

/// What somebody listens to.
#[derive(Debug, Clone)]
pub(crate) struct Subscription {
    /// Which repositories.
    pub(crate) repository: Option<RepoId>,
    /// Which transitions.
    pub(crate) scope: EventFilter,
    /// Whether the changes of lists are told, too.
    pub(crate) with_lists: bool,
}

/// Which transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventFilter {
    /// All of them.
    Everything,
    /// Those about mail.
    Mail,
}

/// Why a listener is given the state.
#[derive(Debug, Clone, Copy)]
enum Reason {
    /// It has just come.
    Fresh,
    /// What it lacks is not kept any more.
    Behind,
    /// What it had was told by another history.
    Rewritten,
}

impl Reason {
    fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Behind => "behind",
            Self::Rewritten => "rewritten",
        }
    }
}

/// One listener.
#[derive(Debug)]
pub(crate) struct EventReader {
    home: Home,
    hub: Arc<Hub>,
    wish: Subscription,
    at: BTreeMap<RepoId, Position>,
    /// Up to which number changes of lists were told; none where nobody wants to know.
    lists: Option<ListPosition>,
    /// Which standing of the fleet of machines was told.
    fleet: u64,
    /// What is to be read from files before anything else is said.
    to_read: Option<Reading>,
}

/// A place in what was told of lists.
#[derive(Debug)]
struct ListPosition {
    n: u64,
    /// For as long as it is there, somebody listens.
    _listens: watch::Receiver<u64>,
}

/// What is read from files.
#[derive(Debug)]
enum Reading {
    /// What came after this, or the state.
    Begin(Option<Cursor>),
    /// The state.
    State(Reason),
}

impl EventReader {
    pub(crate) fn new(
        home: Home,
        hub: Arc<Hub>,
        wish: Subscription,
        since: Option<Cursor>,
    ) -> Self {
        // Changes of lists are kept nowhere: whoever wants them begins with the state.
        let lists = wish.with_lists.then(|| ListPosition {
            n: 0,
            _listens: hub.lists.listen(),
        });
        let since = since.filter(|_| lists.is_none());
        Self {
            home,
            hub,
            wish,
            at: BTreeMap::new(),
            lists,
            fleet: 0,
            to_read: Some(Reading::Begin(since)),
        }
    }

    fn lost(&mut self, reason: Reason) -> FeedStep {
        self.to_read = Some(Reading::State(reason));
        FeedStep::Look
    }

    fn begin(&mut self, since: &Cursor) -> flagpost_core::Result<Arc<Text>> {
        let ends = self.listened();
        for (repo, end) in &ends {
            let n = match since {
                Cursor::One(n) => *n,
                Cursor::Each(all) => all.get(repo).copied().unwrap_or_default(),
            };
            if n > end.n && n > last(&self.home, repo)? {
                return self.anew(Reason::Rewritten);
            }
            let life = end.life;
            self.at.insert(repo.clone(), Position { n, life });
        }
        let mut text = String::new();
        for (repo, end) in ends {
            let Some(at) = self.at.get(&repo).copied() else {
                continue;
            };
            if let After::Lost = self.hub.after(&repo, at) {
                // It comes from the file, this once.
                let mut tail = Tail::since(at.n);
                if let NewLines::Lines(lines) = tail.read_on(&History::of(&self.home, &repo))? {
                    for line in &lines {
                        self.tell(&repo, &FeedEvent::of(line), end.life, &mut text);
                    }
                }
                let (n, life) = (tail.read_up_to(), end.life);
                self.at.insert(repo, Position { n, life });
            }
        }
        Ok(Arc::new(text.into()))
    }

    /// The state, from which on everything is told.
    fn anew(&mut self, reason: Reason) -> flagpost_core::Result<Arc<Text>> {
        self.at = self.listened();
        let all: Vec<(Repository, u64)> = registry::repositories(&self.home)?
            .into_iter()
            .filter_map(|it| self.at.get(&it.id).map(|at| (it.clone(), at.n)))
            .collect();
        let id = self.cursor();
        self.fleet = self.hub.fleet().n;
        let (state, n) = state(&self.hub, &all, self.wish.scope, reason.as_str(), &id)?;
        if let Some(lists) = &mut self.lists {
            lists.n = n;
        }
        Ok(state)
    }

    fn tell(&mut self, repo: &RepoId, told: &FeedEvent, life: u64, text: &mut String) {
        let n = told.n;
        self.at.insert(repo.clone(), Position { n, life });
        if self.wish.scope == EventFilter::Everything || told.is_mail {
            *text += &event(Some(&self.cursor()), &told.name, &told.data);
        }
    }

    /// How the fleet of machines stands, where that was not told.
    fn tell_fleet(&mut self) -> String {
        let now = self.hub.fleet();
        if now.n == self.fleet || self.wish.scope != EventFilter::Everything {
            return String::new();
        }
        self.fleet = now.n;
        let fleet = now.sight.as_ref().map(Into::into);
        event(
            None,
            "fleet.changed",
            &answers::text(&FleetChange { fleet }),
        )
    }

    fn listened(&self) -> BTreeMap<RepoId, Position> {
        let mut ends = self.hub.ends();
        if let Some(only) = &self.wish.repository {
            ends.retain(|id, _| id == only);
        }
        ends
    }

    fn is_known(&self) -> bool {
        let only = self.wish.repository.as_ref();
        *self.hub.looks().borrow() > 0 && only.is_none_or(|id| self.hub.ends().contains_key(id))
    }

    fn cursor(&self) -> String {
        let each = self.at.iter().map(|(id, at)| (id.clone(), at.n));
        let cursor = match &self.wish.repository {
            Some(_) => Cursor::One(self.at.values().next().map_or(0, |at| at.n)),
            None => Cursor::Each(each.collect()),
        };
        cursor.to_string()
    }
}

/// The number of a history's last line, which the hub need not have come to yet.
fn last(home: &Home, repo: &RepoId) -> flagpost_core::Result<u64> {
    let history = History::of(home, repo);
    let mut tail = Tail::at_end(&history)?;
    tail.read_on(&history)?;
    Ok(tail.read())
}

impl Listener for EventReader {
    const RECHECK: Option<Duration> = None;

    fn step(&mut self) -> FeedStep {
        match self.to_read {
            // What the hub has not looked at yet has no end that one could begin from.
            Some(Reading::Begin(_)) if !self.is_known() => return FeedStep::Wait,
            Some(_) => return FeedStep::Look,
            None => {}
        }
        let mut text = String::new();
        loop {
            let mut moved = false;
            for (repo, end) in self.listened() {
                // One that was registered since is told of from its beginning.
                let born = Position {
                    n: 0,
                    life: end.life,
                };
                let at = *self.at.entry(repo.clone()).or_insert(born);
                match self.hub.after(&repo, at) {
                    After::These(these) => {
                        for told in these {
                            moved = true;
                            self.tell(&repo, &told, end.life, &mut text);
                        }
                    }
                    After::Lost if at.life == end.life => return self.lost(Reason::Behind),
                    After::Lost => return self.lost(Reason::Rewritten),
                }
            }
            if let Some(lists) = &mut self.lists {
                match self.hub.lists.after(lists.n, self.wish.repository.as_ref()) {
                    Some((changes, n)) => {
                        text += &changes;
                        lists.n = n;
                    }
                    None => return self.lost(Reason::Behind),
                }
            }
            text += &self.tell_fleet();
            match (text.is_empty(), moved) {
                (false, _) => return FeedStep::Say(text),
                // None of these was for it, and more may be there.
                (true, true) => {}
                (true, false) => return FeedStep::Wait,
            }
        }
    }

    fn look(&mut self) -> flagpost_core::Result<Arc<Text>> {
        match self.to_read.take() {
            None => Ok(Arc::default()),
            Some(Reading::Begin(None)) => self.anew(Reason::Fresh),
            Some(Reading::Begin(Some(since))) => self.begin(&since),
            Some(Reading::State(reason)) => self.anew(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use flagpost_core::{List, tasks};
    use flagpost_disk::fsx::RealFs;
    use flagpost_model::WorkerId;

    use super::*;
    use crate::events::{WatchMode, hub::Tails};

    fn add(list: &List<'_>, subject: &str) {
        let fields = tasks::Fields {
            subject: Some(subject.to_owned()),
            ..tasks::Fields::default()
        };
        tasks::add(list, &WorkerId::operator(), &fields, &[]).unwrap();
    }

    /// A home whose one repository has a history of `lines` lines or more.
    fn home(dir: &std::path::Path) -> (Home, RepoId, u64) {
        let home = Home::at(dir.join("home"));
        let top = dir.join("top");
        flagpost_disk::fsx::make_dirs(&RealFs, &top).unwrap();
        let ann = WorkerId::operator();
        let repository = Repository::register(&home, &top, &ann).unwrap();
        let list = List::open_or_create(&home, &repository.name, &repository);
        let list = list.unwrap();
        for subject in ["a", "b", "c"] {
            add(&list, subject);
        }
        let last = last(&home, &repository.id).unwrap();
        (home, repository.id, last)
    }

    fn reader(hub: &Arc<Hub>, home: &Home, repo: &RepoId, since: u64) -> EventReader {
        let wish = Subscription {
            repository: Some(repo.clone()),
            scope: EventFilter::Everything,
            with_lists: false,
        };
        let since = Some(Cursor::One(since));
        EventReader::new(home.clone(), Arc::clone(hub), wish, since)
    }

    fn said(reader: &mut EventReader) -> String {
        let text = reader.look().unwrap();
        String::from_utf8(text.pieces().concat()).unwrap()
    }

    #[test]
    fn who_comes_before_the_first_look_goes_on_where_he_was_all_the_same() {
        let dir = flagpost_testkit::scratch::scratch();
        let (home, repo, last) = home(dir.path());
        let hub = Arc::new(Hub::new(home.clone(), WatchMode::Events));
        let mut reader = reader(&hub, &home, &repo, last - 1);
        assert!(
            matches!(reader.step(), FeedStep::Wait),
            "nothing was looked at"
        );
        hub.look(&mut Tails::default());
        assert!(matches!(reader.step(), FeedStep::Look));
        let mut told = said(&mut reader);
        while let FeedStep::Say(more) = reader.step() {
            told += &more;
        }
        assert!(told.starts_with(&format!("id: {last}\n")), "{told}");
        assert_eq!(told.matches("id: ").count(), 1, "{told}");
    }

    #[test]
    fn all_who_begin_together_share_one_text_until_something_changes() {
        let dir = flagpost_testkit::scratch::scratch();
        let (home, _, _) = home(dir.path());
        let hub = Arc::new(Hub::new(home.clone(), WatchMode::Events));
        let mut tails = Tails::default();
        hub.look(&mut tails);
        let begin = || {
            let wish = Subscription {
                repository: None,
                scope: EventFilter::Everything,
                with_lists: true,
            };
            let mut reader = EventReader::new(home.clone(), Arc::clone(&hub), wish, None);
            (reader.look().unwrap(), reader)
        };
        let ((first, reader), (second, _)) = (begin(), begin());
        assert!(Arc::ptr_eq(&first, &second));
        let list = List::open(&home, &"top".parse().unwrap()).unwrap();
        add(&list, "d");
        let (third, mut late) = begin();
        let said = String::from_utf8(third.pieces().concat()).unwrap();
        assert!(said.contains(r#""subject":"d""#), "{said}");
        assert!(matches!(late.step(), FeedStep::Wait), "it has all");
        let gone = Arc::downgrade(&first);
        drop((first, second, reader));
        assert!(gone.upgrade().is_none(), "nobody keeps what was said");
    }

    #[test]
    fn who_knows_more_than_the_hub_has_read_is_told_what_follows() {
        let dir = flagpost_testkit::scratch::scratch();
        let (home, repo, last) = home(dir.path());
        let hub = Arc::new(Hub::new(home.clone(), WatchMode::Events));
        hub.look(&mut Tails::default());
        let list = List::open(&home, &"top".parse().unwrap()).unwrap();
        add(&list, "d");
        let mut reader = reader(&hub, &home, &repo, last + 1);
        let told = said(&mut reader);
        assert_eq!(
            told, "",
            "it has that one, and is not sent back to the state"
        );
    }
}
