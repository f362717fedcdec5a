//! What the command line says.

mod place;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use mcp_types::LoggingLevel;

use self::place::Place;
use crate::help::Topic;
use crate::target::{Site, Target};

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Invocation {
    Help(Option<Topic>),
    Version,
    /// Show a client and a server talk.
    Demo {
        /// Long messages are not cut.
        full: bool,
        /// They talk over HTTP.
        http: bool,
    },
    /// Be the server of the demo.
    DemoServer(DemoServer),
    Run(Box<Run>),
    /// Get tokens for a server, and keep them.
    Login(Login),
    /// Give them back.
    Logout(Logout),
}

/// What a login is to be like.
#[derive(Debug, PartialEq)]
pub(crate) struct Login {
    pub(crate) site: Site,
    pub(crate) client_id: Option<String>,
    pub(crate) scope: Option<String>,
    pub(crate) port: Option<u16>,
    /// The address is shown, and nothing is opened.
    pub(crate) no_browser: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) json: bool,
}

/// Which server is left.
#[derive(Debug, PartialEq)]
pub(crate) struct Logout {
    pub(crate) site: Site,
    pub(crate) json: bool,
}

/// How the server of the demo is reached.
#[derive(Debug, PartialEq)]
pub(crate) enum DemoServer {
    Stdio,
    Http {
        /// Where it listens.
        address: String,
        /// It ends with its stdin.
        leashed: bool,
    },
}

/// A command that talks to a server.
#[derive(Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) command: Command,
    pub(crate) options: Options,
    pub(crate) target: Target,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Info,
    Ping,
    Tools,
    Call { tool: String, arguments: Arguments },
    Resources,
    Read { uri: String },
    Prompts,
    Prompt { name: String, arguments: Vec<(String, String)> },
}

/// What a tool is called with.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Arguments {
    /// `--args`: an object, or where it is.
    pub(crate) whole: Option<Source>,
    /// `KEY=VALUE` and `KEY:=JSON`, in order.
    pub(crate) members: Vec<Member>,
}

/// Where JSON comes from.
#[derive(Debug, PartialEq)]
pub(crate) enum Source {
    Text(String),
    File(PathBuf),
    Stdin,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) value: Value,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Value {
    /// JSON where it is, unless the tool wants text.
    Loose(String),
    /// JSON.
    Strict(String),
}

/// What every command takes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) json: bool,
    pub(crate) verbose: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_time: Option<Duration>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) log: Option<LoggingLevel>,
}

/// The command line makes no sense.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct UsageError {
    message: String,
    /// Where to read more.
    pub(crate) topic: Option<Topic>,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), topic: None }
    }

    fn about(mut self, topic: Topic) -> Self {
        self.topic.get_or_insert(topic);
        self
    }
}

/// Reads the arguments, the program's name left out.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, UsageError> {
    let mut words = Words { args: args.into_iter().collect::<Vec<_>>().into_iter() };
    let Some(first) = words.next()? else {
        return Err(UsageError::new("there is no command"));
    };
    match first.as_str() {
        "-h" | "--help" => return Ok(Invocation::Help(None)),
        "-V" | "--version" => return Ok(Invocation::Version),
        "help" => {
            let topic = words.next()?.map(|name| topic(&name)).transpose()?;
            words.end()?;
            return Ok(Invocation::Help(topic));
        }
        "demo-server" => return demo_server(words),
        option if option.starts_with('-') => {
            return Err(UsageError::new(format!("the command comes first, not {option}")));
        }
        _ => {}
    }
    let topic = topic(&first)?;
    if matches!(topic, Topic::Login | Topic::Logout) {
        return authorization(topic, words).map_err(|error| error.about(topic));
    }
    command(topic, words).map_err(|error| error.about(topic))
}

/// `[--http [--addr ADDR] [--leash]]`.
fn demo_server(mut words: Words) -> Result<Invocation, UsageError> {
    let (mut http, mut leashed) = (false, false);
    let mut address = "127.0.0.1:0".to_owned();
    while let Some(word) = words.next()? {
        match word.as_str() {
            "--http" => http = true,
            "--addr" => address = words.value("--addr", None)?,
            "--leash" => leashed = true,
            other => return Err(UsageError::new(format!("{other:?} is one word too many"))),
        }
    }
    let server = if http { DemoServer::Http { address, leashed } } else { DemoServer::Stdio };
    Ok(Invocation::DemoServer(server))
}

