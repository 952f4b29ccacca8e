//! The priorities of threads: what computes or talks to other hosts gives way to the API, whose
//! clients wait by the millisecond.

/// Nice value of inference: whoever polls is answered at once, and inference takes all that
/// is left.
pub const INFERENCE: i32 = 5;

/// Nice value of what talks to other hosts. They decide how much work an answer makes: sixteen
/// that send as fast as they can leave inference half of the cores, and beside inference one
/// download still gets a tenth of one.
pub const OUTGOING: i32 = 15;

/// Gives the calling thread, and those it starts, this nice value. Elsewhere the value belongs
/// to the whole process and stays as it is.
#[cfg(target_os = "linux")]
pub fn give_way(nice: i32) {
    if let Err(error) = rustix::process::setpriority_process(None, nice) {
        tracing::warn!(%error, "a thread runs at the priority of the rest");
    }
}

/// See above.
#[cfg(not(target_os = "linux"))]
pub fn give_way(_nice: i32) {}
