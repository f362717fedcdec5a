//! URIs and their templates (RFC 6570, levels 1 to 3), as `mcp_server::resource::UriPattern`
//! reads them.

/// The longest template, in bytes.
const LONGEST: usize = 2048;
/// The most variables.
const MOST: usize = 32;

/// The names of the variables of a template, in order; none for a plain URI.
pub(crate) fn variables(text: &str) -> Result<Vec<String>, String> {
    if text.len() > LONGEST {
        return Err(format!("the template has more than {LONGEST} bytes"));
    }
    let mut names: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('{') {
        let (expression, after) = from.split_once('}').ok_or(UNBALANCED)?;
        if before.contains('}') {
            return Err(UNBALANCED.to_owned());
        }
        let list = match expression.chars().next() {
            Some('+' | '#' | '.' | '/' | ';' | '?' | '&') => {
                expression.get(1..).unwrap_or_default()
            }
            Some(operator @ ('=' | ',' | '!' | '@' | '|')) => {
                return Err(format!("`{operator}` is no operator of a template"));
            }
            _ => expression,
        };
        for name in list.split(',') {
            let name = variable(name.trim())?;
            if names.iter().any(|known| known == name) {
                return Err(format!("the variable `{name}` occurs twice: give each its own name"));
            }
            names.push(name.to_owned());
        }
        rest = after;
    }
    if rest.contains('}') {
        return Err(UNBALANCED.to_owned());
    }
    if names.len() > MOST {
        return Err(format!("the template has more than {MOST} variables"));
    }
    Ok(names)
}

const UNBALANCED: &str = "a `{` or `}` of the template has no partner";

fn variable(name: &str) -> Result<&str, String> {
    if name.ends_with('*') || name.contains(':') {
        return Err(format!("`{name}` has a modifier, which can't be matched: remove it"));
    }
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%');
    if name.is_empty() || !name.chars().all(legal) {
        return Err(format!("`{name}` is not the name of a variable"));
    }
    Ok(name)
}

/// What is wrong with a URI, or with a template, apart from its variables.
pub(crate) fn fault(text: &str) -> Option<String> {
    if text.starts_with('{') {
        return None;
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if scheme.is_none() {
        return Some("a URI begins with a scheme: `notes://…`".to_owned());
    }
    let bad = text.chars().find(|c| c.is_ascii_control() || *c == ' ');
    bad.map(|c| format!("{c:?} can't stand in a URI: percent-encode it"))
}

#[cfg(test)]
mod tests {
    use mcp_server::resource::UriPattern;
    use mcp_types::ResourceUri;

    use super::*;

    #[test]
    fn templates_are_read_as_the_server_reads_them() {
        let long = format!("a://{}", "x".repeat(LONGEST));
        let many: String = (0..33).map(|at| format!("{{v{at}}}")).collect();
        for text in [
            "a://x",
            "a://{x}",
            "a://{x}/{y}",
            "a://{x,y}",
            "a://{+x}",
            "a://x{#y}",
            "a://x{/p,q}",
            "a://x{.e}",
            "a://x{;k}",
            "a://x{?q,l}",
            "a://x?f{&q}",
            "a://{ x }",
            "a://{x",
            "a://x}",
            "a://}{x}",
            "a://{}",
            "a://{x*}",
            "a://{x:3}",
            "a://{=x}",
            "a://{|x}",
            "a://{x}{x}",
            "a://{x,x}",
            "a://{a b}",
            "a://{{x}}",
            "a://{ä}",
            &long,
            &many,
        ] {
            let ours = variables(text).ok();
            let theirs = UriPattern::parse(text).ok().map(|pattern| pattern.names().to_vec());
            assert_eq!(ours, theirs, "{text}");
        }
    }

    #[test]
    fn uris_are_judged_as_the_server_judges_them() {
        for text in [
            "a://x",
            "config://app",
            "urn:isbn:1",
            "x-1+2.3:y",
            "no scheme",
            "plain",
            "://x",
            "1a://x",
            "a://x y",
            "a://ä",
            "file:///a%20b",
            "a:",
            "",
            "a://x\ty",
            "a://<x>",
            "a://x\"",
            "a_b://x",
        ] {
            let theirs = ResourceUri::from(text.to_owned()).is_conforming();
            assert_eq!(fault(text).is_none(), theirs, "{text:?}");
        }
    }
}