fn topic(name: &str) -> Result<Topic, UsageError> {
    Topic::from_name(name).ok_or_else(|| {
        let names = Topic::ALL.iter().map(|topic| topic.name());
        let guess = nearest(name, names).map(|known| format!("; did you mean {known}?"));
        UsageError::new(format!("there is no command {name:?}{}", guess.unwrap_or_default()))
    })
}

/// `login URL …` and `logout URL …`.
fn authorization(topic: Topic, mut words: Words) -> Result<Invocation, UsageError> {
    let (mut client_id, mut scope, mut port, mut timeout) = (None, None, None, None);
    let (mut json, mut no_browser) = (false, false);
    let mut place = Place::default();
    while let Some(word) = words.next()? {
        let (name, value) = split(&word);
        match (topic, name) {
            (_, "-h" | "--help") => return Ok(Invocation::Help(Some(topic))),
            (_, "--json") => flag(name, value.as_deref(), &mut json)?,
            (_, "--config") => place.config = Some(words.value(name, value)?.into()),
            (_, "--server") => place.server = Some(words.value(name, value)?),
            (Topic::Login, "--no-browser") => flag(name, value.as_deref(), &mut no_browser)?,
            (Topic::Login, "--client-id") => client_id = Some(words.value(name, value)?),
            (Topic::Login, "--scope") => scope = Some(words.value(name, value)?),
            (Topic::Login, "--timeout") => timeout = Some(duration(&words.value(name, value)?)?),
            (Topic::Login, "--port") => {
                let text = words.value(name, value)?;
                let number = text.parse().ok().filter(|port| *port != 0);
                let wrong = || UsageError::new(format!("{text:?} is no port"));
                port = Some(number.ok_or_else(wrong)?);
            }
            _ if name.starts_with('-') => return Err(unknown(name, topic)),
            _ if place.url.is_none() => place.url = Some(word),
            _ => return Err(UsageError::new(format!("{word:?} is one word too many"))),
        }
    }
    let site = place.site()?;
    Ok(match topic {
        Topic::Logout => Invocation::Logout(Logout { site, json }),
        _ => Invocation::Login(Login { site, client_id, scope, port, no_browser, timeout, json }),
    })
}

/// An option, and the value that came with it.
fn split(word: &str) -> (&str, Option<String>) {
    match word.split_once('=').filter(|_| word.starts_with("--")) {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (word, None),
    }
}

/// An option without a value.
fn flag(name: &str, value: Option<&str>, flag: &mut bool) -> Result<(), UsageError> {
    match value {
        Some(_) => Err(UsageError::new(format!("{name} takes no value"))),
        None => {
            *flag = true;
            Ok(())
        }
    }
}

