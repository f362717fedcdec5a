//! Events of a stream that can be resumed.

use std::time::Duration;

use bytes::BytesMut;

use crate::server::event_id::EventId;
use crate::sse::EventText;

/// Repeats a cursor, with the time after which the client is to come back to it.
pub(in crate::server) fn write_retry(id: EventId, retry: Duration, out: &mut BytesMut) {
    let text = id.to_text();
    if let Ok(event) = EventText::new(b"").with_id(text.as_str()) {
        event.with_retry(retry).write(out);
    }
}

pub(in crate::server) fn write_event(id: EventId, data: &[u8], out: &mut BytesMut) {
    let text = id.to_text();
    match EventText::new(data).with_id(text.as_str()) {
        Ok(event) => event.write(out),
        Err(_) => EventText::new(data).write(out),
    }
}
