use std::future::ready;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use mcp_types::Base64;

use super::*;

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn png(width: u32, height: u32, frames: Option<u32>) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        out.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        out.extend(kind);
        out.extend(data);
        out.extend([0; 4]);
    };
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, 6, 0, 0, 0]);
    chunk(b"IHDR", &head);
    if let Some(frames) = frames {
        chunk(b"acTL", &[frames.to_be_bytes(), [0; 4]].concat());
    }
    chunk(b"IDAT", &[]);
    out
}

fn jpeg() -> Vec<u8> {
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x10\x00\x20\x01\x01\x11\x00".to_vec()
}

fn webp() -> Vec<u8> {
    let mut out = b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00".to_vec();
    out.extend([31, 0, 0, 15, 0, 0]);
    out
}

fn gif(frames: usize) -> Vec<u8> {
    let mut out = b"GIF89a\x10\x00\x10\x00\x00\x00\x00".to_vec();
    for _ in 0..frames {
        out.extend(b"\x21\xf9\x04\x00\x00\x00\x00\x00");
        out.extend(b"\x2c\x00\x00\x00\x00\x10\x00\x10\x00\x00\x02\x01\x00\x00");
    }
    out.push(0x3b);
    out
}

const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x()</script></svg>";

fn guard() -> IconGuard {
    IconGuard::of_server("https://mcp.example.com/mcp")
}

fn icon(src: &str) -> Icon {
    Icon::new(src.to_owned())
}

fn found(content_type: &str, body: &[u8]) -> IconResponse {
    IconResponse {
        status: 200,
        location: None,
        content_type: Some(content_type.to_owned()),
        body: body.to_vec(),
    }
}

/// Loads through answers by URL; gives back what was asked for.
fn load(
    guard: &IconGuard,
    icon: &Icon,
    answers: &[(&str, IconResponse)],
) -> (Result<LoadedIcon, IconError>, Vec<IconRequest>) {
    let asked = Mutex::new(Vec::new());
    let result = now(guard.load(icon, |request| {
        let answer = answers.iter().find(|(url, _)| *url == request.url);
        asked.lock().unwrap().push(request);
        ready(answer.map(|(_, answer)| answer.clone()).ok_or_else(|| "nothing is there".into()))
    }));
    (result, asked.into_inner().unwrap())
}

// Shows: ICON-014, ICON-015, ICON-016, ICON-017
#[test]
fn only_https_and_pictures_in_data_are_looked_at() {
    for src in [
        "http://mcp.example.com/i.png",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        " javascript:alert(1)",
        "\u{1}https://mcp.example.com/i.png",
        "file:///etc/passwd",
        "FILE:///etc/passwd",
        "ftp://mcp.example.com/i.png",
        "ws://mcp.example.com/i.png",
        "wss://mcp.example.com/i.png",
        "blob:https://mcp.example.com/1",
        "ms-settings:x",
        "data:text/html;base64,PHN2Zz4=",
        "https://user@mcp.example.com/i.png",
        "https:///i.png",
        "i.png",
        "",
    ] {
        let (result, asked) = load(&guard(), &icon(src), &[]);
        assert!(matches!(result, Err(IconError::Unsafe)), "{src}: {result:?}");
        assert!(asked.is_empty());
    }
}

// Shows: ICON-019, ICON-023, ICON-024
#[test]
fn an_icon_lies_where_its_server_does_or_somebody_is_trusted() {
    let there = |url: &'static str| [(url, found("image/png", &png(16, 16, None)))];
    let own = "https://mcp.example.com/i.png";
    let (result, asked) = load(&guard(), &icon(own), &there(own));
    assert_eq!(result.unwrap().size, Some((16, 16)));
    // The URL and a bound, and nothing that says who asks.
    assert_eq!(asked, [IconRequest { url: own.to_owned(), max_bytes: 512 * 1024 }]);
    for src in [
        "https://evil.example/i.png",
        "https://mcp.example.com.evil.example/i.png",
        "https://mcp.example.com:444/i.png",
        "https://cdn.example.com/i.png",
    ] {
        let (result, asked) = load(&guard(), &icon(src), &there("https://x/"));
        assert!(matches!(result, Err(IconError::Foreign { .. })), "{src}: {result:?}");
        assert!(asked.is_empty());
        let (result, _) = load(&IconGuard::local(), &icon(src), &[]);
        assert!(matches!(result, Err(IconError::Foreign { .. })), "{src}: {result:?}");
    }
    let cdn = "https://cdn.example.com/i.png";
    let trusting = guard().trust("https://cdn.example.com");
    assert!(load(&trusting, &icon(cdn), &there(cdn)).0.is_ok());
    let plain = IconGuard::of_server("http://mcp.example.com/mcp");
    assert!(load(&plain, &icon(own), &there(own)).0.is_err());
}