fn command(topic: Topic, mut words: Words) -> Result<Invocation, UsageError> {
    let mut options = Options::default();
    let mut free = Vec::new();
    let mut whole = None;
    let (mut full, mut http) = (false, false);
    let mut server = None;
    let mut place = Place::default();
    while let Some(word) = words.next()? {
        if word == "--" {
            server = Some(words.rest());
            break;
        }
        if !word.starts_with('-') || word == "-" {
            free.push(word);
            continue;
        }
        let (name, value) = split(&word);
        match name {
            "-h" | "--help" => return Ok(Invocation::Help(Some(topic))),
            "--full" if topic == Topic::Demo => flag(name, value.as_deref(), &mut full)?,
            "--http" if topic == Topic::Demo => flag(name, value.as_deref(), &mut http)?,
            _ if topic == Topic::Demo => return Err(unknown(name, topic)),
            "--json" => flag(name, value.as_deref(), &mut options.json)?,
            "-v" | "--verbose" => flag(name, value.as_deref(), &mut options.verbose)?,
            "--timeout" => options.timeout = Some(duration(&words.value(name, value)?)?),
            "--max-time" => options.max_time = Some(duration(&words.value(name, value)?)?),
            "--env" => options.env.push(variable(&words.value(name, value)?)?),
            "--cwd" => options.cwd = Some(words.value(name, value)?.into()),
            "--url" => place.url = Some(words.value(name, value)?),
            "--header" => place.header(&words.value(name, value)?)?,
            "--transport" => place.transport(&words.value(name, value)?)?,
            "--config" => place.config = Some(words.value(name, value)?.into()),
            "--server" => place.server = Some(words.value(name, value)?),
            "--log" => options.log = Some(level(&words.value(name, value)?)?),
            "--args" if topic == Topic::Call => {
                whole = Some(Source::read(words.value(name, value)?));
            }
            _ => return Err(unknown(name, topic)),
        }
    }
    if topic == Topic::Demo {
        if server.is_some() || !free.is_empty() {
            return Err(UsageError::new("the demo brings its own server"));
        }
        return Ok(Invocation::Demo { full, http });
    }
    let mut free = free.into_iter();
    let mut one = |what: &str| {
        free.next().ok_or_else(|| UsageError::new(format!("which {what}? Its name is missing")))
    };
    let command = match topic {
        Topic::Info => Command::Info,
        Topic::Ping => Command::Ping,
        Topic::Tools => Command::Tools,
        Topic::Call => {
            let tool = one("tool")?;
            let members = free.by_ref().map(Member::read).collect::<Result<_, _>>()?;
            Command::Call { tool, arguments: Arguments { whole, members } }
        }
        Topic::Resources => Command::Resources,
        Topic::Read => Command::Read { uri: one("resource")? },
        Topic::Prompts => Command::Prompts,
        Topic::Prompt => {
            let name = one("prompt")?;
            let arguments = free.by_ref().map(|word| match word.split_once('=') {
                Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
                None => Err(UsageError::new(format!("{word:?} is no KEY=VALUE"))),
            });
            Command::Prompt { name, arguments: arguments.collect::<Result<_, _>>()? }
        }
        Topic::Demo | Topic::Login | Topic::Logout => {
            return Ok(Invocation::Demo { full, http });
        }
    };
    if let Some(more) = free.next() {
        let hint = "the server's command comes after --";
        return Err(UsageError::new(format!("{more:?} is one word too many; {hint}")));
    }
    let target = place.target(server, &options)?;
    Ok(Invocation::Run(Box::new(Run { command, options, target })))
}

/// The words before `--`, as text.
struct Words {
    args: std::vec::IntoIter<OsString>,
}

impl Words {
    fn next(&mut self) -> Result<Option<String>, UsageError> {
        let word = self.args.next().map(OsString::into_string).transpose();
        word.map_err(|word| UsageError::new(format!("{} is no text", word.display())))
    }

    /// The value of an option: what came with it, or the next word.
    fn value(&mut self, name: &str, value: Option<String>) -> Result<String, UsageError> {
        match value {
            Some(value) => Ok(value),
            None => self
                .next()?
                .filter(|word| word != "--")
                .ok_or_else(|| UsageError::new(format!("{name} needs a value"))),
        }
    }

    /// The server's command, whatever it is.
    fn rest(&mut self) -> Vec<OsString> {
        self.args.by_ref().collect()
    }

    fn end(&mut self) -> Result<(), UsageError> {
        match self.next()? {
            Some(word) => Err(UsageError::new(format!("{word:?} is one word too many"))),
            None => Ok(()),
        }
    }
}

fn unknown(name: &str, topic: Topic) -> UsageError {
    let guess = nearest(name, topic.options().iter().copied());
    let guess = guess.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
    UsageError::new(format!("there is no option {name}{guess}"))
}

/// The name that was most likely meant.
pub(crate) fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (distance(typed, name), name))
        .filter(|(distance, name)| *distance <= name.chars().count().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters have to be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, letter) in a.chars().enumerate() {
        let mut above_left = at;
        let mut left = at + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, other) in row.iter_mut().skip(1).zip(&b) {
            let changed = above_left + usize::from(letter != *other);
            above_left = *cell;
            *cell = changed.min(left + 1).min(above_left + 1);
            left = *cell;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// `30`, `1.5s`, `500ms`, `2m`.
fn duration(text: &str) -> Result<Duration, UsageError> {
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    let value = number.parse::<f64>().map(|number| number * seconds);
    value
        .ok()
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            UsageError::new(format!("{text:?} is no time such as 30, 1.5s, 500ms or 2m"))
        })
}

