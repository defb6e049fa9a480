//! A cluster: connecting, its images, its monitors' answers.

use std::ffi::{CStr, CString};
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, OpenImage, c_name, checked};
use crate::error::RbdError;
use crate::image::{Image, ImageOptions};
use crate::library::{ImageSpec, Library};
use crate::within::within;

/// How much longer a call may take than the time limit that the library was given for it.
const GRACE: Duration = Duration::from_secs(5);

/// Which cluster and pool, as whom, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSettings {
    /// Its configuration file; where Ceph looks for one, if `None` (`$CEPH_CONF`, `/etc/ceph/ceph.conf`, …).
    pub conf: Option<PathBuf>,
    /// The user, without `client.`.
    pub id: String,
    /// The pool.
    pub pool: String,
    /// The namespace in the pool.
    pub namespace: Option<String>,
    /// How long an operation may take before the library ends it with ETIMEDOUT.
    pub timeout: Duration,
    /// librbd's own cache (`rbd_cache`), as QEMU sets it: off with `cache=none`, on with `cache=writeback`.
    pub cache: bool,
}

/// A connection to a cluster with one open pool. Cheap to clone. Every method waits for the cluster, with a limit.
#[derive(Clone)]
pub struct Cluster {
    connection: Option<Arc<Connection>>,
    pool: String,
    pub(crate) limit: Duration,
}

impl Cluster {
    /// Connects and opens the pool.
    ///
    /// # Errors
    /// The cluster does not answer, refuses the user or key, or has no such pool.
    pub fn connect(library: &Library, settings: &ClusterSettings) -> Result<Self, RbdError> {
        let limit = settings.timeout + GRACE;
        let (library, of_thread) = (library.clone(), settings.clone());
        let what = format!("the cluster as client.{}", settings.id);
        let connected = within(limit, move || connect(&library, &of_thread));
        let late = RbdError::Late { action: "connecting to", what, limit };
        let connection = Some(Arc::new(connected.ok_or(late)??));
        Ok(Self { connection, pool: settings.pool.clone(), limit })
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        self.connection.as_ref().expect("it is taken by drop only")
    }

