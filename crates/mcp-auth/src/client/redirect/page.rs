/// A page for the person: static text, everything escaped, nothing that acts or is loaded.
pub(super) fn page(title: &str, text: &str) -> String {
    let (title, text) = (escape(title), escape(text));
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         </head><body><h1>{title}</h1><p>{text}</p></body></html>"
    )
}

/// A whole answer with such a page.
pub(super) fn answer(status: &str, title: &str, text: &str) -> String {
    let page = page(title, text);
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Content-Security-Policy: default-src 'none'\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n{page}",
        page.len()
    )
}

fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, c| {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: CL-RD-6, FC-083
    #[test]
    fn a_page_escapes_everything_and_loads_nothing() {
        let answer = answer("200 OK", "<script>", "a & \"b\" 'c'");
        assert!(answer.contains("<h1>&lt;script&gt;</h1><p>a &amp; &quot;b&quot; &#39;c&#39;</p>"));
        assert!(answer.contains("default-src 'none'") && answer.contains("no-store"));
        assert!(!answer.contains("<script"));
    }
}
