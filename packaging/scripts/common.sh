# shellcheck shell=bash disable=SC2154  # $root is set by who sources this
# Shell functions that run-tests and quickstart share. Sourced by bash with `set -euo pipefail` and $root set.

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Names in packaging/apt-packages.txt that are not installed.
missing_packages() {
  local name
  while read -r name; do
    case $name in '' | '#'*) continue ;; esac
    dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'install ok installed' || echo "$name"
  done < "$root/packaging/apt-packages.txt"
}

# Installs what is missing as root; others are told the command.
install_packages() {
  command -v dpkg-query >/dev/null || die "this is not Debian; install the packages named in packaging/apt-packages.txt by hand"
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    die "packages are missing; run as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  # Daemons of installed packages are not started: the tests and the quickstart start their own munged.
  local log=$root/build/apt.log policy=/usr/sbin/policy-rc.d made_policy=
  mkdir -p "$root/build"
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' > $policy
    chmod 755 $policy
    made_policy=yes
  fi
  local failed=
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
    > "$log" 2>&1 < /dev/null || failed=yes
  [ -z "$made_policy" ] || rm -f $policy
  if [ -n "$failed" ]; then
    tail -n 30 "$log" >&2
    die "apt-get failed; all of its output is in $log"
  fi
}

# Compile jobs: one per processor, but no more than fit into memory (a gRPC file takes about 1.2 GB).
jobs_count() {
  local cpus memory
  cpus=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1200000)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cpus < memory ? cpus : memory))
}

# configure PRESET: quiet unless it fails.
configure() {
  local log=$root/build/$1-configure.log
  mkdir -p "$root/build"
  if ! (cd "$root" && cmake --preset "$1") > "$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "cmake failed; all of its output is in $log"
  fi
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  ninja -C "$root/build/$preset" -j "$(jobs_count)" "$@"
}
