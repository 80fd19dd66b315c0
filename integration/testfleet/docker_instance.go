package testfleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// dataParent and dataDir are where the images keep the data.
const (
	dataParent = "/var/lib"
	dataDir    = dataParent + "/mysql"
)

// dockerInstance is a server in a container. Its data is in the container's
// own volume; to replace it, the container is replaced by another on the same
// port, because a stopped container's files can be added to but not removed.
type dockerInstance struct {
	source *dockerSource
	spec   spec
	image  string
	id     string // of the container
	port   int    // published on 127.0.0.1
}

func (i *dockerInstance) addr() string { return localAddr(i.port) }

func (i *dockerInstance) rootUser() (name, password string) { return "root", i.spec.rootPassword }

// newContainer creates the container; on its first call it chooses the port.
func (i *dockerInstance) newContainer(ctx context.Context) (err error) {
	if i.port == 0 {
		if i.port, err = choosePort(); err != nil {
			return err
		}
	}
	i.id, err = i.source.container(ctx, i.image, i.port, i.spec)
	return err
}

func (i *dockerInstance) start(ctx context.Context) error {
	if _, err := i.source.client.ContainerStart(ctx, i.id, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("start container: %w", err)
	}
	return nil
}

func (i *dockerInstance) kill(ctx context.Context) error {
	if err := i.signal(ctx, "KILL"); err != nil {
		return err
	}
	return i.awaitExit(ctx)
}

func (i *dockerInstance) stop(ctx context.Context) error {
	seconds := 60
	if _, err := i.source.client.ContainerStop(ctx, i.id, client.ContainerStopOptions{Timeout: &seconds}); err != nil {
		return fmt.Errorf("stop container: %w", err)
	}
	return i.awaitExit(ctx)
}

func (i *dockerInstance) pause(ctx context.Context) error  { return i.signal(ctx, "STOP") }
func (i *dockerInstance) resume(ctx context.Context) error { return i.signal(ctx, "CONT") }

// signal sends a signal to the server, which is the container's first process.
func (i *dockerInstance) signal(ctx context.Context, name string) error {
	if _, err := i.source.client.ContainerKill(ctx, i.id, client.ContainerKillOptions{Signal: name}); err != nil {
		return fmt.Errorf("send SIG%s to container: %w", name, err)
	}
	return nil
}

// awaitExit returns when the container's process is gone.
func (i *dockerInstance) awaitExit(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	wait := i.source.client.ContainerWait(ctx, i.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case <-wait.Result:
		return nil
	case err := <-wait.Error:
		return fmt.Errorf("wait for the container's end: %w", err)
	case <-ctx.Done():
		return fmt.Errorf("wait for the container's end: %w", ctx.Err())
	}
}

func (i *dockerInstance) alive(ctx context.Context) error {
	state, err := i.source.client.ContainerInspect(ctx, i.id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("inspect container: %w", err)
	}
	if state.Container.State.Running {
		return nil
	}
	return fmt.Errorf("the server's container has ended (exit code %d); end of its log:\n%s",
		state.Container.State.ExitCode, i.source.logTail(ctx, i.id))
}

// save writes the data directory as a tar archive.
func (i *dockerInstance) save(ctx context.Context, path string) (err error) {
	data, err := i.source.client.CopyFromContainer(ctx, i.id, client.CopyFromContainerOptions{SourcePath: dataDir})
	if err != nil {
		return fmt.Errorf("copy data from container: %w", err)
	}
	defer data.Content.Close() //nolint:errcheck // only read
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("copy data from container: %w", err)
	}
	_, err = io.Copy(file, data.Content)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("copy data from container: %w", err), os.Remove(path))
	}
	return nil
}

func (i *dockerInstance) load(ctx context.Context, path string) error {
	if err := i.source.removeContainer(ctx, i.id); err != nil {
		return err
	}
	return i.newFrom(ctx, path)
}

// newFrom creates a container with the data that save has written.
func (i *dockerInstance) newFrom(ctx context.Context, path string) error {
	if err := i.newContainer(ctx); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("copy data to container: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	_, err = i.source.client.CopyToContainer(ctx, i.id, client.CopyToContainerOptions{DestinationPath: dataParent, Content: file})
	if err != nil {
		return fmt.Errorf("copy data to container: %w", err)
	}
	return nil
}

func (i *dockerInstance) clone(ctx context.Context, path string) (instance, error) {
	return i.source.launch(ctx, i.spec, i.image, func(c *dockerInstance, ctx context.Context) error {
		return c.newFrom(ctx, path)
	})
}

func (i *dockerInstance) remove(ctx context.Context) error {
	return i.source.removeContainer(ctx, i.id)
}
