//! From a raw request to a job spec: every bound of the interface specification lives here.
