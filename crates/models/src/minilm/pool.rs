//! The threads on which the model runs, and the order of what waits for them.
//!
//! Embedding a pile of documents must not make a query wait. So the threads are few and their
//! own, queries go before documents, documents are taken up in batches of about one full
//! window, and even within a batch a waiting query is let in between two layers.
//!
//! A query that is over soon does without them while they rest: it runs on the thread that waits
//! for it. To wake another thread takes a while, and the system may put it on the very processor
//! of the one that woke it, while another processor is idle.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mnemic_core::embed::Purpose;
use mnemic_core::error::{Error, Result};
use tokio::sync::oneshot;

use super::TOKENS_MAX;
use super::encoder::{Encoder, Scratch, Sight, Tokens};
use super::wordpiece::WordPiece;

/// The size of one packed batch.
const BATCH_TOKENS_MAX: usize = TOKENS_MAX;

/// English prose has more than four bytes to a token; taking four overestimates slightly.
const BYTES_PER_TOKEN: usize = 4;

/// How long the thread that waits for a query may be held up by it. It may have others to serve.
const HERE_MAX: Duration = Duration::from_millis(5);

/// The most tokens that may stand aside; there is room for names, and the text keeps its own.
const ASIDE_TOKENS_MAX: usize = 32;

/// A text, and what stands aside of it.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) own: String,
    pub(crate) aside: String,
}

impl From<String> for Text {
    fn from(own: String) -> Self {
        Self { own, aside: String::new() }
    }
}

pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    encoder: Encoder,
    wordpiece: WordPiece,
    queues: Mutex<Queues>,
    work: Condvar,
    /// How many of the threads are at work.
    busy: AtomicUsize,
    pace: Pace,
    /// What threads outside of the pool compute in.
    scratches: Mutex<Vec<Scratch>>,
}

/// How many nanoseconds a token of a query took, the last ones counting most; 0 before the first.
#[derive(Default)]
struct Pace(AtomicU64);

#[derive(Default)]
struct Queues {
    queries: VecDeque<Waiting>,
    documents: VecDeque<Waiting>,
    closed: bool,
}

/// A request of which the texts from `next` on have not been taken up yet.
struct Waiting {
    request: Arc<Request>,
    next: usize,
}

struct Request {
    texts: Vec<Text>,
    progress: Mutex<Progress>,
}

struct Progress {
    seen: Vec<Sight>,
    missing: usize,
    /// Gone once the answer is given.
    answer: Option<oneshot::Sender<Vec<Sight>>>,
}

/// Some consecutive texts of one request.
struct Batch {
    request: Arc<Request>,
    first: usize,
    count: usize,
    purpose: Purpose,
}

impl Pool {
    pub(crate) fn start(encoder: Encoder, wordpiece: WordPiece, threads: usize) -> Result<Self> {
        let shared = Arc::new(Shared {
            encoder,
            wordpiece,
            queues: Mutex::default(),
            work: Condvar::new(),
            busy: AtomicUsize::new(0),
            pace: Pace::default(),
            scratches: Mutex::default(),
        });
        // Made first, so that threads already started end should a later one fail.
        let pool = Self { shared: Arc::clone(&shared) };
        for n in 0..threads.max(1) {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name(format!("embed-{n}"))
                .spawn(move || shared.work())
                .map_err(|e| Error::internal("no thread for the embedding model").caused_by(e))?;
        }
        Ok(pool)
    }

