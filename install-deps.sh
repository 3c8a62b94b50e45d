#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what latput needs to be built, tested and run on Debian 12 or a relative, as far as it is
# missing; asks nothing. Usage: install-deps.sh [--dev]; --dev adds what .ci/run needs. Exit status
# 0: nothing is missing any more but optional packages; 2: wrong usage; 3: something is missing and
# could not be installed: it is named together with the command that installs it.
set -u

packages=(gcc libc6-dev make nasm binutils sqlite3 libcsv-dev libsqlite3-dev libarchive-dev
    libexpat1-dev libzydis-dev libmd-dev libcmocka-dev libpfm4-dev)
# Packages that can be done without, and what is lost then. gcc-multilib excludes cross compilers.
declare -A loses=([gcc-multilib]='forms of 32-bit mode will be skipped'
    [gnuplot-nox]='properties and sweeps will have no curves'
    [xz-utils]='tar cannot read the published packs')
optional=(gcc-multilib)
command -v gnuplot >/dev/null || optional+=(gnuplot-nox) # there are several packages of it
command -v xz >/dev/null || optional+=(xz-utils)
dev_packages=(git g++ pkg-config clang libclang-rt-dev lld clang-tidy clang-format shellcheck man-db
    liblzma-dev qemu-user strace zsh llvm-19 libxml2-utils python3-yaml python3-jsonschema debhelper
    lintian chromium parallel openssh-server openssh-client procps mmdebstrap uidmap)
# The test of fleets over Slurm needs these and is skipped without them; check asks llvm-22, and a
# draft of a scheduling model is parsed beside its headers.
optional_dev=(slurmctld slurmd slurm-client munge llvm-22 llvm-22-dev)
# An npm from elsewhere would be in conflict with Debian's packages.
command -v npm >/dev/null || dev_packages+=(nodejs npm)

case "$#,${1-}" in
0,) optional_dev=() ;;
1,--dev) packages+=("${dev_packages[@]}") ;;
*)
    echo "Usage: install-deps.sh [--dev]" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # Without Debian's tools only the result counts.
    if printf '#include <%s>\n' csv.h sqlite3.h archive.h expat.h Zydis/Zydis.h sha256.h |
        gcc -E - >/dev/null 2>&1 && command -v make nasm ld >/dev/null; then
        exit 0
    fi
    echo \
        "install-deps.sh: this is no Debian-like system. What latput needs, under Debian's names:" \
        >&2
    echo "  ${packages[*]}" >&2
    exit 3
fi

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
missing=()
for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
done
without=()
for package in "${optional[@]}"; do
    installed "$package" || without+=("$package")
done
without_optional() {
    local package
    for package in "$@"; do
        echo "install-deps.sh: without $package, ${loses[$package]}" >&2
    done
    echo "To install what is missing:" >&2
    echo "  sudo apt-get install --no-install-recommends $*" >&2
}
missing_dev=()
for package in ${optional_dev[@]+"${optional_dev[@]}"}; do
    installed "$package" || missing_dev+=("$package")
done
[ $((${#missing[@]} + ${#missing_dev[@]} + ${#without[@]})) != 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! sudo -n true 2>/dev/null; then
        if [ "${#missing[@]}" = 0 ]; then
            [ "${#without[@]}" = 0 ] || without_optional "${without[@]}"
            exit 0
        fi
        echo "install-deps.sh: these packages are missing: ${missing[*]}" >&2
        echo "and installing them needs root. Ask for, or do:" >&2
        echo "  sudo apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 3
    fi
    as_root=(sudo -n)
fi

apt() {
    # The time-out lets unattended upgrades finish, which run on many machines after boot.
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive NEEDRESTART_MODE=a \
        apt-get -q -y -o DPkg::Lock::Timeout=600 -o Dpkg::Options::=--force-confold "$@" </dev/null
}
# The package index is fetched only where there is none, or where it is too old to be of use. No
# package is ever removed for another.
install() {
    echo "install-deps.sh: installing $*" >&2
    local command=(install --no-install-recommends --no-remove "$@")
    if apt --simulate "${command[@]}" >/dev/null 2>&1 && apt "${command[@]}" >&2; then
        return 0
    fi
    apt update >&2 && apt "${command[@]}" >&2
}
if [ "${#missing[@]}" != 0 ] && ! install "${missing[@]}"; then
    echo "install-deps.sh: apt-get could not install: ${missing[*]}" >&2
    echo "Its messages are above; is there a network, and are Debian's sources configured?" >&2
    exit 3
fi
# All in one call; if that fails, each that can be had.
if [ "${#without[@]}" != 0 ] && ! install "${without[@]}"; then
    lost=()
    for package in "${without[@]}"; do
        install "$package" || lost+=("$package")
    done
    [ "${#lost[@]}" = 0 ] || without_optional "${lost[@]}"
fi
if [ "${#missing_dev[@]}" != 0 ] && ! install "${missing_dev[@]}"; then
    echo "install-deps.sh: without ${missing_dev[*]}, tests that use them will be skipped" >&2
fi
exit 0
