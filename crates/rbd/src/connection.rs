//! A connection to a cluster and its pool: what the library must not lose while a call is under way.

use std::ffi::CString;
use std::ptr;
use std::sync::Arc;

use crate::error::RbdError;
use crate::library::{Functions, Handle};

/// A connected cluster, with a pool. Closed when the last owner drops it, which may wait for the cluster.
pub(crate) struct Connection {
    pub(crate) functions: Arc<Functions>,
    pub(crate) rados: Handle,
    /// Null before the pool is open.
    pub(crate) pool: Handle,
}

// SAFETY: cluster and pool handles may be used from any thread, and by several at a time (librados.h says so of both; a
// pool's namespace is set before the handle is shared).
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: both handles were made by the library, nobody else has them, and images of the pool are closed, since
        // each holds an `Arc` of this.
        unsafe {
            if !self.pool.is_null() {
                (self.functions.rados_ioctx_destroy)(self.pool);
            }
            (self.functions.rados_shutdown)(self.rados);
        }
    }
}

/// An open image. Closed when the last owner drops it, which may wait for the cluster; closing releases the exclusive lock.
pub(crate) struct OpenImage {
    pub(crate) connection: Arc<Connection>,
    pub(crate) handle: Handle,
}

// SAFETY: librbd's image handles may be used from any thread, and by several at a time.
unsafe impl Send for OpenImage {}
// SAFETY: as above.
unsafe impl Sync for OpenImage {}

impl Drop for OpenImage {
    fn drop(&mut self) {
        // SAFETY: the handle was opened by the library and nobody else has it. Operations that are under way hold an `Arc`
        // of this, so there are none.
        unsafe { (self.connection.functions.rbd_close)(self.handle) };
    }
}

impl OpenImage {
    /// Opens an image of the connection's pool. Waits for the cluster.
    pub(crate) fn open(
        connection: Arc<Connection>,
        name: &CString,
        is_read_only: bool,
    ) -> Result<Self, RbdError> {
        let mut handle = ptr::null_mut();
        let functions = &connection.functions;
        let open = if is_read_only { functions.rbd_open_read_only } else { functions.rbd_open };
        // SAFETY: the pool is open, the name ends with a zero, and no snapshot is named.
        let result = unsafe { open(connection.pool, name.as_ptr(), &raw mut handle, ptr::null()) };
        checked(result, "opening image", name)?;
        Ok(Self { connection, handle })
    }
}

/// A name for C.
pub(crate) fn c_name(name: &str) -> Result<CString, RbdError> {
    CString::new(name).map_err(|_| RbdError::Name { name: name.into() })
}

/// The library's answer: negative is an error number.
pub(crate) fn checked(result: i32, action: &'static str, what: &CString) -> Result<(), RbdError> {
    if result >= 0 {
        return Ok(());
    }
    let what = what.to_string_lossy().into_owned();
    Err(RbdError::Refused { action, what, errno: -result })
}
