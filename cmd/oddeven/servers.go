package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/goccy/go-yaml"

	"github.com/oddeven/oddeven/internal/dsn"
)

// envServers names the servers when neither --server nor --config does.
const envServers = "ODDEVEN_SERVERS"

// fileConfig is the file given with --config.
type fileConfig struct {
	Servers []fileServer `yaml:"servers"`
}

// fileServer is one server: exactly one of DSN and DSNEnv.
type fileServer struct {
	DSN    string   `yaml:"dsn"`
	DSNEnv string   `yaml:"dsn_env"` // name of an environment variable that holds the DSN
	TLS    *fileTLS `yaml:"tls"`
}

// fileTLS are PEM files. Each may be left out.
type fileTLS struct {
	CA         string `yaml:"ca"`
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server_name"` // defaults to the host of the DSN
}

// fleetServers are the servers of the fleet. Whoever waits for one of them is
// told which.
func (a *app) fleetServers() ([]*mysql.Config, error) {
	configs, err := a.findServers()
	for _, cfg := range configs {
		a.pending.watch(cfg)
	}
	return configs, err
}

// findServers finds the servers: --server, --config or ODDEVEN_SERVERS. No
// error holds any part of a DSN.
func (a *app) findServers() ([]*mysql.Config, error) {
	switch {
	case len(a.servers) > 0 && a.config != "":
		return nil, usagef("--server and --config exclude each other")
	case len(a.servers) > 0:
		return parseDSNs("--server", a.servers)
	case a.config != "":
		return a.readConfig(a.config)
	}
	if value, _ := a.lookup(envServers); strings.TrimSpace(value) != "" {
		return parseDSNs(envServers, strings.Fields(value))
	}
	return nil, usagef("no servers: give --server %s for each, or --config FILE, or set %s", dsn.Form, envServers)
}

func parseDSNs(source string, texts []string) ([]*mysql.Config, error) {
	configs := make([]*mysql.Config, len(texts))
	for i, text := range texts {
		cfg, err := dsn.Parse(text)
		if err != nil {
			return nil, usagef("%s, DSN %d of %d: %w", source, i+1, len(texts), err)
		}
		configs[i] = cfg
	}
	return configs, nil
}

func (a *app) readConfig(path string) ([]*mysql.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if problem, ok := errors.AsType[*fs.PathError](err); ok {
			err = problem.Err
		}
		return nil, usagef("read --config %s: %w", shown(path), err)
	}
	var file fileConfig
	if err := parseYAML(text, &file); err != nil {
		return nil, usagef("%s: %s; it should read\n%s", path, yamlProblem(err), configExample)
	}
	if len(file.Servers) == 0 {
		return nil, usagef("%s lists no servers; it should read\n%s", path, configExample)
	}
	configs := make([]*mysql.Config, len(file.Servers))
	for i, s := range file.Servers {
		if configs[i], err = a.fileServer(s); err != nil {
			return nil, usagef("%s: servers[%d]: %w", path, i, err)
		}
	}
	return configs, nil
}

// parseYAML reads YAML strictly. The library panics on some input that no person
// would write; that is an error like any other.
func parseYAML(text []byte, into *fileConfig) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("not YAML")
		}
	}()
	return yaml.UnmarshalWithOptions(text, into, yaml.Strict())
}

const configExample = `servers:
  - dsn_env: ODDEVEN_SERVER_1     # a variable that holds the DSN
  - dsn: ` + dsn.Form + `
    tls: {ca: ca.pem, cert: client.pem, key: client.key}`

func (a *app) fileServer(s fileServer) (*mysql.Config, error) {
	text := s.DSN
	if (s.DSN == "") == (s.DSNEnv == "") {
		return nil, errors.New("has both or none of dsn and dsn_env; give one of them")
	}
	if s.DSNEnv != "" {
		value, found := a.lookup(s.DSNEnv)
		if !found || value == "" {
			return nil, fmt.Errorf("the environment variable %s named by dsn_env is not set", s.DSNEnv)
		}
		text = value
	}
	cfg, err := dsn.Parse(text)
	if err != nil {
		return nil, err
	}
	if s.TLS != nil {
		if cfg.TLS, err = s.TLS.load(); err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
	}
	return cfg, nil
}

func (t *fileTLS) load() (*tls.Config, error) {
	cfg := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("read ca: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", t.CA)
		}
	}
	if (t.Cert == "") != (t.Key == "") {
		return nil, errors.New("cert and key go together")
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("load cert and key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// plainKey is a name that can't be a secret that slipped into the wrong place.
var plainKey = regexp.MustCompile(`^unknown field "[a-z_]{1,24}"$`)

// yamlProblem says where a file is wrong. The library's message quotes the
// file, which may hold passwords, so only line and kind are kept.
func yamlProblem(err error) string {
	var located yaml.Error
	if !errors.As(err, &located) || located.GetToken() == nil {
		return "not the YAML expected"
	}
	problem := "not what is expected here"
	if plainKey.MatchString(located.GetMessage()) {
		problem = located.GetMessage()
	}
	return fmt.Sprintf("line %d: %s", located.GetToken().Position.Line, problem)
}
