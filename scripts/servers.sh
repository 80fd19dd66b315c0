# shellcheck shell=sh
# Functions shared by the scripts that source this file. A server binary for local processes: find it, else install it.

# The package: mariadb-server-core alone lacks my_print_defaults, which
# mariadb-install-db needs.
SERVER_PACKAGE=mariadb-server

say() { echo "${0##*/}: $*" >&2; }

# find_server prints the path of a mysqld or mariadbd that can be used; returns 1 if
# there is none, in the commonest of the places that internal/localserver searches.
find_server() {
    for found in "$(command -v mysqld || :)" "$(command -v mariadbd || :)" \
        /usr/sbin/mysqld /usr/sbin/mariadbd /usr/local/sbin/mysqld /usr/local/sbin/mariadbd \
        /usr/libexec/mysqld /usr/libexec/mariadbd /usr/local/mysql/bin/mysqld \
        /usr/local/opt/*/bin/mysqld /usr/local/opt/*/bin/mariadbd \
        /opt/*/bin/mysqld /opt/*/bin/mariadbd /opt/homebrew/opt/*/bin/mysqld /opt/homebrew/opt/*/bin/mariadbd; do
        if [ -x "$found" ] && usable_server "$found"; then
            echo "$found"
            return 0
        fi
    done
    return 1
}

# usable_server reports whether $1 is a server that can make a data directory: MySQL
# does it itself, MariaDB needs two programs more.
usable_server() {
    version=$("$1" --version 2>/dev/null) || return 1
    case $version in
    *MariaDB*) (PATH=$PATH:${1%/*}:${1%/*}/../bin:${1%/*}/../scripts
        command -v mariadb-install-db && command -v my_print_defaults) >/dev/null ;;
    *' Ver '*) true ;;
    *) false ;;
    esac
}

# need_server makes sure that there is a server binary, installs one if it can, and sets
# SERVER_BINARY to its path. Returns 1, with an explanation, if there is none.
need_server() {
    if SERVER_BINARY=$(find_server); then return 0; fi
    may_install "no MySQL or MariaDB server is installed" $SERVER_PACKAGE || return 1
    install_quietly $SERVER_PACKAGE mariadb || return 1
    # shellcheck disable=SC2034 # for the scripts that source this file
    SERVER_BINARY=$(find_server) || {
        say "$SERVER_PACKAGE was installed, but brought no server that works."
        return 1
    }
}

# may_install sees to it that packages can be installed, sets sudo to what that needs,
# and says what is going to be run: $1 is what is missing, $2 the package. Returns 1, and
# says what to do, if they can't.
may_install() {
    if ! command -v apt-get >/dev/null; then
        say "$1, and there is no apt-get here. Install it with this system's package manager."
        return 1
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        sudo='sudo -n'
        if ! $sudo true 2>/dev/null; then
            say "$1. Install it as root with: apt-get install -y --no-install-recommends $2"
            return 1
        fi
    fi
    say "$1; running: ${sudo:+$sudo }apt-get install -y --no-install-recommends $2"
}

# install_quietly installs package $1, whose service is called $2, with $sudo, and leaves
# no service behind that runs now or at the next boot. (A policy-rc.d that answers 101
# forbids services to start.)
install_quietly() {
    policy=/usr/sbin/policy-rc.d
    $sudo apt-get update -qq >&2 || say "apt-get update did not succeed; trying to install all the same."
    if [ -e $policy ]; then $sudo mv $policy $policy.oddeven-saved; fi
    # The shell ends in the traps, so that a signal cannot leave the policy behind.
    trap 'restore_policy; exit 130' INT TERM HUP
    printf '#!/bin/sh\nexit 101\n' | $sudo sh -c "cat >$policy && chmod 755 $policy"
    status=0
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends "$1" >&2 || status=$?
    restore_policy
    trap - INT TERM HUP
    if [ $status != 0 ]; then
        say "apt-get could not install $1."
        return 1
    fi
    if [ -d /run/systemd/system ]; then
        $sudo systemctl disable --quiet --now "$2.service" >&2 || :
    elif command -v systemctl >/dev/null; then
        $sudo systemctl disable --quiet "$2.service" >&2 || :
    elif command -v update-rc.d >/dev/null; then
        $sudo update-rc.d "$2" disable >&2 || :
    fi
    say "installed it. Its system service does not run and is disabled."
}

# restore_policy puts back what install_quietly found.
restore_policy() {
    $sudo rm -f "$policy"
    if [ -e "$policy.oddeven-saved" ]; then $sudo mv "$policy.oddeven-saved" "$policy"; fi
}
