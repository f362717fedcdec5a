use mcp_jsonrpc::ErrorObject;
use mcp_types::Cursor;

/// Where a page of a list starts: behind the item with this name.
///
/// The name leads back even when items were added or removed meanwhile; where it is gone, the
/// place does. Clients get it as an opaque text with a checksum, so that a cursor that was not
/// issued here is told from one that was.
///
/// Specification: [Pagination](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) index: usize,
    pub(crate) name: String,
}

impl Position {
    /// `list` keeps a cursor of one list from being used on another.
    pub(crate) fn to_cursor(&self, list: &'static str) -> Cursor {
        let text = format!("{}:{}", self.index, self.name);
        let mut hex = format!("{:08x}", checksum(list, text.as_bytes()));
        for byte in text.bytes() {
            hex.push_str(&format!("{byte:02x}"));
        }
        Cursor::from(hex)
    }

    pub(crate) fn from_cursor(list: &'static str, cursor: &Cursor) -> Result<Self, ErrorObject> {
        Self::read(list, cursor.as_str())
            .ok_or_else(|| ErrorObject::invalid_params("the cursor was not issued by this server"))
    }

    fn read(list: &str, text: &str) -> Option<Self> {
        // A name is bounded when it is registered; a cursor, therefore, too.
        if text.len() > 4096 || !text.is_ascii() {
            return None;
        }
        let (sum, hex) = text.split_at_checked(8)?;
        let bytes = hex
            .as_bytes()
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect::<Option<Vec<u8>>>()?;
        if u32::from_str_radix(sum, 16).ok()? != checksum(list, &bytes) {
            return None;
        }
        let plain = String::from_utf8(bytes).ok()?;
        let (index, name) = plain.split_once(':')?;
        Some(Self { index: index.parse().ok()?, name: name.to_owned() })
    }
}

/// FNV-1a: tells a mistake, not an attack. There is nothing to gain from a forged cursor.
fn checksum(list: &str, bytes: &[u8]) -> u32 {
    list.bytes()
        .chain(bytes.iter().copied())
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_place() {
        let position = Position { index: 7, name: "zürich:1".into() };
        let cursor = position.to_cursor("tools");
        assert_eq!(Position::from_cursor("tools", &cursor).unwrap(), position);
    }

    // Shows: PAGE-012
    #[test]
    fn a_cursor_from_elsewhere_is_invalid_params() {
        let good = Position { index: 7, name: "x".into() }.to_cursor("tools");
        let spoiled = format!("{}0", good.as_str());
        for cursor in ["", "x", "00000000", "zzzzzzzz11", "é", &spoiled, &"0".repeat(5000)] {
            let error =
                Position::from_cursor("tools", &Cursor::from(cursor.to_owned())).unwrap_err();
            assert_eq!(error.code, -32602, "{cursor}");
        }
        assert!(Position::from_cursor("prompts", &good).is_err());
    }
}
