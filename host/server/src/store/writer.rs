//! One task owns the only connection that writes.
//!
//! A durable commit costs a flush of the disk, about as much for a hundred changes as for
//! one. So the task takes every change that waits, runs each in a savepoint of one
//! transaction, commits once, and only then answers. A change that fails or panics is undone
//! alone; a commit that fails answers every change in it with the error.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::{Connection, SqliteConnection, SqlitePool, query};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::error::StoreError;

/// Changes that may wait; a sender beyond that waits itself.
const QUEUE_CHANGES: usize = 1024;
/// Changes of one commit: bounds how long the first of them waits for the last.
const BATCH_CHANGES: usize = 256;

// A savepoint for each change. Ending one and beginning the next is one trip to the
// connection's thread, which costs more than the statements.
const FIRST_CHANGE: &str = "SAVEPOINT change";
const NEXT_CHANGE: &str = "RELEASE change; SAVEPOINT change";
/// The savepoint itself stays.
const UNDO_CHANGE: &str = "ROLLBACK TO change";

/// Runs inside the transaction, or is told why there is none.
type Change =
    Box<dyn for<'c> FnOnce(Result<&'c mut SqliteConnection, StoreError>) -> BoxFuture<'c, Applied> + Send>;
/// Answers the caller, once the commit has succeeded or failed.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// A change that has run, not yet durable.
struct Applied {
    failed: Option<StoreError>,
    answer: Answer,
}

/// The way to the writing task; ends the task when dropped.
pub(super) struct Writer {
    queue: mpsc::Sender<Change>,
    task: JoinHandle<()>,
}

impl Writer {
    /// Starts the task over a pool of exactly one connection.
    pub fn start(pool: SqlitePool) -> Self {
        let (queue, changes) = mpsc::channel(QUEUE_CHANGES);
        Self { queue, task: tokio::spawn(run(pool, changes)) }
    }

    /// Runs `change` in a transaction and returns its value when that is durable.
    pub async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let boxed: Change = Box::new(move |connection| {
            Box::pin(async move {
                let outcome = match connection {
                    Ok(connection) => {
                        let changing = AssertUnwindSafe(async { change(connection).await });
                        changing.catch_unwind().await.unwrap_or(Err(StoreError::Panicked))
                    }
                    Err(error) => Err(error),
                };
                let failed = outcome.as_ref().err().cloned();
                let answer = move |commit: Result<(), StoreError>| {
                    // A caller that has gone away does not need the answer.
                    let _ = reply.send(outcome.and_then(|value| commit.map(|()| value)));
                };
                Applied { failed, answer: Box::new(answer) }
            })
        });
        self.queue.send(boxed).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Finishes what waits, then ends the task.
    pub async fn close(self) {
        drop(self.queue);
        // A panic in the task has been reported by the runtime already.
        let _ = self.task.await;
    }
}

/// 1. Wait for a change, take those that wait as well.
/// 2. Run and commit them.
/// 3. Tell those that could not run.
/// 4. Answer each.
async fn run(pool: SqlitePool, mut queue: mpsc::Receiver<Change>) {
    let mut waiting = Vec::with_capacity(BATCH_CHANGES);
    while queue.recv_many(&mut waiting, BATCH_CHANGES).await > 0 {
        let mut answers = Vec::with_capacity(waiting.len());
        let mut changes = waiting.drain(..);
        let commit = commit_all(&pool, &mut changes, &mut answers).await;
        if let Err(error) = &commit {
            for change in changes {
                answers.push(change(Err(error.clone())).await.answer);
            }
        }
        for answer in answers {
            answer(commit.clone());
        }
    }
}

/// Runs the changes in one transaction and commits it. After an error the connection is
/// not used again: SQLite undoes a transaction by itself when the disk is full, and then
/// the connection's count of open savepoints is wrong.
async fn commit_all(
    pool: &SqlitePool,
    changes: &mut (dyn Iterator<Item = Change> + Send),
    answers: &mut Vec<Answer>,
) -> Result<(), StoreError> {
    let mut connection = pool.acquire().await?;
    let outcome = run_all(&mut connection, changes, answers).await;
    if outcome.is_err() {
        connection.close_on_drop();
    }
    outcome
}

async fn run_all(
    connection: &mut SqliteConnection,
    changes: &mut (dyn Iterator<Item = Change> + Send),
    answers: &mut Vec<Answer>,
) -> Result<(), StoreError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let mut savepoint = FIRST_CHANGE;
    for change in changes {
        if let Err(error) = query(savepoint).execute(&mut *transaction).await {
            let error = StoreError::from(error);
            answers.push(change(Err(error.clone())).await.answer);
            return Err(error);
        }
        savepoint = NEXT_CHANGE;
        let applied = change(Ok(&mut transaction)).await;
        answers.push(applied.answer);
        match applied.failed {
            None => {}
            Some(error @ (StoreError::Full(_) | StoreError::Locked)) => return Err(error),
            Some(_) => _ = query(UNDO_CHANGE).execute(&mut *transaction).await?,
        }
    }
    Ok(transaction.commit().await?)
}
