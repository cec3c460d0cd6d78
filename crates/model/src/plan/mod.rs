//! Placeholder until the plan lands.
