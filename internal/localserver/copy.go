package localserver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceTree makes dst a copy of the directory src, in place of what was
// there before. After an error nothing is at dst.
func replaceTree(ctx context.Context, dst, src string) error {
	if err := os.RemoveAll(dst); err != nil {
		return err
	}
	if err := copyTree(ctx, dst, src); err != nil {
		return errors.Join(err, os.RemoveAll(dst))
	}
	return nil
}

// copyTree copies files, directories and symbolic links with their modes.
// Sockets and pipes are left out: they mean nothing in a copy.
func copyTree(ctx context.Context, dst, src string) error {
	return filepath.WalkDir(src, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		return copyEntry(filepath.Join(dst, rel), path, entry)
	})
}

// copyEntry copies one file or symbolic link, or makes one directory.
func copyEntry(dst, src string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch mode := info.Mode(); mode.Type() {
	case fs.ModeDir:
		return os.Mkdir(dst, mode.Perm()|0o700)
	case fs.ModeSymlink:
		target, err := os.Readlink(src)
		if err != nil {
			return err
		}
		return os.Symlink(target, dst)
	case 0:
		return copyFile(dst, src, mode.Perm())
	default:
		return nil
	}
}

// copyFile copies a regular file. On Linux io.Copy leaves the work to the
// kernel, which shares the blocks where the file system can.
func copyFile(dst, src string, perm fs.FileMode) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	_, err = io.Copy(out, in)
	return err
}
