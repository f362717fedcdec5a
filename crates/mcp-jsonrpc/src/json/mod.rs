//! JSON text: walked over without building anything, unescaped, and written.

mod plain;

mod text;
pub(crate) use text::{has_half_pair, repair, unescape};

mod scan;
pub(crate) use scan::{Scan, ScanError, Scanner};

mod write;
pub use write::{to_vec, write_json};
pub(crate) use write::{write_int, write_str};

mod serializer;
pub(crate) use serializer::RAW_TOKEN;

mod key;
