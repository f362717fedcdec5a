//! What `--help` prints.

/// A command that has a help text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Demo,
    Info,
    Ping,
    Tools,
    Call,
    Resources,
    Read,
    Prompts,
    Prompt,
    Login,
    Logout,
}

impl Topic {
    pub(crate) const ALL: [Self; 11] = [
        Self::Demo,
        Self::Info,
        Self::Ping,
        Self::Tools,
        Self::Call,
        Self::Resources,
        Self::Read,
        Self::Prompts,
        Self::Prompt,
        Self::Login,
        Self::Logout,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Info => "info",
            Self::Ping => "ping",
            Self::Tools => "tools",
            Self::Call => "call",
            Self::Resources => "resources",
            Self::Read => "read",
            Self::Prompts => "prompts",
            Self::Prompt => "prompt",
            Self::Login => "login",
            Self::Logout => "logout",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.name() == name)
    }

    pub(crate) const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Demo => &["--full", "--http", "--help"],
            Self::Login => &[
                "--config",
                "--server",
                "--scope",
                "--client-id",
                "--port",
                "--no-browser",
                "--timeout",
                "--json",
                "--help",
            ],
            Self::Logout => &["--config", "--server", "--json", "--help"],
            Self::Call => &[
                "--json",
                "--timeout",
                "--max-time",
                "--env",
                "--cwd",
                "--url",
                "--header",
                "--transport",
                "--config",
                "--server",
                "--log",
                "--verbose",
                "--help",
                "--args",
            ],
            _ => &[
                "--json",
                "--timeout",
                "--max-time",
                "--env",
                "--cwd",
                "--url",
                "--header",
                "--transport",
                "--config",
                "--server",
                "--log",
                "--verbose",
                "--help",
            ],
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::Demo => DEMO,
            Self::Info => INFO,
            Self::Ping => PING,
            Self::Tools => TOOLS,
            Self::Call => CALL,
            Self::Resources => RESOURCES,
            Self::Read => READ,
            Self::Prompts => PROMPTS,
            Self::Prompt => PROMPT,
            Self::Login => LOGIN,
            Self::Logout => LOGOUT,
        }
    }
}

/// The help about one command, or about all.
pub(crate) fn text(topic: Option<Topic>) -> String {
    match topic {
        None => format!("{ALL}\n{OPTIONS}\n{CODES}"),
        Some(topic @ (Topic::Demo | Topic::Login | Topic::Logout)) => topic.text().to_owned(),
        Some(topic) => format!("{}\n{OPTIONS}", topic.text()),
    }
}

const ALL: &str = "\
Talk to servers of the Model Context Protocol.

Usage: mcp COMMAND [OPTIONS] -- SERVER [ARGS…]
       mcp COMMAND [OPTIONS] --url URL
       mcp COMMAND [OPTIONS] --config FILE --server NAME

SERVER is a program that speaks the protocol on its stdin and stdout. It is
started for the command, and ended after it. A server at a URL is spoken to over
HTTP. A FILE is the mcp.json of a host, with both kinds.

Commands:
  demo        Show a client and a server talk, and explain what they say
  info        Say what the server is and what it can do
  ping        Ask the server for a sign of life
  tools       List the tools
  call        Call a tool
  resources   List the resources and their templates
  read        Read a resource
  prompts     List the prompts
  prompt      Fill in a prompt
  login       Get tokens for a server at a URL, and keep them
  logout      Give the tokens of a server back
  help        Explain a command

Examples:
  mcp demo
  mcp tools -- npx -y @modelcontextprotocol/server-everything
  mcp call get-sum a=2 b=3 -- npx -y @modelcontextprotocol/server-everything
  mcp tools --url https://mcp.example.com/mcp --header 'Authorization: Bearer …'
  mcp tools --config ~/.cursor/mcp.json --server files
";

const OPTIONS: &str = "\
Options:
  --json            Print one JSON document, in the form of the specification
  --timeout TIME    Longest silence of the server, such as 30, 1.5s, 500ms or 2m
                    (60s); progress of a tool ends a silence
  --max-time TIME   Longest time of a request, whatever progress comes (10m)
  --env NAME=VALUE  Set a variable for the server; NAME alone passes it on. The
                    server sees no other but a few such as PATH and HOME
  --cwd DIR         Start the server in this directory
  --url URL         Where the server is, in place of its command
  --header 'NAME: VALUE'
                    Send this with every HTTP request; may be repeated
  --transport KIND  auto, http or sse: Streamable HTTP, the HTTP+SSE that was
                    before it, or whichever the server speaks (auto). Proxies
                    are taken from HTTPS_PROXY, HTTP_PROXY and NO_PROXY
  --config FILE     Where the server is written down, under \"mcpServers\";
                    ${NAME} stands for a variable of the environment there.
                    What the command line says goes before that
  --server NAME     Which server of that file; needed where it has several
  --log LEVEL       Show what the server logs from this level on
  -v, --verbose     Show what the server writes to its stderr
  -h, --help        Print this
