//! A socket that processes of this machine connect to.
//!
//! Owns how it gets its name: bound under a temporary one in a directory of ours alone, closed to
//! others, and only then renamed. So nobody ever finds it open to others, the name never leads to a
//! socket that nobody listens on yet, and the umask, which belongs to the whole process, stays as it
//! is.

use std::{io, os::unix::net::UnixListener, path::Path};

use rustix::fs::Mode;

use super::{Error, Fs, Result, close_to_others, make_dirs};
use crate::error::found;

/// Listens at this path, in place of what was there.
pub fn listen(fs: &dyn Fs, path: &Path) -> Result<UnixListener> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    make_dirs(fs, dir)?;
    close_to_others(fs, dir)?;
    // A short name: that of a socket has 108 bytes at most. Whoever comes here holds the lock of
    // the instance, so that what is there was left by somebody who died.
    let temporary = path.with_file_name(".sock");
    found(fs.remove(&temporary)).map_err(Error::io("remove", &temporary))?;
    let listener = UnixListener::bind(&temporary).map_err(Error::io("listen at", path))?;
    let named = close(&temporary).and_then(|()| fs.rename(&temporary, path));
    if named.is_err() {
        let _: io::Result<()> = fs.remove(&temporary);
    }
    named.map_err(Error::io("listen at", path))?;
    Ok(listener)
}

/// A socket cannot be opened as a file is, so its mode is set by its name.
#[expect(clippy::disallowed_methods, reason = "fsx sets modes")]
fn close(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::PermissionsExt, net::UnixStream};

    use super::*;
    use crate::fsx::RealFs;

    #[test]
    fn a_socket_is_closed_to_others_and_takes_the_place_of_a_dead_one() {
        let scratch = flagpost_testkit::scratch::scratch();
        let path = scratch.path().join("run/x.sock");
        drop(listen(&RealFs, &path).unwrap());
        UnixStream::connect(&path).unwrap_err();
        let _listener = listen(&RealFs, &path).unwrap();
        UnixStream::connect(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        let names = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(names, 1);
    }
}