    pub(crate) async fn see(&self, texts: Vec<Text>, purpose: Purpose) -> Result<Vec<Sight>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        if let ([text], Purpose::Query) = (&texts[..], purpose)
            && let Some(seen) = self.shared.see_here(text)
        {
            return seen.map(|sight| vec![sight]);
        }
        let (answer, receiver) = oneshot::channel();
        let progress = Progress {
            seen: vec![Sight::default(); texts.len()],
            missing: texts.len(),
            answer: Some(answer),
        };
        let is_one = texts.len() == 1;
        let request = Arc::new(Request { texts, progress: Mutex::new(progress) });
        self.shared.queues().of(purpose).push_back(Waiting { request, next: 0 });
        // One text is work for one thread; waking the others would only take its processor.
        if is_one {
            self.shared.work.notify_one();
        } else {
            self.shared.work.notify_all();
        }
        receiver.await.map_err(|e| failed().caused_by(e))
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.shared.encoder
    }

    pub(crate) fn wordpiece(&self) -> &WordPiece {
        &self.shared.wordpiece
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.queues().closed = true;
        self.shared.work.notify_all();
    }
}

impl Shared {
    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of one thread.
    fn work(&self) {
        let (mut scratch, mut urgent_scratch) = (Scratch::default(), Scratch::default());
        while let Some(batch) = self.wait() {
            self.busy.fetch_add(1, Ordering::Relaxed);
            // A fault in one batch costs that request its answer, not everyone the thread.
            let run = || self.run(&batch, &mut scratch, &mut urgent_scratch);
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                batch.request.progress().answer = None;
                tracing::error!("embedding a batch of {} texts panicked", batch.count);
            }
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A query on the thread that asks; nothing, where it takes too long for that, or where the
    /// threads of the pool are at work and would have to share their processors.
    fn see_here(&self, text: &Text) -> Option<Result<Sight>> {
        if self.busy.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let texts = [self.tokens(text)];
        if self.pace.expected(texts[0].ids.len()) > HERE_MAX {
            return None;
        }
        let lock = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let run = || self.forward(&texts, Purpose::Query, &mut scratch, &mut || {});
        let Ok(seen) = catch_unwind(AssertUnwindSafe(run)) else {
            tracing::error!("embedding a query panicked");
            return Some(Err(failed()));
        };
        lock().push(scratch);
        seen.into_iter().next().map(Ok)
    }

    fn wait(&self) -> Option<Batch> {
        let mut queues = self.queues();
        loop {
            if queues.closed {
                return None;
            }
            let next = queues.take();
            if next.is_some() {
                return next;
            }
            queues = self.work.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self, batch: &Batch, scratch: &mut Scratch, urgent_scratch: &mut Scratch) {
        self.embed(batch, scratch, &mut || {
            if batch.purpose == Purpose::Document {
                let urgent = self.queues().take_of(Purpose::Query);
                if let Some(urgent) = urgent {
                    self.embed(&urgent, urgent_scratch, &mut || {});
                }
            }
        });
    }

    fn embed(&self, batch: &Batch, scratch: &mut Scratch, between_layers: &mut dyn FnMut()) {
        let texts = batch.request.texts[batch.first..].iter().take(batch.count);
        let mut ids: Vec<_> = texts.map(|text| self.tokens(text)).collect();
        let mut first = batch.first;
        while !ids.is_empty() {
            let rest = ids.split_off(packed(&ids));
            if batch.request.progress().is_abandoned() {
                return;
            }
            let seen = self.forward(&ids, batch.purpose, scratch, between_layers);
            batch.request.progress().put(first, seen);
            first += ids.len();
            ids = rest;
        }
    }

    fn forward(
        &self,
        texts: &[Tokens],
        purpose: Purpose,
        scratch: &mut Scratch,
        between_layers: &mut dyn FnMut(),
    ) -> Vec<Sight> {
        let started = Instant::now();
        let told = |id| self.wordpiece.is_told(id);
        let seen = self.encoder.forward(texts, told, scratch, between_layers);
        if purpose == Purpose::Query {
            let tokens = texts.iter().map(|text| text.ids.len()).sum();
            self.pace.note(tokens, started.elapsed());
        }
        seen
    }

    fn tokens(&self, text: &Text) -> Tokens {
        let mut aside = Vec::new();
        if !text.aside.is_empty() {
            aside = self.wordpiece.encode(&text.aside, ASIDE_TOKENS_MAX);
            // The marks of begin and end are the text's.
            aside.pop();
            aside.remove(0);
        }
        let mut ids = self.wordpiece.encode(&text.own, TOKENS_MAX - aside.len());
        ids.extend_from_slice(&aside);
        Tokens { ids, aside: aside.len() }
    }
}

impl Pace {
    /// How long so many tokens take. Before the first it is not known, and found out by trying.
    fn expected(&self, tokens: usize) -> Duration {
        let tokens = u64::try_from(tokens).unwrap_or(u64::MAX);
        Duration::from_nanos(self.0.load(Ordering::Relaxed).saturating_mul(tokens))
    }

    fn note(&self, tokens: usize, took: Duration) {
        let nanos = took.as_nanos() / tokens.max(1) as u128;
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        let before = self.0.load(Ordering::Relaxed);
        let usual = if before == 0 { nanos } else { before.midpoint(nanos) };
        // Where two note at once, either will do.
        self.0.store(usual, Ordering::Relaxed);
    }
}

fn failed() -> Error {
    Error::internal("the embedding model failed")
}

/// How many of the texts go into one pass; the estimate by bytes may have been too low.
fn packed(ids: &[Tokens]) -> usize {
    let mut total = 0;
    let fits = |text: &&Tokens| {
        total += text.ids.len();
        total <= BATCH_TOKENS_MAX
    };
    ids.iter().take_while(fits).count().max(1)
}

impl Queues {
    fn take(&mut self) -> Option<Batch> {
        self.take_of(Purpose::Query).or_else(|| self.take_of(Purpose::Document))
    }

    /// The next batch of a queue. A request whose caller has gone is dropped on the way.
    fn take_of(&mut self, purpose: Purpose) -> Option<Batch> {
        let queue = self.of(purpose);
        while let Some(waiting) = queue.front_mut() {
            let request = Arc::clone(&waiting.request);
            if request.progress().is_abandoned() {
                queue.pop_front();
                continue;
            }
            let first = waiting.next;
            let mut total = 0;
            let fits = |text: &&Text| {
                let bytes = text.own.len() + text.aside.len();
                total += (bytes / BYTES_PER_TOKEN + 2).min(TOKENS_MAX);
                total <= BATCH_TOKENS_MAX
            };
            let count = request.texts[first..].iter().take_while(fits).count().max(1);
            waiting.next += count;
            if waiting.next >= request.texts.len() {
                queue.pop_front();
            }
            return Some(Batch { request, first, count, purpose });
        }
        None
    }

    fn of(&mut self, purpose: Purpose) -> &mut VecDeque<Waiting> {
        match purpose {
            Purpose::Query => &mut self.queries,
            Purpose::Document => &mut self.documents,
        }
    }
}

impl Request {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// Nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool {
        self.answer.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    fn put(&mut self, first: usize, seen: Vec<Sight>) {
        self.missing -= seen.len();
        for (slot, seen) in self.seen[first..].iter_mut().zip(seen) {
            *slot = seen;
        }
        if self.missing == 0
            && let Some(answer) = self.answer.take()
        {
            // The caller may have gone; then nobody misses the vectors.
            let _ = answer.send(std::mem::take(&mut self.seen));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_follows_what_was_measured_last() {
        let pace = Pace::default();
        assert_eq!(pace.expected(256), Duration::ZERO, "nothing is known of it");
        pace.note(10, Duration::from_millis(10));
        assert_eq!(pace.expected(20), Duration::from_millis(20));
        (0..20).for_each(|_| pace.note(20, Duration::from_millis(1)));
        assert!(pace.expected(20) < Duration::from_micros(1_100), "{:?}", pace.expected(20));
        pace.note(0, Duration::from_secs(1));
        assert!(pace.expected(usize::MAX) > HERE_MAX, "what overflows takes long");
    }
}
