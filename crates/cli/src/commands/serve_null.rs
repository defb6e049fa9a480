//! `stormeter serve-null`: a server that answers at once without storage, for the ceiling of protocols. Hidden:
//! only this program and its benchmarks use it.

use stormeter_server::{NullIscsi, NullNfs};

use super::serve_nfs::{stop_at_end_of_stdin, stop_on_signal};
use crate::arguments::{ServeNullOptions, Through};
use crate::exit::{Exit, Failure};
use crate::output::print;

pub(crate) fn run(options: &ServeNullOptions) -> Result<Exit, Failure> {
    let failed = |error: stormeter_server::ServerError| Failure::File(error.to_string());
    match options.protocol {
        Through::Nfs => {
            let server = NullNfs::bind(0).map_err(failed)?;
            stop_on_signal(server.stopper());
            print(&format!("nfs://127.0.0.1:{0}/null?mountport={0}\n", server.port()))?;
            stop_at_end_of_stdin(server.stopper());
            server.serve();
        }
        Through::Iscsi => {
            let server = NullIscsi::bind(0).map_err(failed)?;
            stop_on_signal(server.stopper());
            print(&format!("iscsi://127.0.0.1:{}/{}/0\n", server.port(), server.target()))?;
            stop_at_end_of_stdin(server.stopper());
            server.serve();
        }
    }
    Ok(Exit::Done)
}
