//! Claims jobs and takes each along its path.
