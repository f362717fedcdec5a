use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Which of two futures was ready first.
pub(super) enum First<A, B> {
    A(A),
    B(B),
}

/// Waits for the first of two; `a` when both are ready. The other one is dropped.
pub(super) async fn race<A, B>(
    a: impl Future<Output = A>,
    b: impl Future<Output = B>,
) -> First<A, B> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| {
        if let Poll::Ready(a) = a.as_mut().poll(cx) {
            return Poll::Ready(First::A(a));
        }
        b.as_mut().poll(cx).map(First::B)
    })
    .await
}
