//! The way to a fleet's order, tried on the real server.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests arrange the machine by hand"
)]

mod a_change_has_one_place;
mod a_fleet_is_founded_once;
mod a_kept_server_runs;
mod a_key_allows_so_much;
mod a_reader_misses_nothing;
mod a_server_alone_is_left;
mod a_server_dies_or_hangs;
mod a_servers_access_is_written_down;
mod a_servers_program_is_found;
mod a_stream_promises_what_it_must;
mod an_order_begins_anew;
mod kept;
mod machines_share_a_repository;
mod the_way_is_encrypted;
mod three_servers_keep_one_order;
mod what_it_costs;
mod world;
