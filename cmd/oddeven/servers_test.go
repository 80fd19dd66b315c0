package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const goodDSN = "app:" + secret + "@tcp(db1:3306)/oddeven"

// inFile writes text to a file of its own.
func inFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func none(string) (string, bool) { return "", false }

func TestReadConfig(t *testing.T) {
	t.Parallel()
	path := inFile(t, "fleet.yaml", `
# a comment
servers:
  - dsn: `+goodDSN+`
  - dsn_env: SECOND
  - dsn: "app:p@ss:w/%#@tcp([::1]:3307)/oddeven"
`)
	a := &app{config: path, lookup: func(name string) (string, bool) {
		if name == "SECOND" {
			return "app:" + secret + "@tcp(db2)/oddeven", true
		}
		return "", false
	}}
	servers, err := a.fleetServers()
	require.NoError(t, err)
	require.Len(t, servers, 3)
	require.Equal(t, "db1:3306", servers[0].Addr)
	require.Equal(t, secret, servers[0].Passwd)
	require.Equal(t, "db2:3306", servers[1].Addr)
	require.Equal(t, "p@ss:w/%#", servers[2].Passwd)
	require.Nil(t, servers[0].TLS)
}

func TestConfigExampleIsValid(t *testing.T) {
	t.Parallel()
	a := &app{config: inFile(t, "fleet.yaml", configExample), lookup: none}
	_, err := a.fleetServers()
	require.ErrorContains(t, err, "the environment variable ODDEVEN_SERVER_1 named by dsn_env is not set", "no field of it is wrong")
	a.lookup = func(string) (string, bool) { return goodDSN, true }
	_, err = a.fleetServers()
	require.ErrorContains(t, err, "servers[1]")
}

// Every one of these files holds the secret where something is wrong; command
// fails if it is printed.
func TestBadConfigFiles(t *testing.T) {
	t.Parallel()
	const dsnLine = "  - dsn: " + goodDSN + "\n"
	tests := []struct{ name, text, says string }{
		{"Empty", "", "lists no servers; it should read\nservers:"},
		{"NoServers", "servers: []\n", "lists no servers"},
		{"UnknownField", "servers:\n" + dsnLine + "    pasword: " + secret + "\n", `line 3: unknown field "pasword"; it should read`},
		{"UnknownTopField", "fleet: " + secret + "\nservers:\n" + dsnLine, `line 1: unknown field "fleet"`},
		{"PasswordAsField", "servers:\n" + dsnLine + "    " + secret + ": x\n", "line 3: not what is expected here"},
		{"WrongType", "servers: " + secret + "\n", "line 1: not what is expected here"},
		{"ListAtTheTop", "- dsn: " + goodDSN + "\n", "line 1: not what is expected here"},
		{"DSNWithoutField", "servers:\n  - " + goodDSN + "\n", "line 2: not what is expected here"},
		{"DSNIsAList", "servers:\n  - dsn: [" + secret + "]\n", "line 2: not what is expected here"},
		{"TLSIsText", "servers:\n" + dsnLine + "    tls: " + secret + "\n", "line 3: not what is expected here"},
		{"QuoteNotClosed", "servers:\n  - dsn: \"" + goodDSN + "\n", "line 2: not what is expected here"},
		{"ColonInText", "servers:\n  - dsn: app:" + secret + ": x@tcp(db1:3306)/oddeven\n", "line 2: not what is expected here"},
		{"BracketNotClosed", "servers:\n  - {dsn: " + goodDSN + "\n", "line "},
		{"Tab", "servers:\n\t- dsn: " + goodDSN + "\n", "line 2: not what is expected here"},
		{"FieldTwice", "servers:\n" + dsnLine + "servers:\n" + dsnLine, "line 3: not what is expected here"},
		{"NotYAML", "\x00" + secret, "expected"},
		{"NeitherDSN", "servers:\n  - tls: {ca: x.pem}\n", "servers[0]: has both or none of dsn and dsn_env"},
		{"BothDSNs", "servers:\n" + dsnLine + "    dsn_env: X\n", "servers[0]: has both or none of dsn and dsn_env"},
		{"BadDSN", "servers:\n" + dsnLine + "  - dsn: app:" + secret + "@db1/oddeven\n", "servers[1]: not a MySQL DSN"},
		{"NoDatabase", "servers:\n  - dsn: app:" + secret + "@tcp(db1)/\n", "servers[0]: names no database"},
		{"EnvironmentUnset", "servers:\n  - dsn_env: NOT_SET\n", "servers[0]: the environment variable NOT_SET named by dsn_env is not set"},
		{"EnvironmentEmpty", "servers:\n  - dsn_env: EMPTY\n", "servers[0]: the environment variable EMPTY named by dsn_env is not set"},
		{"EnvironmentBroken", "servers:\n  - dsn_env: BROKEN\n", "servers[0]: not a MySQL DSN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := inFile(t, "fleet.yaml", tt.text)
			r := command(t, map[string]string{"EMPTY": "", "BROKEN": "app:" + secret + "@oddeven"}, "next", "--config", path)
			require.Equal(t, exitUsage, r.code)
			require.Empty(t, r.out)
			require.Contains(t, r.err, path)
			require.Contains(t, r.err, tt.says)
		})
	}
}

func TestConfigFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "fleet.yaml")
	r := command(t, nil, "next", "--config", missing)
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "read --config "+missing+": no such file or directory")
	r = command(t, nil, "next", "--config", t.TempDir())
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "is a directory")
}

// FuzzConfigFile looks for a file whose error quotes it.
func FuzzConfigFile(f *testing.F) {
	for _, text := range []string{"servers:\n  - dsn: x", "servers: [", "- ", "{a: b}", ": ", "servers:\n  - dsn: x\n    tls: {ca: x, y}", "a: &b ", "*", "!!int ", "\"", "? ", "servers:\n  - dsn: |\n   ", "\n\t- ", "]\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const password = "Z9.7xqWv@/"
		for _, file := range []string{text + password, password + text, "servers:\n  - dsn: " + password + text, "servers:\n  - dsn: app:" + password + "@tcp(db1:3306)/oddeven\n" + text} {
			path := inFile(t, "fleet.yaml", file)
			_, err := (&app{lookup: none}).readConfig(path)
			if err != nil {
				require.NotContains(t, err.Error(), password)
			}
		}
	})
}

// certificate writes a self-signed certificate and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "db1"}, DNSNames: []string{"db1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return inFile(t, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		inFile(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
}

func TestTLSFiles(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	a := &app{lookup: none}
	cfg, err := a.fileServer(fileServer{DSN: goodDSN, TLS: &fileTLS{CA: cert, Cert: cert, Key: key}})
	require.NoError(t, err)
	require.NotNil(t, cfg.TLS.RootCAs)
	require.Len(t, cfg.TLS.Certificates, 1)
	require.Empty(t, cfg.TLS.ServerName, "the driver takes the host of the DSN")
	require.False(t, cfg.TLS.InsecureSkipVerify)

	cfg, err = a.fileServer(fileServer{DSN: goodDSN, TLS: &fileTLS{ServerName: "other"}})
	require.NoError(t, err)
	require.Equal(t, "other", cfg.TLS.ServerName)
	require.Nil(t, cfg.TLS.RootCAs, "those of the system")
}

func TestTLSFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	_, otherKey := certificate(t)
	empty := inFile(t, "empty.pem", "no PEM")
	missing := filepath.Join(t.TempDir(), "missing.pem")
	tests := []struct {
		name  string
		files fileTLS
		says  string
	}{
		{"NoCA", fileTLS{CA: missing}, "tls: read ca: open " + missing},
		{"EmptyCA", fileTLS{CA: empty}, "tls: " + empty + " holds no certificate in PEM form"},
		{"KeyAsCA", fileTLS{CA: key}, "tls: " + key + " holds no certificate in PEM form"},
		{"CertAlone", fileTLS{Cert: cert}, "tls: cert and key go together"},
		{"KeyAlone", fileTLS{Key: key}, "tls: cert and key go together"},
		{"NoCert", fileTLS{Cert: missing, Key: key}, "tls: load cert and key: open " + missing},
		{"EmptyKey", fileTLS{Cert: cert, Key: empty}, "tls: load cert and key: "},
		{"KeyOfAnother", fileTLS{Cert: cert, Key: otherKey}, "tls: load cert and key: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := (&app{lookup: none}).fileServer(fileServer{DSN: goodDSN, TLS: &tt.files})
			require.ErrorContains(t, err, tt.says)
			require.NotContains(t, err.Error(), secret)
		})
	}
}
