//! An image: how one is made, what it is, its snapshots, and notes that are kept with it.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, OpenImage, c_name, checked};
use crate::error::RbdError;
use crate::library::{Functions, Handle};
use crate::within::within;

/// Numbers of image options (librbd.h, `RBD_IMAGE_OPTION_…`).
const OPTION_FEATURES: c_int = 1;
const OPTION_ORDER: c_int = 2;
const OPTION_STRIPE_UNIT: c_int = 3;
const OPTION_STRIPE_COUNT: c_int = 4;

/// How an image is laid out over objects. What is `None` is the cluster's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImageOptions {
    /// Bytes of an object, a power of two from 4 KiB to 32 MiB.
    pub object_bytes: Option<u64>,
    /// Bytes that go to one object before the next one's turn; divides `object_bytes`.
    pub stripe_unit_bytes: Option<u64>,
    /// Number of objects over which a stripe goes.
    pub stripe_count: Option<u64>,
    /// Feature bits (librbd/features.h).
    pub features: Option<u64>,
}

/// What an image is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImageInfo {
    /// Its size.
    pub size_bytes: u64,
    /// Bytes of an object.
    pub object_bytes: u64,
    /// Bytes that go to one object before the next one's turn.
    pub stripe_unit_bytes: u64,
    /// Number of objects over which a stripe goes.
    pub stripe_count: u64,
    /// Feature bits.
    pub features: u64,
}

/// `rbd_image_info_t`.
#[repr(C)]
struct Stat {
    size: u64,
    object_bytes: u64,
    objects: u64,
    order: c_int,
    block_name_prefix: [u8; 24],
    parent_pool: i64,
    parent_name: [u8; 96],
}

impl ImageOptions {
    /// Makes an image. Waits for the cluster.
    pub(crate) fn create(
        self,
        connection: &Connection,
        name: &CString,
        size_bytes: u64,
    ) -> Result<(), RbdError> {
        let functions = &connection.functions;
        let result = self.with_handle(functions, |options| {
            // SAFETY: the pool is open, the name ends with a zero, the options are valid.
            unsafe { (functions.rbd_create4)(connection.pool, name.as_ptr(), size_bytes, options) }
        });
        checked(result, "making image", name)
    }

    /// Makes an image as a clone of a protected snapshot. Waits for the cluster.
    pub(crate) fn clone_of(
        self,
        connection: &Connection,
        (parent, snapshot): (&CString, &CString),
        name: &CString,
    ) -> Result<(), RbdError> {
        let (functions, pool) = (&connection.functions, connection.pool);
        let result = self.with_handle(functions, |options| {
            // SAFETY: the pool, which is that of parent and clone, is open, all names end with a zero, the options are
            // valid.
            unsafe {
                (functions.rbd_clone3)(
                    pool,
                    parent.as_ptr(),
                    snapshot.as_ptr(),
                    pool,
                    name.as_ptr(),
                    options,
                )
            }
        });
        checked(result, "cloning image", parent)
    }

    /// Calls with these options as the library's. Negative: an error number.
    fn with_handle(self, functions: &Functions, call: impl FnOnce(Handle) -> c_int) -> c_int {
        let mut options = ptr::null_mut();
        // SAFETY: the library writes a handle of its own.
        unsafe { (functions.rbd_image_options_create)(&raw mut options) };
        let order = self.object_bytes.map(|bytes| u64::from(bytes.trailing_zeros()));
        let all = [
            (OPTION_FEATURES, self.features),
            (OPTION_ORDER, order),
            (OPTION_STRIPE_UNIT, self.stripe_unit_bytes),
            (OPTION_STRIPE_COUNT, self.stripe_count),
        ];
        let mut result = 0;
        for (option, value) in all {
            if let Some(value) = value
                && result >= 0
            {
                // SAFETY: the options were made above.
                result =
                    unsafe { (functions.rbd_image_options_set_uint64)(options, option, value) };
            }
        }
        if result >= 0 {
            result = call(options);
        }
        // SAFETY: they are used no more.
        unsafe { (functions.rbd_image_options_destroy)(options) };
        result
    }
}

/// An open image. Dropping it closes it, which releases its exclusive lock, and waits for that with a limit.
pub struct Image {
    open: Option<Arc<OpenImage>>,
    name: String,
    limit: Duration,
}

impl Image {
    pub(crate) fn new(open: Arc<OpenImage>, name: &str, limit: Duration) -> Self {
        Self { open: Some(open), name: name.into(), limit }
    }

    pub(crate) fn open(&self) -> &Arc<OpenImage> {
        self.open.as_ref().expect("it is taken by drop only")
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn call<T: Send + 'static>(
        &self,
        action: &'static str,
        call: impl FnOnce(&OpenImage, &CString) -> Result<T, RbdError> + Send + 'static,
    ) -> Result<T, RbdError> {
        let (open, name) = (Arc::clone(self.open()), c_name(&self.name)?);
        let late = || RbdError::Late { action, what: self.name.clone(), limit: self.limit };
        within(self.limit, move || call(&open, &name)).ok_or_else(late)?
    }

    /// What it is.
    ///
    /// # Errors
    /// The cluster refuses or does not answer.
    pub fn info(&self) -> Result<ImageInfo, RbdError> {
        self.call("reading the size of image", info)
    }