/// `NAME=VALUE`, or `NAME` for the value that it has here.
fn variable(text: &str) -> Result<(OsString, OsString), UsageError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        Some(_) => Err(UsageError::new(format!("{text:?} is no NAME=VALUE"))),
        None => match std::env::var_os(text) {
            Some(value) => Ok((text.into(), value)),
            None => Err(UsageError::new(format!("there is no variable {text} to pass on"))),
        },
    }
}

fn level(text: &str) -> Result<LoggingLevel, UsageError> {
    serde_json::to_string(text).ok().and_then(|json| serde_json::from_str(&json).ok()).ok_or_else(
        || {
            UsageError::new(format!(
                "{text:?} is no level; they are debug, info, notice, warning, error, critical, \
                 alert and emergency"
            ))
        },
    )
}

impl Source {
    fn read(text: String) -> Self {
        match text.strip_prefix('@') {
            Some("-") => Self::Stdin,
            Some(path) => Self::File(path.into()),
            None if text == "-" => Self::Stdin,
            None => Self::Text(text),
        }
    }
}

impl Member {
    fn read(word: String) -> Result<Self, UsageError> {
        let Some((name, value)) = word.split_once('=') else {
            return Err(UsageError::new(format!("{word:?} is no KEY=VALUE")));
        };
        let value = value.to_owned();
        let (name, value) = match name.strip_suffix(':') {
            Some(name) => (name, Value::Strict(value)),
            None => (name, Value::Loose(value)),
        };
        if name.is_empty() {
            return Err(UsageError::new(format!("{word:?} is no KEY=VALUE")));
        }
        Ok(Self { name: name.to_owned(), value })
    }
}

#[cfg(test)]
mod tests {
    use mcp_transport_http::client::Transport;

    use super::*;

    fn read(line: &str) -> Result<Invocation, UsageError> {
        parse(line.split(' ').filter(|word| !word.is_empty()).map(OsString::from))
    }

    fn run(line: &str) -> Run {
        match read(line) {
            Ok(Invocation::Run(run)) => *run,
            other => panic!("{other:?}"),
        }
    }

    fn complaint(line: &str) -> String {
        read(line).unwrap_err().to_string()
    }

