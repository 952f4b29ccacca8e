//! The threads that run inference, and who is next.
//!
//! There are as many lanes as processor cores. A lane takes one piece of work at a time and
//! uses its share of the cores: all of them alone, one where every lane has work. Jobs take
//! turns, so that a long file does not keep short ones waiting.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

use crate::priority;

/// One piece of work: gets the number of threads to use, and returns the report to its job.
/// The lane calls itself free before it gives the report: a job that answers with its next
/// work finds this lane free, and that work gets its share of the cores.
pub type Work = Box<dyn FnOnce(usize) -> Report + Send>;
/// Tells a job that its work is done.
pub type Report = Box<dyn FnOnce()>;

/// Tells jobs apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn(u64);

/// The lanes; dropping them waits for the work in progress and drops what is queued.
pub struct Lanes {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

struct Queue {
    /// Jobs with work waiting; the first one is next.
    waiting: VecDeque<(Turn, VecDeque<Work>)>,
    running: usize,
    last_turn: u64,
    is_closed: bool,
}

impl Lanes {
    /// Starts the threads.
    pub fn start(count: usize) -> std::io::Result<Self> {
        let queue = Queue { waiting: VecDeque::new(), running: 0, last_turn: 0, is_closed: false };
        let shared = Arc::new(Shared { queue: Mutex::new(queue), changed: Condvar::new() });
        let mut lanes = Self { shared: Arc::clone(&shared), threads: Vec::new() };
        for number in 0..count {
            let shared = Arc::clone(&shared);
            let run = move || {
                priority::give_way(priority::INFERENCE);
                run(&shared, count);
            };
            lanes.threads.push(std::thread::Builder::new().name(format!("inference-{number}")).spawn(run)?);
        }
        Ok(lanes)
    }

    /// A new place in the round of jobs.
    pub fn turn(&self) -> Turn {
        let mut queue = self.shared.lock();
        queue.last_turn += 1;
        Turn(queue.last_turn)
    }

    /// Queues work behind the other work of the same job. All at once, so that no lane takes
    /// the first piece for the only one.
    pub fn submit(&self, turn: Turn, works: Vec<Work>) {
        if works.is_empty() {
            return;
        }
        let mut queue = self.shared.lock();
        match queue.waiting.iter_mut().find(|(other, _)| *other == turn) {
            Some((_, waiting)) => waiting.extend(works),
            None => queue.waiting.push_back((turn, VecDeque::from(works))),
        }
        drop(queue);
        self.shared.changed.notify_all();
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        {
            let mut queue = self.shared.lock();
            queue.is_closed = true;
            queue.waiting.clear();
        }
        self.shared.changed.notify_all();
        let current = std::thread::current().id();
        for thread in self.threads.drain(..) {
            // The last owner may be the work of a lane, which cannot wait for itself.
            if thread.thread().id() != current {
                // A lane catches the panics of its work and has none of its own.
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().expect("no work runs under the lock")
    }

    /// The next work and its share of `count` cores; `None` when the lanes close.
    fn next(&self, count: usize) -> Option<(Work, usize)> {
        let mut queue = self.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some((turn, mut works)) = queue.waiting.pop_front() {
                let work = works.pop_front().expect("a job in the round has work");
                if !works.is_empty() {
                    queue.waiting.push_back((turn, works));
                }
                queue.running += 1;
                let waiting: usize = queue.waiting.iter().map(|(_, works)| works.len()).sum();
                return Some((work, (count / (queue.running + waiting)).max(1)));
            }
            queue = self.changed.wait(queue).expect("no work runs under the lock");
        }
    }
}

/// One lane: takes work, runs it, counts itself free, reports.
fn run(shared: &Shared, count: usize) {
    while let Some((work, threads)) = shared.next(count) {
        let report = catch_unwind(AssertUnwindSafe(|| work(threads)));
        shared.lock().running -= 1;
        match report {
            Ok(report) => report(),
            Err(_) => tracing::error!("inference panicked"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    /// Work that reports the threads it got under a name.
    fn work(name: &'static str, done: &mpsc::Sender<(&'static str, usize)>) -> Work {
        let done = done.clone();
        Box::new(move |threads| Box::new(move || done.send((name, threads)).expect("the test listens")))
    }

    #[test]
    fn jobs_take_turns() {
        let lanes = Lanes::start(1).expect("threads start");
        let (gate, wait) = mpsc::channel::<()>();
        let (done, order) = mpsc::channel();
        let (long, short) = (lanes.turn(), lanes.turn());
        let blocked = move |_| {
            wait.recv_timeout(SOON).expect("the gate opens");
            Box::new(|| {}) as Report
        };
        lanes.submit(lanes.turn(), vec![Box::new(blocked)]);
        for name in ["long 1", "long 2", "long 3"] {
            lanes.submit(long, vec![work(name, &done)]);
        }
        lanes.submit(short, vec![work("short", &done)]);
        gate.send(()).expect("the work waits");
        let order: Vec<_> = (0..4).map(|_| order.recv_timeout(SOON).expect("work runs").0).collect();
        assert_eq!(order, ["long 1", "short", "long 2", "long 3"]);
    }

    #[test]
    fn work_gets_its_share_of_the_threads() {
        let lanes = Lanes::start(2).expect("threads start");
        let (done, threads) = mpsc::channel();
        let turn = lanes.turn();
        for _ in 0..20 {
            lanes.submit(turn, vec![work("alone", &done)]);
            assert_eq!(threads.recv_timeout(SOON), Ok(("alone", 2)));
            lanes.submit(turn, vec![work("first", &done), work("second", &done)]);
            let mut both = [threads.recv_timeout(SOON), threads.recv_timeout(SOON)];
            both.sort_by_key(|one| one.as_ref().is_ok_and(|(name, _)| *name == "second"));
            assert_eq!(both[0], Ok(("first", 1)));
        }
        let (gate, wait) = mpsc::channel::<()>();
        let (begun, began) = mpsc::channel();
        let blocked = move |_| {
            begun.send(()).expect("the test listens");
            wait.recv_timeout(SOON).expect("the gate opens");
            Box::new(|| {}) as Report
        };
        lanes.submit(turn, vec![Box::new(blocked)]);
        began.recv_timeout(SOON).expect("the first work runs");
        lanes.submit(turn, vec![work("beside", &done)]);
        assert_eq!(threads.recv_timeout(SOON), Ok(("beside", 1)));
        gate.send(()).expect("the work waits");
    }

    #[test]
    fn a_panic_costs_only_itself() {
        let lanes = Lanes::start(1).expect("threads start");
        let turn = lanes.turn();
        lanes.submit(turn, vec![Box::new(|_| panic!("on purpose"))]);
        let (done, threads) = mpsc::channel();
        lanes.submit(turn, vec![work("next", &done)]);
        assert_eq!(threads.recv_timeout(SOON), Ok(("next", 1)));
    }
}
