//! Resources: the files of a directory, and nothing outside of it, wherever links and `..` lead.
//!
//! ```sh
//! cargo run --example files -- ./docs
//! ```

use std::path::Path;

use mcp_server::Server;
use mcp_server::resource::Files;

pub(crate) fn server(directory: &Path) -> Result<Server, Box<dyn std::error::Error>> {
    let files = Files::under("docs:///", directory)?.max_bytes(1 << 20);
    let mut server = Server::new("files", "1.0.0").with_template(files.template("docs")?);
    // The first ones are listed; all of them can be read.
    for entry in files.entries(100)? {
        server = server.with_resource(entry);
    }
    Ok(server)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("usage: files DIRECTORY")?;
    server(Path::new(&directory))?.serve(mcp_transport_stdio::stdio()).await?;
    Ok(())
}
