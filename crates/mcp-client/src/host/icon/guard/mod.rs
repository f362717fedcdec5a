use std::error::Error;
use std::fmt;
use std::sync::Arc;

use mcp_types::{Icon, IconUri};

use super::format::look;
use super::{IconError, IconFormat, IconRequest, IconResponse, LoadedIcon, data_of, said_of};

/// Makes an SVG safe to show, or refuses it.
type Sanitizer = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What an icon has to keep to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IconLimits {
    /// Bytes; 512 KiB by default.
    pub bytes: usize,
    /// Pixels on each side; 2,048 by default.
    pub side: u32,
    /// Pictures of an animation; 64 by default.
    pub frames: usize,
    /// Redirects that are followed, all within the origin; 3 by default.
    pub redirects: usize,
}

impl IconLimits {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: 512 * 1024, side: 2048, frames: 64, redirects: 3 }
    }
}

impl Default for IconLimits {
    fn default() -> Self {
        Self::new()
    }
}

/// Decides about a server's icons: which are fetched, and which of those are shown.
///
/// Nothing is fetched but by [`load`](Self::load), and that through a closure of yours, which is
/// handed one request after the other and does no more than it says.
///
/// - Only `https:` and `data:`, and `https:` only at the server's own origin or at one that was
///   [trusted](Self::trust).
/// - Redirects only within the origin.
/// - PNG, JPEG and WebP; other kinds only when they were [allowed](Self::allow). What a picture is
///   is found in its bytes, and has to be what it is said to be.
/// - Nothing beyond the [limits](Self::limits).
///
/// ```
/// use mcp_client::host::{IconError, IconGuard, IconResponse, LoadedIcon};
///
/// # async fn get(url: &str, most: usize) -> std::io::Result<IconResponse> { Ok(IconResponse::default()) }
/// # async fn example(icon: &mcp_types::Icon) -> Result<LoadedIcon, IconError> {
/// let guard = IconGuard::of_server("https://mcp.example.com/mcp");
/// guard.load(icon, |request| async move { Ok(get(&request.url, request.max_bytes).await?) }).await
/// # }
/// ```
///
/// Specification: [icons](https://modelcontextprotocol.io/specification/2025-11-25/basic#icons).
#[derive(Clone)]
pub struct IconGuard {
    authorities: Vec<String>,
    formats: Vec<IconFormat>,
    sanitizer: Option<Arc<Sanitizer>>,
    limits: IconLimits,
}

impl IconGuard {
    /// For a server at this URL. One that is not on `https:` has no origin that icons can have.
    #[must_use]
    pub fn of_server(url: &str) -> Self {
        Self::local().trust(url)
    }

    /// For a server without a URL, such as a child process: only icons in `data:` URIs.
    #[must_use]
    pub fn local() -> Self {
        Self {
            authorities: Vec::new(),
            formats: vec![IconFormat::Png, IconFormat::Jpeg, IconFormat::WebP],
            sanitizer: None,
            limits: IconLimits::new(),
        }
    }

    /// Takes icons from the origin of this `https:` URL, too.
    #[must_use]
    pub fn trust(mut self, url: &str) -> Self {
        self.authorities.extend(IconUri::from(url.to_owned()).authority());
        self
    }

    /// Takes pictures of this kind, too. For SVG see [`allow_svg`](Self::allow_svg).
    #[must_use]
    pub fn allow(mut self, format: IconFormat) -> Self {
        if format != IconFormat::Svg {
            self.formats.push(format);
        }
        self
    }

    /// Takes only pictures of these kinds.
    #[must_use]
    pub fn only(mut self, formats: impl IntoIterator<Item = IconFormat>) -> Self {
        self.formats = formats.into_iter().filter(|format| *format != IconFormat::Svg).collect();
        self
    }

    /// Takes SVG, too, after `sanitize` has made it safe; `None` refuses it. SVG holds programs
    /// and fetches from elsewhere: a well-kept sanitizer is needed even where it is drawn
    /// without scripts.
    #[must_use]
    pub fn allow_svg(
        mut self,
        sanitize: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.sanitizer = Some(Arc::new(sanitize));
        self
    }

