use std::{borrow::Borrow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::text;

text! {
    /// Bytes as base64 text (RFC 4648, section 4), such as an image in a content block.
    ///
    /// The text is kept as it came, also one that is no base64; [`decode`](Self::decode) says
    /// so. [`encode`](Self::encode) writes the standard alphabet with padding.
    ///
    /// ```
    /// use mcp_types::Base64;
    ///
    /// let text = Base64::encode(b"MCP");
    /// assert_eq!(text, "TUNQ");
    /// assert_eq!(text.decode()?, b"MCP");
    /// # Ok::<(), mcp_types::InvalidBase64>(())
    /// ```
    Base64
}

/// A text that is no base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no base64 at byte {at}")]
pub struct InvalidBase64 {
    at: usize,
}

impl InvalidBase64 {
    /// The place of the first byte that can't be there.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What a byte stands for; 255 for none. Both alphabets are read: `-` is `+`, `_` is `/`.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut i = 0;
    while i < 64 {
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
        {
            values[ALPHABET[i] as usize] = i as u8;
        }
        i += 1;
    }
    #[expect(clippy::indexing_slicing, reason = "checked when compiled")]
    {
        values[b'-' as usize] = 62;
        values[b'_' as usize] = 63;
    }
    values
};

impl Base64 {
    /// Takes a text that is base64.
    ///
    /// # Errors
    ///
    /// [`InvalidBase64`] when it isn't.
    pub fn try_new(text: impl Into<String>) -> Result<Self, InvalidBase64> {
        let text = Self(text.into());
        match text.check() {
            Ok(_) => Ok(text),
            Err(error) => Err(error),
        }
    }

    /// Writes `bytes` as base64, with padding.
    #[must_use]
    pub fn encode(bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for group in bytes.chunks(3) {
            let mut bits = 0u32;
            for place in 0..3 {
                bits = bits << 8 | u32::from(group.get(place).copied().unwrap_or(0));
            }
            for place in 0..4 {
                if place <= group.len() {
                    let value = (bits >> (18 - 6 * place)) & 63;
                    text.push(char::from(letter(value)));
                } else {
                    text.push('=');
                }
            }
        }
        Self(text)
    }

    /// The bytes. Padding may be missing, and the URL alphabet is read, too.
    ///
    /// # Errors
    ///
    /// [`InvalidBase64`] when the text is no base64.
    pub fn decode(&self) -> Result<Vec<u8>, InvalidBase64> {
        let text = self.check()?;
        let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
        for group in text.chunks(4) {
            let mut bits = 0u32;
            for place in 0..4 {
                bits = bits << 6 | u32::from(group.get(place).map_or(0, |b| value(*b)));
            }
            let [_, a, b, c] = bits.to_be_bytes();
            bytes.extend([a, b, c].into_iter().take(group.len().saturating_sub(1)));
        }
        Ok(bytes)
    }

    /// How many bytes the text stands for, if it is base64.
    #[must_use]
    pub fn decoded_len(&self) -> usize {
        let digits = self.0.trim_end_matches('=').len();
        digits / 4 * 3 + (digits % 4).saturating_sub(1)
    }

    /// Whether the text is base64.
    #[must_use]
    pub fn is_conforming(&self) -> bool {
        self.check().is_ok()
    }

    /// The digits without the padding.
    fn check(&self) -> Result<&[u8], InvalidBase64> {
        let text = self.0.as_bytes();
        let digits = match text {
            [digits @ .., b'=', b'='] if text.len().is_multiple_of(4) => digits,
            [digits @ .., b'='] if text.len().is_multiple_of(4) => digits,
            digits => digits,
        };
        if let Some(at) = digits.iter().position(|byte| value(*byte) == 255) {
            return Err(InvalidBase64 { at });
        }
        if digits.len() % 4 == 1 {
            return Err(InvalidBase64 { at: digits.len() });
        }
        Ok(digits)
    }
}

fn value(byte: u8) -> u8 {
    VALUES.get(usize::from(byte)).copied().unwrap_or(255)
}

fn letter(value: u32) -> u8 {
    usize::try_from(value).ok().and_then(|i| ALPHABET.get(i)).copied().unwrap_or(b'=')
}

impl From<&[u8]> for Base64 {
    fn from(bytes: &[u8]) -> Self {
        Self::encode(bytes)
    }
}

impl From<Vec<u8>> for Base64 {
    fn from(bytes: Vec<u8>) -> Self {
        Self::encode(&bytes)
    }
}

impl<const LEN: usize> From<&[u8; LEN]> for Base64 {
    fn from(bytes: &[u8; LEN]) -> Self {
        Self::encode(bytes)
    }
}

/// Prints the length only: pictures have no place in a log.
impl fmt::Debug for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} bytes)", self.decoded_len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648_hold() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(Base64::encode(bytes.as_bytes()), text);
            assert_eq!(Base64::new(text).decode().unwrap(), bytes.as_bytes());
            assert_eq!(Base64::new(text).decoded_len(), bytes.len());
            assert_eq!(Base64::new(text.trim_end_matches('=')).decode().unwrap(), bytes.as_bytes());
        }
    }

    #[test]
    fn every_byte_survives() {
        let bytes: Vec<u8> = (0..=255).collect();
        for end in 0..bytes.len() {
            assert_eq!(Base64::encode(&bytes[..end]).decode().unwrap(), &bytes[..end]);
        }
    }

    #[test]
    fn what_is_no_base64_is_read_and_said_to_be_none() {
        for (text, at) in
            [("Zg=", 2), ("Z", 1), ("Zg==Zg==", 2), ("a b=", 1), ("ä", 0), ("====", 0)]
        {
            let read: Base64 = serde_json::from_str(&serde_json::to_string(text).unwrap()).unwrap();
            assert_eq!(read.decode(), Err(InvalidBase64 { at }), "{text}");
            assert!(!read.is_conforming());
            assert_eq!(read.as_str(), text);
        }
        assert_eq!(Base64::new("-_8").decode(), Base64::new("+/8=").decode());
    }
}