    /// Does something that waits for the cluster.
    fn call<T: Send + 'static>(
        &self,
        action: &'static str,
        what: &str,
        call: impl FnOnce(Arc<Connection>) -> Result<T, RbdError> + Send + 'static,
    ) -> Result<T, RbdError> {
        let connection = Arc::clone(self.connection());
        let late = || RbdError::Late { action, what: what.into(), limit: self.limit };
        within(self.limit, move || call(connection)).ok_or_else(late)?
    }

    /// The pool.
    pub fn pool(&self) -> &str {
        &self.pool
    }

    /// The cluster's identity, a UUID.
    ///
    /// # Errors
    /// The library refuses it.
    pub fn fsid(&self) -> Result<String, RbdError> {
        let mut text = [0_u8; 37];
        let connection = self.connection();
        // SAFETY: the handle is connected, and the buffer has the given size.
        let result = unsafe {
            (connection.functions.rados_cluster_fsid)(
                connection.rados,
                text.as_mut_ptr().cast(),
                text.len(),
            )
        };
        checked(result.min(0), "reading the identity of", &c_name("the cluster")?)?;
        let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
        Ok(text.to_string_lossy().into_owned())
    }

    /// Asks the monitors: a command as JSON (`{"prefix": "status", "format": "json"}`), and their answer.
    ///
    /// # Errors
    /// The monitors do not answer, or refuse the command.
    pub fn ask(&self, command: &str) -> Result<Vec<u8>, RbdError> {
        let text = c_name(command)?;
        self.call("asking the monitors", command, move |connection| mon_command(&connection, &text))
    }

    /// The names of the pool's images, in the namespace.
    ///
    /// # Errors
    /// The cluster refuses it or does not answer.
    pub fn images(&self) -> Result<Vec<String>, RbdError> {
        self.call("listing the images of", &self.pool, |connection| list(&connection))
    }

    /// Makes an image of `size_bytes`. Nothing of it is written: reads of it find no objects.
    ///
    /// # Errors
    /// An image of that name is there (EEXIST), the options do not fit together (EINVAL), or the cluster refuses.
    pub fn create(
        &self,
        name: &str,
        size_bytes: u64,
        options: ImageOptions,
    ) -> Result<(), RbdError> {
        let text = c_name(name)?;
        self.call("making image", name, move |connection| {
            options.create(&connection, &text, size_bytes)
        })
    }

    /// Makes an image as a clone of a protected snapshot ([`Image::protect_snapshot`]) of another, whose size it has.
    ///
    /// # Errors
    /// An image of that name is there (EEXIST), there is no such snapshot (ENOENT), or the cluster refuses.
    pub fn make_clone(
        &self,
        (template, snapshot): (&str, &str),
        name: &str,
        options: ImageOptions,
    ) -> Result<(), RbdError> {
        let [template, snapshot, text] = [template, snapshot, name].map(c_name);
        let (template, snapshot, text) = (template?, snapshot?, text?);
        self.call("cloning image", name, move |connection| {
            options.clone_of(&connection, (&template, &snapshot), &text)
        })
    }

    /// Removes an image. One that is open somewhere, or was until its client died less than half a minute ago, is busy
    /// (EBUSY).
    ///
    /// # Errors
    /// See above; there is no such image, or the cluster refuses.
    pub fn remove(&self, name: &str) -> Result<(), RbdError> {
        let text = c_name(name)?;
        // Each object is removed by an operation of its own, each of which has the whole limit.
        let connection = Arc::clone(self.connection());
        let limit = self.limit * 10;
        let removed = within(limit, move || {
            // SAFETY: the pool is open and the name ends with a zero.
            let result =
                unsafe { (connection.functions.rbd_remove)(connection.pool, text.as_ptr()) };
            checked(result, "removing image", &text)
        });
        let late = || RbdError::Late { action: "removing image", what: name.into(), limit };
        removed.ok_or_else(late)?
    }

    /// Opens an image.
    ///
    /// # Errors
    /// There is no such image, or the cluster refuses or does not answer.
    pub fn open(&self, name: &str) -> Result<Image, RbdError> {
        self.open_as(name, false)
    }

    /// Opens an image for reading only: it then needs no lock.
    ///
    /// # Errors
    /// As [`Cluster::open`].
    pub fn open_read_only(&self, name: &str) -> Result<Image, RbdError> {
        self.open_as(name, true)
    }

    fn open_as(&self, name: &str, is_read_only: bool) -> Result<Image, RbdError> {
        let text = c_name(name)?;
        let open = self.call("opening image", name, move |connection| {
            OpenImage::open(connection, &text, is_read_only)
        })?;
        Ok(Image::new(Arc::new(open), name, self.limit))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The last owner closes it, which waits for the cluster.
        if let Some(last) = self.connection.take().and_then(Arc::into_inner) {
            within(self.limit, move || drop(last));
        }
    }
}

