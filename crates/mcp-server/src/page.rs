use mcp_jsonrpc::ErrorObject;
use mcp_types::Cursor;

/// Where a page of a list starts: behind the item that was the `after`th to be added.
///
/// Items keep their number, and a list is in the order of the numbers: whatever is added or
/// removed between two pages, no item that stays is skipped or sent twice. Clients get it as an
/// opaque text with a checksum, so that a cursor that was not issued for this list is told from
/// one that was.
///
/// Specification: [Pagination](https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) after: u64,
}

impl Position {
    /// `list` keeps a cursor of one list from being used on another.
    pub(crate) fn to_cursor(self, list: &'static str) -> Cursor {
        Cursor::from(format!("{:08x}{:x}", checksum(list, self.after), self.after))
    }

    pub(crate) fn from_cursor(list: &'static str, cursor: &Cursor) -> Result<Self, ErrorObject> {
        Self::read(list, cursor.as_str())
            .ok_or_else(|| ErrorObject::invalid_params("the cursor was not issued by this server"))
    }

    fn read(list: &'static str, text: &str) -> Option<Self> {
        let (_, number) = text.split_at_checked(8)?;
        let position = Self { after: u64::from_str_radix(number, 16).ok()? };
        // One way to write it: `+1` and `01` are numbers, and no cursors of ours.
        (position.to_cursor(list).as_str() == text).then_some(position)
    }
}

/// FNV-1a: tells a mistake, not an attack. There is nothing to gain from a forged cursor: it
/// leads to a place in a list that its sender may read anyway.
fn checksum(list: &str, after: u64) -> u32 {
    list.bytes()
        .chain(after.to_be_bytes())
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_its_place() {
        for after in [0, 7, u64::MAX] {
            let position = Position { after };
            let cursor = position.to_cursor("tools");
            assert_eq!(Position::from_cursor("tools", &cursor).unwrap(), position);
        }
    }

    // Shows: PAGE-006, PAGE-012
    #[test]
    fn a_cursor_from_elsewhere_is_invalid_params() {
        let good = Position { after: 7 }.to_cursor("tools");
        let spoiled = format!("{}0", good.as_str());
        let padded = format!("{}0{}", &good.as_str()[..8], &good.as_str()[8..]);
        for cursor in
            ["", "x", "00000000", "zzzzzzzz11", "é", "éééé+1", &spoiled, &padded, &"0".repeat(5000)]
        {
            let error =
                Position::from_cursor("tools", &Cursor::from(cursor.to_owned())).unwrap_err();
            assert_eq!(error.code, -32602, "{cursor}");
        }
        assert!(Position::from_cursor("prompts", &good).is_err());
    }
}
