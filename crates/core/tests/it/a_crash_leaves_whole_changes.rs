//! The power goes at any moment of any operation.
