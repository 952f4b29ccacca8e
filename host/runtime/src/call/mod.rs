//! One call of an add-on: a store of its own, limits, deadline, checked output.

pub mod report;