";

const CODES: &str = "\
Exit codes:
  0  done
  1  the tool ran and failed
  2  the command line makes no sense
  3  no conversation: the server can't be started, ended, or broke the protocol
  4  the server did not answer in time
  5  the server refused the request, or doesn't offer it
  6  the server wants a login, or the login did not come about
";

const DEMO: &str = "\
Show a client and a server talk, and explain what they say.

Usage: mcp demo [--http] [--full]

The program starts itself again as a small server in a child process, and talks
to it over its stdin and stdout: the handshake, tools, progress, errors, a
question back, a prompt, a resource. Every message is shown.

Options:
  --http      Talk over HTTP, and show requests, answers and streams
  --full      Show long messages to their end
  -h, --help  Print this
";

const INFO: &str = "\
Say what the server is and what it can do.

Usage: mcp info [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const PING: &str = "\
Ask the server for a sign of life.

Usage: mcp ping [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const TOOLS: &str = "\
List the tools of the server, each with its parameters.

Usage: mcp tools [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const CALL: &str = "\
Call a tool.

Usage: mcp call TOOL [KEY=VALUE…] [OPTIONS] (-- SERVER [ARGS…] | --url URL)

Arguments of the tool:
  KEY=VALUE         VALUE is JSON where it can be read as JSON, else text;
                    always text where the tool asks for text
  KEY:=JSON         JSON, and nothing else
  --args JSON       All arguments as one object; also @FILE, and - for stdin.
                    KEY=VALUE comes on top

Examples:
  mcp call greet name=Ada -- my-server
  mcp call search query=rust limit=5 'filters:={\"lang\":[\"en\"]}' -- my-server
  echo '{\"a\": 1, \"b\": 2}' | mcp call add --args - -- my-server

The result is held against the tool's output schema. A tool that ran and failed
prints what it says, and the exit code is 1.
";

const RESOURCES: &str = "\
List the resources of the server, and the templates of resources.

Usage: mcp resources [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const READ: &str = "\
Read a resource. Text is printed as it is, bytes are described; with --json both
are there.

Usage: mcp read URI [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const PROMPTS: &str = "\
List the prompts of the server, each with its arguments.

Usage: mcp prompts [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const PROMPT: &str = "\
Fill in a prompt, and print its messages.

Usage: mcp prompt NAME [KEY=VALUE…] [OPTIONS] (-- SERVER [ARGS…] | --url URL)
";

const LOGIN: &str = "\
Get tokens for a server at a URL, and keep them for later commands.

Usage: mcp login URL [OPTIONS]
       mcp login --config FILE [--server NAME] [OPTIONS]

The server says where to log in. The page is opened in your browser, and its
address is shown here; the answer comes to a port of this machine. What the
server gives is kept in a file that only you can read, in
$MCP_LOGINS, or $XDG_STATE_HOME/mcp/logins, or ~/.local/state/mcp/logins.
Every later command with the same --url uses and renews it.

Options:
  --config FILE     The file that has the URL, as for other commands
  --server NAME     Which server of that file
  --scope SCOPES    Ask for these, in place of those that the server names
  --client-id ID    Log in as this client, which was registered by hand
  --port PORT       Take the answer at this port, and no other
  --no-browser      Only show the address
  --timeout TIME    How long to wait for you (5m)
  --json            Print what came of it as JSON
  -h, --help        Print this
";

const LOGOUT: &str = "\
Give the tokens of a server back, and forget them.

Usage: mcp logout URL [--json]
       mcp logout --config FILE [--server NAME] [--json]

Options:
  --config FILE     The file that has the URL, as for other commands
  --server NAME     Which server of that file
  --json            Print what came of it as JSON
  -h, --help        Print this
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_explained() {
        for topic in Topic::ALL {
            let help = text(Some(topic));
            for option in topic.options() {
                assert!(help.contains(option), "{topic:?} {option}");
            }
            assert!(text(None).contains(&format!("\n  {} ", topic.name())), "{topic:?}");
        }
    }

    #[test]
    fn help_fits_a_terminal() {
        let all = [None].into_iter().chain(Topic::ALL.map(Some));
        for line in all.flat_map(|topic| text(topic).lines().map(str::to_owned).collect::<Vec<_>>())
        {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
