//! The screens.
//!
//! Owns their order, which is that of their keys.

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// Who works on what.
    Fleet,
    /// The tasks by state.
    Board,
    /// The tasks in a list.
    Tasks,
    /// What waits for the operator.
    Inbox,
    /// The session.
    Run,
    /// Messages.
    Mail,
}

impl Tab {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 6] = [
        Self::Fleet,
        Self::Board,
        Self::Tasks,
        Self::Inbox,
        Self::Run,
        Self::Mail,
    ];

    /// Its name.
    pub fn title(self) -> &'static str {
        match self {
            Self::Fleet => "Fleet",
            Self::Board => "Board",
            Self::Tasks => "Tasks",
            Self::Inbox => "Inbox",
            Self::Run => "Run",
            Self::Mail => "Mail",
        }
    }
}
