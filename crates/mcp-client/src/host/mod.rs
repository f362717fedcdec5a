//! What a host owes its person, as ready parts: none of them is in the way of who does it
//! otherwise.
//!
//! | part | what it is for |
//! |---|---|
//! | [`RateLimit`] | how often a server may ask the model and the person |
//! | [`UrlNotice`] | what to show before a URL is opened |
//! | [`LocalRoots`] | directories as roots, inside of what is allowed |
//! | [`choose_model`] | which model a server's preferences mean |
//! | [`IconGuard`] | icons of a server, fetched and checked |
//! | [`ToolHints`] | what a tool says about itself, believed or not |
//!
//! Approval is asked for by [`Builder::approve_with`](crate::Builder::approve_with), before a
//! server's request reaches its handler, and by
//! [`Builder::approve_calls`](crate::Builder::approve_calls), before a tool is called.
//! [`form`](crate::form) reads what a server asks in a form.

mod call;
pub(crate) use call::ApproveCall;
pub use call::CallWish;

mod rate;
pub use rate::RateLimit;

mod url;
pub use url::{NoUrl, UrlNotice, UrlWarning};

mod local_roots;
pub use local_roots::{LocalRoots, RootError};

mod model;
pub use model::{ModelTraits, choose_model};

mod icon;
pub use icon::{
    IconError, IconFormat, IconGuard, IconLimits, IconRequest, IconResponse, LoadedIcon,
};

mod hints;
pub use hints::{ToolHints, Trust};