// Shows: ICON-018, ICON-019, ICON-022
#[test]
fn redirects_stay_at_home() {
    let to = |location: &str| IconResponse {
        status: 302,
        location: Some(location.to_owned()),
        ..IconResponse::default()
    };
    let picture = found("image/png", &png(1, 1, None));
    let from = "https://mcp.example.com/a/b.png?x=1";
    for (location, there) in [
        ("/c.png", "https://mcp.example.com/c.png"),
        ("c.png", "https://mcp.example.com/a/c.png"),
        ("https://mcp.example.com:443/c.png", "https://mcp.example.com:443/c.png"),
        ("//mcp.example.com/c.png", "https://mcp.example.com/c.png"),
    ] {
        let answers = [(from, to(location)), (there, picture.clone())];
        let (result, asked) = load(&guard(), &icon(from), &answers);
        assert!(result.is_ok(), "{location}: {result:?} {asked:?}");
    }
    for location in [
        "http://mcp.example.com/c.png",
        "https://evil.example/c.png",
        "//evil.example/c.png",
        "https://mcp.example.com:444/c.png",
        "data:image/png;base64,AAAA",
        "file:///c.png",
        "javascript:alert(1)",
        "/a b.png",
    ] {
        // Also one that is trusted as such: what an icon is moved to is not the server's choice.
        let trusting = guard().trust("https://evil.example");
        let (result, asked) = load(&trusting, &icon(from), &[(from, to(location))]);
        assert!(matches!(result, Err(IconError::Redirect)), "{location}: {result:?}");
        assert_eq!(asked.len(), 1);
    }
    let (result, asked) = load(&guard(), &icon(from), &[(from, to(from))]);
    assert!(matches!(result, Err(IconError::Redirect)), "{result:?}");
    assert_eq!(asked.len(), 4);
    let gone = IconResponse { status: 404, ..IconResponse::default() };
    let (result, _) = load(&guard(), &icon(from), &[(from, gone)]);
    assert!(matches!(result, Err(IconError::Status { status: 404 })), "{result:?}");
}

// Shows: ICON-010, ICON-011, ICON-013, ICON-027, ICON-028, ICON-029
#[test]
fn what_a_picture_is_stands_in_its_bytes() {
    let check = |bytes: &[u8], said: &str| guard().check_bytes(bytes.to_vec(), [Some(said)]);
    for (bytes, said, size) in [
        (png(16, 8, None), "image/png", (16, 8)),
        (jpeg(), "image/jpeg", (32, 16)),
        (jpeg(), "IMAGE/JPG; q=1", (32, 16)),
        (webp(), "image/webp", (32, 16)),
    ] {
        let icon = check(&bytes, said).unwrap();
        assert_eq!(icon.size, Some(size), "{said}");
        // Cut off anywhere in its head it is nothing.
        for len in 0..16 {
            let cut = bytes.get(..len).unwrap();
            assert!(matches!(check(cut, said), Err(IconError::Unknown)), "{said} {len}");
        }
    }
    for (bytes, said) in
        [(gif(1), "image/png"), (jpeg(), "image/png"), (png(1, 1, None), "text/html")]
    {
        assert!(matches!(check(&bytes, said), Err(IconError::Mismatch { .. })), "{said}");
    }
    for bytes in [&b"<html></html>"[..], b"II*\0tiff", b"BM", b"\0\0\x01\0", b""] {
        assert!(matches!(check(bytes, "image/png"), Err(IconError::Unknown)), "{bytes:?}");
    }
    let error = check(&gif(1), "image/gif").unwrap_err();
    assert!(matches!(error, IconError::Format { format: IconFormat::Gif }), "{error}");
    assert!(guard().allow(IconFormat::Gif).check_bytes(gif(1), [None]).is_ok());
    let only = guard().only([IconFormat::Png, IconFormat::Svg]);
    assert!(
        only.check_bytes(jpeg(), [None]).is_err()
            && only.check_bytes(SVG.to_vec(), [None]).is_err()
    );
    // What the response says about it is no better than what the server says.
    let own = "https://mcp.example.com/i.png";
    let wrong = found("text/html", &png(1, 1, None));
    assert!(matches!(
        load(&guard(), &icon(own), &[(own, wrong)]).0,
        Err(IconError::Mismatch { .. })
    ));
    let vague = found("application/octet-stream", &png(1, 1, None));
    assert!(load(&guard(), &icon(own), &[(own, vague.clone())]).0.is_ok());
    let said = icon(own).with_mime_type("image/jpeg");
    assert!(matches!(load(&guard(), &said, &[(own, vague)]).0, Err(IconError::Mismatch { .. })));
}

