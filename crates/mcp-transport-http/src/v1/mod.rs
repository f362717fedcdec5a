//! The boundaries of this crate, version 1.
//!
//! Within `v1` there are only additions; a break is `v2` beside it.

mod auth;
pub use self::auth::{
    AnswerHead, AuthorizeError, Authorizer, Credentials, Departure, Operation, Partition, Stamp,
    Verdict,
};

mod event_log;
pub use self::event_log::{EventLog, LogError, LogPage, LoggedEvent, ReadError, StreamKey};

mod guard;
pub use self::guard::{Admission, Guard, Principal, Refusal};

mod session_store;
pub use self::session_store::{SessionRecord, SessionStore, StoreError};

mod step;
pub use self::step::{BoxFuture, Step};
