package testfleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// ownerLabel is on every container of this package and names the run, so that a
// container whose owner is gone can be told from others; see owner.
const ownerLabel = "dev.oddeven.testfleet.owner"

// mysqlPort is where servers listen inside their containers.
var mysqlPort = network.MustParsePort("3306/tcp")

// dockerSource runs servers in containers.
type dockerSource struct {
	client *testcontainers.DockerClient
	owner  owner
}

// newDockerSource connects to the Docker engine; an error if none answers.
func newDockerSource(ctx context.Context, o owner) (*dockerSource, error) {
	configureTestcontainers()
	log.SetDefault(quiet{})
	c, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the Docker engine: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := c.Ping(ctx, client.PingOptions{}); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("connect to the Docker engine: %w", err)
	}
	return &dockerSource{client: c, owner: o}, nil
}

// configureTestcontainers sets what testcontainers reads from the environment,
// unless the user has set it. Ports are published on 127.0.0.1, so that is
// where servers are, also when this runs in a container itself; unless the
// engine is on another host. Its helper container ("ryuk") would have to be
// pulled; what it does is done here by labels and the reaper process.
func configureTestcontainers() {
	defaults := map[string]string{"TESTCONTAINERS_RYUK_DISABLED": "true"}
	if host := os.Getenv("DOCKER_HOST"); host == "" || strings.HasPrefix(host, "unix:") {
		defaults["TESTCONTAINERS_HOST_OVERRIDE"] = "127.0.0.1"
	}
	for name, value := range defaults {
		if _, set := os.LookupEnv(name); !set {
			_ = os.Setenv(name, value) // fails only for malformed names
		}
	}
}

func (d *dockerSource) name() string { return "docker" }
func (d *dockerSource) close() error { return d.client.Close() }

func (d *dockerSource) create(ctx context.Context, s spec) (instance, error) {
	if len(s.env) > 0 {
		return nil, fmt.Errorf("%w: an environment for the server needs ODDEVEN_TEST_SOURCE=process", errImpossible)
	}
	image, err := d.image(ctx, s.version)
	if err != nil {
		return nil, err
	}
	return d.launch(ctx, s, image, (*dockerInstance).newContainer)
}

// launchTries is how often a container is created anew, on another port, if it
// does not start: somebody may have taken the port since it was chosen.
const launchTries = 3

// launch creates a container in a given way and starts it.
func (d *dockerSource) launch(ctx context.Context, s spec, image string, create func(*dockerInstance, context.Context) error) (instance, error) {
	var errs []error
	for range launchTries {
		i := &dockerInstance{source: d, spec: s, image: image}
		err := create(i, ctx)
		if err == nil {
			err = i.start(ctx)
		}
		if err == nil {
			return i, nil
		}
		errs = append(errs, err)
		if i.id != "" {
			errs = append(errs, i.remove(context.WithoutCancel(ctx)))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// quiet is a logger for testcontainers, which reports every step.
type quiet struct{}

func (quiet) Printf(format string, v ...any) { slog.Debug(fmt.Sprintf(format, v...)) }

// container creates a container that is not started, with its port published
// on a port of 127.0.0.1.
func (d *dockerSource) container(ctx context.Context, image string, port int, s spec) (string, error) {
	request := testcontainers.GenericContainerRequest{
		Logger: quiet{},
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        image,
			Cmd:          serverOptions(placed(s.options, filesDir)),
			Files:        containerFiles(s.files),
			ExposedPorts: []string{mysqlPort.String()},
			Env:          map[string]string{"MYSQL_ROOT_PASSWORD": s.rootPassword, "MARIADB_ROOT_PASSWORD": s.rootPassword},
			Labels:       map[string]string{ownerLabel: string(d.owner)},
			HostConfigModifier: func(hc *container.HostConfig) {
				hc.PortBindings = network.PortMap{mysqlPort: []network.PortBinding{{
					HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: fmt.Sprint(port),
				}}}
			},
		},
	}
	c, err := testcontainers.GenericContainer(ctx, request)
	if err != nil {
		return "", fmt.Errorf("create container of %s: %w", image, err)
	}
	return c.GetContainerID(), nil
}

// filesDir is where a container has its files.
const filesDir = "/etc/oddeven-test"

// containerFiles are files for everybody to read: the server is not root there.
func containerFiles(files map[string][]byte) []testcontainers.ContainerFile {
	all := make([]testcontainers.ContainerFile, 0, len(files))
	for name, content := range files {
		all = append(all, testcontainers.ContainerFile{Reader: bytes.NewReader(content), ContainerFilePath: filesDir + "/" + name, FileMode: 0o644})
	}
	return all
}

// logTail returns the end of a container's output.
func (d *dockerSource) logTail(ctx context.Context, id string) string {
	logs, err := d.client.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "20"})
	if err != nil {
		return err.Error()
	}
	defer logs.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(logs)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// owned returns the IDs of all containers whose owner fulfils a condition.
func (d *dockerSource) owned(ctx context.Context, by func(owner) bool) ([]string, error) {
	list, err := d.client.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: make(client.Filters).Add("label", ownerLabel),
	})
	if err != nil {
		return nil, fmt.Errorf("list containers: %w", err)
	}
	var ids []string
	for _, c := range list.Items {
		if by(owner(c.Labels[ownerLabel])) {
			ids = append(ids, c.ID)
		}
	}
	return ids, nil
}

// removeOwned removes them, and returns how many.
func (d *dockerSource) removeOwned(ctx context.Context, by func(owner) bool) (int, error) {
	ids, err := d.owned(ctx, by)
	for _, id := range ids {
		err = errors.Join(err, d.removeContainer(ctx, id))
	}
	return len(ids), err
}

// removeContainer ends a container and deletes it with its data.
func (d *dockerSource) removeContainer(ctx context.Context, id string) error {
	_, err := d.client.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil {
		return fmt.Errorf("remove container: %w", err)
	}
	return nil
}
