use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// How far inwards a request may go: to its own class of addresses or a more public one.
///
/// A document of a public server must not make us talk to somebody's router.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reach {
    /// Addresses that anybody can reach.
    #[default]
    Public,
    /// Also private networks.
    Private,
    /// Also this machine.
    Loopback,
}

/// Where an address is; `None` for one that nothing may ever be fetched from: link-local (the
/// metadata services of clouds), multicast, unspecified, broadcast, documentation, benchmarks.
pub(super) fn place_of(address: IpAddr) -> Option<Reach> {
    match address {
        IpAddr::V4(address) => place_of_v4(address),
        IpAddr::V6(address) => place_of_v6(address),
    }
}

fn place_of_v4(address: Ipv4Addr) -> Option<Reach> {
    match address.octets() {
        [127, ..] => Some(Reach::Loopback),
        [10, ..] | [192, 168, ..] | [172, 16..=31, ..] | [100, 64..=127, ..] => {
            Some(Reach::Private)
        }
        [0 | 224..=255, ..]
        | [169, 254, ..]
        | [192, 0, 0 | 2, _]
        | [198, 18 | 19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => None,
        _ => Some(Reach::Public),
    }
}

fn place_of_v6(address: Ipv6Addr) -> Option<Reach> {
    if address.is_loopback() {
        return Some(Reach::Loopback);
    }
    if address.is_unspecified() {
        return None;
    }
    match address.segments() {
        // IPv4 in disguise: mapped, compatible, NAT64, 6to4, Teredo.
        [0, 0, 0, 0, 0, 0xffff | 0, a, b] | [0x64, 0xff9b, 0, 0, 0, 0, a, b] => {
            place_of_v4(v4(a, b))
        }
        [0x2002, a, b, ..] => place_of_v4(v4(a, b)),
        [0x2001, 0, .., a, b] => place_of_v4(v4(!a, !b)),
        [0xfc00..=0xfdff, ..] | [0x64, 0xff9b, 1, ..] => Some(Reach::Private),
        [0xfe80..=0xffff, ..]
        | [0x2001, 0xdb8, ..]
        | [0x3fff, 0..=0xfff, ..]
        | [0x100, 0, 0, 0, ..] => None,
        _ => Some(Reach::Public),
    }
}

fn v4(a: u16, b: u16) -> Ipv4Addr {
    let ([a, b], [c, d]) = (a.to_be_bytes(), b.to_be_bytes());
    Ipv4Addr::new(a, b, c, d)
}

/// The host of a URL, as far as it needs no resolver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A literal address.
    Address(IpAddr),
    /// `localhost` and what is below it: this machine, whatever a resolver says.
    Localhost,
    /// A name, in lower case and without a dot at its end.
    Name(String),
}

impl Target {
    pub(super) fn of(url: &Url) -> Option<Self> {
        Some(match url.host()? {
            Host::Ipv4(address) => Self::Address(address.into()),
            Host::Ipv6(address) => Self::Address(address.into()),
            Host::Domain(name) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                match name.strip_suffix("localhost") {
                    Some("") => Self::Localhost,
                    Some(above) if above.ends_with('.') => Self::Localhost,
                    _ if name.is_empty() => return None,
                    _ => Self::Name(name),
                }
            }
        })
    }

    /// Whether it is this machine without asking anybody.
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Localhost => true,
            Self::Address(address) => place_of(*address) == Some(Reach::Loopback),
            Self::Name(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Shows: CL-FT-2, CL-FT-3, SEC-048
    #[test]
    fn addresses_are_where_they_are_whatever_they_are_wrapped_in() {
        let check = |expected: Option<Reach>, addresses: &[&str]| {
            for address in addresses {
                assert_eq!(place_of(address.parse().unwrap()), expected, "{address}");
            }
        };
        check(
            Some(Reach::Public),
            &["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"],
        );
        check(
            Some(Reach::Private),
            &[
                "10.0.0.1",
                "172.16.0.1",
                "172.31.255.255",
                "192.168.1.1",
                "100.64.0.1",
                "fc00::1",
                "fd12::1",
            ],
        );
        check(
            Some(Reach::Private),
            &[
                "::ffff:10.0.0.1",
                "::10.0.0.1",
                "64:ff9b::10.0.0.1",
                "2002:a00:1::1",
                "2001:0:1:2:3:4:f5ff:fffe",
            ],
        );
        check(
            Some(Reach::Loopback),
            &["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"],
        );
        check(
            None,
            &[
                "169.254.169.254",
                "0.0.0.0",
                "255.255.255.255",
                "224.0.0.1",
                "192.0.2.1",
                "198.18.0.1",
                "203.0.113.9",
            ],
        );
        check(
            None,
            &[
                "fe80::1",
                "::",
                "ff02::1",
                "2001:db8::1",
                "::ffff:169.254.169.254",
                "2002:a9fe:a9fe::1",
            ],
        );
    }

    // Shows: CL-FT-3
    #[test]
    fn odd_spellings_of_a_host_are_the_host_that_they_mean() {
        let target = |text: &str| Target::of(&Url::parse(text).unwrap()).unwrap();
        for text in [
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://[::ffff:127.0.0.1]/",
            "http://LOCALHOST./",
            "http://a.localhost/",
        ] {
            assert!(target(text).is_loopback(), "{text}");
        }
        assert_eq!(target("http://notlocalhost/"), Target::Name("notlocalhost".to_owned()));
        assert_eq!(target("http://H.Example./"), Target::Name("h.example".to_owned()));
    }
}
