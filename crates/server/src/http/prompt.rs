//! Polls a future again at once where it has woken itself.
//!
//! Whoever reads the body of a request wakes the connection that it came over, and so the very task
//! that reads. A runtime would put that task into its queue and wake another thread for it, which
//! finds nothing to do and, where there are few processors, takes one from the client that has just
//! been answered.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// So often in a row; then others get their turn.
const POLLS_MAX: usize = 8;

const IDLE: u8 = 0;
const POLLED: u8 = 1;
const WOKEN: u8 = 2;

/// A future that goes on at once where it can.
pub(super) struct Prompt<F> {
    inner: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// The waker that rings the bell.
    waker: Waker,
}

impl<F: Future> Prompt<F> {
    pub(super) fn new(inner: F) -> Self {
        let bell = Arc::<Bell>::default();
        Self { inner: Box::pin(inner), waker: bell.clone().into(), bell }
    }
}

impl<F: Future> Future for Prompt<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { inner, bell, waker } = &mut *self;
        bell.belongs_to(cx.waker());
        for _ in 0..POLLS_MAX {
            // Whatever rang before is answered by the poll that follows.
            bell.state.store(POLLED, Ordering::SeqCst);
            if let Poll::Ready(output) = inner.as_mut().poll(&mut Context::from_waker(waker)) {
                return Poll::Ready(output);
            }
            let (expected, next) = (POLLED, IDLE);
            let order = Ordering::SeqCst;
            if bell.state.compare_exchange(expected, next, order, order).is_ok() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Wakes the task, unless it is being polled just now and will look by itself.
#[derive(Default)]
struct Bell {
    state: AtomicU8,
    task: Mutex<Option<Waker>>,
}

impl Bell {
    fn belongs_to(&self, waker: &Waker) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(WOKEN, Ordering::SeqCst) == IDLE {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if let Some(task) = task {
                task.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts how often a task would be put into its runtime's queue.
    #[derive(Default)]
    struct Queue(AtomicUsize);

    impl Wake for Queue {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn one_that_wakes_itself_is_polled_again_without_a_queue() {
        let queue = Arc::<Queue>::default();
        let mut polls = 0;
        let mut prompt = Prompt::new(poll_fn(move |cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            if polls == 3 { Poll::Ready(polls) } else { Poll::Pending }
        }));
        let waker = queue.clone().into();
        let ready = Pin::new(&mut prompt).poll(&mut Context::from_waker(&waker));
        assert_eq!((ready, queue.0.load(Ordering::SeqCst)), (Poll::Ready(3), 0));
    }

    #[test]
    fn one_that_never_stops_lets_others_have_their_turn() {
        let queue = Arc::<Queue>::default();
        let mut prompt = Prompt::new(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        let waker = queue.clone().into();
        for turn in 1..4 {
            assert!(Pin::new(&mut prompt).poll(&mut Context::from_waker(&waker)).is_pending());
            assert_eq!(queue.0.load(Ordering::SeqCst), turn);
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_from_elsewhere_is_lost() {
        for _ in 0..2_000 {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let waiting = tokio::spawn(Prompt::new(receiver));
            tokio::spawn(async move { sender.send(7) });
            assert_eq!(waiting.await.unwrap().unwrap(), 7);
        }
    }
}
