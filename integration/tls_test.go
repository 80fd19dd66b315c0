package integration

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/ticket"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t testing.TB, name string) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return authority{cert: cert, key: key, pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// sign makes a certificate that is good for servers of these names at 127.0.0.1,
// and for clients, with its key.
func (a authority) sign(t testing.TB, names ...string) (cert, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "oddeven test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, own.Public(), a.key)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

func (a authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// encrypted is a server with a certificate of an authority of the test, and files
// for clients.
type encrypted struct {
	*testfleet.Server
	ours, theirs authority
	dir          string
}

const serverName = "db1.internal"

func newEncrypted(t testing.TB) encrypted {
	t.Helper()
	e := encrypted{ours: newAuthority(t, "ours"), theirs: newAuthority(t, "theirs"), dir: t.TempDir()}
	cert, key := e.ours.sign(t, serverName)
	e.Server = patients(t, 1,
		testfleet.ServerFiles(map[string][]byte{"ca.pem": e.ours.pem, "cert.pem": cert, "key.pem": key}),
		testfleet.ServerOptions("--ssl-ca={files}/ca.pem", "--ssl-cert={files}/cert.pem", "--ssl-key={files}/key.pem"),
	).Servers[0]
	client, clientKey := e.ours.sign(t)
	stranger, strangerKey := e.theirs.sign(t)
	for name, content := range map[string][]byte{
		"ca.pem": e.ours.pem, "other-ca.pem": e.theirs.pem, "client.pem": client, "client.key": clientKey,
		"stranger.pem": stranger, "stranger.key": strangerKey,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(e.dir, name), content, 0o600))
	}
	return e
}

// require says what the account of the application must have: SSL, X509 or NONE.
func (e encrypted) require(t testing.TB, what string) {
	t.Helper()
	execute(t, e.Server, "ALTER USER '"+testfleet.AppUser+"'@'%' REQUIRE "+what)
}

// next runs `oddeven next` with a configuration file that has a tls line, none
// if that is empty.
func (e encrypted) next(t testing.TB, tlsLine string) (stdout, stderr string, code int) {
	t.Helper()
	text := "servers:\n  - dsn_env: DSN\n"
	if tlsLine != "" {
		text += "    tls: " + tlsLine + "\n"
	}
	file := filepath.Join(e.dir, "fleet.yaml")
	require.NoError(t, os.WriteFile(file, []byte(os.Expand(text, func(string) string { return e.dir })), 0o600))
	return runProgram(t, []string{"DSN=" + e.DSN()}, "next", "--config", file)
}

// Command and library check certificate and host name of a server, and show a
// certificate of their own where the account needs one.
func TestTLS(t *testing.T) {
	t.Parallel()
	e := newEncrypted(t)
	t.Run("Program", e.testProgram) // one after the other: they change the account
	t.Run("Library", e.testLibrary)
}

func (e encrypted) testProgram(t *testing.T) {
	for _, step := range []struct {
		account string // what it requires
		tls     string
		want    string // in the error; empty: a ticket
	}{
		{"NONE", "{ca: $D/ca.pem}", ""},
		{"NONE", "{ca: $D/other-ca.pem}", "certificate refused.*unknown authority"},
		{"NONE", "{ca: $D/ca.pem, server_name: db2.internal}", "certificate refused.*not db2.internal"},
		{"NONE", "{}", "certificate refused"}, // the system's authorities have not signed it
		{"SSL", "", "access denied"},
		{"SSL", "{ca: $D/ca.pem}", ""},
		{"SSL", "{ca: $D/ca.pem, server_name: " + serverName + "}", ""},
		{"X509", "{ca: $D/ca.pem}", "access denied"},
		{"X509", "{ca: $D/ca.pem, cert: $D/client.pem, key: $D/client.key}", ""},
		{"X509", "{ca: $D/ca.pem, cert: $D/stranger.pem, key: $D/stranger.key}", "connection broke"}, // the driver says no more
	} {
		e.require(t, step.account)
		stdout, stderr, code := e.next(t, step.tls)
		if step.want == "" {
			require.Zero(t, code, "%+v: %s", step, stderr)
			require.Regexp(t, `^\d+\n$`, stdout, "%+v", step)
			continue
		}
		require.Equal(t, 1, code, "%+v: %s", step, stderr)
		require.Empty(t, stdout, "%+v", step)
		require.Regexp(t, step.want, stderr, "%+v", step)
	}
}

// testLibrary gives the TLS configuration to the driver, or has a DSN name it.
func (e encrypted) testLibrary(t *testing.T) {
	e.require(t, "X509")
	pair, err := tls.LoadX509KeyPair(filepath.Join(e.dir, "client.pem"), filepath.Join(e.dir, "client.key"))
	require.NoError(t, err)
	good := &tls.Config{RootCAs: e.ours.pool(), Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	wrongCA, wrongName, noCert := good.Clone(), good.Clone(), good.Clone()
	wrongCA.RootCAs = e.theirs.pool()
	wrongName.ServerName = "db2.internal"
	noCert.Certificates = nil
	for name, tt := range map[string]struct {
		tls   *tls.Config
		wrong any // error to find; nil: none
		ok    bool
	}{
		"good": {tls: good, ok: true}, "wrong-ca": {tls: wrongCA, wrong: new(x509.UnknownAuthorityError)},
		"wrong-name": {tls: wrongName, wrong: new(x509.HostnameError)}, "no-cert": {tls: noCert, wrong: new(*mysql.MySQLError)},
	} {
		require.NoError(t, mysql.RegisterTLSConfig("oddeven-test-"+name, tt.tls))
		t.Cleanup(func() { mysql.DeregisterTLSConfig("oddeven-test-" + name) })
		server := e.Config()
		server.TLS = tt.tls
		for form, cfg := range map[string]oddeven.Config{
			"Servers": {Servers: []*mysql.Config{server}},
			"DSNs":    {DSNs: []string{e.DSN() + "?tls=oddeven-test-" + name}},
		} {
			cfg.Timeout = patience
			cfg.Failover.Outage = oddeven.Wait // needs no worker
			client, err := oddeven.Open(bounded(t), cfg)
			if !tt.ok {
				require.ErrorIs(t, err, oddeven.ErrUnavailable, "%s, %s", form, name)
				require.ErrorAs(t, err, tt.wrong, "%s, %s", form, name)
				continue
			}
			require.NoError(t, err, "%s, %s", form, name)
			requireEncrypted(t, client)
			require.NoError(t, client.Close())
		}
	}
}

// requireEncrypted draws a ticket, and asks the server whether it was encrypted.
func requireEncrypted(t testing.TB, client *oddeven.Client) {
	t.Helper()
	fleet, err := client.Tickets()
	require.NoError(t, err)
	_, err = fleet.Next(bounded(t))
	require.NoError(t, err)
	for _, err := range fleet.Each(bounded(t), func(ctx context.Context, c *ticket.Conn) error {
		var status struct {
			Name  string `db:"Variable_name"`
			Value string `db:"Value"`
		}
		if err := c.Get(ctx, &status, "SHOW SESSION STATUS LIKE 'Ssl_version'"); err != nil {
			return err
		}
		if status.Value == "" {
			return errors.New("not encrypted")
		}
		return nil
	}) {
		require.NoError(t, err)
	}
}
