//! What a session costs that nobody uses.

use crate::child::Listening;
use crate::http::Connection;

/// Sessions to open, over one connection or with a stream each.
#[derive(Clone, Copy)]
pub(crate) struct Sessions {
    pub(crate) count: usize,
    pub(crate) streams: bool,
}

/// What they have cost.
pub(crate) struct SessionSample {
    /// Bytes of memory for each.
    pub(crate) bytes: f64,
    /// Milliseconds of CPU to open one.
    pub(crate) cpu_ms: f64,
}

/// What a server allocates only once is behind it after so many.
const WARM: usize = 200;

impl Sessions {
    pub(crate) async fn run(&self, command: &str) -> anyhow::Result<SessionSample> {
        let server = Listening::spawn(command).await?;
        let mut one = Connection::open(&server.url).await?;
        let mut open = Vec::new();
        self.open(&server, &mut one, &mut open, WARM).await?;
        let (memory, cpu) = (server.memory()?, server.cpu()?);
        self.open(&server, &mut one, &mut open, self.count).await?;
        let (grown, spent) = (server.memory()? - memory, server.cpu()? - cpu);
        server.end().await?;
        #[expect(clippy::cast_precision_loss, reason = "counts of sessions are small")]
        let count = self.count as f64;
        Ok(SessionSample { bytes: grown / count, cpu_ms: spent * 1000.0 / count })
    }

    async fn open(
        &self,
        server: &Listening,
        one: &mut Connection,
        open: &mut Vec<Connection>,
        count: usize,
    ) -> anyhow::Result<()> {
        for _ in 0..count {
            if self.streams {
                let mut connection = Connection::open(&server.url).await?;
                connection.initialize().await?;
                connection.listen().await?;
                open.push(connection);
            } else {
                one.initialize().await?;
            }
        }
        Ok(())
    }
}