    /// Sets the limits.
    #[must_use]
    pub const fn limits(mut self, limits: IconLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether an icon may be fetched at all. Does no I/O.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check(&self, uri: &IconUri) -> Result<(), IconError> {
        if !uri.is_safe() {
            return Err(IconError::Unsafe);
        }
        match uri.authority() {
            Some(authority) if !self.authorities.contains(&authority) => {
                Err(IconError::Foreign { authority })
            }
            _ => Ok(()),
        }
    }

    /// Fetches an icon, if it may be, and checks it.
    ///
    /// # Errors
    ///
    /// Why it isn't to be shown.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what `fetch` does.
    pub async fn load<F, Fut>(&self, icon: &Icon, fetch: F) -> Result<LoadedIcon, IconError>
    where
        F: Fn(IconRequest) -> Fut,
        Fut: Future<Output = Result<IconResponse, Box<dyn Error + Send + Sync>>>,
    {
        self.check(&icon.src)?;
        let Some(authority) = icon.src.authority() else {
            let (kind, bytes) = data_of(&icon.src, self.limits.bytes)?;
            return self.check_bytes(bytes, [Some(&*kind), said_of(icon)]);
        };
        let mut url = icon.src.as_str().to_owned();
        for _ in 0..=self.limits.redirects {
            let request = IconRequest { url: url.clone(), max_bytes: self.limits.bytes };
            let response = fetch(request).await.map_err(IconError::Fetch)?;
            match response.status {
                200 => {
                    let declared = response.content_type.as_deref().filter(|said| !is_vague(said));
                    return self.check_bytes(response.body, [declared, said_of(icon)]);
                }
                301 | 302 | 303 | 307 | 308 => {
                    let location = response.location.ok_or(IconError::Redirect)?;
                    url = moved(&url, &authority, &location).ok_or(IconError::Redirect)?;
                }
                status => return Err(IconError::Status { status }),
            }
        }
        Err(IconError::Redirect)
    }

    /// Checks a picture that is there already, which is said to be of these media types.
    ///
    /// # Errors
    ///
    /// Why it isn't to be shown.
    pub fn check_bytes<'a>(
        &self,
        bytes: Vec<u8>,
        said: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Result<LoadedIcon, IconError> {
        let IconLimits { bytes: limit, side, frames, .. } = self.limits;
        if bytes.len() > limit {
            return Err(IconError::TooManyBytes { limit });
        }
        let found = look(&bytes, frames).ok_or(IconError::Unknown)?;
        let format = found.format;
        let mut said = said.into_iter().flatten();
        if let Some(said) = said.find(|said| !format.is_called(said)) {
            return Err(IconError::Mismatch { said: said.chars().take(100).collect(), format });
        }
        if format == IconFormat::Svg {
            return self.sanitized(&bytes);
        }
        if !self.formats.contains(&format) {
            return Err(IconError::Format { format });
        }
        if let Some((width, height)) = found.size
            && (width > side || height > side)
        {
            return Err(IconError::TooLarge { width, height });
        }
        if found.frames > frames {
            return Err(IconError::TooManyFrames { limit: frames });
        }
        Ok(LoadedIcon { format, size: found.size, bytes })
    }

    fn sanitized(&self, bytes: &[u8]) -> Result<LoadedIcon, IconError> {
        let format = IconFormat::Svg;
        let sanitize = self.sanitizer.as_ref().ok_or(IconError::Format { format })?;
        let text = std::str::from_utf8(bytes).map_err(|_| IconError::Unknown)?;
        let text = sanitize(text).ok_or(IconError::Refused)?;
        Ok(LoadedIcon { format, size: None, bytes: text.into_bytes() })
    }
}

/// A type that says nothing about what is in it.
fn is_vague(said: &str) -> bool {
    let said = said.split(';').next().unwrap_or_default().trim();
    said.is_empty() || said.eq_ignore_ascii_case("application/octet-stream")
}

/// Where a redirect leads, if it is within the origin.
fn moved(from: &str, authority: &str, location: &str) -> Option<String> {
    let after = from.get(..8)?.len();
    let path = from.get(after..)?.find('/').map(|at| after + at);
    let root = from.get(..path.unwrap_or(from.len()))?;
    let url = if location.starts_with("//") {
        format!("https:{location}")
    } else if location.starts_with('/') {
        format!("{root}{location}")
    } else if location.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':')) {
        location.to_owned()
    } else {
        let plain = from.split(['?', '#']).next().unwrap_or(from);
        let folder = plain.rfind('/').filter(|at| *at >= after).and_then(|at| plain.get(..=at));
        format!("{}{location}", folder.map_or_else(|| format!("{root}/"), str::to_owned))
    };
    (IconUri::from(url.clone()).authority()? == authority).then_some(url)
}

impl fmt::Debug for IconGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IconGuard")
            .field("authorities", &self.authorities)
            .field("formats", &self.formats)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