fn connect(library: &Library, settings: &ClusterSettings) -> Result<Connection, RbdError> {
    let functions = Arc::clone(&library.functions);
    let user = c_name(&format!("client.{}", settings.id))?;
    let mut rados = ptr::null_mut();
    // SAFETY: all texts end with a zero and are copied; the handle is written once.
    let result =
        unsafe { (functions.rados_create2)(&raw mut rados, c"ceph".as_ptr(), user.as_ptr(), 0) };
    checked(result, "preparing a client as", &user)?;
    let mut connection = Connection { functions, rados, pool: ptr::null_mut() };
    let conf = settings.conf.as_ref().map(|path| c_name(&path.to_string_lossy())).transpose()?;
    let conf_pointer = conf.as_ref().map_or(ptr::null(), |path| path.as_ptr());
    // SAFETY: the handle was just made; a null path lets the library look in its own places.
    let result = unsafe { (connection.functions.rados_conf_read_file)(rados, conf_pointer) };
    let conf = conf.unwrap_or_else(|| c"ceph.conf".to_owned());
    checked(result, "reading the configuration", &conf)?;
    let seconds = settings.timeout.as_secs().max(1).to_string();
    let cache = if settings.cache { "true" } else { "false" };
    let all = [
        ("client_mount_timeout", seconds.as_str()),
        ("rados_mon_op_timeout", &seconds),
        ("rados_osd_op_timeout", &seconds),
        ("rbd_cache", cache),
        // Buffers are not touched while an operation uses them, so the library needs no copy.
        ("rbd_disable_zero_copy_writes", "false"),
        // What the library has to say arrives as an error; the terminal is not its own.
        ("log_to_stderr", "false"),
        ("err_to_stderr", "false"),
        ("log_file", ""),
        ("admin_socket", ""),
    ];
    for (name, value) in all {
        let (name, value) = (c_name(name)?, c_name(value)?);
        // SAFETY: both texts end with a zero and are copied. A library that lacks a setting answers with an error, and does
        // without.
        unsafe { (connection.functions.rados_conf_set)(rados, name.as_ptr(), value.as_ptr()) };
    }
    // SAFETY: the handle is configured and not connected yet.
    checked(unsafe { (connection.functions.rados_connect)(rados) }, "connecting as", &user)?;
    let pool = c_name(&settings.pool)?;
    // SAFETY: the handle is connected, the text ends with a zero.
    let result = unsafe {
        (connection.functions.rados_ioctx_create)(rados, pool.as_ptr(), &raw mut connection.pool)
    };
    if result == -2 {
        return Err(RbdError::NoPool { pool: settings.pool.clone() });
    }
    checked(result, "opening pool", &pool)?;
    // A write that finds no room then fails with ENOSPC or EDQUOT instead of waiting for room. Images that are opened
    // inherit it.
    // SAFETY: the pool is open, and nobody else has it yet.
    unsafe { (connection.functions.rados_set_osdmap_full_try)(connection.pool) };
    if let Some(namespace) = &settings.namespace {
        let namespace = c_name(namespace)?;
        // SAFETY: the pool is open, nobody else has it yet, and the text is copied.
        unsafe {
            (connection.functions.rados_ioctx_set_namespace)(connection.pool, namespace.as_ptr());
        }
    }
    Ok(connection)
}

fn mon_command(connection: &Connection, command: &CString) -> Result<Vec<u8>, RbdError> {
    let commands = [command.as_ptr()];
    let (mut answer, mut answer_bytes) = (ptr::null_mut(), 0);
    let (mut words, mut words_bytes) = (ptr::null_mut(), 0);
    // SAFETY: one command that ends with a zero, no input, and places for the two answers.
    let result = unsafe {
        (connection.functions.rados_mon_command)(
            connection.rados,
            commands.as_ptr(),
            1,
            ptr::null(),
            0,
            &raw mut answer,
            &raw mut answer_bytes,
            &raw mut words,
            &raw mut words_bytes,
        )
    };
    let bytes = if answer.is_null() {
        Vec::new()
    } else {
        // SAFETY: the library says how long its answer is, and it lives until it is freed below.
        unsafe { std::slice::from_raw_parts(answer.cast::<u8>(), answer_bytes) }.to_vec()
    };
    for buffer in [answer, words] {
        if !buffer.is_null() {
            // SAFETY: it is the library's, and used no more.
            unsafe { (connection.functions.rados_buffer_free)(buffer) };
        }
    }
    checked(result, "asking the monitors", command)?;
    Ok(bytes)
}

fn list(connection: &Connection) -> Result<Vec<String>, RbdError> {
    let mut room: usize = 64;
    loop {
        let mut specs: Vec<ImageSpec> = Vec::with_capacity(room);
        let mut count = room;
        // SAFETY: the pool is open, and there is room for `count` entries.
        let result = unsafe {
            (connection.functions.rbd_list2)(connection.pool, specs.as_mut_ptr(), &raw mut count)
        };
        // ERANGE: there are more, and `count` says how many.
        if result == -34 {
            room = count.max(room * 2);
            continue;
        }
        checked(result, "listing images of", &c_name("the pool")?)?;
        // SAFETY: the library filled `count` entries, at most as many as there was room for.
        unsafe { specs.set_len(count.min(room)) };
        let name = |spec: &ImageSpec| {
            // SAFETY: each entry has a name that ends with a zero and lives until the clean-up below.
            unsafe { CStr::from_ptr(spec.name) }.to_string_lossy().into_owned()
        };
        let names = specs.iter().map(name).collect();
        // SAFETY: the entries are the library's, and used no more.
        unsafe {
            (connection.functions.rbd_image_spec_list_cleanup)(specs.as_mut_ptr(), specs.len());
        }
        return Ok(names);
    }
}
