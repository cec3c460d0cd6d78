//! What `doctor` can find.
//!
//! Owns the closed list of faults, how bad each of them is, and what it means. What is found where
//! is `core`'s. Invariant: a code, once released, keeps its name: scripts look for it.

use crate::names::names;

names!(
    /// How bad a fault is; the worst first.
    Severity {
        /// Something does not work, or soon goes wrong.
        Error = "error",
        /// Nothing is wrong yet, and somebody should look.
        Warning = "warning",
        /// Worth knowing.
        Note = "note",
    }
);

macro_rules! codes {
    ($($variant:ident = $text:literal, $severity:ident, $meaning:literal;)+) => {
        names!(
            /// One kind of fault.
            Code { $(#[doc = $meaning] $variant = $text),+ }
        );

        impl Code {
            /// How bad it is.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),+ }
            }

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),+ }
            }
        }
    };
}

codes! {
    CheckFailed = "check-failed", Error, "A check could not be carried out.";
    ListUnreadable = "list-unreadable", Error, "The directory of a list cannot be read, or leads out of its root.";
    ListMisnamed = "list-misnamed", Note, "A directory among the lists has a name that is no id, so nothing reads it.";
    RootMissing = "root-missing", Note, "A directory of tasks.roots is not there.";
    RootUnreadable = "root-unreadable", Error, "A directory of tasks.roots cannot be read, so a list may be overlooked.";
    ListShadowed = "list-shadowed", Warning, "A list cannot be reached, because a directory that comes first has one of its name.";
    TaskBroken = "task-broken", Error, "A file in a list is no task; it is skipped.";
    QuarantineMended = "quarantine-mended", Note, "Quarantine keeps a file that was mended or removed since.";
    LinkOneSided = "link-one-sided", Warning, "Only one of two task files says that one waits for the other.";
    LinkUnknown = "link-unknown", Warning, "A task waits for one that does not exist, so it can never begin.";
    LinkDangling = "link-dangling", Note, "A task says that it blocks one that does not exist.";
    Circle = "circle", Error, "Tasks wait for each other, so none of them can begin.";
    TargetMoved = "target-moved", Note, "Somebody else moved the branch that work lands on while a run or a landing was under way.";
    TaskVanished = "task-vanished", Warning, "Another program took the file of a task away or emptied it, or took a whole list.";
    ParentUnknown = "parent-unknown", Warning, "A task is part of one that does not exist.";
    ParentCircle = "parent-circle", Warning, "A task is part of itself.";
    TaskTwice = "task-twice", Warning, "A move to another list was cut short, so a task is there twice.";
    ClaimExpired = "claim-expired", Note, "A claim expired more than an hour ago, and nobody has taken the task since.";
    StateOverruled = "state-overruled", Note, "The status of a task and its state disagree; the status counts.";
    CounterBehind = "counter-behind", Note, "The highest id or number ever given out is recorded too low, so a removed one could come again.";
    CounterUnreadable = "counter-unreadable", Error, "The highest id or number ever given out cannot be read, so nothing can be added.";
    CounterExhausted = "counter-exhausted", Error, "The highest id or number ever given out is so high that nothing can be added after it.";
    ListForeign = "list-foreign", Note, "A list of another program's has a name that no list of ours can have: it is read, and no verb changes it.";
    MirrorIncomplete = "mirror-incomplete", Note, "A list of the home does not appear where tasks.mirror has it appear.";
    BindingMissing = "binding-missing", Warning, "A list that Flagpost wrote names no repository whose history records it.";
    BindingBroken = "binding-broken", Error, "A list names a repository that has no history here, so nothing in it can be changed.";
    PointerBroken = "pointer-broken", Note, "The execution pointer of a list leads to no session of a registered repository, nor to any below your home.";
    RecordUnreadable = "record-unreadable", Error, "The record of a repository cannot be read.";
    RepositoryUnregistered = "repository-unregistered", Note, "A repository has a history here and no record.";
    RepositoryGone = "repository-gone", Note, "A repository is not where its record says.";
    RepositoryIdInvalid = "repository-id-invalid", Error, "The id that a repository carries is none, so nothing works in it.";
    DaemonOther = "daemon-other", Warning, "The daemon is another version of Flagpost than this program.";
    HistoryUnreadable = "history-unreadable", Error, "A history cannot be read.";
    HistoryDamaged = "history-damaged", Warning, "A history has lines that cannot be read, or numbers that do not grow.";
    HistoryAltered = "history-altered", Warning, "Lines of a history were changed, taken out or put in after it was written.";
    HistoryAcknowledged = "history-acknowledged", Note, "Lines of a history were altered or lost, and a repair went on after them.";
    HistoryBehind = "history-behind", Error, "Tasks, briefs or decisions name greater numbers than their history has: part of it is lost, and numbers would come again.";
    HistoryJumped = "history-jumped", Error, "The numbers of a history leap to where few are left or none, so that soon nothing can be changed.";
    HistoryUnsettled = "history-unsettled", Warning, "The last line of a history tells of a change that never appeared.";
    WorkerBroken = "worker-broken", Error, "The file that says who a worker is cannot be understood, so nothing can be sent to it.";
    WorkerMissing = "worker-missing", Error, "The file that says who a worker is has gone, and briefs that the history tells of cannot reach it.";
    MailBroken = "mail-broken", Error, "A file in a worker's mail is no message; it is skipped.";
    MailMany = "mail-many", Warning, "A worker has so many messages that only the newest are read; the others are counted.";
    BriefWithheld = "brief-withheld", Warning, "A brief is withheld, because it was changed, or decided on, by a hand that nobody knows.";
    BriefMisread = "brief-misread", Error, "A worker acknowledged a brief that nobody approved as it is.";
    FlagsContradict = "flags-contradict", Warning, "The flags of a brief say something else than the decision that is on record.";
    SessionUnreadable = "session-unreadable", Warning, "The files of a session cannot be read.";
    SessionDead = "session-dead", Warning, "The runner of a session is gone, and nobody has recovered it.";
    SessionUnnamed = "session-unnamed", Warning, "The lock of the live session names no session.";
    SessionUnasked = "session-unasked", Note, "The lock of the live session names no process that could be asked, so it stands by its age alone.";
    TaskOfDeadSession = "task-of-dead-session", Warning, "A session that is over still holds tasks.";
    WorktreeLeft = "worktree-left", Note, "A run left a worktree, because something in it could be lost.";
    BranchOwnerless = "branch-ownerless", Warning, "A branch holds work that passed, and its task was removed or moved to another list, so no landing takes it.";
    RequestBroken = "request-broken", Error, "A file among the requests for permissions cannot be understood, or nobody asked for it.";
    ReservationBroken = "reservation-broken", Error, "A file among the reservations cannot be understood, so it holds nothing.";
    ReportsUnheard = "reports-unheard", Note, "Reports of agents are kept on this machine, because its fleet could not be reached when they were made.";
    ReportsHeld = "reports-held", Warning, "Among the kept reports is one that this Flagpost cannot tell, or no file, and it holds up all behind it.";
    ReportRefused = "report-refused", Warning, "A report that was made while the fleet could not be reached was refused when it was told.";
    CoordinationBroken = "coordination-broken", Error, "A coordination directory has a table or a row that cannot be understood; what it says counts for nobody.";
    LockHeld = "lock-held", Warning, "Somebody has held a lock for more than a minute, so others cannot go on.";
    LockUnusable = "lock-unusable", Error, "What lies in the place of a lock is none, or cannot be opened, so nothing can be changed.";
    TemporaryOrphaned = "temporary-orphaned", Note, "Writers that died left temporary files.";
    HomeUnreadable = "home-unreadable", Error, "The home is no directory that can be read.";
    HomeOpen = "home-open", Warning, "Others may look into the home.";
    DirectoryLinked = "directory-linked", Error, "A directory of the home is a link, so nothing is written into it.";
    ModeOpen = "mode-open", Note, "Files or directories have modes that would let others in.";
    ParkUnreadable = "park-unreadable", Warning, "The note of an account that rests cannot be read, so a run starts its clients all the same.";
    NoticeFailed = "notice-failed", Warning, "A channel of notifications failed when it was used last, so you are not told of what waits for you.";
    NoticesUnreadable = "notices-unreadable", Error, "The record of what you were told cannot be read, so you are told nothing.";
    SettingBroken = "setting-broken", Error, "A setting, or the file of all settings, cannot be read, so whatever needs it stops.";
    PolicyBroken = "policy-broken", Error, "A policy cannot be read or understood, so nothing is approved by it.";
    PolicyWithheld = "policy-withheld", Warning, "A policy is not the one that the operator accepted last, or that one is gone, so nothing is approved by it, or should be.";
    SettingUnknown = "setting-unknown", Note, "A name among the settings is none of theirs, so nothing reads it.";
    FleetUnfollowed = "fleet-unfollowed", Warning, "No daemon follows the fleet of machines here, so this one hears of the others only when it changes something.";
    FleetAlone = "fleet-alone", Warning, "The fleet's server cannot be reached, so nothing that is shared can be changed.";
    FleetFrozen = "fleet-frozen", Error, "What the fleet has of a repository does not fit what is here, so this machine changes nothing in it any more.";
    FleetBehind = "fleet-behind", Warning, "This machine has lacked lines that others have for half a minute or longer.";
    FleetServerOld = "fleet-server-old", Error, "The fleet's server is older than 2.12, so its promises are not to be trusted.";
    FleetUnsynced = "fleet-unsynced", Error, "The fleet's server acknowledges what a power cut can take from it.";
    FleetClockWrong = "fleet-clock-wrong", Error, "The clocks of this machine and of the fleet's server differ by more than 30 seconds; without a daemon that follows, leases end early or late.";
    FleetClockOff = "fleet-clock-off", Warning, "The clocks of this machine and of the fleet's server differ by more than 5 seconds.";
    FleetServerLacking = "fleet-server-lacking", Warning, "One of the fleet's servers is away, or does not have all yet, so that another one's end would stop every change.";
    FleetOneServer = "fleet-one-server", Note, "The fleet has one server: while it is away nothing shared is changed, and its disk is the only one that has the order.";
    FleetGateOpen = "fleet-gate-open", Note, "Agents run on a machine whose key may decide on briefs.";
    HomeReadOnly = "home-read-only", Warning, "The home, or a directory in it, can only be read.";
    ClockBeyond = "clock-beyond", Error, "The clock is before 1970 or after 9998, so nothing can be done by it.";
    ClockBehind = "clock-behind", Warning, "The clock is behind what was recorded: it jumped back, or jumped ahead before.";
    ZoneUnknown = "zone-unknown", Warning, "TZ names no time zone that is known here, so the days and times that you write and read are those of UTC.";
    WatchesFew = "watches-few", Note, "The machine allows fewer watches than there are directories to watch.";
    GitMissing = "git-missing", Warning, "Git cannot be run.";
    GitOld = "git-old", Note, "Git is older than 2.36.";
    DiskFull = "disk-full", Warning, "The disk of the home is nearly full.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_spelled_alike_and_say_what_they_mean() {
        for code in Code::ALL {
            let name = code.as_str();
            let is_kebab = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(is_kebab, "{name}");
            assert!(code.meaning().ends_with('.'), "{name}");
        }
    }
}