    /// Makes a snapshot that cannot be removed while it has clones. One of that name that is there stays as it is.
    ///
    /// # Errors
    /// The cluster refuses or does not answer.
    pub fn protect_snapshot(&self, snapshot: &str) -> Result<(), RbdError> {
        let snapshot = c_name(snapshot)?;
        self.call("making a snapshot of image", move |open, name| {
            let functions = &open.connection.functions;
            let action = "making a snapshot of image";
            // EEXIST, and EBUSY of one that is protected already.
            on_snapshot(functions.rbd_snap_create, open, &snapshot, (action, name), &[17])?;
            on_snapshot(functions.rbd_snap_protect, open, &snapshot, (action, name), &[16])
        })
    }

    /// Removes a snapshot, if there is one of that name. One that has clones is busy (EBUSY).
    ///
    /// # Errors
    /// See above; the cluster refuses or does not answer.
    pub fn remove_snapshot(&self, snapshot: &str) -> Result<(), RbdError> {
        let snapshot = c_name(snapshot)?;
        self.call("removing a snapshot of image", move |open, name| {
            let functions = &open.connection.functions;
            let action = "removing a snapshot of image";
            // ENOENT, and EINVAL of one that is not protected.
            on_snapshot(functions.rbd_snap_unprotect, open, &snapshot, (action, name), &[2, 22])?;
            on_snapshot(functions.rbd_snap_remove, open, &snapshot, (action, name), &[2])
        })
    }

    /// A note that was kept with it; `None` if there is none of that name.
    ///
    /// # Errors
    /// The cluster refuses or does not answer.
    pub fn note(&self, key: &str) -> Result<Option<String>, RbdError> {
        let key = c_name(key)?;
        self.call("reading a note of image", move |open, name| note(open, name, &key))
    }

    /// Keeps a note with it, in place of an earlier one of that name.
    ///
    /// # Errors
    /// The cluster refuses or does not answer.
    pub fn set_note(&self, key: &str, value: &str) -> Result<(), RbdError> {
        let (key, value) = (c_name(key)?, c_name(value)?);
        self.call("keeping a note with image", move |open, name| {
            let set = open.connection.functions.rbd_metadata_set;
            // SAFETY: the image is open, both texts end with a zero and are copied.
            checked(
                unsafe { set(open.handle, key.as_ptr(), value.as_ptr()) },
                "keeping a note with image",
                name,
            )
        })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // The last owner closes it, which waits for the cluster.
        if let Some(last) = self.open.take().and_then(Arc::into_inner) {
            within(self.limit, move || drop(last));
        }
    }
}

/// Calls one of the functions of snapshots. The error numbers of `fine` say that it is already so.
fn on_snapshot(
    function: unsafe extern "C" fn(Handle, *const c_char) -> c_int,
    open: &OpenImage,
    snapshot: &CString,
    (action, image): (&'static str, &CString),
    fine: &[c_int],
) -> Result<(), RbdError> {
    // SAFETY: the image is open, and the name ends with a zero and is copied.
    let result = unsafe { function(open.handle, snapshot.as_ptr()) };
    if fine.contains(&-result) { Ok(()) } else { checked(result, action, image) }
}

fn info(open: &OpenImage, name: &CString) -> Result<ImageInfo, RbdError> {
    let functions = &open.connection.functions;
    let mut stat = Stat {
        size: 0,
        object_bytes: 0,
        objects: 0,
        order: 0,
        block_name_prefix: [0; 24],
        parent_pool: 0,
        parent_name: [0; 96],
    };
    let action = "reading the size of image";
    // SAFETY: the image is open, and the structure is that of the header, with its size.
    let result =
        unsafe { (functions.rbd_stat)(open.handle, (&raw mut stat).cast(), size_of::<Stat>()) };
    checked(result, action, name)?;
    let read = |function: unsafe extern "C" fn(_, *mut u64) -> c_int| {
        let mut value = 0;
        // SAFETY: the image is open, and one number is written.
        checked(unsafe { function(open.handle, &raw mut value) }, action, name).map(|()| value)
    };
    Ok(ImageInfo {
        size_bytes: stat.size,
        object_bytes: stat.object_bytes,
        stripe_unit_bytes: read(functions.rbd_get_stripe_unit)?,
        stripe_count: read(functions.rbd_get_stripe_count)?,
        features: read(functions.rbd_get_features)?,
    })
}

fn note(open: &OpenImage, name: &CString, key: &CString) -> Result<Option<String>, RbdError> {
    let get = open.connection.functions.rbd_metadata_get;
    let mut room: usize = 4096;
    loop {
        let mut value = vec![0_u8; room];
        let mut length = room;
        // SAFETY: the image is open, the key ends with a zero, the buffer has the given size.
        let result =
            unsafe { get(open.handle, key.as_ptr(), value.as_mut_ptr().cast(), &raw mut length) };
        match result {
            // ERANGE: `length` says how much room it needs.
            -34 => room = length.max(room * 2),
            // ENOENT
            -2 => return Ok(None),
            result => {
                checked(result, "reading a note of image", name)?;
                let text = CStr::from_bytes_until_nul(&value).unwrap_or_default();
                return Ok(Some(text.to_string_lossy().into_owned()));
            }
        }
    }
}
