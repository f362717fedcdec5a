//! Icons of a server, as what they are: pictures that a stranger has chosen.

use std::error::Error;
use std::fmt;

use mcp_types::{Base64, Icon, IconUri};

mod format;
pub use format::IconFormat;

mod guard;
pub use guard::{IconGuard, IconLimits};

/// A picture that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedIcon {
    /// What it is, by its own bytes.
    pub format: IconFormat,
    /// Its width and height in pixels; none for a picture that scales.
    pub size: Option<(u32, u32)>,
    /// The picture.
    pub bytes: Vec<u8>,
}

/// What to fetch, by one GET: without cookies, credentials and `Authorization`, without following
/// redirects, over TLS whose certificate is checked, and with no more of the body than
/// [`max_bytes`](Self::max_bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IconRequest {
    /// An `https:` URL.
    pub url: String,
    /// The most of the body that is of use: one byte more is too much.
    pub max_bytes: usize,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is what is looked at of a response")]
pub struct IconResponse {
    /// The status.
    pub status: u16,
    /// `Location`, where a redirect leads.
    pub location: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// An icon that is not shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IconError {
    /// Its URI is no place for an icon: only `https:` and `data:` are.
    #[error("the URI of an icon is not safe")]
    Unsafe,
    /// It lies neither at the server's origin nor at one that is trusted.
    #[error("an icon at {authority} is not the server's")]
    Foreign {
        /// Where it lies.
        authority: String,
    },
    /// It was moved to another origin, to another scheme, or too often.
    #[error("an icon is redirected to where it is not looked for")]
    Redirect,
    /// It was not found.
    #[error("an icon was answered by status {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// It could not be fetched.
    #[error("an icon could not be fetched")]
    Fetch(#[source] Box<dyn Error + Send + Sync>),
    /// A `data:` URI that is none of base64.
    #[error("the data of an icon can't be decoded")]
    Data,
    /// It has more bytes than are taken.
    #[error("an icon has more than {limit} bytes")]
    TooManyBytes {
        /// The limit.
        limit: usize,
    },
    /// It is larger than is shown.
    #[error("an icon of {width} by {height} pixels is too large")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// It has more pictures than are shown.
    #[error("an icon has more than {limit} frames")]
    TooManyFrames {
        /// The limit.
        limit: usize,
    },
    /// By its bytes it is no picture that is known, or it is cut off.
    #[error("an icon is no picture of a known kind")]
    Unknown,
    /// It is a picture of a kind that is not taken.
    #[error("icons of this kind are not taken: {format}")]
    Format {
        /// The kind.
        format: IconFormat,
    },
    /// It is said to be something else.
    #[error("an icon that is said to be {said} is {format}")]
    Mismatch {
        /// What it is said to be.
        said: String,
        /// What it is.
        format: IconFormat,
    },
    /// It holds what can't be shown safely.
    #[error("an icon was refused by the sanitizer")]
    Refused,
}

/// The bytes and the media type of a `data:` URI.
fn data_of(uri: &IconUri, limit: usize) -> Result<(String, Vec<u8>), IconError> {
    let rest = uri.as_str().get(5..).ok_or(IconError::Data)?;
    let (head, data) = rest.split_once(',').ok_or(IconError::Data)?;
    let kind = head.strip_suffix(";base64").ok_or(IconError::Data)?;
    if data.len() / 4 * 3 > limit.saturating_add(3) {
        return Err(IconError::TooManyBytes { limit });
    }
    let bytes = Base64::from(data.to_owned()).decode().map_err(|_| IconError::Data)?;
    Ok((kind.split(';').next().unwrap_or_default().to_owned(), bytes))
}

/// What is said about an icon before its bytes are there.
fn said_of(icon: &Icon) -> Option<&str> {
    icon.mime_type.as_deref()
}

impl fmt::Display for IconFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.media_type())
    }
}
