use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Waker};

use mcp_jsonrpc::peer::PendingCall;

/// Requests that are sent by something that is dropped: nobody waits for their answers, and they
/// are not to be given up.
#[derive(Debug, Default)]
pub(crate) struct Farewells(Mutex<VecDeque<PendingCall>>);

/// How many of them may be unanswered. The oldest are given up.
const UNANSWERED: usize = 64;

impl Farewells {
    pub(crate) fn say(&self, mut call: PendingCall) {
        let unanswered = |call: &mut PendingCall| {
            Pin::new(call).poll(&mut Context::from_waker(Waker::noop())).is_pending()
        };
        let mut over = None;
        // The first poll queues it.
        if unanswered(&mut call) {
            let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            calls.retain_mut(unanswered);
            if calls.len() == UNANSWERED {
                over = calls.pop_front();
            }
            calls.push_back(call);
        }
        drop(over);
    }
}
