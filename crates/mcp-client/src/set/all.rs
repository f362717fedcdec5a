use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Waits for all of them, side by side; the outputs in their order.
pub(super) async fn all<F: Future + Unpin>(futures: Vec<F>) -> Vec<F::Output> {
    let mut slots: Vec<Result<F::Output, F>> = futures.into_iter().map(Err).collect();
    poll_fn(|cx| {
        let mut waits = false;
        for slot in &mut slots {
            if let Err(future) = slot {
                match Pin::new(future).poll(cx) {
                    Poll::Ready(output) => *slot = Ok(output),
                    Poll::Pending => waits = true,
                }
            }
        }
        if waits { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    // None is left that is not ready.
    slots.into_iter().filter_map(Result::ok).collect()
}
