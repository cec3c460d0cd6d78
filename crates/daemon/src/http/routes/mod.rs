//! The routes: where each operation is asked for, and what only the daemon answers, a file for each
//! subject.
//!
//! Owns which there are.

mod browser;
mod events;
mod kanban;
mod slash;
mod this_daemon;

use flagpost_core::operations::Operation as Op;

use super::route::{
    ParamLocation::Query,
    Route,
    Verb::{Get, Post},
};

/// Every route there is.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    [
        this_daemon::ROUTES,
        browser::ROUTES,
        OPERATIONS,
        slash::ROUTES,
        events::ROUTES,
        kanban::ROUTES,
    ]
    .into_iter()
    .flatten()
}

/// Where the operations of the table are asked for.
const OPERATIONS: &[Route] = &[
    Route::to(Get, "/v1/operations", Op::OperationList),
    Route::to(Get, "/v1/repositories", Op::RepositoryList),
    Route::to(Get, "/v1/status", Op::StatusShow),
    Route::to(Get, "/v1/needs", Op::NeedsList),
    Route::to(Get, "/v1/config", Op::ConfigShow),
    Route::to(Get, "/v1/doctor", Op::HomeExamine),
    Route::to(Get, "/v1/search", Op::TextSearch),
    Route::to(Get, "/v1/graph", Op::TaskGraph),
    Route::to(Get, "/v1/tasks", Op::TaskList),
    Route::to(Get, "/v1/tasks/{list}/{id}", Op::TaskShow),
    Route::to(Post, "/v1/tasks", Op::TaskAdd).with(Query, &["list"]),
    Route::to(Post, "/v1/tasks/{list}/{id}/edit", Op::TaskEdit),
    Route::to(Post, "/v1/claims", Op::TaskNext).with(Query, &["list"]),
    Route::to(Post, "/v1/tasks/{list}/{id}/claim", Op::TaskClaim),
    Route::to(Post, "/v1/tasks/{list}/{id}/start", Op::TaskStart),
    Route::to(Post, "/v1/tasks/{list}/{id}/done", Op::TaskDone),
    Route::to(Post, "/v1/tasks/{list}/{id}/fail", Op::TaskFail),
    Route::to(Post, "/v1/tasks/{list}/{id}/stuck", Op::TaskStuck),
    Route::to(Post, "/v1/tasks/{list}/{id}/answer", Op::TaskAnswer),
    Route::to(Post, "/v1/tasks/{list}/{id}/renew", Op::TaskRenew),
    Route::to(Post, "/v1/tasks/{list}/{id}/release", Op::TaskRelease),
    Route::to(Post, "/v1/tasks/{list}/{id}/reopen", Op::TaskReopen),
    Route::to(Post, "/v1/tasks/{list}/{id}/cancel", Op::TaskCancel),
    Route::to(Post, "/v1/tasks/{list}/{id}/note", Op::TaskNote),
    Route::to(Post, "/v1/tasks/{list}/{id}/blockers", Op::TaskLink),
    Route::to(Post, "/v1/tasks/{list}/{id}/remove", Op::TaskRemove),
    Route::to(Get, "/v1/tasks/{list}/{id}/history", Op::TaskHistory),
    Route::to(Get, "/v1/tasks/{list}/{id}/diff", Op::TaskDiff),
    Route::to(Post, "/v1/tasks/{list}/{id}/approve", Op::ReviewApprove),
    Route::to(Post, "/v1/tasks/{list}/{id}/return", Op::ReviewReturn),
    Route::to(Get, "/v1/tasks/{list}/{id}/log", Op::SessionLog),
    Route::to(Post, "/v1/tasks/{list}/undo", Op::TaskUndo),
    Route::to(Get, "/v1/workers", Op::WorkerList),
    Route::to(Get, "/v1/workers/{worker}", Op::WorkerShow),
    Route::to(Post, "/v1/workers", Op::WorkerJoin),
    Route::to(Post, "/v1/workers/{worker}/heartbeat", Op::WorkerHeartbeat),
    Route::to(Post, "/v1/relay/allocate-seq", Op::MailAllocate)
        .with(Query, &["worker", "direction"]),
    Route::to(Post, "/v1/relay/next", Op::BriefNext),
    Route::to(Post, "/v1/relay/ack", Op::BriefAck),
    Route::to(Post, "/v1/relay/propose", Op::BriefPropose),
    Route::to(Post, "/v1/relay/report", Op::ReportSend),
    Route::to(Get, "/v1/relay/inbox", Op::BriefList),
    Route::to(Get, "/v1/relay/inbox/{worker}/{seq}", Op::BriefShow),
    Route::to(Get, "/v1/relay/outbox", Op::ReportList),
    Route::to(Post, "/v1/relay/outbox/{worker}/{seq}/read", Op::ReportRead),
    Route::to(Post, "/v1/relay/outbox/ratify", Op::BriefRatify),
    Route::to(Get, "/v1/permissions", Op::PermissionList),
    Route::to(Get, "/v1/permissions/{request}", Op::PermissionShow),
    Route::to(Post, "/v1/permissions/{request}/allow", Op::PermissionAllow),
    Route::to(Post, "/v1/permissions/{request}/deny", Op::PermissionDeny),
    Route::to(Get, "/v1/messages", Op::MessageList),
    Route::to(Post, "/v1/messages", Op::MessageSend),
    Route::to(Get, "/v1/messages/open", Op::MessageUnacked),
    Route::to(Get, "/v1/messages/waiting", Op::MessageWait),
    Route::to(Post, "/v1/messages/receive", Op::MessageReceive)
        .with(Query, &["thread", "subject", "from", "lease", "restart"]),
    Route::to(Get, MESSAGE, Op::MessageShow),
    Route::to(Post, ACK, Op::MessageAck),
    Route::to(Get, "/v1/threads/{thread}", Op::MessageThread),
    Route::to(Get, "/v1/reservations", Op::ReservationList),
    Route::to(Post, "/v1/reservations", Op::ReservationAdd),
    Route::to(Post, "/v1/reservations/release", Op::ReservationRelease),
    Route::to(Get, "/v1/sessions", Op::SessionList),
    Route::to(Get, "/v1/sessions/{id}", Op::SessionShow),
    Route::to(Get, "/v1/sessions/{id}/timeline", Op::SessionTimeline),
    Route::to(Get, "/v1/sessions/{id}/documents", Op::SessionDocuments),
    Route::to(Post, "/v1/stop", Op::RunStop),
    Route::to(Get, "/v1/landing", Op::LandingShow),
    Route::to(Post, "/v1/landing", Op::LandingStart).with(Query, &["list"]),
    Route::to(Get, "/v1/history", Op::HistoryShow),
];

const MESSAGE: &str = "/v1/messages/{worker}/{direction}/{seq}";
const ACK: &str = "/v1/messages/{worker}/{direction}/{seq}/ack";
