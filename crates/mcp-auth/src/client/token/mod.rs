//! The token endpoint: requests by the `oauth2` crate, answers as real providers give them.

mod answer;
mod carrier;
mod endpoint;
pub(crate) use self::answer::{TokenAnswer, read_error};
pub(crate) use self::endpoint::{Grant, ID_JAG, TokenEndpoint, refused_with};