    #[test]
    fn options_stand_anywhere_before_the_server() {
        let a = run("tools --json --timeout 1.5s -- server --json");
        assert!(a.options.json);
        assert_eq!(a.options.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(a.target, Target::command(vec!["server".into(), "--json".into()]).unwrap());
        assert_eq!(run("tools --timeout=1500ms --json -- server --json"), a);
    }

    #[test]
    fn a_call_takes_its_arguments_in_every_form() {
        let call = run("call --log=warning add a=1 b:=[2] c=x=y --args @file -- server");
        let member = |name: &str, value| Member { name: name.to_owned(), value };
        let Command::Call { tool, arguments } = call.command else { panic!("{:?}", call.command) };
        assert_eq!(tool, "add");
        assert_eq!(arguments.whole, Some(Source::File("file".into())));
        assert_eq!(
            arguments.members,
            [
                member("a", Value::Loose("1".to_owned())),
                member("b", Value::Strict("[2]".to_owned())),
                member("c", Value::Loose("x=y".to_owned())),
            ]
        );
        assert_eq!(call.options.log, Some(LoggingLevel::Warning));
        for stdin in ["-", "@-"] {
            let call = run(&format!("call t --args {stdin} -- server"));
            let Command::Call { arguments, .. } = call.command else {
                panic!("{:?}", call.command)
            };
            assert_eq!(arguments.whole, Some(Source::Stdin));
        }
    }

    #[test]
    fn a_server_may_be_somewhere_else() {
        let run = run("tools --url http://x/mcp --transport=sse --header Authorization:b --json");
        let Target::Url { url, headers, transport } = run.target else { panic!("no URL") };
        assert_eq!((url.as_str(), transport), ("http://x/mcp", Transport::LegacySse));
        assert_eq!(headers["authorization"], "b");
        assert!(!format!("{headers:?}").contains("\"b\""), "it may be a secret");
    }

    #[test]
    fn a_login_is_told_what_to_ask_for() {
        let login = read("login http://x/mcp --scope=a --port 8000 --client-id me --no-browser");
        let expected = Login {
            site: Site::Url("http://x/mcp".to_owned()),
            client_id: Some("me".to_owned()),
            scope: Some("a".to_owned()),
            port: Some(8000),
            no_browser: true,
            timeout: None,
            json: false,
        };
        assert_eq!(login, Ok(Invocation::Login(expected)));
        let logout = Logout { site: Site::Url("http://x".to_owned()), json: true };
        assert_eq!(read("logout --json http://x"), Ok(Invocation::Logout(logout)));
    }

    #[test]
    fn help_is_everywhere() {
        assert_eq!(read("--help"), Ok(Invocation::Help(None)));
        assert_eq!(read("help"), Ok(Invocation::Help(None)));
        assert_eq!(read("help call"), Ok(Invocation::Help(Some(Topic::Call))));
        assert_eq!(read("call --help"), Ok(Invocation::Help(Some(Topic::Call))));
        assert_eq!(read("call t -h -- x"), Ok(Invocation::Help(Some(Topic::Call))));
        assert_eq!(read("-V"), Ok(Invocation::Version));
        assert_eq!(read("demo --full"), Ok(Invocation::Demo { full: true, http: false }));
        assert_eq!(read("demo --http"), Ok(Invocation::Demo { full: false, http: true }));
    }

    #[test]
    fn what_makes_no_sense_is_said_so() {
        for (line, part) in [
            ("", "no command"),
            ("tolls -- x", "did you mean tools?"),
            ("xyzzy", "no command \"xyzzy\""),
            ("--json tools -- x", "the command comes first"),
            ("tools", "after --"),
            ("tools --", "after --"),
            ("tools server", "\"server\" is one word too many"),
            ("tools --jsn -- x", "did you mean --json?"),
            ("tools --json=1 -- x", "takes no value"),
            ("tools --timeout -- x", "--timeout needs a value"),
            ("tools --timeout 0 -- x", "is no time"),
            ("tools --timeout 3x -- x", "is no time"),
            ("tools --log loud -- x", "is no level"),
            ("tools --env =1 -- x", "is no NAME=VALUE"),
            ("tools --args {} -- x", "no option --args"),
            ("call -- x", "which tool?"),
            ("call t a -- x", "is no KEY=VALUE"),
            ("call t =1 -- x", "is no KEY=VALUE"),
            ("read -- x", "which resource?"),
            ("demo -- x", "brings its own server"),
            ("demo --json", "no option --json"),
            ("tools --url http://x -- y", "not both"),
            ("tools --url http://x --env A=1", "servers that are started"),
            ("tools --header A:b -- x", "servers with a --url"),
            ("tools --transport http -- x", "servers with a --url"),
            ("tools --url http://x --transport ftp", "they are auto, http and sse"),
            ("tools --url http://x --header secret", "a header is 'Name: value'"),
            ("demo-server --http x", "\"x\" is one word too many"),
            ("login", "Its URL is missing"),
            ("login http://x y", "one word too many"),
            ("login http://x --port 0", "\"0\" is no port"),
            ("logout http://x --scope y", "no option --scope"),
            ("logout http://x --json=yes", "takes no value"),
            ("login http://x --config y", "a URL or a --config, not both"),
            ("login --server y", "--server is for a --config"),
            ("tools --config x --url y", "not both"),
            ("tools --config x -- y", "not both"),
            ("tools --server x -- y", "--server is for a --config"),
            ("tools --config -- y", "--config needs a value"),
            ("help me", "no command \"me\""),
        ] {
            let text = complaint(line);
            assert!(text.contains(part), "{line:?}: {text}");
        }
        assert_eq!(read("call t -- ").unwrap_err().topic, Some(Topic::Call));
    }

    #[test]
    fn the_nearest_name_is_near() {
        let names = || ["tools", "prompts", "resources"].into_iter();
        assert_eq!(nearest("tool", names()), Some("tools"));
        assert_eq!(nearest("propmts", names()), Some("prompts"));
        assert_eq!(nearest("zzz", names()), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
