/// The code of the error, without an id, that stands on a stream where events are missing.
///
/// Both sides know it: a server sends it, a client fails the call that waited.
///
/// What a client asked for with `Last-Event-ID` can be gone: too old, too much, of another
/// session, or never ours. Then the answer is no HTTP error, since the session goes on: it is
/// a stream that says so with an error of this code and goes on with what is still there. If
/// nothing is, it is a new stream of the session. A request whose response was lost has to be
/// given up, or sent again.
///
/// Its data says which it is: `{"lost": "some"}` where the stream goes on behind a gap, and
/// `{"lost": "stream"}` where nothing of it is there, or never was, and another one has begun.
pub const EVENTS_LOST: i64 = -31001;