// Shows: ICON-020, ICON-021
#[test]
fn nothing_is_larger_than_it_may_be() {
    let guard = guard().allow(IconFormat::Gif);
    let check = |bytes: Vec<u8>| guard.check_bytes(bytes, [None]);
    assert!(check(png(2048, 2048, Some(64))).is_ok());
    for (width, height) in [(2049, 1), (1, u32::MAX)] {
        assert!(matches!(check(png(width, height, None)), Err(IconError::TooLarge { .. })));
    }
    assert!(matches!(check(png(1, 1, Some(65))), Err(IconError::TooManyFrames { .. })));
    assert!(check(gif(64)).is_ok());
    assert!(matches!(check(gif(10_000)), Err(IconError::TooManyFrames { .. })));
    let mut long = png(1, 1, None);
    long.resize(512 * 1024 + 1, 0);
    assert!(matches!(check(long), Err(IconError::TooManyBytes { .. })));
    let data = format!("data:image/png;base64,{}", "A".repeat(1024 * 1024));
    let (result, _) = load(&guard, &icon(&data), &[]);
    assert!(matches!(result, Err(IconError::TooManyBytes { .. })), "{result:?}");
    let mut limits = IconLimits::new();
    limits.side = 15;
    assert!(guard.clone().limits(limits).check_bytes(png(16, 1, None), [None]).is_err());
}

// Shows: ICON-012, ICON-025, ICON-026
#[test]
fn svg_is_off_unless_somebody_makes_it_safe() {
    let error = guard().check_bytes(SVG.to_vec(), [Some("image/svg+xml")]).unwrap_err();
    assert!(matches!(error, IconError::Format { format: IconFormat::Svg }), "{error}");
    assert!(guard().allow(IconFormat::Svg).check_bytes(SVG.to_vec(), [None]).is_err());
    let cleaned = guard().allow_svg(|text| Some(text.replace("<script>x()</script>", "")));
    let icon = cleaned.check_bytes(SVG.to_vec(), [Some("image/svg+xml")]).unwrap();
    assert!(!String::from_utf8(icon.bytes).unwrap().contains("script"));
    let refused = guard().allow_svg(|_| None).check_bytes(SVG.to_vec(), [None]);
    assert!(matches!(refused, Err(IconError::Refused)));
    // Said to be something else, it isn't shown as that.
    let error = cleaned.check_bytes(SVG.to_vec(), [Some("image/png")]).unwrap_err();
    assert!(matches!(error, IconError::Mismatch { .. }), "{error}");
}

// Shows: ICON-002, ICON-015
#[test]
fn an_icon_may_be_in_its_own_uri() {
    let data = |kind: &str, bytes: &[u8]| {
        icon(&format!("data:{kind};base64,{}", Base64::encode(bytes).as_str()))
    };
    let (result, asked) = load(&IconGuard::local(), &data("image/png", &png(4, 4, None)), &[]);
    assert_eq!(result.unwrap().format, IconFormat::Png);
    assert!(asked.is_empty());
    let (result, _) = load(&IconGuard::local(), &data("image/png", &jpeg()), &[]);
    assert!(matches!(result, Err(IconError::Mismatch { .. })), "{result:?}");
    for src in ["data:image/png,plain", "data:image/png;base64,a*b"] {
        let (result, _) = load(&IconGuard::local(), &icon(src), &[]);
        assert!(matches!(result, Err(IconError::Data)), "{src}: {result:?}");
    }
}

// Shows: ICON-015, ICON-020
#[test]
fn bytes_of_any_kind_end_in_an_answer() {
    // A small generator: what matters is that heads are followed by anything at all.
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let guard = guard().allow(IconFormat::Gif).allow_svg(|text| Some(text.to_owned()));
    let heads = [png(1, 1, Some(2)), jpeg(), webp(), gif(3), SVG.to_vec()];
    for head in &heads {
        for _ in 0..2000 {
            let mut bytes = head.clone();
            for _ in 0..next() % 8 {
                let at = next() as usize % bytes.len();
                bytes[at] = next().to_le_bytes()[0];
            }
            bytes.truncate(next() as usize % (bytes.len() + 1));
            let _ = guard.check_bytes(bytes, [None]);
        }
    }
}
