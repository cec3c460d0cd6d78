//! How several computers agree on one order of changes: the way to the server that keeps it.
//!
//! Owns what is NATS in Flagpost: names of streams and buckets, subjects, headers, the server's
//! configuration, and the rule by which an append is repeated until its answer is definite. One stream
//! per repository *is* that repository's order; nothing of consensus or storage is ours.
//!
//! A machine may keep that server for its fleet: whom it lets in, and that it runs, is owned here too.
//!
//! Every call blocks its thread, which must be none of the runtime's own. The crate knows no rules of tasks
//! or mail, and what a message says only core does.

mod access_sync;
mod address;
mod append;
mod backoff;
mod bucket;
mod certificate;
mod connect;
mod error;
mod fault;
mod fleet_record;
mod follow;
mod follower;
mod founder;
mod hub;
mod keeper;
mod link;
mod live;
mod locate_order;
mod membership;
mod order;
mod program;
mod refusals;
mod replica_health;
mod replica_invite;
mod reseed;
mod server;
mod server_config;
mod server_error;
mod share;
mod share_error;
mod standing;
mod stored;
mod stream;
mod worker_signs;

pub use access_sync::keep_same_access;
pub use address::{HostPort, InvalidInvitation, Invitation, PublicKey, Seed, Transport};
pub use append::{AppendError, Change};
pub use certificate::{Certificate, InvalidCertificate};
pub use connect::Deadlines;
pub use error::FleetError;
pub use fleet_record::{Fleet, FleetRecord, Keyed, ListRecord, MachineRecord, RepoRecord};
pub use follow::keep_up;
pub use follower::Follower;
pub use hub::Hub;
pub use keeper::KeeperEvent;
pub use link::runtime;
pub use live::{Live, LiveMachine, LiveMachines};
pub use membership::{Membership, MembershipError, machine_of};
pub use order::ordered;
pub use program::{ServerProgram, find_program};
pub use replica_invite::{InvalidReplicaInvite, ReplicaInvite, hand_out};
pub use reseed::{Begun, Behind, compact, restore};
pub use server::{KeptServer, ServerAccess};
pub use server_config::{Cluster, MachineAccess, MayDecide, ServerConfig, Unwritable};
pub use server_error::ServerError;
pub use share::{Joined, join, leave, share, shut_out};
pub use share_error::ShareError;
pub use standing::{standing, standing_alone};
pub use stored::{ChangeHeaders, Lane, Numbers, Stored, WIRE};
pub use stream::{Replicas, RepoStream, StreamEnd};
pub use tokio::runtime::Runtime;
