//! Runs of bytes that stand in a JSON string as they are.

/// How many bytes at the front of `bytes` are none of quote, backslash and control character,
/// nor, if `ASCII`, the byte of a character beyond ASCII.
#[inline]
pub(super) fn plain_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    // Most runs are short, in long texts too, which are made of lines: some words, before
    // anything is set up for more.
    const SHORT: usize = 8;
    let (words, _) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words.get(..SHORT).unwrap_or(words) {
        if let Some(found) = first_hit::<ASCII>(*word) {
            return at + found;
        }
        at += 8;
    }
    if words.len() > SHORT { long_run::<ASCII>(bytes, SHORT * 8) } else { tail_run::<ASCII>(bytes) }
}

/// The same, once nothing was found in the first `start` bytes.
#[inline(never)]
fn long_run<const ASCII: bool>(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let (blocks, _) = bytes.get(at..).unwrap_or_default().as_chunks::<64>();
    at += 64 * blocks.iter().take_while(|block| is_plain::<ASCII>(block)).count();
    let (words, _) = bytes.get(at..).unwrap_or_default().as_chunks::<8>();
    for word in words {
        if let Some(found) = first_hit::<ASCII>(*word) {
            return at + found;
        }
        at += 8;
    }
    tail_run::<ASCII>(bytes)
}

/// The same, once nothing was found in all whole words.
#[inline]
fn tail_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    let len = bytes.len();
    if let Some(last) = bytes.last_chunk() {
        // Looks at some bytes again; nothing is found in those.
        return first_hit::<ASCII>(*last).map_or(len, |found| len + found - 8);
    }
    if let (Some([a, b, c, d]), Some([w, x, y, z])) = (bytes.first_chunk(), bytes.last_chunk()) {
        return match first_hit::<ASCII>([*a, *b, *c, *d, *w, *x, *y, *z]) {
            Some(found) if found < 4 => found,
            Some(found) => len + found - 8,
            None => len,
        };
    }
    bytewise::<ASCII>(bytes)
}

fn bytewise<const ASCII: bool>(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| is_hit::<ASCII>(*byte)).unwrap_or(bytes.len())
}

/// Without a branch in between, so that the compiler compares many bytes at once.
#[inline]
fn is_plain<const ASCII: bool>(block: &[u8; 64]) -> bool {
    !block.iter().fold(false, |found, byte| found | is_hit::<ASCII>(*byte))
}

/// `^ 2` moves the quote (0x22) next to the controls (below 0x20), so that one comparison finds
/// both; a signed one finds all beyond ASCII, too.
#[inline]
fn is_hit<const ASCII: bool>(byte: u8) -> bool {
    let low = if ASCII { (byte ^ 2).cast_signed() < 0x21 } else { (byte ^ 2) < 0x21 };
    low | (byte == b'\\')
}

/// The same for eight bytes in one register: the first hit among them.
#[inline(always)]
pub(super) fn first_hit<const ASCII: bool>(word: [u8; 8]) -> Option<usize> {
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    let word = u64::from_le_bytes(word);
    // `x - n` borrows into the high bit of each byte below `n`. A borrow may spoil bytes after
    // the first hit, never before it. Bytes beyond ASCII have the high bit to begin with: they
    // are hits as they are, or taken out.
    let low = (word ^ all(2)).wrapping_sub(all(0x21));
    let backslash = (word ^ all(b'\\')).wrapping_sub(all(1));
    let hits = if ASCII { low | backslash | word } else { (low | backslash) & !word };
    let hits = hits & all(0x80);
    if hits == 0 { None } else { Some(hits.trailing_zeros() as usize / 8) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_is_judged_alike_by_all_widths() {
        for byte in 0..=u8::MAX {
            let hit = byte < 0x20 || byte == b'"' || byte == b'\\';
            assert_eq!(is_hit::<false>(byte), hit, "{byte}");
            assert_eq!(is_hit::<true>(byte), hit || byte >= 0x80, "{byte}");
            for at in 0..8 {
                let mut word = [b'a'; 8];
                word[at] = byte;
                assert_eq!(first_hit::<false>(word), hit.then_some(at), "{byte}");
                let mut block = [b'a'; 64];
                block[at * 8] = byte;
                assert_eq!(is_plain::<false>(&block), !hit, "{byte}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn the_run_ends_at_the_first_hit(
            mut bytes in prop::collection::vec(prop::sample::select(&b"a~ \x7f\xc3\xff!#[]"[..]), 0..300),
            hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        ) {
            for (at, byte) in hits {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                }
            }
            prop_assert_eq!(plain_run::<false>(&bytes), bytewise::<false>(&bytes));
            prop_assert_eq!(plain_run::<true>(&bytes), bytewise::<true>(&bytes));
        }
    }
}
