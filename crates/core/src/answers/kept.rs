//! What is kept until the fleet of machines hears of it.

use flagpost_model::{RepoId, WorkerId, view};

view! {
    /// A report that is kept: the fleet of machines has not heard it yet.
    ///
    /// After 'flagpost done', 'fail', 'stuck', 'worker report', 'worker ack', 'msg send' and 'msg ack' in a
    /// shared repository whose fleet cannot be reached. It is told as soon as that is possible.
    pub struct KeptAnswer {
        /// The operation: `task.done`.
        operation: &'static str,
        /// Who says so.
        worker: WorkerId,
        /// In which repository.
        repo: RepoId,
        /// The same in words.
        pub note: &'static str,
    }
}
