/// A kind of picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IconFormat {
    /// PNG, also an animated one.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP.
    WebP,
    /// GIF.
    Gif,
    /// SVG, which may hold programs.
    Svg,
}

/// What a picture says about itself.
pub(super) struct Found {
    pub(super) format: IconFormat,
    pub(super) size: Option<(u32, u32)>,
    /// How many pictures it holds, counted up to one more than was asked for.
    pub(super) frames: usize,
}

impl IconFormat {
    /// Its media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::WebP => "image/webp",
            Self::Gif => "image/gif",
            Self::Svg => "image/svg+xml",
        }
    }

    /// Whether a media type, with or without parameters, is this one's.
    pub(super) fn is_called(self, said: &str) -> bool {
        let said = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        said == self.media_type() || (self == Self::Jpeg && said == "image/jpg")
    }
}

/// What a picture is by its bytes; none if it is unknown or cut off. Nothing is decoded: only
/// heads are read, and what is skipped has to be there.
pub(super) fn look(bytes: &[u8], frames: usize) -> Option<Found> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return png(bytes, frames);
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return jpeg(bytes);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return webp(bytes, frames);
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return gif(bytes, frames);
    }
    svg(bytes)
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u32::from(u16::from_be_bytes(two.try_into().ok()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

fn le(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(len)?)?;
    Some(part.iter().rev().fold(0, |value, byte| (value << 8) | u32::from(*byte)))
}

fn png(bytes: &[u8], _: usize) -> Option<Found> {
    if bytes.get(12..16) != Some(b"IHDR") {
        return None;
    }
    let size = (be32(bytes, 16)?, be32(bytes, 20)?);
    let (mut at, mut frames) = (8, 1);
    loop {
        let len = usize::try_from(be32(bytes, at)?).ok()?;
        let kind = bytes.get(at + 4..at + 8)?;
        match kind {
            b"acTL" => frames = usize::try_from(be32(bytes, at + 8)?).ok()?,
            // What follows is the picture, or the end.
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
        at = at.checked_add(len)?.checked_add(12)?;
    }
    Some(Found { format: IconFormat::Png, size: Some(size), frames })
}

fn jpeg(bytes: &[u8]) -> Option<Found> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            0xff => at += 1,
            // The frame, of whatever coding; not tables and not arithmetic conditioning.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                let size = (be16(bytes, at + 7)?, be16(bytes, at + 5)?);
                return Some(Found { format: IconFormat::Jpeg, size: Some(size), frames: 1 });
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            0xd9 | 0xda => return None,
            _ => {
                let len = usize::try_from(be16(bytes, at + 2)?).ok()?;
                at = at.checked_add(2)?.checked_add(len.max(2))?;
            }
        }
    }
}

fn webp(bytes: &[u8], most: usize) -> Option<Found> {
    let size = match bytes.get(12..16)? {
        b"VP8X" => (le(bytes, 24, 3)? + 1, le(bytes, 27, 3)? + 1),
        b"VP8L" if bytes.get(20) == Some(&0x2f) => {
            let bits = le(bytes, 21, 4)?;
            ((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
        }
        b"VP8 " if bytes.get(23..26) == Some(b"\x9d\x01\x2a") => {
            (le(bytes, 26, 2)? & 0x3fff, le(bytes, 28, 2)? & 0x3fff)
        }
        _ => return None,
    };
    let (mut at, mut frames) = (12usize, 0usize);
    while let Some(kind) = bytes.get(at..at + 4) {
        if kind == b"ANMF" {
            frames += 1;
        }
        if frames > most {
            break;
        }
        let len = usize::try_from(le(bytes, at + 4, 4)?).ok()?;
        at = at.checked_add(8)?.checked_add(len)?.checked_add(len & 1)?;
    }
    Some(Found { format: IconFormat::WebP, size: Some(size), frames: frames.max(1) })
}

fn gif(bytes: &[u8], most: usize) -> Option<Found> {
    let size = (le(bytes, 6, 2)?, le(bytes, 8, 2)?);
    let table = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3usize << ((flags & 7) + 1) };
    let mut at = 13 + table(*bytes.get(10)?);
    let mut frames = 0usize;
    while frames <= most {
        match *bytes.get(at)? {
            0x21 => at += 2,
            0x2c => {
                frames += 1;
                at = at.checked_add(11)?.checked_add(table(*bytes.get(at + 9)?))?;
            }
            0x3b => break,
            _ => return None,
        }
        // Blocks, each with its length, up to an empty one.
        loop {
            let len = usize::from(*bytes.get(at)?);
            at += len + 1;
            if len == 0 {
                break;
            }
        }
    }
    Some(Found { format: IconFormat::Gif, size: Some(size), frames })
}

fn svg(bytes: &[u8]) -> Option<Found> {
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    let prolog = text.starts_with("<?xml") || text.starts_with("<!--");
    let is_svg = text.starts_with("<svg") || (prolog && text.contains("<svg"));
    is_svg.then_some(Found { format: IconFormat::Svg, size: None, frames: 1 })
}
