# make help explains the targets. CONTRIBUTING.md says where a test goes.

FUZZTIME ?= 10s
TEST_TIMEOUT ?= 20m
DEMO ?= go run ./cmd/oddeven demo

# Finds or brings up what the tests run against and tells them by ODDEVEN_TEST_*
# variables. Not eval "$(...)" at once: that would hide a failure.
servers = env=$$(scripts/test-servers) || exit 1; eval "$$env"

# $(call tests,FLAGS,PACKAGES,MORE) runs the tests of the root module, of packages of
# integration, and what else is given. The tests of package localserver start processes
# themselves, so they run only where processes are the source.
# MariaDB makes its server_uid of the hardware address, which a container that
# was down gets with whatever IP address is free: packages must not take turns.
# All that tests print is searched for the passwords of the test accounts.
define tests
@set -e; $(servers); set -x; search='$(CURDIR)/scripts/no-passwords'; \
"$$search" go test $(1) -timeout $(TEST_TIMEOUT) ./...; \
if [ "$${ODDEVEN_TEST_SOURCE-}" = process ]; then \
	"$$search" go test $(1) -timeout $(TEST_TIMEOUT) -tags servers ./internal/localserver/; \
fi; \
cd integration; \
case "$${ODDEVEN_TEST_SOURCE-}:$${ODDEVEN_TEST_IMAGE-}" in docker:*mariadb*) one='-p 1' ;; *) one= ;; esac; \
"$$search" go test $(1) $$one -count=1 -timeout $(TEST_TIMEOUT) $(2)$(if $(3),; $(3))
endef

rivals = (cd rivals; "$$search" go test $$one -count=1 -timeout $(TEST_TIMEOUT) ./...)
metrics = (cd ../metrics; "$$search" go test $(1) ./...)
alerts = (cd alerts; "$$search" go test -count=1 ./...)

.PHONY: help
help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-15s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: ## run every test, on real servers (found or brought up)
	$(call tests,,./...,$(rivals); $(call metrics); $(alerts))

# Commands and migrations on real servers are left out.
.PHONY: test-fleets
test-fleets: ## run the tests of the root module, and of the library packages on real servers
	$(call tests,,./ticket ./segment ./snowflake ./facade)

.PHONY: test-unit
test-unit: ## run the tests that need no server
	go test ./...
	cd metrics && go test ./...
	cd integration/alerts && go test -count=1 ./...

.PHONY: race
race: ## run every test of ours, on real servers, with the race detector
	$(call tests,-race,./...,$(call metrics,-race))

.PHONY: cover
cover: ## print how much of the library all tests together run; fail below 90 % of a package
	@scripts/cover

.PHONY: lint
lint: ## check format, changelog, go vet and golangci-lint
	@scripts/lint

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s) each; RUN=regexp picks some
	@FUZZTIME='$(FUZZTIME)' scripts/fuzz $(if $(RUN),'$(RUN)')

.PHONY: mutate
mutate: ## take out each protection and see that a test fails; RUN=regexp picks some, JOBS (2) at a time, V=1 prints all
	@set -e; $(servers); cd integration; \
	../scripts/no-passwords go run ./cmd/mutate $(if $(RUN),-run '$(RUN)') $(if $(JOBS),-j '$(JOBS)') $(if $(V),-v)

# MariaDB as processes where it is installed, MySQL in containers. Straight from
# the test binary: lines for the claims on stdout, progress on stderr.
.PHONY: ratios
ratios: ## measure every speed claim and hold it to its bound; RATIOS_FLAVORS says on which servers
	@set -e; \
	if [ -z "$${ODDEVEN_TEST_SOURCE-}$${ODDEVEN_TEST_SERVERS-}" ] && command -v mariadbd >/dev/null; then \
		export ODDEVEN_TEST_SOURCE=process; \
	fi; \
	$(servers); mkdir -p bin; cd integration; \
	go test -c -tags ratios -o ../bin/ratios.test ./ratios; \
	(cd rivals; go test . ./products >&2; go build -o ../../bin/rivals .); cd ratios; \
	status=0; ../../bin/ratios.test -test.run '^TestRatios$$' -test.timeout 15m || status=$$?; \
	../../bin/rivals || status=$$?; exit $$status

# Like ratios. The page and its picture are written at the end.
.PHONY: bench
bench: ## measure ours, others and raw limits, and write docs/benchmarks.md; BENCHTIME (300ms), FLAVORS
	@set -e; scripts/need-redis; \
	if [ -z "$${ODDEVEN_TEST_SOURCE-}$${ODDEVEN_TEST_SERVERS-}" ] && command -v mariadbd >/dev/null; then \
		export ODDEVEN_TEST_SOURCE=process; \
	fi; \
	$(servers); mkdir -p bin; cd integration/rivals; \
	go test -c -tags bench -o ../../bin/bench.test ./bench; cd bench; \
	BENCHTIME='$(BENCHTIME)' FLAVORS='$(FLAVORS)' ../../../bin/bench.test -test.run '^TestBench$$' -test.timeout 20m

# Server processes only: the driver kills, freezes and rewinds them.
DURATION ?= 1m
SEED ?= 1
SERVERS ?= 2
CLIENTS ?= 8
RATE ?= 200000
SHARD_BITS ?= 0
WORKER_BITS ?= 6
torture = set -e; ODDEVEN_TEST_SERVER_BINARY=$$(scripts/local-server); export ODDEVEN_TEST_SERVER_BINARY; \
	mkdir -p bin; cd integration; go build -o ../bin/torture ./torture

.PHONY: torture
torture: ## real servers and clients under all faults for DURATION (1m), by the plan of SEED (1); SERVERS, CLIENTS, RATE, SHARD_BITS, WORKER_BITS, KINDS, CLUSTER=1
	@$(torture); ../scripts/no-passwords ../bin/torture -duration '$(DURATION)' -seed '$(SEED)' -servers '$(SERVERS)' -clients '$(CLIENTS)' \
		-rate '$(RATE)' -shard-bits '$(SHARD_BITS)' -worker-bits '$(WORKER_BITS)' $(if $(CLUSTER),-cluster) $(if $(KINDS),-kinds '$(KINDS)')

# The seed has faults of all kinds within the time; a test of the plan says so.
.PHONY: torture-short
torture-short: ## 45 seconds of faults of all kinds by a fixed plan
	@$(MAKE) --no-print-directory torture DURATION=45s SEED=1

.PHONY: torture-mutants
torture-mutants: ## a short run with each mutant built into the clients; RUN=regexp picks some
	@$(torture); ../scripts/no-passwords ../bin/torture -mutants '$(or $(RUN),.)'

.PHONY: demo
demo: ## draw IDs from two real servers, each killed once on the way, then both
	@binary=$$(scripts/local-server) && $(DEMO) --binary "$$binary"

.PHONY: build
build: ## build bin/oddeven
	go build -o bin/oddeven ./cmd/oddeven

.PHONY: clean
clean: ## remove what make has built, and the linter in .cache
	rm -rf bin .cache
