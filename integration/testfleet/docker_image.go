package testfleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

const (
	// imageEnv names the image of servers for which a test asks no version.
	imageEnv     = "ODDEVEN_TEST_IMAGE"
	defaultImage = "mysql:9"
	// ownImages is the prefix of the images that scripts/build-image makes.
	ownImages = "oddeven-test/"
	// pullLimit bounds the attempt to pull an image.
	pullLimit = 10 * time.Minute
)

// shortVersions are the images of versions without a number.
var shortVersions = map[string]string{"mysql": defaultImage, "mariadb": "mariadb:11.8"}

// buildKinds are the arguments of scripts/build-image by image.
var buildKinds = map[string]string{
	"mysql:9":       "mysql",
	"mariadb:11.8":  "mariadb-11.8",
	"mariadb:10.11": "mariadb-10.11",
}

// imageName returns the full name of a version's image.
func imageName(version string) string {
	if version == "" {
		version = os.Getenv(imageEnv)
	}
	if version == "" {
		version = defaultImage
	}
	if full, ok := shortVersions[version]; ok {
		return full
	}
	return version
}

func (d *dockerSource) isDefault(version string) bool {
	return strings.TrimPrefix(imageName(version), ownImages) == strings.TrimPrefix(imageName(""), ownImages)
}

// image returns an image for a version, which is there: the official one or
// its equivalent built by us, whichever is on this host; else the official one
// is pulled; else the equivalent is built.
func (d *dockerSource) image(ctx context.Context, version string) (string, error) {
	name := imageName(version)
	candidates := []string{name, ownImages + name}
	if official, own := strings.CutPrefix(name, ownImages); own {
		name, candidates = official, []string{name}
	}
	for _, candidate := range candidates {
		_, err := d.client.ImageInspect(ctx, candidate)
		if err == nil {
			return candidate, nil
		}
		if !errdefs.IsNotFound(err) {
			return "", fmt.Errorf("find image %s: %w", candidate, err)
		}
	}
	pullErr := d.pull(ctx, name)
	if pullErr == nil {
		return name, nil
	}
	built, err := buildImage(ctx, name)
	if err != nil && version != "" {
		err = fmt.Errorf("%w: %w", errImpossible, err) // another source may have it
	}
	if err != nil {
		return "", errors.Join(pullErr, err)
	}
	return built, nil
}

// pull gets an image from its registry.
func (d *dockerSource) pull(ctx context.Context, name string) error {
	fmt.Fprintf(os.Stderr, "testfleet: pulling the image %s\n", name)
	ctx, cancel := context.WithTimeout(ctx, pullLimit)
	defer cancel()
	progress, err := d.client.ImagePull(ctx, name, client.ImagePullOptions{})
	if err == nil {
		err = progress.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("pull image %s: %w", name, err)
	}
	return nil
}

// buildImage runs scripts/build-image and returns the name of what it made.
func buildImage(ctx context.Context, name string) (string, error) {
	kind, ok := buildKinds[name]
	if !ok {
		return "", fmt.Errorf("build image %s: scripts/build-image does not know it", name)
	}
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "..", "..", "scripts", "build-image")
	fmt.Fprintf(os.Stderr, "testfleet: no registry answers; running scripts/build-image %s\n", kind)
	out, err := exec.CommandContext(ctx, script, "--quiet", kind).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build image: scripts/build-image %s: %w\n%s", kind, err, out)
	}
	return ownImages + name, nil
}
