//! Add-ons of a job: which, in what order, with what outcome.
